//! Faults that were found by other means than a test, so that they stay mended.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use libimmuxdb::index::{IndexDefinition, decode_key, key_from_json};
use libimmuxdb::{Background, Chain, Content, Durability, Grouping, Scan, Store, StoreOptions, WriteOptions};
use support::storage::{Change, Hasty};
use support::{LITTLE_MEMORY, copy_directory};
use tempfile::TempDir;

/// A few commits fill a delta, and what is to be done in the background is done by the test.
fn options(storage: Hasty) -> StoreOptions {
    let mut options = StoreOptions::default().durability(Durability::Process).memory_limit(LITTLE_MEMORY);
    options.background = Background::Manual;
    options.storage = Arc::new(storage);
    options
}

fn open(root: &Path) -> (Store, Arc<Chain>, Grouping) {
    let store = Store::open(root, options(Hasty::default())).unwrap();
    let chain = store.chain("default").unwrap();
    let grouping = chain.grouping("g").unwrap();
    (store, chain, grouping)
}

/// Writes one more run, of all that was committed so far.
fn write_run(chain: &Arc<Chain>) {
    let padding = chain.grouping("padding").unwrap();
    while chain.stats().frozen == 0 {
        padding.put(&[b'p'; 2048], Content::raw("")).unwrap();
    }
    while chain.stats().frozen > 0 {
        assert!(chain.run_background_step().unwrap());
    }
}

/// Writes runs and merges them until none is left that holds only what an index found at its creation.
fn merge_fill_runs(chain: &Arc<Chain>) {
    for _ in 0..64 {
        write_run(chain);
        while chain.run_background_step().unwrap() {}
        if fill_runs(chain) == 0 {
            return;
        }
    }
    panic!("{:?}", chain.stats().runs);
}

fn fill_runs(chain: &Chain) -> usize {
    chain.stats().runs.iter().filter(|run| run.start > run.end).count()
}

fn put(grouping: &Grouping, key: &str, value: i64) {
    grouping.put(key.as_bytes(), Content::json(&format!(r#"{{"v":{value}}}"#))).unwrap();
}

fn create_index(grouping: &Grouping) {
    grouping.create_index("v", IndexDefinition::json("v"), &mut |_| {}).unwrap();
}

/// The units in the order of the index, each as its value and its key.
fn by_index(grouping: &Grouping) -> String {
    let definition = grouping.index("v").unwrap().definition;
    let mut units = grouping.scan(Scan::index("v")).unwrap();
    let found = units.by_ref().map(|unit| {
        let unit = unit.unwrap();
        let values = decode_key(&definition, &unit.index_key).unwrap();
        format!("{} {}", values[0], String::from_utf8(unit.key).unwrap())
    });
    let found = found.collect::<Vec<_>>().join(", ");
    assert!(units.used_index());
    found
}

/// A run that fills an index belongs to no heights of its own. Merged with older runs it became a run that seemed to end
/// before the clear, and was skipped.
#[test]
fn entries_of_a_fill_run_survive_clears_and_merges() {
    let directory = TempDir::new().unwrap();
    let (store, chain, grouping) = open(directory.path());
    write_run(&chain);
    put(&grouping, "old", 0);
    grouping.clear().unwrap();
    for (value, key) in [(3, "a"), (1, "b"), (2, "c")] {
        put(&grouping, key, value);
    }
    create_index(&grouping);
    assert_eq!(fill_runs(&chain), 1);
    let follower = Store::open_read_only(directory.path(), options(Hasty::default())).unwrap();
    let followed = follower.chain("default").unwrap().grouping("g").unwrap();
    let check = |expected: &str| {
        assert_eq!(by_index(&grouping), expected);
        assert_eq!(by_index(&followed), expected);
    };
    check("1 b, 2 c, 3 a");
    merge_fill_runs(&chain);
    check("1 b, 2 c, 3 a");
    let filled = chain.height();

    put(&grouping, "b", 4);
    check("2 c, 3 a, 4 b");
    grouping.clear().unwrap();
    check("");
    put(&grouping, "c", 5);
    write_run(&chain);
    while chain.run_background_step().unwrap() {}
    check("5 c");
    let then = chain.snapshot_at(filled).unwrap();
    assert_eq!(then.count("g", Scan::index("v")).unwrap(), 3);
    store.close().unwrap();
    let (_store, _, grouping) = open(directory.path());
    assert_eq!(by_index(&grouping), "5 c");
}

/// There was a moment at which the runs of a new index counted, and the index did not yet; after a crash it was filled
/// once more, and no merge could cope with two entries of one birth.
#[test]
fn a_crash_at_any_point_of_the_creation_of_an_index_leaves_a_store_that_works() {
    let directory = TempDir::new().unwrap();
    let (root, copies) = (directory.path().join("store"), directory.path().join("copies"));
    let creating = Arc::new(AtomicBool::new(false));
    let changes = Arc::new(Mutex::new(Vec::new()));
    let storage = Hasty::watched({
        let (creating, changes) = (Arc::clone(&creating), Arc::clone(&changes));
        let (root, copies) = (root.clone(), copies.clone());
        move |change| {
            if creating.load(Ordering::Relaxed) {
                let mut changes = changes.lock().unwrap();
                copy_directory(&root, &copies.join(changes.len().to_string())).unwrap();
                changes.push(change);
            }
        }
    });
    let store = Store::open(&root, options(storage)).unwrap();
    let chain = store.chain("default").unwrap();
    let grouping = chain.grouping("g").unwrap();
    put(&grouping, "a", 3);
    write_run(&chain);
    put(&grouping, "b", 1);
    put(&grouping, "c", 2);
    creating.store(true, Ordering::Relaxed);
    create_index(&grouping);
    creating.store(false, Ordering::Relaxed);

    let changes = changes.lock().unwrap();
    let renamings = changes.iter().filter(|change| **change == Change::Rename).count();
    assert_eq!(renamings, 1, "the manifest names the runs and says that the index is filled in one step");
    for (number, change) in changes.iter().enumerate() {
        let (_store, chain, grouping) = open(&copies.join(number.to_string()));
        let found = chain.recovery();
        assert!(found.damage.is_none() && found.cut.is_none(), "before {number}, {change:?}: {found:?}");
        if grouping.index("v").is_err() {
            create_index(&grouping);
        }
        assert_eq!(by_index(&grouping), "1 b, 2 c, 3 a", "before {number}, {change:?}");
        put(&grouping, "c", 4);
        grouping.delete(b"a").unwrap();
        merge_fill_runs(&chain);
        assert_eq!(by_index(&grouping), "1 b, 4 c", "before {number}, {change:?}");
    }
}

/// Runs that fill an index may merge with others only when a run comes after them; merging stood still until then, however
/// many they were.
#[test]
fn fill_runs_merge_among_themselves_before_a_run_comes_after_them() {
    const UNITS: i64 = 2_000;
    let directory = TempDir::new().unwrap();
    let (_store, chain, grouping) = open(directory.path());
    for value in 0..UNITS {
        put(&grouping, &format!("key {}", value * 7919 % UNITS), value);
    }
    create_index(&grouping);
    let check = || assert_eq!(grouping.count(Scan::index("v")).unwrap(), UNITS as u64);
    assert!(fill_runs(&chain) > 4, "{:?}", chain.stats().runs);
    check();
    while chain.run_background_step().unwrap() {}
    assert_eq!(fill_runs(&chain), 1, "{:?}", chain.stats().runs);
    check();
    merge_fill_runs(&chain);
    check();
}

/// Tells other threads when this one leaves, also by a panic.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Two threads wrote the same delta as a run, and the second one took the next delta off unwritten.
#[test]
fn background_steps_may_be_taken_by_several_threads() {
    const UNITS: i64 = 5_000;
    let directory = TempDir::new().unwrap();
    let (store, chain, grouping) = open(directory.path());
    create_index(&grouping);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    if !chain.run_background_step().unwrap() {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let _ending = Ending(&ended);
        for value in 0..UNITS {
            put(&grouping, &format!("key {value}"), value);
        }
    });
    let check = |grouping: &Grouping| {
        assert_eq!(grouping.count(Scan::units()).unwrap(), UNITS as u64);
        assert_eq!(grouping.count(Scan::index("v")).unwrap(), UNITS as u64);
    };
    check(&grouping);
    chain.drain().unwrap();
    check(&grouping);
    store.close().unwrap();
    let (_store, chain, grouping) = open(directory.path());
    assert!(chain.recovery().replayed < UNITS as u64, "there are runs");
    check(&grouping);
}

/// A commit that asks about duplicates while an index is being filled must not make scans leap over entries that come with
/// the filling.
#[test]
fn what_a_commit_sees_of_an_unfilled_index_is_not_remembered() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), StoreOptions::default().durability(Durability::Process)).unwrap();
    let chain = store.chain("default").unwrap();
    let grouping = chain.grouping("g").unwrap();
    for number in 0..100 {
        grouping.put(format!("u{number:02}").as_bytes(), Content::json(r#"{"s":"NEW"}"#)).unwrap();
    }
    let definition = IndexDefinition::json("s");
    let asking = WriteOptions::default().report_duplicates();
    let mut first = true;
    let progress = &mut |_| {
        if std::mem::take(&mut first) {
            for number in (1..100).step_by(2) {
                grouping.put(format!("u{number:02}").as_bytes(), Content::json(r#"{"s":"DONE"}"#)).unwrap();
            }
            let mut transaction = chain.begin();
            transaction.put(&grouping, b"u02", Content::json(r#"{"s":"OTHER"}"#)).unwrap();
            transaction.put(&grouping, b"x", Content::json(r#"{"s":"NEW"}"#)).unwrap();
            transaction.commit_with(asking).unwrap();
        }
    };
    grouping.create_index("s", definition.clone(), progress).unwrap();
    let new = key_from_json(&definition, &["\"NEW\""]).unwrap();
    assert_eq!(grouping.count(Scan::index("s").prefix(new)).unwrap(), 50);
}
