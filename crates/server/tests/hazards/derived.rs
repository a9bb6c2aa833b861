//! What is derived from the log is swapped, lost or damaged: it is made again, and everything is answered.

use std::fs;
use std::path::Path;

use crate::support::ledger::check_all;
use crate::support::site::{copy_directory, cut_to, flip_bit, length, little_memory, overwrite};
use crate::support::{Ledger, Numbers, Site};

const HEIGHT: u64 = 3000;

/// A store with the ledger in several runs, and a little of it in the log alone.
fn site() -> Site {
    // How runs are merged depends on the moment.
    let sites = [400, 300, 200, 100].into_iter().map(|rest| {
        let site = Site::with_ledger(HEIGHT - rest);
        site.write_ledger(&little_memory(), HEIGHT - 40);
        let (store, chain) = site.open(&little_memory()).unwrap();
        Ledger::at(HEIGHT - 40).commit_to(&chain, HEIGHT);
        drop(chain);
        store.close().unwrap();
        site
    });
    sites.into_iter().find(|site| site.runs().len() > 1).expect("several runs")
}

/// Opens it, where something was lost; says how many runs were not used, and how many commits were replayed.
#[track_caller]
fn check_made_again(site: &Site, height: u64) -> (u64, u64) {
    let (reader, chain) = site.open_to_read().unwrap();
    assert_eq!(chain.height().0, height);
    check_all(&chain);
    drop((reader, chain));
    let (store, chain) = site.open(&little_memory()).unwrap();
    let recovery = chain.recovery();
    let found = (recovery.ignored_runs, recovery.replayed);
    assert_eq!(recovery.damage, None);
    check_all(&chain);
    Ledger::at(height).commit_to(&chain, height + 10);
    drop(chain);
    store.close().unwrap();
    // It was made again once, and for all.
    let (_store, chain) = site.open(&little_memory()).unwrap();
    assert_eq!(chain.recovery().ignored_runs, 0);
    assert!(chain.recovery().replayed < 1000, "{:?}", chain.recovery());
    check_all(&chain);
    found
}

/// An old copy of the log beside the newer index.
#[test]
fn an_old_log_beside_a_newer_index() {
    for old_height in [0, 1, 500, 2000] {
        let site = Site::new();
        site.write_ledger(&little_memory(), old_height);
        let old = fs::read(site.log()).unwrap();
        site.write_ledger(&little_memory(), HEIGHT);
        fs::write(site.log(), &old).unwrap();
        let (ignored, replayed) = check_made_again(&site, old_height);
        assert!(ignored > 0, "the report says so");
        assert!(replayed <= old_height);
    }
}

/// The old copy went on for itself, to the same height as the one that was lost.
#[test]
fn a_log_that_went_another_way() {
    let site = Site::with_ledger(1000);
    let old = fs::read(site.log()).unwrap();
    site.write_ledger(&little_memory(), HEIGHT);
    let newer_index = site.copy();
    fs::write(site.log(), &old).unwrap();
    site.write_ledger(&little_memory(), HEIGHT);
    assert_ne!(fs::read(site.log()).unwrap(), fs::read(newer_index.log()).unwrap());
    fs::remove_dir_all(site.index()).unwrap();
    copy_directory(&newer_index.index(), &site.index());
    let (ignored, _) = check_made_again(&site, HEIGHT);
    assert!(ignored > 0, "the report says so");
}

#[test]
fn the_index_of_another_store() {
    let (site, other) = (site(), Site::with_ledger(2000));
    fs::remove_dir_all(site.index()).unwrap();
    copy_directory(&other.index(), &site.index());
    let (ignored, replayed) = check_made_again(&site, HEIGHT);
    assert!(ignored > 0, "the report says so");
    assert_eq!(replayed, HEIGHT);
    // And its log beside our index.
    fs::copy(site.log(), other.log()).unwrap();
    check_made_again(&other, HEIGHT + 10);
}

#[test]
fn an_old_index_beside_a_newer_log() {
    let site = Site::with_ledger(1500);
    let old = site.copy();
    site.write_ledger(&little_memory(), HEIGHT);
    fs::remove_dir_all(site.index()).unwrap();
    copy_directory(&old.index(), &site.index());
    let (ignored, replayed) = check_made_again(&site, HEIGHT);
    assert_eq!(ignored, 0);
    assert!(replayed >= HEIGHT - 1500);
}

#[test]
fn one_run_of_another_store() {
    let (site, other) = (site(), site());
    for (ours, theirs) in site.runs().iter().zip(other.runs()) {
        fs::copy(theirs, ours).unwrap();
    }
    let (ignored, _) = check_made_again(&site, HEIGHT);
    assert!(ignored > 0, "the report says so");
}

#[test]
fn everything_is_gone() {
    let site = site();
    fs::remove_dir_all(site.index()).unwrap();
    assert_eq!(check_made_again(&site, HEIGHT), (0, HEIGHT));
}

/// What can happen to a file.
type Harm = (&'static str, fn(&Path));

/// Each of them.
const HARMS: [Harm; 8] = [
    ("removed", |path| fs::remove_file(path).unwrap()),
    ("emptied", |path| cut_to(path, 0)),
    ("cut in half", |path| cut_to(path, length(path) / 2)),
    ("cut by a byte", |path| cut_to(path, length(path) - 1)),
    ("longer by a byte", |path| cut_to(path, length(path) + 1)),
    ("zeroed", |path| overwrite(path, 0, &vec![0; length(path) as usize])),
    ("overwritten with text", |path| fs::write(path, "This is a text.\n".repeat(1000)).unwrap()),
    ("of another format", |path| overwrite(path, 8, &[9])),
];

#[test]
fn the_manifest() {
    let site = site();
    for (harm, inflict) in HARMS {
        let copy = site.copy();
        inflict(&copy.index().join("manifest"));
        let (ignored, replayed) = check_made_again(&copy, HEIGHT);
        assert!(ignored > 0 || harm == "removed", "{harm}: the report says so");
        assert_eq!(replayed, HEIGHT, "{harm}");
    }
}

#[test]
fn a_bit_of_the_manifest() {
    let site = site();
    let mut numbers = Numbers(1);
    for _ in 0..20 {
        let copy = site.copy();
        let manifest = copy.index().join("manifest");
        flip_bit(&manifest, numbers.below(length(&manifest)), numbers.below(8) as u32);
        let (ignored, _) = check_made_again(&copy, HEIGHT);
        assert!(ignored > 0, "the report says so");
    }
}

#[test]
fn a_run() {
    let site = site();
    let runs = site.runs().len();
    for (harm, inflict) in HARMS {
        for number in [0, runs - 1] {
            let copy = site.copy();
            inflict(&copy.runs()[number]);
            let (ignored, replayed) = check_made_again(&copy, HEIGHT);
            assert!(ignored > 0, "{harm}: the report says so");
            assert!(replayed > 0, "{harm}");
        }
    }
}

/// One bit of a run: where opening does not see it, reading does; it never gives a wrong answer, and the next opening
/// makes the run again.
#[test]
fn a_bit_of_a_run() {
    let site = site();
    let mut numbers = Numbers(2);
    for _ in 0..60 {
        let copy = site.copy();
        let runs = copy.runs();
        let run = &runs[numbers.below(runs.len() as u64) as usize];
        let offset = numbers.below(length(run));
        flip_bit(run, offset, numbers.below(8) as u32);
        let what = format!("{} at {offset} of {}", run.display(), length(run));
        let (store, chain) = copy.open(&little_memory()).unwrap();
        let read = read_everything(&chain);
        drop(chain);
        let closed = store.close();
        if let Err(error) = &read {
            assert!(error.starts_with(run.to_str().unwrap()), "{what}: {error}");
        }
        // However it was found, it is gone now.
        let (_store, chain) = copy.open(&little_memory()).unwrap();
        let again = read_everything(&chain);
        assert_eq!(again, Ok(()), "{what}: first {read:?}, {closed:?}");
    }
}

/// Reads all units and the index at the newest height; what is read is right.
fn read_everything(chain: &std::sync::Arc<libimmuxdb::Chain>) -> Result<(), String> {
    let text = |error: libimmuxdb::Error| error.to_string();
    let snapshot = chain.snapshot().map_err(text)?;
    for scan in [libimmuxdb::Scan::units(), libimmuxdb::Scan::index(crate::support::ledger::INDEX)] {
        for unit in snapshot.scan(crate::support::ledger::GROUPING, scan).map_err(text)? {
            let unit = unit.map_err(text)?;
            snapshot.get(crate::support::ledger::GROUPING, &unit.key).map_err(text)?;
        }
    }
    Ledger::at(snapshot.height().0).check(&snapshot);
    Ok(())
}

/// A damaged run that the background merges: the error is clear, and after an opening all is well.
#[test]
fn a_bit_of_a_run_that_is_merged() {
    let site = site();
    let run = site.runs()[0].clone();
    flip_bit(&run, 200, 0);
    // Enough to merge all runs.
    for _ in 0..2 {
        let (store, chain) = site.open(&little_memory()).unwrap();
        let mut ledger = Ledger::at(chain.height().0);
        let to = ledger.height() + 4000;
        while ledger.height() < to && ledger.commit_next(&chain).is_ok() {}
        drop(chain);
        let _ = store.close();
    }
    let (_store, chain) = site.open(&little_memory()).unwrap();
    check_all(&chain);
    let mut ledger = Ledger::at(chain.height().0);
    let to = ledger.height() + 2000;
    ledger.commit_to(&chain, to);
    chain.drain().unwrap();
    check_all(&chain);
}

/// A manifest that says to be larger than any memory.
#[test]
fn an_immense_manifest() {
    let site = site();
    cut_to(&site.index().join("manifest"), 1 << 43);
    let place = crate::command::Place::new();
    let root = site.root();
    let outcome = place.run(&["stats", "--data-root", root.to_str().unwrap()]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    check_made_again(&site, HEIGHT);
}

/// The command says what was made again.
#[test]
fn the_command_says_so() {
    let site = Site::with_ledger(1000);
    let newest = site.runs().pop().unwrap();
    cut_to(&newest, 100);
    let place = crate::command::Place::new();
    let root = site.root();
    let outcome = place.run(&["put", "g", "k", "1", "--data-root", root.to_str().unwrap()]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.contains("not fit the log, and"), "{}", outcome.err);
}
