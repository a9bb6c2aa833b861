//! `immuxdb backup` and `immuxdb restore`: beside writers, after kills, at every byte; and what they refuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libimmuxdb::{Chain, Content, Height, Store};
use serde_json::Value;

use crate::command::{Outcome, Place};
use crate::support::ledger::{GROUPING, check_all};
use crate::support::site::{copy_directory, cut_to, files, flip_bit, length, little_memory, log_only, overwrite};
use crate::support::{Ledger, Numbers, Site, Worker};

/// A place with a backup, `backup`, of a site.
struct Kept {
    place: Place,
}

impl Kept {
    fn new() -> Kept {
        Kept { place: Place::new() }
    }

    fn try_run(&self, site: &Site) -> Outcome {
        let root = site.root();
        self.place.run(&["backup", "backup", "--json", "--data-root", root.to_str().unwrap()])
    }

    /// Backs up; gives what the command says.
    #[track_caller]
    fn run(&self, site: &Site) -> Value {
        let outcome = self.try_run(site);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
        serde_json::from_str(&outcome.out).unwrap()
    }

    /// Backing up must be refused, and change nothing. Gives the reason.
    #[track_caller]
    fn refuses(&self, site: &Site) -> String {
        let before = self.bytes();
        let outcome = self.try_run(site);
        assert_eq!((outcome.code, outcome.out.as_str()), (1, ""), "{}", outcome.err);
        assert!(self.bytes() == before, "nothing is changed");
        outcome.err
    }

    fn bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(&self.root()).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("backup")
    }

    fn log(&self) -> PathBuf {
        self.root().join("default/log")
    }

    /// Restores into a new directory, verifies that, and opens it.
    #[track_caller]
    fn restore(&self, name: &str, more: &[&str]) -> (Store, Arc<Chain>) {
        let outcome = self.place.run(&[&["restore", "backup", name, "--json"], more].concat());
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
        let said: Value = serde_json::from_str(&outcome.out).unwrap();
        let verified = self.place.run(&["verify", "--data-root", name]);
        assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
        let (store, chain) = open(&self.place.path().join(name));
        assert_eq!(said["height"], chain.height().0);
        (store, chain)
    }
}

fn open(root: &Path) -> (Store, Arc<Chain>) {
    let store = Store::open_read_only(root, little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    assert_eq!(chain.recovery().damage, None);
    (store, chain)
}

/// The frames of two logs are the same, byte for byte, up to the end of the shorter one.
#[track_caller]
fn assert_prefix(copy: &Path, of: &Path) {
    let (copy, of) = (fs::read(copy).unwrap(), fs::read(of).unwrap());
    assert!(copy.len() <= of.len() && copy[4096..] == of[4096..copy.len()]);
    assert!(copy[..68] == of[..68]);
}

#[test]
fn a_backup_grows_with_the_log() {
    let (site, kept) = (Site::with_ledger(1000), Kept::new());
    let first = kept.run(&site);
    assert_eq!((&first["height"], &first["parts"], first.get("since_height")), (&1000.into(), &1.into(), None));
    assert_eq!(first["bytes"], length(&site.log()));
    for (run, height) in [(2, 1001), (3, 1500), (4, 3000)] {
        site.write_ledger(&little_memory(), height);
        let added = kept.run(&site);
        assert_eq!((&added["height"], &added["parts"]), (&height.into(), &run.into()));
        assert!(added["copied_bytes"].as_u64() < added["bytes"].as_u64());
        assert_prefix(&kept.log(), &site.log());
        check_all(&open(&kept.root()).1);
    }
    let nothing = kept.run(&site);
    assert_eq!((&nothing["copied_bytes"], &nothing["parts"]), (&0.into(), &4.into()));
    assert_eq!(kept.place.run(&["verify", "--data-root", "backup"]).code, 0);

    let (_store, chain) = kept.restore("all", &[]);
    check_all(&chain);
    assert!(
        fs::read(kept.place.path().join("all/default/log")).unwrap()[4096..] == fs::read(site.log()).unwrap()[4096..]
    );
    // It goes on as a store.
    drop((_store, chain));
    let store = Store::open(kept.place.path().join("all"), little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    Ledger::at(3000).commit_to(&chain, 3100);
    check_all(&chain);
}

#[test]
fn restored_to_a_height_or_a_time() {
    let (site, kept) = (Site::with_ledger(800), Kept::new());
    kept.run(&site);
    site.write_ledger(&little_memory(), 1200);
    kept.run(&site);
    let (_store, original) = site.open_to_read().unwrap();
    for height in [1, 2, 500, 800, 801, 1200] {
        let (_store, chain) = kept.restore(&format!("at {height}"), &["--at", &height.to_string()]);
        assert_eq!(chain.height().0, height);
        Ledger::at(height).check(&chain.snapshot().unwrap());
        assert_eq!(chain.time_of(Height(height)).unwrap(), original.time_of(Height(height)).unwrap());
        assert_prefix(&kept.place.path().join(format!("at {height}/default/log")), &site.log());
    }
    let time = original.time_of(Height(600)).unwrap();
    let history = kept.place.objects(&["history", GROUPING, "last", "--data-root", "backup"]);
    let text = history.iter().find(|version| version["height"] == 600).unwrap()["time"].as_str().unwrap();
    let (_store, chain) = kept.restore("by time", &["--at", text]);
    assert_eq!(chain.height(), original.height_at(time).unwrap());
    assert!(
        kept.place.fails(1, &["restore", "backup", "x", "--at", "1201"]).contains("height 1201 is not in this chain")
    );
    assert!(
        kept.place
            .fails(1, &["restore", "backup", "x", "--at", "1999-01-01T00:00:00Z"])
            .contains("no commit is so old")
    );
    assert!(kept.place.fails(2, &["restore", "backup", "by time"]).contains("there is something at"));
    assert!(kept.place.fails(3, &["restore", "nowhere", "x"]).contains("there is no backup at nowhere"));
}

/// While another process writes, and merges runs.
#[test]
fn beside_a_writer() {
    let (site, kept) = (Site::new(), Kept::new());
    let mut writer = Worker::writer(&site.root(), 1_000_000);
    writer.wait_for(20);
    let mut last = 0;
    for _ in 0..15 {
        let height = kept.run(&site)["height"].as_u64().unwrap();
        assert!(height >= last.max(20));
        last = height;
        assert_eq!(open(&kept.root()).1.height().0, height);
    }
    let killed = writer.kill().unwrap();
    let height = kept.run(&site)["height"].as_u64().unwrap();
    assert!(height >= killed);
    check_all(&kept.restore("restored", &[]).1);
    // And beside one that goes on after the kill.
    let (store, chain) = site.open(&little_memory()).unwrap();
    Ledger::at(chain.height().0).commit_to(&chain, height + 100);
    assert_eq!(kept.run(&site)["height"], height + 100);
    drop(chain);
    store.close().unwrap();
}

/// Killed at random moments: what was complete before stays, and the next run goes on.
#[test]
fn killed_at_any_moment() {
    let (site, kept) = (Site::new(), Kept::new());
    let mut numbers = Numbers(21);
    let mut complete = 0;
    let root = site.root();
    let arguments = ["backup", "backup", "--data-root", root.to_str().unwrap()];
    let (mut killed, mut height) = (0, 0);
    for round in 0..40 {
        height += 400;
        site.write_ledger(&log_only(), height);
        let begin = Instant::now();
        let mut child = kept.place.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
        let patience = Duration::from_micros(numbers.below(if round % 2 == 0 { 4_000 } else { 20_000 }));
        while begin.elapsed() < patience && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        killed += u64::from(!child.wait().unwrap().success());
        let record = kept.root().join("default/log.backup");
        if record.exists() && kept.log().exists() {
            let (_store, chain) = kept.restore(&format!("round {round}"), &[]);
            assert!(chain.height().0 >= complete, "round {round}");
            complete = chain.height().0;
            check_all(&chain);
        } else {
            assert_eq!(complete, 0, "what was complete is gone");
        }
    }
    assert!(killed > 5, "{killed}");
    assert_eq!(kept.run(&site)["height"], height);
    assert_prefix(&kept.log(), &site.log());
    check_all(&kept.restore("last", &[]).1);
}

/// Each state that a kill can leave: the steps of a run one by one.
#[test]
fn left_between_any_two_steps() {
    let (site, kept) = (Site::with_log_only(100), Kept::new());
    kept.run(&site);
    let record = kept.root().join("default/log.backup");
    let (log_before, record_before) = (fs::read(kept.log()).unwrap(), fs::read(&record).unwrap());
    site.write_ledger(&log_only(), 200);
    kept.run(&site);
    let (log_after, record_after) = (fs::read(kept.log()).unwrap(), fs::read(&record).unwrap());
    let mut states = Vec::new();
    for end in [log_before.len() + 1, log_before.len() + 50, (log_before.len() + log_after.len()) / 2, log_after.len()]
    {
        // Frames behind the end, as far as they came; the slot is written last.
        let mut log = log_after[..end].to_vec();
        log[..4096].copy_from_slice(&log_before[..4096]);
        states.push((log, record_before.clone(), 100));
    }
    // After a loss of power, pages may be zero.
    let mut zeroes = log_before.clone();
    zeroes.resize(log_after.len(), 0);
    states.push((zeroes, record_before.clone(), 100));
    let mut without_slot = log_after.clone();
    without_slot[..4096].copy_from_slice(&log_before[..4096]);
    states.push((without_slot, record_after.clone(), 200));
    for (number, (log, bytes, height)) in states.into_iter().enumerate() {
        let copy = Kept::new();
        copy_directory(&kept.root(), &copy.root());
        fs::write(copy.log(), log).unwrap();
        fs::write(copy.root().join("default/log.backup"), bytes).unwrap();
        fs::write(copy.root().join("default/log.backup.new"), b"half of a rec").unwrap();
        assert_eq!(copy.restore("before", &[]).1.height().0, height, "state {number}");
        assert_eq!(copy.run(&site)["height"], 200, "state {number}");
        assert!(fs::read(copy.log()).unwrap()[4096..] == log_after[4096..], "state {number}");
        check_all(&copy.restore("after", &[]).1);
    }
    // The first run: before the last renaming.
    let first = Kept::new();
    fs::create_dir_all(first.root().join("default")).unwrap();
    fs::write(first.root().join("default/log.copying"), &log_before).unwrap();
    fs::write(first.root().join("default/log.backup"), &record_before).unwrap();
    assert_eq!(first.run(&site)["height"], 200);
    check_all(&first.restore("restored", &[]).1);
}

#[test]
fn what_does_not_belong_together() {
    let (site, kept) = (Site::with_log_only(100), Kept::new());
    kept.run(&site);
    // Another log.
    let other = Site::with_log_only(200);
    assert!(kept.refuses(&other).contains("this is a backup of another log"));
    // The log was put back from an older copy: its history is shorter.
    let older = site.copy();
    site.write_ledger(&log_only(), 150);
    kept.run(&site);
    let said = kept.refuses(&older);
    assert!(said.contains("is shorter than this backup, which has commits up to height 150"), "{said}");
    assert!(said.contains("(they agree at height 100)"), "{said}");
    // And went another way from there.
    older.write_ledger(&log_only(), 400);
    let said = kept.refuses(&older);
    assert!(said.contains("went another way than this backup"), "{said}");
    // Somebody wrote to the backup.
    let written = Kept::new();
    copy_directory(&kept.root(), &written.root());
    let store = Store::open(written.root(), log_only()).unwrap();
    store.chain("default").unwrap().grouping("g").unwrap().put(b"k", Content::raw(b"v")).unwrap();
    store.close().unwrap();
    site.write_ledger(&log_only(), 160);
    let said = written.refuses(&site);
    assert!(said.contains("somebody wrote to this backup"), "{said}");
    // A store is no backup.
    let root = site.root();
    let said = kept.place.fails(1, &["backup", other.root().to_str().unwrap(), "--data-root", root.to_str().unwrap()]);
    assert!(said.contains("a log that is no backup is there"), "{said}");
    // After all that, the right log is backed up.
    assert_eq!(kept.run(&site)["height"], 160);
}

#[test]
fn damage_is_not_passed_on() {
    let (site, kept) = (Site::with_log_only(100), Kept::new());
    kept.run(&site);
    let intact = site.copy();
    intact.write_ledger(&log_only(), 200);
    // In the log, behind what was copied before.
    let damaged = intact.copy();
    let all = length(&damaged.log());
    flip_bit(&damaged.log(), all - 1000, 3);
    let outcome = kept.try_run(&damaged);
    assert_eq!(outcome.code, 1);
    assert!(outcome.err.contains("is damaged at offset"), "{}", outcome.err);
    check_all(&kept.restore("before", &[]).1);
    assert_eq!(kept.run(&intact)["height"], 200);
    // In the backup: any bit of it, that of the record too. A restore notices, and leaves nothing.
    let mut numbers = Numbers(22);
    for _ in 0..25 {
        let copy = Kept::new();
        copy_directory(&kept.root(), &copy.root());
        flip_bit(&copy.log(), 4096 + numbers.below(length(&copy.log()) - 4096), numbers.below(8) as u32);
        assert!(copy.place.fails(1, &["restore", "backup", "new"]).contains("is damaged at offset"));
        assert_eq!(files(&copy.place.path().join("new")), Vec::<PathBuf>::new());
    }
    for lost in [1, 100, 5000] {
        let copy = Kept::new();
        copy_directory(&kept.root(), &copy.root());
        cut_to(&copy.log(), length(&copy.log()) - lost);
        assert!(copy.place.fails(1, &["restore", "backup", "new"]).contains("is damaged at offset"));
        assert!(copy.refuses(&intact).contains("is damaged at offset"));
    }
    let copy = Kept::new();
    copy_directory(&kept.root(), &copy.root());
    overwrite(&copy.root().join("default/log.backup"), 60, &[0xff]);
    assert!(copy.refuses(&intact).contains("the record does not fit its checksum"));
}

/// Several chains; a chain that came later; single logs.
#[test]
fn chains_and_single_logs() {
    let place = Place::new();
    place.run(&["put", "g", "k", "1", "--chain", "one"]);
    place.run(&["put", "g", "k", "1", "--chain", "two"]);
    assert_eq!(place.objects(&["backup", "kept"]).len(), 2);
    place.run(&["put", "g", "k", "2", "--chain", "one"]);
    place.run(&["put", "g", "k", "3", "--chain", "three"]);
    let said = place.objects(&["backup", "kept"]);
    let heights: Vec<_> = said.iter().map(|chain| (chain["chain"].as_str(), chain["height"].as_u64())).collect();
    assert_eq!(heights, [(Some("one"), Some(2)), (Some("three"), Some(1)), (Some("two"), Some(1))]);
    assert_eq!(place.objects(&["backup", "kept", "--chain", "two"]).len(), 1);
    assert!(place.fails(2, &["restore", "kept", "new", "--at", "1"]).contains("each chain has its own heights"));
    assert_eq!(place.objects(&["restore", "kept", "new"]).len(), 3);
    assert_eq!(place.prints(&["get", "g", "k", "--chain", "one", "--data-root", "new"]), "2\n");
    place.prints(&["restore", "kept", "old", "--chain", "one", "--at", "1"]);
    assert_eq!(place.prints(&["get", "g", "k", "--chain", "one", "--data-root", "old"]), "1\n");
    // One log.
    let said = place.prints(&["backup", "single", "--log", "immuxdb-data/one/log"]);
    assert!(said.starts_with("chain immuxdb-data/one/log: backed up; "), "{said}");
    assert!(
        said.contains("nothing new")
            || place.prints(&["backup", "single", "--log", "immuxdb-data/one/log"]).contains("nothing new")
    );
    place.prints(&["restore", "single", "again"]);
    assert_eq!(place.run(&["verify", "--log", "again"]).code, 0);
}
