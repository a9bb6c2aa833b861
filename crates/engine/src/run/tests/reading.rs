//! Every move of a cursor, against a sorted list.

use std::path::Path;

use proptest::prelude::*;

use super::model::{GROUPING, INDEX, Owned, all, at, compare, meta, section_id, sorted, write};
use crate::run::memory::Memory;
use crate::run::{Mark, RunWriter, SectionId, SectionKind, key_hash};
use crate::types::{Birth, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};

pub(super) fn kinds() -> impl Strategy<Value = SectionKind> {
    prop_oneof![Just(SectionKind::Versions), Just(SectionKind::Live), Just(SectionKind::Kills), Just(SectionKind::Past)]
}

/// Keys that are empty, alike, long, or of any bytes.
fn keys() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec(0u8..2, 0..6),
        proptest::collection::vec(any::<u8>(), 0..20),
        (0u32..50).prop_map(|n| format!("customer-number-{n:08}").into_bytes()),
        (0u8..3, 40usize..90, 0u8..3).prop_map(|(byte, len, last)| { [vec![byte; len], vec![last]].concat() }),
    ]
}

fn births() -> impl Strategy<Value = Birth> {
    prop_oneof![
        (0u64..20, 0u32..3).prop_map(|(h, p)| Birth::new(Height(h), p)),
        (any::<u64>(), any::<u32>()).prop_map(|(h, p)| Birth::new(Height(h), p)),
    ]
}

fn entry() -> impl Strategy<Value = Owned> {
    let kind = prop_oneof![Just(VersionKind::Deleted), Just(VersionKind::Json), Just(VersionKind::Raw)];
    let differing = proptest::collection::vec((any::<u32>().prop_map(IndexId), births()), 0..3);
    (
        keys(),
        births(),
        keys(),
        prop_oneof![Just(None), births().prop_map(Some)],
        any::<u64>(),
        any::<u64>(),
        kind,
        differing,
    )
        .prop_map(|(key, birth, unit, version, position, end, kind, births)| Owned {
            key,
            birth,
            unit,
            version: version.unwrap_or(birth),
            position: Position::from_bits(position),
            end: Height(end),
            kind,
            births,
        })
}

pub(super) fn entries(most: usize) -> impl Strategy<Value = Vec<Owned>> {
    proptest::collection::vec(entry(), 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_section_reads_as_the_sorted_list(
        kind in kinds(),
        list in entries(700),
        probes in proptest::collection::vec((keys(), births(), 0usize..40), 0..40),
    ) {
        let list = sorted(kind, list);
        let storage = Memory::default();
        let id = section_id(kind);
        let run = write(&storage, "run-1", meta(1, 9), &[], &[(id, list.clone())]);
        prop_assert_eq!(&all(&run, id), &list);

        let section = run.section(id).unwrap();
        let lowest = list.iter().map(|e| e.birth.height).min();
        let highest = list.iter().map(|e| e.birth.height.max(e.end)).max();
        let record = *section.record();
        prop_assert_eq!(Some(Height(record.lowest_height)), lowest);
        prop_assert_eq!(Some(Height(record.highest_height)), highest);
        let mut distinct: Vec<&[u8]> = list.iter().map(|e| e.key.as_slice()).collect();
        distinct.dedup();
        prop_assert_eq!(record.distinct_keys, distinct.len() as u64);
        for key in distinct {
            section.prefetch(key_hash(key));
            prop_assert!(section.may_contain(key_hash(key)));
        }

        let mut cursor = run.cursor(section);
        cursor.seek_last().unwrap();
        for entry in list.iter().rev() {
            prop_assert_eq!(at(&cursor), Some(entry.clone()));
            cursor.prev().unwrap();
        }
        prop_assert!(!cursor.valid());

        let own = list.iter().map(|e| (e.key.clone(), e.birth, 3));
        for (key, birth, steps) in probes.into_iter().chain(own) {
            let below = list.partition_point(|e| {
                compare(kind, (&e.key, e.birth), (&key, birth)).is_lt()
            });
            cursor.seek_before(&key, birth).unwrap();
            let before = below.checked_sub(1).map(|n| list[n].clone());
            prop_assert_eq!(at(&cursor), before);
            cursor.seek(&key, birth).unwrap();
            prop_assert_eq!(at(&cursor), list.get(below).cloned());
            // Forth, and back again by twice as many.
            let mut place = below;
            for _ in 0..steps {
                cursor.next().unwrap();
                place = (place + 1).min(list.len());
                prop_assert_eq!(at(&cursor), list.get(place).cloned());
            }
            if place < list.len() {
                for _ in 0..2 * steps {
                    cursor.prev().unwrap();
                    let Some(before) = place.checked_sub(1) else {
                        prop_assert!(!cursor.valid());
                        break;
                    };
                    place = before;
                    prop_assert_eq!(at(&cursor), list.get(place).cloned());
                }
            }
            if kind == SectionKind::Versions {
                let expected = list
                    .iter()
                    .find(|e| e.key == key && e.birth.height <= birth.height);
                let found = run
                    .find_version(GROUPING, &key, key_hash(&key), birth.height)
                    .unwrap();
                let found = found.map(|f| (f.height, f.place, f.kind, f.position, f.births));
                let expected = expected.map(|e| {
                    (e.birth.height, e.birth.place, e.kind, e.position, e.births.clone())
                });
                prop_assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn many_duplicates_and_many_versions_are_found() {
    for kind in [SectionKind::Versions, SectionKind::Live] {
        let mut list = Vec::new();
        for key in 0..5u8 {
            for n in 0..5_000u64 {
                let birth = Birth::new(Height(n / 2 * 3), (n % 2) as u32);
                list.push(Owned::new(&[key; 70][..60 + 2 * usize::from(key)], birth));
            }
        }
        let list = sorted(kind, list);
        let storage = Memory::default();
        let id = section_id(kind);
        let run = write(&storage, "run-1", meta(1, 9), &[], &[(id, list.clone())]);
        let mut cursor = run.cursor(run.section(id).unwrap());
        for (n, entry) in list.iter().enumerate().step_by(7) {
            cursor.seek(&entry.key, entry.birth).unwrap();
            assert_eq!(at(&cursor).as_ref(), Some(entry));
            cursor.prev().unwrap();
            let before = n.checked_sub(1).map(|n| &list[n]);
            assert_eq!(at(&cursor).as_ref(), before);
        }
    }
}

#[test]
fn a_key_of_the_greatest_length_is_read() {
    let long = vec![7; crate::limits::INDEX_KEY_BYTES];
    let mut list = Vec::new();
    for last in 0..20u8 {
        for n in 0..3 {
            let mut key = long.clone();
            *key.last_mut().unwrap() = last;
            let mut entry = Owned::new(&key, Birth::new(Height(n), 0));
            entry.unit = vec![last; 65536];
            list.push(entry);
        }
    }
    let storage = Memory::default();
    let id = section_id(SectionKind::Live);
    let run = write(&storage, "run-1", meta(1, 9), &[], &[(id, list.clone())]);
    let mut cursor = run.cursor(run.section(id).unwrap());
    for entry in &list {
        cursor.seek(&entry.key, entry.birth).unwrap();
        assert_eq!(at(&cursor).as_ref(), Some(entry));
    }
    cursor.seek(&[8; 70], Birth::MIN).unwrap();
    assert!(!cursor.valid());
    cursor.seek(&[6; 70], Birth::MAX).unwrap();
    assert_eq!(at(&cursor).as_ref(), list.first());
}

#[test]
fn sections_are_found_by_id_and_empty_ones_do_not_exist() {
    let storage = Memory::default();
    let mut sections = Vec::new();
    for grouping in [1, 2, 9] {
        for index in [1, 5] {
            let entries = vec![Owned::new(b"k", Birth::new(Height(index), 0))];
            let (grouping, index) = (GroupingId(grouping), IndexId(index as u32));
            sections.push((SectionId::live(grouping, index), entries));
            sections.push((SectionId::past(grouping, index), Vec::new()));
        }
    }
    let run = write(&storage, "run-1", meta(1, 9), &[], &sections);
    assert_eq!(run.sections().count(), 6);
    for (id, entries) in &sections {
        assert_eq!(&all(&run, *id), entries);
        assert_eq!(run.section(*id).is_some(), !entries.is_empty());
    }
    assert!(run.section(SectionId::kills(GROUPING, INDEX)).is_none());
    assert_eq!(run.counts().live, 6);
    assert_eq!(run.counts().total(), 6);
}

#[test]
fn marks_are_thinned_and_found() {
    let storage = Memory::default();
    let mark = |n: u64| Mark { height: Height(n), end_offset: n * 20_000, time: Timestamp(n * 10) };
    let marks: Vec<Mark> = (1..=100).map(mark).collect();
    let run = write(&storage, "run-1", meta(1, 100), &marks, &[]);
    let marks = run.marks().unwrap();
    assert_eq!(marks.len(), 25);
    assert_eq!(marks.iter().nth(1), Some(mark(5)));
    assert_eq!(marks.last(|mark| mark.height <= Height(0)), None);
    assert_eq!(marks.last(|mark| mark.height <= Height(4)), Some(mark(1)));
    assert_eq!(marks.last(|mark| mark.time <= Timestamp(50)), Some(mark(5)));
    assert_eq!(marks.last(|_| true), Some(mark(97)));
}

#[test]
#[should_panic(expected = "out of order")]
fn entries_out_of_order_are_a_bug() {
    let storage = Memory::default();
    let mut writer = RunWriter::create(&storage, Path::new("run-1"), meta(1, 2)).unwrap();
    writer.begin_section(section_id(SectionKind::Kills)).unwrap();
    let birth = Birth::new(Height(1), 0);
    writer.push_kill(b"b", birth, Height(2)).unwrap();
    writer.push_kill(b"b", birth, Height(2)).unwrap();
}

#[test]
#[should_panic(expected = "out of order")]
fn sections_out_of_order_are_a_bug() {
    let storage = Memory::default();
    let mut writer = RunWriter::create(&storage, Path::new("run-1"), meta(1, 2)).unwrap();
    writer.begin_section(section_id(SectionKind::Kills)).unwrap();
    writer.begin_section(section_id(SectionKind::Live)).unwrap();
}
