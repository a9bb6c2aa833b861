//! `immuxdb repair`: what is whole is saved, with its heights and times; what is not is listed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Chain, Content, Height, Scan, Store, VersionKind};
use serde_json::Value;

use crate::command::Place;
use crate::support::ledger::{GROUPING, check_all};
use crate::support::site::{find, flip_bit, length, little_memory, log_only, overwrite};
use crate::support::{Ledger, Site};

const HEIGHT: u64 = 2000;

/// A repaired store, and what the command said.
struct Repaired {
    place: Place,
    /// One for each loss, then one for the chain.
    objects: Vec<Value>,
}

impl Repaired {
    /// Repairs; the damaged store must stay as it is, and the new one must be sound.
    #[track_caller]
    fn of(site: &Site) -> Repaired {
        let before = fs::read(site.log()).unwrap();
        let place = Place::new();
        let root = site.root();
        let arguments = ["repair", root.to_str().unwrap(), "new", "--json", "--memory-limit", "256KiB"];
        let outcome = place.run(&arguments);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
        assert!(fs::read(site.log()).unwrap() == before);
        let objects = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let verified = place.run(&["verify", "--data-root", "new"]);
        assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
        Repaired { place, objects }
    }

    fn losses(&self) -> &[Value] {
        &self.objects[..self.objects.len() - 1]
    }

    fn counts(&self) -> (u64, u64, u64) {
        let summary = self.objects.last().unwrap();
        let count = |name: &str| summary[name].as_u64().unwrap();
        (count("whole_commits"), count("commits_in_part"), count("lost_commits"))
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("new")
    }

    fn open(&self) -> (Store, Arc<Chain>) {
        open(&self.root())
    }
}

fn open(root: &Path) -> (Store, Arc<Chain>) {
    let store = Store::open_read_only(root, little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    (store, chain)
}

fn body_of(site: &Site, height: u64) -> u64 {
    find(&site.log(), format!(r#"{{"height":{height},"#).as_bytes())
}

#[test]
fn a_sound_store_becomes_one_like_it() {
    let site = Site::with_ledger(HEIGHT);
    let repaired = Repaired::of(&site);
    assert_eq!((repaired.losses().len(), repaired.counts()), (0, (HEIGHT, 0, 0)));
    assert!(!repaired.root().join("default/log.lost").exists());
    let (_original, before) = site.open_to_read().unwrap();
    let (_store, chain) = repaired.open();
    assert_eq!(chain.height(), before.height());
    check_all(&chain);
    for height in 1..=HEIGHT {
        assert_eq!(chain.time_of(Height(height)).unwrap(), before.time_of(Height(height)).unwrap(), "height {height}");
    }
    // It is a log of its own: an index of the old one does not fit it.
    assert_ne!(fs::read(site.log()).unwrap()[24..40], fs::read(repaired.root().join("default/log")).unwrap()[24..40]);
    // And it goes on.
    drop((_store, chain));
    let store = Store::open(repaired.root(), little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    Ledger::at(HEIGHT).commit_to(&chain, HEIGHT + 10);
    check_all(&chain);
}

#[test]
fn one_operation_is_lost() {
    let site = Site::with_ledger(HEIGHT);
    let intact = site.copy();
    flip_bit(&site.log(), body_of(&site, 150) + 4, 1);
    let repaired = Repaired::of(&site);
    assert_eq!(repaired.counts(), (HEIGHT - 1, 1, 0));
    let [loss, unit] = repaired.losses() else { panic!("{:?}", repaired.losses()) };
    assert_eq!((&loss["height"], &loss["grouping"]), (&150.into(), &GROUPING.into()));
    assert!(loss["lost"].as_str().unwrap().starts_with("operation 0: the checksum of the body is wrong"), "{loss}");
    assert_eq!((&unit["height"], &unit["key"]), (&150.into(), &loss["key"]));
    let key = loss["key"].as_str().unwrap().as_bytes();
    let listed = fs::read_to_string(repaired.root().join("default/log.lost")).unwrap();
    assert_eq!(listed.lines().count(), 2);

    let (_original, before) = intact.open_to_read().unwrap();
    let (_store, chain) = repaired.open();
    assert_eq!(chain.height(), before.height());
    Ledger::at(149).check(&chain.snapshot_at(Height(149)).unwrap());
    // All other versions of that unit are there, and the other unit of that commit.
    let heights = |chain: &Arc<Chain>| -> Vec<u64> {
        let versions = chain.grouping(GROUPING).unwrap().inspect(key).unwrap();
        versions.map(|version| version.unwrap().height.0).collect()
    };
    let mut expected = heights(&before);
    expected.retain(|height| *height != 150);
    assert_eq!(heights(&chain), expected);
    let last = chain.snapshot_at(Height(150)).unwrap().get(GROUPING, b"last").unwrap().unwrap();
    assert_eq!(last.height.0, 150);
}

#[test]
fn whole_commits_are_lost() {
    for with_index in [true, false] {
        let site = Site::with_ledger(HEIGHT);
        if !with_index {
            fs::remove_dir_all(site.index()).unwrap();
        }
        let intact = site.copy();
        let (from, to) = (body_of(&site, 300), body_of(&site, 310));
        overwrite(&site.log(), from, &vec![0xaa; (to - from) as usize]);
        let repaired = Repaired::of(&site);
        // Of height 300 only one body is left.
        assert_eq!(repaired.counts(), (HEIGHT - 11, 0, 11), "{:?}", repaired.losses());
        let losses = repaired.losses();
        let range = losses.iter().find(|loss| loss["last_height"].is_u64()).unwrap();
        assert_eq!((&range["height"], &range["last_height"]), (&301.into(), &310.into()));
        assert!(range["offset"].as_u64().unwrap() < to && range["bytes"].as_u64().unwrap() > to - from - 1000);
        // Two operations each; those whose units were written again are known from later commits, all of them from runs.
        let units = losses.iter().filter(|loss| loss["key"].is_string() && loss["height"].as_u64() > Some(300)).count();
        assert!(units == 20 || !with_index && units >= 10, "{units} {losses:?}");
        let (_store, chain) = repaired.open();
        assert_eq!(chain.height().0, HEIGHT);
        Ledger::at(299).check(&chain.snapshot_at(Height(299)).unwrap());
        // All units were written again since, so the end is as it was.
        let units = |chain: &Arc<Chain>| -> Vec<_> {
            let units = chain.snapshot().unwrap().scan(GROUPING, Scan::units()).unwrap();
            units.map(|unit| unit.map(|unit| (unit.key, unit.height, unit.content)).unwrap()).collect()
        };
        assert_eq!(units(&chain), units(&intact.open_to_read().unwrap().1));
        // The lost heights are there, with nothing in them.
        let at = |height| chain.snapshot_at(Height(height)).unwrap().get(GROUPING, b"last").unwrap().unwrap().height.0;
        assert_eq!((at(299), at(305), at(310), at(311)), (299, 299, 299, 311));
    }
}

#[test]
fn the_end_is_lost() {
    let site = Site::with_log_only(300);
    let from = body_of(&site, 250);
    overwrite(&site.log(), from, &vec![0x55; (length(&site.log()) - from) as usize]);
    let repaired = Repaired::of(&site);
    assert_eq!(repaired.objects.last().unwrap()["height"], 250);
    assert!(repaired.losses().iter().any(|loss| loss["lost"].as_str().unwrap().contains("nothing whole follows")));
    let (_store, chain) = repaired.open();
    Ledger::at(249).check(&chain.snapshot_at(Height(249)).unwrap());
}

#[test]
fn the_header_is_lost() {
    let site = Site::with_ledger(HEIGHT);
    flip_bit(&site.log(), 30, 3);
    let repaired = Repaired::of(&site);
    assert_eq!(repaired.counts(), (HEIGHT, 0, 0));
    assert!(repaired.losses()[0]["lost"].as_str().unwrap().contains("its id was taken from the manifest"));
    check_all(&repaired.open().1);
    fs::remove_dir_all(site.index()).unwrap();
    let place = Place::new();
    let said = place.fails(1, &["repair", site.root().to_str().unwrap(), "new"]);
    assert!(said.contains("the checksum of the log's header is wrong"), "{said}");
}

/// The deletion that made room for a unique value is lost.
#[test]
fn a_unique_value_is_there_twice() {
    let site = Site::new();
    let (store, chain) = site.open(&log_only()).unwrap();
    let people = chain.grouping("people").unwrap();
    let index = IndexDefinition { unique: true, ..IndexDefinition::json("mail") };
    people.create_index("mail", index, &mut |_| {}).unwrap();
    people.put(b"ada", Content::json(r#"{"mail":"a@b"}"#)).unwrap();
    let deletion = length(&site.log());
    people.delete(b"ada").unwrap();
    people.put(b"bob", Content::json(r#"{"mail":"a@b"}"#)).unwrap();
    drop((people, chain));
    store.close().unwrap();
    flip_bit(&site.log(), deletion + 20, 2);
    let repaired = Repaired::of(&site);
    assert_eq!(repaired.counts(), (3, 0, 1));
    assert!(
        repaired.losses().iter().any(|loss| loss["lost"].as_str().unwrap().starts_with("index \"mail\" was unique"))
    );
    let (_store, chain) = repaired.open();
    let keys: Vec<_> =
        chain.snapshot().unwrap().scan("people", Scan::index("mail")).unwrap().map(|unit| unit.unwrap().key).collect();
    assert_eq!(keys, [b"ada", b"bob"]);
    assert!(!chain.grouping("people").unwrap().indexes()[0].definition.unique);
}

/// Deletions, clears, raw records, dropped indexes: all kinds of operations come back.
#[test]
fn all_kinds_of_operations() {
    let site = Site::new();
    let (store, chain) = site.open(&log_only()).unwrap();
    let (a, b) = (chain.grouping("a").unwrap(), chain.grouping("b").unwrap());
    a.put(b"1", Content::raw(b"\0\x01raw")).unwrap();
    b.put(b"1", Content::json("{\"n\":1}")).unwrap();
    b.create_index("n", IndexDefinition::json("n"), &mut |_| {}).unwrap();
    b.create_index("gone", IndexDefinition::json("x"), &mut |_| {}).unwrap();
    b.drop_index("gone").unwrap();
    a.delete(b"1").unwrap();
    b.clear().unwrap();
    b.put(b"2", Content::json("{\"n\":2}")).unwrap();
    let mut both = chain.begin();
    both.put(&a, b"3", Content::raw(b"three")).unwrap();
    both.put(&b, b"3", Content::json("{\"n\":0}")).unwrap();
    both.commit().unwrap();
    drop((a, b, chain));
    store.close().unwrap();
    let repaired = Repaired::of(&site);
    assert_eq!((repaired.losses().len(), repaired.counts()), (0, (9, 0, 0)));
    let (_store, chain) = repaired.open();
    let b = chain.grouping("b").unwrap();
    assert_eq!(b.indexes().iter().map(|index| index.name.as_str()).collect::<Vec<_>>(), ["n"]);
    let snapshot = chain.snapshot().unwrap();
    let by_n: Vec<_> = snapshot.scan("b", Scan::index("n")).unwrap().map(|unit| unit.unwrap().key).collect();
    assert_eq!(by_n, [b"3", b"2"]);
    let then = chain.snapshot_at(Height(5)).unwrap().get("a", b"1").unwrap().unwrap();
    assert_eq!((then.kind, then.content.as_slice()), (VersionKind::Raw, &b"\0\x01raw"[..]));
    assert!(snapshot.get("a", b"1").unwrap().is_none());
}

#[test]
fn where_something_is() {
    let site = Site::with_log_only(20);
    let place = Place::new();
    let root = site.root();
    place.file("new/something", "here");
    let said = place.fails(2, &["repair", root.to_str().unwrap(), "new"]);
    assert!(said.starts_with("error: there is something at new\n help: "), "{said}");
    assert!(place.fails(3, &["repair", "nowhere", "other"]).contains("there is no store at nowhere"));
    // A single log. What a failed attempt leaves is nothing.
    let log = site.log();
    std::fs::create_dir(place.path().join("alone.idx")).unwrap();
    let said = place.prints(&["repair", log.to_str().unwrap(), "alone"]);
    assert!(
        said.ends_with("20 whole commits up to height 20 saved into alone, 0 in part, 0 lost; nothing is missing\n"),
        "{said}"
    );
    assert_eq!(place.run(&["verify", "--log", "alone"]).code, 0);
    assert!(place.fails(1, &["repair", log.to_str().unwrap(), "alone"]).contains("there is something at alone"));
}
