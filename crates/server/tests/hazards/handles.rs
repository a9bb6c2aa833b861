//! Handles that are used in unexpected ways, and directories that go away.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libimmuxdb::{Chain, Content, Error, Scan, Store};

use crate::support::ledger::{GROUPING, INDEX, check_all};
use crate::support::site::{little_memory, log_only};
use crate::support::{Ledger, Site, Worker};

#[test]
fn two_stores_in_one_process() {
    let site = Site::with_ledger(500);
    let (store, chain) = site.open(&little_memory()).unwrap();
    let second = Store::open(site.root(), little_memory()).unwrap();
    match second.chain("default").map(|_| ()) {
        Err(Error::Held { path, holder }) => {
            assert_eq!((path, holder), (site.log(), Some(format!("process {}", std::process::id()))));
        }
        other => panic!("{other:?}"),
    }
    // Another chain is free, and so is reading.
    second.chain("other").unwrap().grouping("g").unwrap().put(b"k", Content::json("1")).unwrap();
    let (_reader, read) = site.open_to_read().unwrap();
    Ledger::at(500).commit_to(&chain, 600);
    check_all(&read);
    // A reader that is closed takes no lock with it.
    drop((read, _reader));
    assert!(matches!(second.chain("default").map(|_| ()), Err(Error::Held { .. })));
    drop(chain);
    store.close().unwrap();
    assert_eq!(second.chain("default").unwrap().height().0, 600);
}

#[test]
fn the_same_chain_twice() {
    let site = Site::with_ledger(100);
    let (store, chain) = site.open(&little_memory()).unwrap();
    let again = store.chain("default").unwrap();
    assert!(Arc::ptr_eq(&chain, &again));
    Ledger::at(100).commit_to(&again, 110);
    assert_eq!(chain.height().0, 110);
}

/// What was handed out reads on after the store is closed; it writes no more.
#[test]
fn closed_with_everything_in_use() {
    let site = Site::with_ledger(2000);
    let (store, chain) = site.open(&little_memory()).unwrap();
    let mut ledger = Ledger::at(2000);
    ledger.commit_to(&chain, 2100);
    let snapshot = chain.snapshot().unwrap();
    let mut units = snapshot.scan(GROUPING, Scan::units()).unwrap();
    let mut by_index = snapshot.scan(GROUPING, Scan::index(INDEX)).unwrap();
    let mut versions = chain.grouping(GROUPING).unwrap().inspect(b"last").unwrap();
    for _ in 0..5 {
        units.next().unwrap().unwrap();
        by_index.next().unwrap().unwrap();
        versions.next().unwrap().unwrap();
    }
    let open = chain.begin();
    store.close().unwrap();
    let refused = ledger.commit_next(&chain);
    assert!(matches!(refused, Err(Error::ReadOnly(_))), "{refused:?}");
    assert!(open.commit().is_err());
    ledger.check(&snapshot);
    assert_eq!(
        units.map(Result::unwrap).count() + 5,
        chain.grouping(GROUPING).unwrap().count(Scan::units()).unwrap() as usize
    );
    assert!(by_index.map(Result::unwrap).count() > 50);
    assert_eq!(versions.map(Result::unwrap).count() + 5, 2099);
    // The lock is free, though handles are left.
    let (_store, next) = site.open(&little_memory()).unwrap();
    ledger.commit_to(&next, 2200);
    check_all(&next);
    // The old handles still read what they read.
    Ledger::at(2100).check(&snapshot);
    check_all(&chain);
}

/// Closed, dropped and closed: whatever comes first counts, the rest does nothing.
#[test]
fn closed_twice() {
    let site = Site::with_ledger(300);
    let (store, chain) = site.open(&little_memory()).unwrap();
    store.close().unwrap();
    let (next_store, next) = site.open(&little_memory()).unwrap();
    // Dropping the last handle of the chain that was closed leaves the next writer alone.
    drop(chain);
    Ledger::at(300).commit_to(&next, 400);
    assert!(matches!(site.open(&little_memory()).map(|_| ()), Err(Error::Held { .. })));
    drop(next);
    next_store.close().unwrap();
    site.check_and_go_on(400);
}

/// A process that is being started shares the descriptors of the one that starts it, for a moment: the lock must be gone
/// with the handle all the same.
#[test]
fn closed_while_processes_are_started() {
    let site = Site::with_ledger(100);
    let owner = fs::metadata(site.path()).unwrap().uid();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // Something to be done in the child makes the standard library fork.
                    let mut command = Command::new("true");
                    command.current_dir("/").uid(owner).spawn().unwrap().wait().unwrap();
                }
            });
        }
        let opened = (0..60).try_for_each(|_| {
            let (store, chain) = site.open(&log_only())?;
            drop(chain);
            store.close()
        });
        done.store(true, Ordering::Relaxed);
        opened.unwrap();
    });
}

/// A store that is dropped, while a snapshot and a scan still hold its chain: the chain is open until they go.
#[test]
fn dropped_with_snapshots_and_scans() {
    let site = Site::with_ledger(1000);
    let (store, chain) = site.open(&little_memory()).unwrap();
    Ledger::at(1000).commit_to(&chain, 1100);
    let snapshot = chain.snapshot().unwrap();
    let units = snapshot.scan(GROUPING, Scan::index(INDEX)).unwrap();
    drop((store, chain));
    assert!(matches!(site.open(&little_memory()).map(|_| ()), Err(Error::Held { .. })));
    Ledger::at(1100).check(&snapshot);
    drop(snapshot);
    assert!(units.map(Result::unwrap).count() > 50);
    // Now the last one is gone.
    site.check_and_go_on(1100);
}

/// The directory gets another name while it is open: the log is written on, and what needs the name says so.
#[test]
fn renamed_while_open() {
    let site = Site::with_ledger(1000);
    let (store, chain) = site.open(&little_memory()).unwrap();
    let moved = site.path().join("moved");
    fs::rename(site.root(), &moved).unwrap();
    let mut ledger = Ledger::at(1000);
    let error = loop {
        match ledger.commit_next(&chain) {
            Ok(_) => assert!(ledger.height() < 30_000, "nothing is refused"),
            Err(error) => break error,
        }
    };
    let acknowledged = ledger.height();
    let text = error.to_string();
    assert!(text.contains("No such file or directory") && text.contains("reopen the store to recover"), "{text}");
    check_all(&chain);
    assert!(!site.root().exists(), "nothing is made at the old place");
    drop(chain);
    let _ = store.close();
    fs::rename(&moved, site.root()).unwrap();
    site.check_and_go_on(acknowledged);
}

#[test]
fn removed_while_open() {
    let site = Site::with_ledger(1000);
    let (store, chain) = site.open(&little_memory()).unwrap();
    let (_reader, read) = site.open_to_read().unwrap();
    fs::remove_dir_all(site.root()).unwrap();
    let mut ledger = Ledger::at(1000);
    let error = loop {
        match ledger.commit_next(&chain) {
            Ok(_) => assert!(ledger.height() < 30_000, "nothing is refused"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("No such file or directory"), "{error}");
    // What is open can be read to its end.
    check_all(&chain);
    check_all(&read);
    drop(chain);
    let _ = store.close();
    // Another store can be made at this place, and the old handles do not harm it.
    site.write_ledger(&little_memory(), 50);
    site.check_and_go_on(50);
}

/// The index directory is removed while it is open.
#[test]
fn the_index_removed_while_open() {
    let site = Site::with_ledger(1000);
    let (store, chain) = site.open(&little_memory()).unwrap();
    fs::remove_dir_all(site.index()).unwrap();
    let mut ledger = Ledger::at(1000);
    while ledger.height() < 5000 && ledger.commit_next(&chain).is_ok() {}
    check_all(&chain);
    drop(chain);
    let _ = store.close();
    site.check_and_go_on(ledger.height());
}

/// What a process holds: descriptors, and bytes of runs that are removed but still mapped.
fn held(site: &Site) -> (usize, usize) {
    let root = site.root();
    let root = root.to_str().unwrap();
    let descriptors = fs::read_dir("/proc/self/fd").unwrap();
    let descriptors = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let descriptors = descriptors.filter(|target| target.starts_with(root)).count();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let removed = maps.lines().filter(|line| line.contains(root) && line.ends_with("(deleted)"));
    (descriptors, removed.count())
}

/// A scan is held open while runs are written and merged again and again: it goes on rightly, and keeps no files.
#[test]
fn a_long_scan_over_many_merges() {
    if !fs::exists("/proc/self/fd").unwrap() {
        return crate::support::skip("this system has no /proc");
    }
    let site = Site::with_ledger(1000);
    let (_store, chain): (Store, Arc<Chain>) = site.open(&little_memory()).unwrap();
    let mut ledger = Ledger::at(1000);
    let snapshot = chain.snapshot().unwrap();
    let mut units = snapshot.scan(GROUPING, Scan::units()).unwrap();
    let mut by_index = snapshot.scan(GROUPING, Scan::index(INDEX)).unwrap();
    let (mut read_units, mut read_by_index) = (Vec::new(), Vec::new());
    let mut most = (0, 0);
    for _ in 0..24 {
        let to = ledger.height() + 250;
        ledger.commit_to(&chain, to);
        for _ in 0..3 {
            read_units.extend(units.next().map(Result::unwrap));
            read_by_index.extend(by_index.next().map(Result::unwrap));
        }
        chain.drain().unwrap();
        let (descriptors, removed) = held(&site);
        most = (most.0.max(descriptors), most.1.max(removed));
    }
    assert!(most.0 <= 16 && most.1 <= 16, "{most:?} descriptors and removed files");
    read_units.extend(units.map(Result::unwrap));
    read_by_index.extend(by_index.map(Result::unwrap));
    assert_eq!(read_units, snapshot.scan(GROUPING, Scan::units()).unwrap().map(Result::unwrap).collect::<Vec<_>>());
    assert_eq!(
        read_by_index,
        snapshot.scan(GROUPING, Scan::index(INDEX)).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    );
    Ledger::at(1000).check(&snapshot);
    drop(snapshot);
    assert!(held(&site).1 <= 1, "{:?}", held(&site));
}

/// A follower that never reads keeps as little when it does.
#[test]
fn a_reader_that_looks_seldom() {
    let site = Site::with_ledger(1000);
    let (_store, read) = site.open_to_read().unwrap();
    let scan = read.snapshot().unwrap().scan(GROUPING, Scan::index(INDEX)).unwrap();
    Worker::writer(&site.root(), 9000).finish();
    assert_eq!(scan.map(Result::unwrap).count(), {
        let at = read.snapshot_at(libimmuxdb::Height(1000)).unwrap();
        at.count(GROUPING, Scan::units()).unwrap() as usize
    });
    check_all(&read);
    assert!(read.stats().frozen <= 4, "{:?}", read.stats());
    let (descriptors, removed) = held(&site);
    assert!(descriptors <= 8 && removed <= 8, "{descriptors} descriptors, {removed} removed files");
}
