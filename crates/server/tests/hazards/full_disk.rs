//! A full disk: at commits, at writing a run, at merging, at the manifest, at opening, at making an index.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Content, Durability, Error, Scan, StoreOptions};

use crate::command::{Place, outcome};
use crate::support::ledger::{GROUPING, check_all};
use crate::support::site::{little_memory, log_only};
use crate::support::tight::Tight;
use crate::support::{Ledger, Site, is_root, skip};

fn no_log(name: &str, _length: u64) -> bool {
    name != "log"
}

fn no_runs(name: &str, _length: u64) -> bool {
    !name.starts_with("run-")
}

fn no_large_runs(name: &str, length: u64) -> bool {
    no_runs(name, length) || length < 56 << 10
}

fn no_manifest(name: &str, _length: u64) -> bool {
    name != "manifest.new"
}

fn nothing(_name: &str, _length: u64) -> bool {
    false
}

#[track_caller]
fn assert_no_space<T: std::fmt::Debug>(result: libimmuxdb::Result<T>) {
    assert!(matches!(result, Err(Error::NoSpace { .. })), "{result:?}");
}

/// Commits go on within a few seconds, as they do when the background has found space again.
fn commit_when_there_is_space(ledger: &mut Ledger, chain: &std::sync::Arc<libimmuxdb::Chain>) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while let Err(error) = ledger.commit_next(chain) {
        assert!(matches!(error, Error::NoSpace { .. }) && Instant::now() < deadline, "{error}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn at_a_commit() {
    for level in [Durability::Process, Durability::Sync] {
        let (site, tight) = (Site::new(), Tight::new(no_log));
        let (store, chain) = site.open(&tight.with(&log_only().durability(level))).unwrap();
        let mut ledger = Ledger::default();
        ledger.commit_to(&chain, 50);
        tight.set_full(true);
        for _ in 0..3 {
            let refused = ledger.commit_next(&chain);
            assert_eq!(
                refused.unwrap_err().to_string(),
                format!("no space is left on the device of {}", site.log().display())
            );
        }
        check_all(&chain);
        assert_eq!(chain.height().0, 50);
        // What another process sees, too.
        let (_reader, followed) = site.open_to_read().unwrap();
        assert_eq!(followed.height().0, 50);
        check_all(&followed);
        tight.set_full(false);
        ledger.commit_to(&chain, 100);
        check_all(&chain);
        assert_eq!(followed.refresh().unwrap().0, 100);
        check_all(&followed);
        site.copy().check_and_go_on(100);
        drop(chain);
        store.close().unwrap();
        site.check_and_go_on(100);
    }
}

#[test]
fn at_buffered_commits() {
    let (site, tight) = (Site::new(), Tight::new(no_log));
    let (store, chain) = site.open(&tight.with(&log_only().durability(Durability::Buffered))).unwrap();
    let mut ledger = Ledger::default();
    ledger.commit_to(&chain, 10);
    tight.set_full(true);
    // They are in memory for a while, and are not lost when that is full.
    while ledger.commit_next(&chain).is_ok() {
        assert!(ledger.height() < 1_000_000);
    }
    let height = ledger.height();
    assert!(height > 10);
    assert_no_space(ledger.commit_next(&chain));
    assert_no_space(chain.sync());
    check_all(&chain);
    tight.set_full(false);
    ledger.commit_to(&chain, height + 10);
    chain.sync().unwrap();
    site.copy().check_and_go_on(height + 10);
    drop(chain);
    store.close().unwrap();
    site.check_and_go_on(height + 10);
}

#[test]
fn at_writing_a_run() {
    at_background_work(no_runs);
}

#[test]
fn at_the_manifest() {
    at_background_work(no_manifest);
}

fn at_background_work(fits: fn(&str, u64) -> bool) {
    let (site, tight) = (Site::new(), Tight::new(fits));
    let (store, chain) = site.open(&tight.with(&little_memory())).unwrap();
    let mut ledger = Ledger::default();
    ledger.commit_to(&chain, 600);
    chain.drain().unwrap();
    tight.set_full(true);
    // Memory takes some more commits; then they are refused, so that it stays bounded.
    let refused = loop {
        match ledger.commit_next(&chain) {
            Ok(_) => assert!(ledger.height() < 20_000, "nothing is refused"),
            Err(error) => break error,
        }
    };
    assert!(refused.to_string().starts_with("no space is left on the device of "), "{refused}");
    assert!(chain.stats().frozen <= 4, "{:?}", chain.stats());
    assert_no_space(chain.drain());
    check_all(&chain);
    // A kill now, and an opening when there is space.
    site.copy().check_and_go_on(ledger.height());
    tight.set_full(false);
    commit_when_there_is_space(&mut ledger, &chain);
    let height = ledger.height() + 600;
    ledger.commit_to(&chain, height);
    chain.drain().unwrap();
    check_all(&chain);
    drop(chain);
    store.close().unwrap();
    site.check_and_go_on(height);
}

#[test]
fn at_merging() {
    let (site, tight) = (Site::new(), Tight::new(no_large_runs));
    let (store, chain) = site.open(&tight.with(&little_memory())).unwrap();
    tight.set_full(true);
    let mut ledger = Ledger::default();
    // Small runs fit, merged ones do not: commits are not refused for that.
    ledger.commit_to(&chain, 6000);
    assert_no_space(chain.drain());
    check_all(&chain);
    let runs = chain.stats().runs.len();
    assert!(runs > 4, "{runs}");
    site.copy().check_and_go_on(6000);
    tight.set_full(false);
    let deadline = Instant::now() + Duration::from_secs(10);
    while chain.drain().is_err() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(chain.stats().runs.len() < runs);
    check_all(&chain);
    drop(chain);
    store.close().unwrap();
    // Nothing is left of merges that failed.
    let (_store, chain) = site.open_to_read().unwrap();
    assert_eq!(site.runs().len(), chain.stats().runs.len());
    site.check_and_go_on(6000);
}

#[test]
fn at_opening() {
    let site = Site::with_ledger(1000);
    let tight = Tight::new(nothing);
    tight.set_full(true);
    assert_no_space(site.open(&tight.with(&little_memory())).map(|_| ()));
    // Reading needs no space.
    let (_store, chain) = site.open_to_read().unwrap();
    check_all(&chain);
    site.check_and_go_on(1000);
}

#[test]
fn at_opening_after_a_kill() {
    let site = Site::new();
    let (_store, chain) = site.open(&log_only()).unwrap();
    Ledger::default().commit_to(&chain, 1000);
    let killed = site.copy();
    // The replay wants to write runs, and an unfinished frame to be saved.
    std::fs::write(killed.log(), [std::fs::read(site.log()).unwrap(), vec![7; 100]].concat()).unwrap();
    let tight = Tight::new(nothing);
    tight.set_full(true);
    for options in [little_memory(), log_only()] {
        assert_no_space(killed.open(&tight.with(&options)).map(|_| ()));
    }
    let (_store, chain) = killed.open_to_read().unwrap();
    check_all(&chain);
    killed.check_and_go_on(1000);
    assert_eq!(killed.tails().len(), 1);
}

#[test]
fn at_closing() {
    let (site, tight) = (Site::new(), Tight::new(no_runs));
    let (store, chain) = site.open(&tight.with(&little_memory())).unwrap();
    let mut ledger = Ledger::default();
    ledger.commit_to(&chain, 500);
    tight.set_full(true);
    while ledger.commit_next(&chain).is_ok() {}
    drop(chain);
    // A run that cannot be written costs the next opening time, and nothing else.
    store.close().unwrap();
    site.check_and_go_on(ledger.height());
}

#[test]
fn at_making_an_index() {
    for fits in [no_runs as fn(&str, u64) -> bool, nothing] {
        let (site, tight) = (Site::new(), Tight::new(fits));
        let options = tight.with(&StoreOptions::default().durability(Durability::Process));
        let (store, chain) = site.open(&options).unwrap();
        let mut ledger = Ledger::default();
        ledger.commit_to(&chain, 500);
        let grouping = chain.grouping(GROUPING).unwrap();
        tight.set_full(true);
        let made = grouping.create_index("height", IndexDefinition::json("height"), &mut |_| {});
        assert_no_space(made);
        assert!(grouping.index("height").is_err(), "an index that was refused is not there");
        check_all_units(&grouping);
        tight.set_full(false);
        grouping.create_index("height", IndexDefinition::json("height"), &mut |_| {}).unwrap();
        assert_eq!(grouping.count(Scan::index("height")).unwrap(), grouping.count(Scan::units()).unwrap());
        drop((chain, grouping));
        store.close().unwrap();
    }
}

fn check_all_units(grouping: &libimmuxdb::Grouping) {
    for unit in grouping.scan(Scan::units()).unwrap() {
        let unit = unit.unwrap();
        assert_eq!(grouping.get(&unit.key).unwrap(), Some(unit));
    }
}

/// Without threads a writer writes the oldest delta itself; that this fails must not make a commit look undone.
#[test]
fn at_a_run_that_the_writer_writes_itself() {
    let (site, tight) = (Site::new(), Tight::new(no_runs));
    let mut options = little_memory();
    options.background = libimmuxdb::Background::Manual;
    let (_store, chain) = site.open(&tight.with(&options)).unwrap();
    let mut ledger = Ledger::default();
    ledger.commit_to(&chain, 500);
    tight.set_full(true);
    while ledger.commit_next(&chain).is_ok() {
        assert!(ledger.height() < 20_000, "nothing is refused");
    }
    assert_eq!(chain.height().0, ledger.height(), "a commit that was refused did not happen");
}

/// A device of its own, of a few megabytes; gone at the end of the test.
struct Device(PathBuf);

impl Device {
    /// `None` where this process may mount nothing.
    fn mount(at: &Path, options: &str) -> Option<Device> {
        std::fs::create_dir_all(at).unwrap();
        let mounted = is_root()
            && Command::new("mount")
                .args(["-t", "tmpfs", "-o", options, "tmpfs"])
                .arg(at)
                .output()
                .is_ok_and(|output| output.status.success());
        mounted.then(|| Device(at.to_owned()))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn rows(count: usize) -> String {
    let row = |number| format!("{{\"id\": {number}, \"city\": {}, \"pad\": \"{}\"}}\n", number % 7, "x".repeat(200));
    (0..count).map(row).collect()
}

/// The command on a real device of 6 MB, with rows of 9 MB.
#[test]
fn of_a_device() {
    let place = Place::new();
    let Some(device) = Device::mount(&place.path().join("device"), "size=6m") else {
        return skip("a small device can be mounted by root only");
    };
    place.file("rows.ndjson", rows(30_000));
    let root = "device/store";
    let load = ["load", "rows.ndjson", "--grouping", "g", "--key", "id", "--data-root", root];
    for durability in ["process", "sync", "buffered"] {
        let failed =
            place.run(&[&load[..], &["--index", "city=json:city", "--durability", durability, "--json"]].concat());
        assert_eq!(failed.code, 1, "{failed:?}");
        assert!(failed.err.starts_with("error: no space is left on the device of device/store/"), "{}", failed.err);
        assert!(failed.err.contains("\n help: make space and try again; what was committed is safe"), "{}", failed.err);
        // On a full device the chain may not even be opened; then nothing was loaded.
        let loaded = serde_json::from_str(&failed.out).unwrap_or(serde_json::json!({"inserted": 0}));
        let units = place.objects(&["groupings", "--count", "--data-root", root])[0]["units"].as_u64().unwrap();
        if durability != "buffered" {
            assert!(units >= loaded["inserted"].as_u64().unwrap(), "{loaded} {units}");
        }
        assert!(units > 5000 && units < 30_000, "{units}");
        let by_index =
            place.prints(&["scan", "g", "--index", "city", "--limit", "100000", "--json", "--data-root", root]);
        assert_eq!(by_index.lines().count() as u64, units);
    }
    // There is space again.
    let larger = Command::new("mount").args(["-o", "remount,size=40m"]).arg(&device.0).status().unwrap();
    assert!(larger.success());
    place.prints(&load);
    assert_eq!(place.objects(&["groupings", "--count", "--data-root", root])[0]["units"], 30_000);
}

/// `ulimit -f`: a limit of each file's length.
#[test]
fn of_a_file_size_limit() {
    let place = Place::new();
    place.file("rows.ndjson", rows(20_000));
    let line = format!(
        "trap '' XFSZ; ulimit -f 2048; exec {} load rows.ndjson --grouping g --key id --durability process",
        env!("CARGO_BIN_EXE_immuxdb")
    );
    let failed = outcome(Command::new("sh").args(["-c", &line]).current_dir(place.path()).output().unwrap());
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(
        failed.err.starts_with("error: no space is left on the device of ./immuxdb-data/default/log\n"),
        "{}",
        failed.err
    );
    let units = place.objects(&["groupings", "--count"])[0]["units"].as_u64().unwrap();
    assert!(units > 1000 && units < 20_000, "{units}");
    place.prints(&["load", "rows.ndjson", "--grouping", "g", "--key", "id"]);
    assert_eq!(place.objects(&["groupings", "--count"])[0]["units"], 20_000);
}

/// A run that would be longer than the limit of the file size: the writer goes on when there is space.
#[test]
fn contents_of_a_commit_that_does_not_fit() {
    let (site, tight) = (Site::new(), Tight::new(|name, length| name != "log" || length < 100 << 10));
    let (store, chain) = site.open(&tight.with(&log_only())).unwrap();
    tight.set_full(true);
    let grouping = chain.grouping("g").unwrap();
    grouping.put(b"small", Content::raw(b"1")).unwrap();
    assert_no_space(grouping.put(b"large", Content::raw(&vec![1; 200 << 10])));
    // What is small still fits, at the place of what did not.
    grouping.put(b"small", Content::raw(b"2")).unwrap();
    drop((chain, grouping));
    store.close().unwrap();
    let (_store, chain) = site.open(&log_only()).unwrap();
    assert!(chain.recovery().cut.is_none());
    let grouping = chain.grouping("g").unwrap();
    assert_eq!(grouping.inspect(b"small").unwrap().count(), 2);
    assert_eq!(grouping.get(b"large").unwrap(), None);
}
