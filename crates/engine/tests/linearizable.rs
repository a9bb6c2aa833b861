//! Threads read and write at once, and each remembers what it asked, when, and what it was told. Afterwards the whole
//! history is looked at: is there one order of all operations that explains every answer, and in which no operation comes
//! before one that had ended when it began?
//!
//! The engine gives away half of the answer: each commit has a height. So the order of the writes is known, and must fit
//! the clock. A read of a unit tells a version, which was the newest from its height on, up to the next write of the
//! unit: the read happened somewhere in this stretch of heights. The lowest height that is allowed by what had ended
//! before it is taken; if that one is too high, none is right.
//!
//! ```text
//!   heights          7         8         9        10
//!   versions of u    ├── v7 ─────────────┤├── v10 ──…
//!   a get gives v7       it happened at 7, 8 or 9
//!   … and began after the commit at height 10 had returned: there is no such order
//! ```
//!
//! Meanwhile runs are written and merged, and an index comes and goes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is the report")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Chain, Content, Durability, Error, Height, Scan, Store, StoreOptions, WriteOptions};

const GROUPING: &str = "registers";
const INDEX: &str = "by group";
const KEYS: u64 = 6;
const GROUPS: u64 = 3;
const WRITERS: u64 = 4;
const READERS: u64 = 3;
const WRITES: u64 = 1_500;

/// What a unit holds: a number that no other write has.
type Value = u64;

/// What was asked, and what was told.
#[derive(Debug)]
enum Act {
    /// A commit at this height, with what it made of each unit.
    Commit { height: u64, changes: Vec<(u64, Option<Value>)>, replaces: Option<(u64, u64)> },
    /// A unit's version was this, by its height; `None`: it did not exist.
    Saw { key: u64, version: Option<u64>, value: Option<Value> },
    /// The whole grouping at a height: for each unit that exists its version and value.
    Snapshot { height: u64, units: BTreeMap<u64, (u64, Value)> },
}

#[derive(Debug)]
struct Event {
    began: u64,
    ended: u64,
    act: Act,
}

struct Recorder<'a> {
    chain: Arc<Chain>,
    start: Instant,
    numbers: u64,
    next_value: &'a AtomicU64,
    events: Vec<Event>,
}

fn key_of(number: u64) -> Vec<u8> {
    format!("register {number}").into_bytes()
}

fn number_of(key: &[u8]) -> u64 {
    std::str::from_utf8(key).unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

fn content_of(value: Value) -> String {
    format!(r#"{{"group":{},"value":{value},"pad":"{}"}}"#, value % GROUPS, "x".repeat((value % 200) as usize))
}

fn value_of(content: &[u8]) -> Value {
    let content: serde_json::Value = serde_json::from_slice(content).unwrap();
    content["value"].as_u64().unwrap()
}

impl Recorder<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.numbers = self.numbers.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.numbers >> 33) % bound
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn record(&mut self, began: u64, act: Act) {
        let ended = self.now();
        self.events.push(Event { began, ended, act });
    }

    fn write(&mut self) {
        let key = self.below(KEYS);
        let value = self.next_value.fetch_add(1, Ordering::Relaxed);
        let level = if self.below(8) == 0 { Durability::Sync } else { Durability::Process };
        let grouping = self.chain.grouping(GROUPING).unwrap().with(WriteOptions::durability(level));
        let content = content_of(value);
        let content = Content::json(&content);
        let kind = self.below(10);
        // A compare-and-set begins with a read, which is an operation of its own.
        let known = if (3..7).contains(&kind) { self.get(key) } else { None };
        let began = self.now();
        let (outcome, changes, replaces) = match (kind, known) {
            (0..3, _) => (grouping.put(&key_of(key), content), vec![(key, Some(value))], None),
            (3..7, Some(height)) => {
                let outcome = grouping.compare_and_set(&key_of(key), Height(height), content);
                (outcome, vec![(key, Some(value))], Some((key, height)))
            }
            (3..8, _) => (grouping.insert(&key_of(key), content), vec![(key, Some(value))], Some((key, 0))),
            (8, _) => (grouping.delete(&key_of(key)), vec![(key, None)], None),
            _ => {
                let other = (key + 1) % KEYS;
                let second = self.next_value.fetch_add(1, Ordering::Relaxed);
                let mut transaction = self.chain.begin();
                transaction.put(&grouping, &key_of(key), content).unwrap();
                transaction.put(&grouping, &key_of(other), Content::json(&content_of(second))).unwrap();
                let outcome = transaction.commit_with(WriteOptions::durability(level));
                (outcome, vec![(key, Some(value)), (other, Some(second))], None)
            }
        };
        let act = match outcome {
            Ok(committed) => Act::Commit { height: committed.height.0, changes, replaces },
            Err(Error::UnitExists { height }) => Act::Saw { key, version: Some(height.0), value: None },
            Err(Error::HeightMismatch { actual, .. }) => {
                Act::Saw { key, version: actual.map(|height| height.0), value: None }
            }
            Err(Error::UnitMissing) => Act::Saw { key, version: None, value: None },
            Err(error) => panic!("{error}"),
        };
        self.record(began, act);
    }

    fn get(&mut self, key: u64) -> Option<u64> {
        let began = self.now();
        let unit = self.chain.grouping(GROUPING).unwrap().get(&key_of(key)).unwrap();
        let version = unit.as_ref().map(|unit| unit.height.0);
        let value = unit.map(|unit| value_of(&unit.content));
        self.record(began, Act::Saw { key, version, value });
        version
    }

    /// All units, one by one, in order of their keys, or by the index.
    fn snapshot(&mut self) {
        let way = self.below(3);
        let began = self.now();
        let snapshot = self.chain.snapshot().unwrap();
        let mut units = BTreeMap::new();
        if way == 0 {
            for key in 0..KEYS {
                if let Some(unit) = snapshot.get(GROUPING, &key_of(key)).unwrap() {
                    units.insert(key, (unit.height.0, value_of(&unit.content)));
                }
            }
        } else {
            let scan = if way == 1 { Scan::units() } else { Scan::index(INDEX) };
            let found = match snapshot.scan(GROUPING, scan) {
                Ok(found) => found,
                Err(Error::IndexMissing { .. }) => return,
                Err(error) => panic!("{error}"),
            };
            let mut last = None;
            for unit in found {
                let unit = unit.unwrap();
                let place = (unit.index_key.clone(), unit.birth);
                assert!(way == 1 || last.is_none_or(|last| last < place), "the index is out of order");
                last = Some(place);
                let twice = units.insert(number_of(&unit.key), (unit.height.0, value_of(&unit.content)));
                assert_eq!(twice, None, "a scan gives a unit twice");
            }
        }
        self.record(began, Act::Snapshot { height: snapshot.height().0, units });
    }
}

/// The versions of each unit, by height; `None` is a deletion.
type Registers = BTreeMap<u64, BTreeMap<u64, Option<Value>>>;

/// The version of a unit at a height, if it exists there.
fn version_at(registers: &Registers, key: u64, height: u64) -> Option<(u64, Value)> {
    let (at, value) = registers.get(&key)?.range(..=height).next_back()?;
    value.map(|value| (*at, value))
}

/// Finds the one order, or panics with what no order explains.
fn check(mut events: Vec<Event>, newest: u64) {
    let mut registers = Registers::new();
    let mut heights = BTreeMap::new();
    for event in &events {
        if let Act::Commit { height, changes, .. } = &event.act {
            assert!(heights.insert(*height, event.began).is_none(), "height {height} was given twice");
            for (key, value) in changes {
                registers.entry(*key).or_default().insert(*height, *value);
            }
        }
    }
    assert_eq!(heights.keys().copied().collect::<Vec<_>>(), (1..=newest).collect::<Vec<_>>(), "heights without gaps");

    // For a moment: the lowest height that was committed by somebody who began after it.
    let mut by_beginning: Vec<(u64, u64)> = heights.iter().map(|(height, began)| (*began, *height)).collect();
    by_beginning.sort_unstable();
    let mut lowest_from = vec![u64::MAX; by_beginning.len() + 1];
    for at in (0..by_beginning.len()).rev() {
        lowest_from[at] = lowest_from[at + 1].min(by_beginning[at].1);
    }
    let committed_after = |ended: u64| lowest_from[by_beginning.partition_point(|(began, _)| *began <= ended)];

    events.sort_by_key(|event| event.began);
    // What has ended, by its end: the height at which it happened. `reached` is the highest of those that ended before.
    let mut ended: BTreeMap<(u64, usize), u64> = BTreeMap::new();
    let mut reached = 0;
    for (nth, event) in events.iter().enumerate() {
        while let Some(first) = ended.first_entry().filter(|first| first.key().0 < event.began) {
            reached = reached.max(first.remove());
        }
        let happened = match &event.act {
            Act::Commit { height, replaces, .. } => {
                assert!(*height > reached, "{event:?} comes after height {reached} was there");
                if let Some((key, expected)) = replaces {
                    let before = version_at(&registers, *key, height - 1).map_or(0, |(version, _)| version);
                    assert_eq!(before, *expected, "{event:?} replaces another version than it was to");
                }
                *height
            }
            Act::Saw { key, version, value } => {
                let of_unit = registers.get(key);
                let (from, to) = match version {
                    Some(version) => {
                        let written = of_unit.and_then(|versions| versions.get(version)).copied().flatten();
                        let written = written.unwrap_or_else(|| panic!("{event:?} saw what nobody wrote"));
                        assert!(
                            value.is_none_or(|value| value == written),
                            "{event:?} saw another value than {written}"
                        );
                        (*version, of_unit.and_then(|versions| versions.range(version + 1..).next()))
                    }
                    None => {
                        // The first stretch without the unit that is not too early.
                        let mut from = 0;
                        let mut to = of_unit.and_then(|versions| versions.first_key_value());
                        for (height, value) in of_unit.into_iter().flatten() {
                            if value.is_none() && to.is_some_and(|(to, _)| *to <= reached) {
                                from = *height;
                                to = of_unit.and_then(|versions| versions.range(height + 1..).next());
                            }
                        }
                        (from, to)
                    }
                };
                let happened = from.max(reached);
                assert!(to.is_none_or(|(to, _)| happened < *to), "{event:?} saw what was gone by height {reached}");
                happened
            }
            Act::Snapshot { height, units } => {
                assert!(*height >= reached, "{event:?} is older than height {reached}, which was there");
                let expected: BTreeMap<_, _> =
                    (0..KEYS).filter_map(|key| Some((key, version_at(&registers, key, *height)?))).collect();
                assert_eq!(*units, expected, "the units at height {height}");
                *height
            }
        };
        let is_commit = matches!(event.act, Act::Commit { .. });
        assert!(
            is_commit || happened < committed_after(event.ended),
            "{event:?} saw height {happened}, which was committed by somebody who began later"
        );
        ended.insert((event.ended, nth), happened);
    }
}

#[test]
fn histories_of_threads_have_one_order() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().memory_limit(128 << 10).durability(Durability::Process);
    let store = Store::open(directory.path().join("store"), options).unwrap();
    let chain = store.chain("default").unwrap();
    let start = Instant::now();
    let next_value = AtomicU64::new(1);
    let writing = AtomicBool::new(true);
    let recorder = |seed: u64| Recorder {
        chain: Arc::clone(&chain),
        start,
        numbers: seed,
        next_value: &next_value,
        events: Vec::new(),
    };
    let mut first = recorder(99);
    first.write();
    let mut events = first.events;
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|seed| {
                let mut recorder = recorder(seed);
                scope.spawn(move || {
                    (0..WRITES).for_each(|_| recorder.write());
                    recorder.events
                })
            })
            .collect();
        let readers: Vec<_> = (0..READERS)
            .map(|seed| {
                let mut recorder = recorder(100 + seed);
                let writing = &writing;
                scope.spawn(move || {
                    while writing.load(Ordering::Relaxed) {
                        let key = recorder.below(KEYS);
                        if recorder.below(3) == 0 {
                            recorder.snapshot();
                        } else {
                            recorder.get(key);
                        }
                    }
                    recorder.events
                })
            })
            .collect();
        // An index comes and goes.
        let mut recorder = recorder(200);
        let flag = &writing;
        let indexer = scope.spawn(move || {
            let grouping = recorder.chain.grouping(GROUPING).unwrap();
            while flag.load(Ordering::Relaxed) {
                for creates in [true, false] {
                    let began = recorder.now();
                    let height = if creates {
                        grouping.create_index(INDEX, IndexDefinition::json("group"), &mut |_| {})
                    } else {
                        std::thread::yield_now();
                        grouping.drop_index(INDEX)
                    };
                    let height = height.unwrap().0;
                    recorder.record(began, Act::Commit { height, changes: Vec::new(), replaces: None });
                    for _ in 0..20 {
                        recorder.snapshot();
                    }
                }
            }
            recorder.events
        });
        for writer in writers {
            events.extend(writer.join().unwrap());
        }
        writing.store(false, Ordering::Relaxed);
        for reader in readers {
            events.extend(reader.join().unwrap());
        }
        events.extend(indexer.join().unwrap());
    });
    chain.drain().unwrap();
    assert!(!chain.stats().runs.is_empty(), "nothing was written beside the log");
    let newest = chain.height().0;
    assert!(events.len() as u64 > WRITERS * WRITES);
    check(events, newest);
    drop(chain);
    store.close().unwrap();
}

#[cfg(test)]
mod the_checker {
    use super::*;

    fn event(began: u64, ended: u64, act: Act) -> Event {
        Event { began, ended, act }
    }

    fn commit(began: u64, ended: u64, height: u64, value: Value) -> Event {
        event(began, ended, Act::Commit { height, changes: vec![(0, Some(value))], replaces: None })
    }

    fn saw(began: u64, ended: u64, version: Option<u64>) -> Event {
        event(began, ended, Act::Saw { key: 0, version, value: None })
    }

    #[test]
    fn takes_what_has_an_order() {
        // The get sees a commit that has not returned yet.
        check(vec![commit(0, 10, 1, 7), saw(2, 3, Some(1)), saw(0, 1, None), commit(11, 12, 2, 8)], 2);
    }

    #[test]
    #[should_panic(expected = "saw what was gone by height 2")]
    fn refuses_an_old_version() {
        check(vec![commit(0, 1, 1, 7), commit(2, 3, 2, 8), saw(4, 5, Some(1))], 2);
    }

    #[test]
    #[should_panic(expected = "saw what was gone by height 1")]
    fn refuses_two_reads_in_the_wrong_order() {
        check(vec![commit(0, 20, 1, 7), saw(2, 3, Some(1)), saw(4, 5, None)], 1);
    }

    #[test]
    #[should_panic(expected = "committed by somebody who began later")]
    fn refuses_a_look_into_the_future() {
        check(vec![commit(4, 5, 1, 7), saw(1, 2, Some(1))], 1);
    }

    #[test]
    #[should_panic(expected = "comes after height 2 was there")]
    fn refuses_commits_against_the_clock() {
        check(vec![commit(0, 1, 2, 7), commit(2, 3, 1, 8)], 2);
    }
}
