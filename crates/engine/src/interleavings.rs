//! Parts that threads share, each alone with the threads that use it: small enough that thousands of schedules come to
//! most of the ways in which their steps can mix.
//!
//! Each function is one history, to be told again and again by a scheduler. It panics where what it promises is broken,
//! and takes the mistake that must be found as an argument.

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicBool, AtomicU64, Ordering as Atomic};
use shuttle::thread;

use crate::chain::dead::{DeadStretches, Place, Stretch};
use crate::error::Error;
use crate::log::turn::SyncTurn;
pub use crate::sync::scheduled::with_forgetful_conditions;
use crate::types::{Birth, GroupingId, Height, IndexId};

/// Threads write, and sync what they wrote, each for itself or by another's sync. One sync at a time; whoever comes back
/// finds its commit durable; nobody waits for ever, also when the first sync fails.
pub fn group_commit(threads: u64, first_fails: bool) {
    let turn = Arc::new(SyncTurn::default());
    let (written, durable) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (busy, fails) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(first_fails)));
    let commit = move || {
        let through = written.fetch_add(1, Atomic::SeqCst) + 1;
        let sync = || {
            assert!(!busy.swap(true, Atomic::SeqCst), "two threads sync at once");
            let end = written.load(Atomic::SeqCst);
            thread::yield_now();
            let failed = fails.swap(false, Atomic::SeqCst);
            if !failed {
                durable.store(end, Atomic::SeqCst);
            }
            busy.store(false, Atomic::SeqCst);
            if failed { Err(Error::Poisoned("the sync failed".to_owned())) } else { Ok(()) }
        };
        let synced = turn.lead_unless(|| Ok(durable.load(Atomic::SeqCst) >= through), sync);
        assert!(synced.is_err() || durable.load(Atomic::SeqCst) >= through, "a commit came back before its sync");
        synced.is_err()
    };
    let waiting: Vec<_> = (0..threads).map(|_| thread::spawn(commit.clone())).collect();
    let failed = waiting.into_iter().filter_map(|thread| thread.join().ok()).filter(|failed| *failed).count();
    assert_eq!(failed, usize::from(first_fails), "one sync fails, and one thread hears of it");
}

/// Scans remember that all is dead between two key values, while commits add entries there. Nobody leaps over an entry
/// that it can see. With `said_late`, commits say that they add entries only after they did.
pub fn dead_stretches(said_late: bool) {
    const GROUPING: GroupingId = GroupingId(1);
    const INDEX: IndexId = IndexId(1);
    const OLD: u64 = 10;
    const NEW: u64 = 12;

    fn place(key: &str, height: u64) -> Place {
        (key.as_bytes().to_vec(), Birth::new(Height(height), 0))
    }

    let dead = Arc::new(DeadStretches::default());
    dead.apply(Height(OLD));
    let visible = Arc::new(AtomicU64::new(OLD));
    let look = {
        let (dead, visible) = (Arc::clone(&dead), Arc::clone(&visible));
        move || {
            let at = visible.load(Atomic::Acquire);
            for height in OLD + 1..=at {
                let leapt = dead.around(GROUPING, INDEX, &place("b", height), Height(at));
                assert_eq!(leapt, None, "a scan at height {at} leaps over the entry that was born at {height}");
            }
            at
        }
    };
    let scan = {
        let (dead, look) = (Arc::clone(&dead), look.clone());
        move || {
            // From the first commit on a scan finds living entries, and no such stretch.
            if look() == OLD {
                let stretch = Stretch { end: place("c", 1), since: Height(OLD) };
                dead.remember(GROUPING, INDEX, place("a", 1), stretch, Height(OLD));
            }
            look();
        }
    };
    let commit = move || {
        for height in OLD + 1..=NEW {
            if !said_late {
                dead.apply(Height(height));
            }
            dead.born(GROUPING, INDEX, b"b", Birth::new(Height(height), 0));
            if said_late {
                dead.apply(Height(height));
            }
            visible.fetch_max(height, Atomic::Release);
        }
    };
    let threads = [thread::spawn(commit), thread::spawn(scan.clone()), thread::spawn(scan)];
    assert!(threads.into_iter().map(thread::JoinHandle::join).all(|outcome| outcome.is_ok()));
    look();
}
