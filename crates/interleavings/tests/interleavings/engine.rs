//! A whole chain, with the threads of its own background.
//!
//! ```text
//!   pairs   puts the same number into `left` and `right`, in one commit, again and again
//!   single  puts a unit of its own, and syncs
//!   index   makes an index over the numbers, then looks through it
//!   reader  left = right in each snapshot, by unit key and by index; nothing that was acknowledged is missing
//!   flusher, merger: the chain's own. Unit keys are long, so that few commits fill a delta
//! ```

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use immuxdb_interleavings::index::IndexDefinition;
use immuxdb_interleavings::planted::Fault;
use immuxdb_interleavings::{Chain, Content, Durability, Scan, Snapshot, Store, StoreOptions, WriteOptions};
use shuttle::sync::atomic::{AtomicU64, Ordering};
use shuttle::thread;

use crate::memory::{Memory, Still};
use crate::schedules::{explore, must_fail, must_find};
use immuxdb_interleavings::interleavings::with_forgetful_conditions;

const SCHEDULES: usize = 600;
const PAIRS: u64 = 8;
const SINGLES: u64 = 4;
const LOOKS: usize = 3;

fn key(name: &str) -> Vec<u8> {
    format!("{name:-<400}").into_bytes()
}

fn content(number: u64) -> String {
    format!(r#"{{"n":{number}}}"#)
}

fn number(content: &[u8]) -> u64 {
    std::str::from_utf8(content).unwrap().trim_start_matches(r#"{"n":"#).trim_end_matches('}').parse().unwrap()
}

/// The number of both units of the pair.
fn look(snapshot: &Snapshot) -> u64 {
    let get = |name| snapshot.get("pairs", &key(name)).unwrap().map_or(0, |unit| number(&unit.content));
    let (left, right) = (get("left"), get("right"));
    assert_eq!(left, right, "a commit in half, at height {}", snapshot.height());
    left
}

fn look_by_index(snapshot: &Snapshot) {
    let expected = look(snapshot);
    let found = snapshot.scan("pairs", Scan::index("n")).unwrap();
    let found: Vec<u64> = found.map(|unit| number(&unit.unwrap().content)).collect();
    assert_eq!(found, [expected; 2], "by the index, at height {}", snapshot.height());
}

fn put_pair(chain: &Arc<Chain>, number: u64) {
    let pairs = chain.grouping("pairs").unwrap();
    let content = content(number);
    let mut transaction = chain.begin();
    transaction.put(&pairs, &key("left"), Content::json(&content)).unwrap();
    transaction.put(&pairs, &key("right"), Content::json(&content)).unwrap();
    transaction.commit_with(WriteOptions::durability(Durability::Process)).unwrap();
}

fn history() {
    let options = StoreOptions {
        storage: Arc::new(Memory::default()),
        environment: Arc::new(Still),
        memory_limit: 1,
        ..StoreOptions::default()
    };
    // Where a thread panics, its chain is left as it is: closing it would wait for others.
    let store = ManuallyDrop::new(Store::open("store", options.clone()).unwrap());
    let chain = ManuallyDrop::new(store.chain("default").unwrap());
    put_pair(&chain, 1);
    let acknowledged = Arc::new(AtomicU64::new(1));

    let pairs = thread::spawn({
        let (chain, acknowledged) = (ManuallyDrop::new(Arc::clone(&chain)), Arc::clone(&acknowledged));
        move || {
            for number in 2..=PAIRS {
                put_pair(&chain, number);
                acknowledged.store(number, Ordering::SeqCst);
            }
            drop(ManuallyDrop::into_inner(chain));
        }
    });
    let single = thread::spawn({
        let chain = ManuallyDrop::new(Arc::clone(&chain));
        move || {
            for number in 1..=SINGLES {
                let singles = chain.grouping("singles").unwrap().with(WriteOptions::durability(Durability::Sync));
                let committed = singles.put(&key("single"), Content::json(&content(number))).unwrap();
                assert!(chain.synced_height() >= committed.height, "acknowledged before its sync");
            }
            drop(ManuallyDrop::into_inner(chain));
        }
    });
    let index = thread::spawn({
        let chain = ManuallyDrop::new(Arc::clone(&chain));
        move || {
            let pairs = chain.grouping("pairs").unwrap();
            pairs.create_index("n", IndexDefinition::json("n"), &mut |_| {}).unwrap();
            look_by_index(&chain.snapshot().unwrap());
            drop(pairs);
            drop(ManuallyDrop::into_inner(chain));
        }
    });
    let reader = thread::spawn({
        let (chain, acknowledged) = (ManuallyDrop::new(Arc::clone(&chain)), Arc::clone(&acknowledged));
        move || {
            let mut last = 1;
            for _ in 0..LOOKS {
                let least = acknowledged.load(Ordering::SeqCst).max(last);
                last = look(&chain.snapshot().unwrap());
                assert!(last >= least, "{least} was acknowledged or seen, and {last} is read");
            }
            drop(ManuallyDrop::into_inner(chain));
        }
    });
    for thread in [pairs, single, index, reader] {
        thread.join().unwrap();
    }

    chain.drain().unwrap();
    let runs = options.storage.list(Path::new("store/default/log.idx")).unwrap();
    let newest = runs.iter().filter_map(|name| name.strip_prefix("run-")?.parse().ok()).max();
    assert!(newest > Some(chain.stats().runs.len()), "nothing was merged: {runs:?}");
    let snapshot = chain.snapshot().unwrap();
    assert_eq!(look(&snapshot), PAIRS);
    look_by_index(&snapshot);
    drop(snapshot);
    drop(ManuallyDrop::into_inner(chain));
    ManuallyDrop::into_inner(store).close().unwrap();

    let store = Store::open("store", options).unwrap();
    look_by_index(&store.chain("default").unwrap().snapshot().unwrap());
    store.close().unwrap();
}

#[test]
fn readers_writers_runs_and_a_new_index_at_once() {
    explore(SCHEDULES, history);
}

#[test]
fn half_of_a_commit_is_found() {
    must_find(Fault::HalfBatchApplied, &["in half"], || explore(SCHEDULES, history));
}

#[test]
fn a_height_that_is_shown_before_its_commit_is_found() {
    must_find(Fault::PublishedBeforeAppend, &["in half"], || explore(SCHEDULES, history));
}

#[test]
fn a_delta_that_leaves_the_view_too_early_is_found() {
    must_find(Fault::ViewLosesDelta, &["is read", "in half", "by the index"], || explore(SCHEDULES, history));
}

#[test]
fn an_index_that_misses_what_came_while_it_was_filled_is_found() {
    must_find(Fault::FillMissesRewrites, &["by the index"], || explore(SCHEDULES, history));
}

#[test]
fn a_background_that_wakes_only_one_is_found() {
    must_fail("a condition that wakes one of those who wait", &["deadlock"], || {
        with_forgetful_conditions(|| explore(SCHEDULES, history));
    });
}
