//! Merges against a model: a history of units is cut into runs, and the runs are merged in any way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::model::{GROUPING, INDEX, Owned, all, meta, section_id, sorted, verify, write};
use crate::run::memory::Memory;
use crate::run::{Mark, MergeRules, Run, RunMeta, RunWriter, SectionId, SectionKind, merge};
use crate::types::{Birth, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};

/// One commit each.
#[derive(Clone, Debug)]
enum Step {
    /// The unit gets a content with this index key.
    Put(u8, u8),
    Delete(u8),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0u8..12, 0u8..4).prop_map(|(unit, key)| Step::Put(unit, key)),
        4 => (0u8..12).prop_map(Step::Delete),
        1 => Just(Step::Clear),
    ];
    proptest::collection::vec(step, 1..200)
}

/// What one stretch of heights brings.
#[derive(Default)]
struct Events {
    versions: Vec<Owned>,
    live: Vec<Owned>,
    kills: Vec<Owned>,
    past: Vec<Owned>,
}

fn unit_key(unit: u8) -> Vec<u8> {
    format!("unit-{unit}").into_bytes()
}

fn position(height: u64) -> Position {
    Position::new(0, 4096 + 100 * height)
}

fn clears_of(steps: &[Step]) -> BTreeMap<GroupingId, Vec<Height>> {
    let clears = steps.iter().enumerate();
    let clears = clears.filter(|(_, step)| matches!(step, Step::Clear));
    let clears = clears.map(|(n, _)| Height(n as u64 + 1)).collect();
    BTreeMap::from([(GROUPING, clears)])
}

/// What a run of heights `start ..= end` must hold, by going through all of history.
fn events(steps: &[Step], start: u64, end: u64) -> Events {
    let mut events = Events::default();
    // unit -> (index key, birth, newest version)
    let mut units: BTreeMap<u8, (u8, u64, u64)> = BTreeMap::new();
    let mut ended = Vec::new();
    for height in 1..=end {
        let mut replaced = Vec::new();
        match &steps[height as usize - 1] {
            Step::Put(unit, key) => {
                let before = units.get(unit).copied();
                let birth = match before {
                    Some((old, birth, _)) if old == *key => birth,
                    _ => height,
                };
                units.insert(*unit, (*key, birth, height));
                if let Some((old, birth, version)) = before
                    && old != *key
                {
                    replaced.push((*unit, old, birth, version, false));
                }
                if height >= start {
                    let mut version = Owned::new(&unit_key(*unit), Birth::new(Height(height), 0));
                    version.kind = VersionKind::Raw;
                    version.position = position(height);
                    if birth != height {
                        version.births = vec![(INDEX, Birth::new(Height(birth), 0))];
                    }
                    events.versions.push(version);
                }
            }
            Step::Delete(unit) => {
                if let Some((old, birth, version)) = units.remove(unit) {
                    replaced.push((*unit, old, birth, version, false));
                    if height >= start {
                        let key = unit_key(*unit);
                        let mut version = Owned::new(&key, Birth::new(Height(height), 0));
                        version.position = position(height);
                        events.versions.push(version);
                    }
                }
            }
            Step::Clear => {
                for (unit, (key, birth, version)) in std::mem::take(&mut units) {
                    replaced.push((unit, key, birth, version, true));
                }
            }
        }
        ended.extend(replaced.into_iter().map(|r| (r, height)));
    }
    let entry = |unit: u8, key: u8, birth: u64, version: u64| {
        let mut entry = Owned::new(&[b'k', key], Birth::new(Height(birth), 0));
        entry.unit = unit_key(unit);
        entry.version = Birth::new(Height(version), 0);
        entry.position = position(version);
        entry
    };
    for ((unit, key, birth, version, cleared), height) in ended {
        let mut entry = entry(unit, key, birth, version);
        entry.end = Height(height);
        if birth >= start {
            events.past.push(entry);
        } else if height >= start && !cleared {
            events.kills.push(entry);
        }
    }
    for (unit, (key, birth, version)) in units {
        if birth >= start {
            events.live.push(entry(unit, key, birth, version));
        }
    }
    events
}

fn sections(events: Events) -> Vec<(SectionId, Vec<Owned>)> {
    [
        (SectionId::versions(GROUPING), events.versions),
        (SectionId::live(GROUPING, INDEX), events.live),
        (SectionId::kills(GROUPING, INDEX), events.kills),
        (SectionId::past(GROUPING, INDEX), events.past),
    ]
    .into_iter()
    .map(|(id, entries)| (id, sorted(id.kind, entries)))
    .collect()
}

fn mark(height: u64) -> Mark {
    Mark { height: Height(height), end_offset: height << 20, time: Timestamp(height) }
}

fn write_stretch(storage: &Memory, path: &str, steps: &[Step], start: u64, end: u64) -> Arc<Run> {
    let sections = sections(events(steps, start, end));
    write(storage, path, meta(start, end), &[mark(end)], &sections)
}

fn merge_into(
    storage: &Memory,
    path: &str,
    inputs: &[Arc<Run>],
    clears: &BTreeMap<GroupingId, Vec<Height>>,
    dropped: &BTreeSet<(GroupingId, IndexId)>,
) -> Arc<Run> {
    let meta = RunMeta::union(inputs.iter().map(|run| run.meta()));
    let writer = RunWriter::create(storage, Path::new(path), meta).unwrap();
    let rules = MergeRules { clears, dropped, stop: &AtomicBool::new(false) };
    let summary = merge(inputs, writer, &rules).unwrap().unwrap();
    let run = storage.run(path);
    verify(&run).unwrap();
    assert_eq!(summary.counts, *run.counts());
    run
}

/// Past entries without their hints, which say only that the unit had the key then.
fn without_hints(mut entries: Vec<Owned>) -> Vec<Owned> {
    for entry in &mut entries {
        assert!(entry.version >= entry.birth && entry.version.height < entry.end);
        entry.version = entry.birth;
        entry.position = Position::default();
    }
    entries
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn merged_stretches_are_as_if_written_at_once(
        steps in steps(),
        cuts in proptest::collection::btree_set(any::<prop::sample::Index>().prop_map(|i| i.index(200) as u64), 0..8),
        merges in proptest::collection::vec((any::<prop::sample::Index>(), 2usize..5), 0..6),
    ) {
        let end = steps.len() as u64;
        let clears = clears_of(&steps);
        let storage = Memory::default();
        let mut starts = vec![1];
        starts.extend(cuts.into_iter().filter(|&cut| cut > 1 && cut <= end));
        let mut runs: Vec<Arc<Run>> = starts
            .iter()
            .enumerate()
            .map(|(n, &start)| {
                let end = starts.get(n + 1).map_or(end, |next| next - 1);
                write_stretch(&storage, &format!("run-{n}"), &steps, start, end)
            })
            .collect();
        for (number, (at, len)) in merges.into_iter().enumerate() {
            if runs.len() < 2 {
                break;
            }
            let at = at.index(runs.len() - 1);
            let to = (at + len).min(runs.len());
            let path = format!("merged-{number}");
            let merged = merge_into(&storage, &path, &runs[at..to], &clears, &BTreeSet::new());
            let meta = *merged.meta();
            for (id, expected) in sections(events(&steps, meta.start.0, meta.end.0)) {
                let found = all(&merged, id);
                if id.kind == SectionKind::Past {
                    prop_assert_eq!(without_hints(found), without_hints(expected));
                } else {
                    prop_assert_eq!(found, expected);
                }
            }
            let marks: Vec<Mark> = merged.marks().unwrap().iter().collect();
            let expected: Vec<Mark> = runs[at..to]
                .iter()
                .flat_map(|run| run.marks().unwrap().iter().collect::<Vec<_>>())
                .collect();
            prop_assert_eq!(marks, expected);
            runs.splice(at..to, [merged]);
        }
    }
}

#[test]
fn a_fill_run_merges_on_both_sides_and_its_hints_are_refreshed() {
    let storage = Memory::default();
    let older = write_stretch(&storage, "run-1", &[Step::Put(1, 1), Step::Put(2, 1)], 1, 2);
    let other = IndexId(5);
    let mut entry = Owned::new(b"filled", Birth::new(Height(1), 0));
    entry.unit = unit_key(1);
    entry.position = position(1);
    let fill = [(SectionId::live(GROUPING, other), vec![entry.clone()])];
    let fill = write(&storage, "run-2", meta(3, 2), &[], &fill);
    assert!(fill.meta().is_empty_stretch());
    let steps = [Step::Put(1, 1), Step::Put(2, 1), Step::Put(1, 1)];
    let newer = write_stretch(&storage, "run-3", &steps, 3, 3);
    let (clears, dropped) = (BTreeMap::new(), BTreeSet::new());
    let merge = |path: &str, inputs: &[&Arc<Run>]| {
        let inputs: Vec<Arc<Run>> = inputs.iter().map(|&run| Arc::clone(run)).collect();
        merge_into(&storage, path, &inputs, &clears, &dropped)
    };
    let with_older = merge("run-4", &[&older, &fill]);
    assert_eq!(*with_older.meta(), meta(1, 2));
    let with_newer = merge("run-5", &[&fill, &newer]);
    assert_eq!(*with_newer.meta(), meta(3, 3));
    let fills = merge("run-6", &[&fill]);
    assert_eq!(*fills.meta(), meta(3, 2));
    let whole = merge("run-7", &[&older, &fill, &newer]);
    assert_eq!(*whole.meta(), meta(1, 3));
    let id = SectionId::live(GROUPING, other);
    assert_eq!(all(&with_older, id), [entry.clone()]);
    entry.version = Birth::new(Height(3), 0);
    entry.position = position(3);
    assert_eq!(all(&with_newer, id), [entry.clone()]);
    assert_eq!(all(&whole, id), [entry]);
}

#[test]
fn entries_of_a_dropped_index_vanish() {
    let storage = Memory::default();
    let steps = [Step::Put(1, 1), Step::Put(1, 2)];
    let runs = [write_stretch(&storage, "run-1", &steps, 1, 1), write_stretch(&storage, "run-2", &steps, 2, 2)];
    let dropped = BTreeSet::from([(GROUPING, INDEX)]);
    let merged = merge_into(&storage, "run-3", &runs, &BTreeMap::new(), &dropped);
    assert_eq!(merged.sections().count(), 1);
    assert_eq!(merged.counts().versions, 2);
    assert_eq!(merged.counts().total(), 2);
}

#[test]
fn a_merge_stops_when_told() {
    let storage = Memory::default();
    let entries = (0..10_000u64).map(|n| Owned::new(&n.to_be_bytes(), Birth::MIN));
    let entries = vec![(SectionId::live(GROUPING, INDEX), entries.collect())];
    let run = write(&storage, "run-1", meta(1, 1), &[], &entries);
    let writer = RunWriter::create(&storage, Path::new("run-2"), meta(1, 1)).unwrap();
    let rules = MergeRules { clears: &BTreeMap::new(), dropped: &BTreeSet::new(), stop: &AtomicBool::new(true) };
    assert_eq!(merge(&[run], writer, &rules).unwrap(), None);
}

/// Writes runs of one entry each, at heights 1, 2 …, all of which have the same key and birth.
fn write_alike(storage: &Memory, name: &str, entries: &[(SectionKind, Owned)]) -> Vec<Arc<Run>> {
    let write_one = |(n, (kind, entry)): (usize, &(SectionKind, Owned))| {
        let (path, height) = (format!("{name}-{n}"), n as u64 + 1);
        let sections = [(section_id(*kind), vec![entry.clone().normal(*kind)])];
        write(storage, &path, meta(height, height), &[], &sections)
    };
    entries.iter().enumerate().map(write_one).collect()
}

#[test]
fn an_entry_that_was_filled_twice_has_the_newer_hint() {
    let storage = Memory::default();
    let older = Owned::new(b"filled", Birth::new(Height(1), 0));
    let mut newer = older.clone();
    newer.version = Birth::new(Height(2), 0);
    newer.position = position(2);
    let runs = write_alike(&storage, "run", &[(SectionKind::Live, older), (SectionKind::Live, newer.clone())]);
    let merged = merge_into(&storage, "merged", &runs, &BTreeMap::new(), &BTreeSet::new());
    assert_eq!(all(&merged, section_id(SectionKind::Live)), [newer]);
    assert_eq!(merged.counts().total(), 1);
}

#[test]
fn an_entry_ends_with_the_first_of_its_kills() {
    let storage = Memory::default();
    let live = Owned::new(b"ended", Birth::new(Height(1), 0));
    let ended = |end: u64| Owned { end: Height(end), ..live.clone() };
    let kills = [(SectionKind::Kills, ended(3)), (SectionKind::Kills, ended(2))];
    let runs = write_alike(&storage, "run", &[&[(SectionKind::Live, live.clone())][..], &kills].concat());
    let merge =
        |path: &str, inputs: &[Arc<Run>]| merge_into(&storage, path, inputs, &BTreeMap::new(), &BTreeSet::new());
    let whole = merge("whole", &runs);
    assert_eq!(all(&whole, section_id(SectionKind::Past)), [ended(2)]);
    assert_eq!(whole.counts().total(), 1);
    let kills = merge("kills", &runs[1..]);
    assert_eq!(all(&kills, section_id(SectionKind::Kills)), [ended(2).normal(SectionKind::Kills)]);
}

#[test]
fn events_that_contradict_each_other_are_damage() {
    use SectionKind::{Kills, Live, Past, Versions};
    let storage = Memory::default();
    let entry = Owned { end: Height(2), ..Owned::new(b"twice", Birth::new(Height(1), 0)) };
    for kinds in [&[Versions, Versions][..], &[Past, Past], &[Live, Kills, Past]] {
        let name = format!("{kinds:?}");
        let entries: Vec<_> = kinds.iter().map(|&kind| (kind, entry.clone())).collect();
        let runs = write_alike(&storage, &name, &entries);
        let writer = RunWriter::create(&storage, Path::new(&(name + "-merged")), meta(1, runs.len() as u64)).unwrap();
        let rules = MergeRules { clears: &BTreeMap::new(), dropped: &BTreeSet::new(), stop: &AtomicBool::new(false) };
        let error = merge(&runs, writer, &rules).unwrap_err();
        assert!(matches!(error, crate::Error::Damaged { .. }), "{kinds:?}: {error}");
    }
}
