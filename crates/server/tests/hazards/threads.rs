//! Many threads read while one writes, and the background writes and merges runs; results are checked against the ledger.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use libimmuxdb::Height;

use crate::support::site::little_memory;
use crate::support::{Ledger, Numbers, Site};

#[test]
fn many_readers_beside_one_writer() {
    let site = Site::new();
    let (store, chain) = site.open(&little_memory()).unwrap();
    let mut ledger = Ledger::default();
    ledger.commit_next(&chain).unwrap();
    let (done, checked) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..12 {
            let (chain, done, checked) = (&chain, &done, &checked);
            scope.spawn(move || {
                let mut numbers = Numbers(thread);
                let mut newest = Ledger::default();
                while !done.load(Ordering::Relaxed) {
                    let snapshot = chain.snapshot().unwrap();
                    newest.advance(snapshot.height().0);
                    newest.check(&snapshot);
                    // And some height before it.
                    let earlier = 1 + numbers.below(snapshot.height().0);
                    Ledger::at(earlier).check(&chain.snapshot_at(Height(earlier)).unwrap());
                    checked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        ledger.commit_to(&chain, 6000);
        while checked.load(Ordering::Relaxed) < 60 {
            let to = ledger.height() + 10;
            ledger.commit_to(&chain, to);
        }
        done.store(true, Ordering::Relaxed);
    });
    chain.drain().unwrap();
    assert!(!chain.stats().runs.is_empty());
    drop(chain);
    store.close().unwrap();
    site.check_and_go_on(ledger.height());
}
