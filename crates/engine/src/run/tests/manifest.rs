//! The manifest.

use std::path::Path;

use proptest::prelude::*;

use super::model::meta;
use crate::Error;
use crate::run::memory::Memory;
use crate::run::{Manifest, RunCounts, RunEntry, RunSummary, file_name};
use crate::storage::Storage;

fn sample() -> Manifest {
    let run = |number, start, end| RunEntry {
        number,
        summary: RunSummary {
            meta: meta(start, end),
            counts: RunCounts { versions: 1, live: 2, kills: 3, past: 4 },
            bytes: 1000 + number,
        },
    };
    Manifest {
        log_id: meta(1, 1).log_id,
        generation: 3,
        runs: vec![run(4, 1, 100), run(9, 101, 101), run(7, 102, 101)],
        next_run: 10,
        catalog: b"groupings and such".to_vec(),
    }
}

#[test]
fn what_is_stored_is_loaded_and_replaced() {
    let storage = Memory::default();
    let directory = Path::new("log.idx");
    assert_eq!(Manifest::load(&storage, directory).unwrap(), None);
    let mut manifest = sample();
    manifest.store(&storage, directory).unwrap();
    assert_eq!(Manifest::load(&storage, directory).unwrap(), Some(manifest.clone()));
    manifest.runs.clear();
    manifest.next_run = 11;
    manifest.store(&storage, directory).unwrap();
    assert_eq!(Manifest::load(&storage, directory).unwrap(), Some(manifest));
    assert!(!storage.exists(&directory.join("manifest.new")).unwrap());
    assert_eq!(file_name(17), "run-17");
}

#[test]
fn the_format_is_pinned() {
    let mut manifest = sample();
    manifest.runs.truncate(1);
    let bytes = manifest.encode();
    assert_eq!(&bytes[..12], b"IMMUXMAN\x01\0\x03\0");
    assert_eq!(bytes.len(), 56 + 96 + 18 + 4);
    assert_eq!(crc32c::crc32c(&bytes[..bytes.len() - 4]).to_le_bytes(), bytes[bytes.len() - 4..]);
    assert_eq!(crc32c::crc32c(&bytes), MANIFEST_CRC);
}

/// The CRC of anything followed by its CRC is the same, so this one covers the manifest with it as plain bytes.
const MANIFEST_CRC: u32 = 0x48674bc7;

proptest! {
    #[test]
    fn a_changed_manifest_is_refused(at: prop::sample::Index, bit in 0u8..8, cut: prop::sample::Index) {
        let whole = sample().encode();
        let path = Path::new("manifest");
        let mut bytes = whole.clone();
        bytes[at.index(whole.len())] ^= 1 << bit;
        let error = Manifest::decode(&bytes, path);
        let refused = matches!(error, Err(Error::Damaged { .. } | Error::Format { .. }));
        prop_assert!(refused);
        prop_assert!(Manifest::decode(&whole[..cut.index(whole.len())], path).is_err());
    }

    #[test]
    fn forged_manifests_do_no_harm(
        mut bytes in proptest::collection::vec(any::<u8>(), 60..300),
        counts in (0u64..4, 0u64..300),
    ) {
        bytes[..16].copy_from_slice(b"IMMUXMAN\x01\0\0\0\0\0\0\0");
        bytes[40..48].copy_from_slice(&counts.0.to_le_bytes());
        bytes[48..56].copy_from_slice(&counts.1.to_le_bytes());
        let end = bytes.len() - 4;
        let crc = crc32c::crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&crc.to_le_bytes());
        let _ = Manifest::decode(&bytes, Path::new("manifest"));
    }
}
