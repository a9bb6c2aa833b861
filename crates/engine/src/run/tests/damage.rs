//! Bytes that are not what was written: errors that name the place, and nothing worse.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::model::{GROUPING, Owned, at, meta, section_id, sorted, verify, write};
use super::reading::{entries, kinds};
use crate::Error;
use crate::run::memory::{Memory, open};
use crate::run::{Mark, MergeRules, Run, RunWriter, SectionKind, key_hash, merge};
use crate::types::{Birth, Height, Timestamp};

/// Reads all of a run in every way; an error ends it.
fn read_all(bytes: Vec<u8>, probe: &[u8]) -> crate::Result<()> {
    let run = open(bytes)?;
    for section in run.sections() {
        let _ = section.may_contain(key_hash(probe));
        let mut cursor = run.cursor(section);
        cursor.seek(probe, Birth::new(Height(5), 0))?;
        let _ = at(&cursor);
        cursor.seek_last()?;
        while cursor.valid() {
            let _ = at(&cursor);
            cursor.prev()?;
        }
    }
    run.find_version(GROUPING, probe, key_hash(probe), Height::MAX)?;
    merge_alone(&run)?;
    verify(&run)
}

fn merge_alone(run: &Arc<Run>) -> crate::Result<()> {
    let storage = Memory::default();
    let writer = RunWriter::create(&storage, std::path::Path::new("run-2"), *run.meta())?;
    let rules = MergeRules { clears: &Default::default(), dropped: &Default::default(), stop: &AtomicBool::new(false) };
    merge(&[Arc::clone(run)], writer, &rules).map(|_| ())
}

fn sample(kind: SectionKind, list: Vec<Owned>) -> Vec<u8> {
    let storage = Memory::default();
    let marks = [Mark { height: Height(1), end_offset: 5000, time: Timestamp(3) }];
    let list = sorted(kind, list);
    write(&storage, "run-1", meta(1, 9), &marks, &[(section_id(kind), list)]);
    storage.bytes("run-1")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_flipped_bit_is_noticed(
        kind in kinds(),
        list in entries(120),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..8), 20),
        probe in proptest::collection::vec(any::<u8>(), 0..10),
    ) {
        let whole = sample(kind, list);
        prop_assert!(read_all(whole.clone(), &probe).is_ok());
        for (at, bit) in flips {
            let mut bytes = whole.clone();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            // The bytes between index and filter, and the unused ones of header and footer, mean nothing.
            match read_all(bytes, &probe) {
                Err(Error::Damaged { .. } | Error::Format { .. }) => {}
                Err(other) => prop_assert!(false, "{other}"),
                Ok(()) => prop_assert_eq!(whole[at], 0, "a flip at {} went unnoticed", at),
            }
        }
    }

    /// With sums that fit, so that the decoders see what nobody wrote.
    #[test]
    fn forged_blocks_do_no_harm(
        kind in kinds(),
        list in entries(120),
        forgeries in proptest::collection::vec(
            (any::<prop::sample::Index>(), proptest::collection::vec(any::<u8>(), 1..9)), 1..6),
        probe in proptest::collection::vec(any::<u8>(), 0..10),
    ) {
        let mut bytes = sample(kind, list);
        for (at, forged) in forgeries {
            let at = at.index(bytes.len());
            let len = forged.len().min(bytes.len() - at);
            bytes[at..at + len].copy_from_slice(&forged[..len]);
        }
        super::format::mend(&mut bytes);
        let _ = read_all(bytes, &probe);
    }

    #[test]
    fn random_bytes_are_no_run(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(open(bytes).is_err());
    }

    #[test]
    fn a_cut_run_is_noticed(list in entries(50), cut in any::<prop::sample::Index>()) {
        let mut bytes = sample(SectionKind::Live, list);
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(open(bytes).is_err());
    }
}

#[test]
fn damage_says_where() {
    let list = (0..2000u64).map(|n| Owned::new(&n.to_be_bytes(), Birth::new(Height(n), 0))).collect();
    let mut bytes = sample(SectionKind::Live, list);
    bytes[9_000] ^= 1;
    let run = open(bytes).unwrap();
    let mut cursor = run.cursor(run.section(section_id(SectionKind::Live)).unwrap());
    cursor.seek_first().unwrap();
    let error = loop {
        match cursor.next() {
            Ok(()) => assert!(cursor.valid()),
            Err(error) => break error,
        }
    };
    assert!(!cursor.valid());
    let Error::Damaged { path, offset, what } = error else {
        panic!("{error}");
    };
    assert_eq!(path, std::path::Path::new("run-1"));
    assert!((4_096..=9_000).contains(&offset), "{offset}");
    assert!(what.contains("checksum"), "{what}");
    // The blocks behind it are read.
    cursor.seek_last().unwrap();
    assert_eq!(at(&cursor).unwrap().key, 1999u64.to_be_bytes());
}

#[test]
fn a_newer_format_is_refused_as_such() {
    let mut bytes = sample(SectionKind::Kills, vec![Owned::new(b"", Birth::MIN)]);
    bytes[8] = 2;
    assert!(matches!(open(bytes), Err(Error::Format { .. })));
}
