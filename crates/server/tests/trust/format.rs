//! Format version 1 opens for ever: a small store of it is kept in the tree, with what must be found in it.
//!
//! `tests/fixtures/format-1` was made by [`make`] below, and is never made again:
//!
//! ```text
//! cargo test -p immuxdb --test trust format::make -- --ignored
//! ```
//!
//! A later format gets a directory, and a maker, of its own; this one stays.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libimmuxdb::index::{IndexDefinition, Sparse};
use libimmuxdb::{Background, Chain, Content, Durability, Height, Scan, Snapshot, Store, StoreOptions};

use crate::command::Place;
use crate::support::site::{copy_directory, files, length};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1")
}

fn options() -> StoreOptions {
    // So little memory that a few commits make a run.
    StoreOptions::default().memory_limit(32 << 10).durability(Durability::Process)
}

/// All that can be read of a chain: groupings, indexes, units and their order at several heights, every version.
fn listing(chain: &Arc<Chain>) -> String {
    let mut out = String::new();
    let newest = chain.height();
    writeln!(out, "height {newest}").unwrap();
    for height in 1..=newest.0 {
        writeln!(out, "time of {height}: {}", chain.time_of(Height(height)).unwrap().0).unwrap();
    }
    for info in chain.groupings() {
        let grouping = chain.grouping(&info.name).unwrap();
        writeln!(out, "grouping {:?} {} since {}", info.name, info.id.0, info.created).unwrap();
        let indexes = grouping.indexes();
        for index in &indexes {
            writeln!(out, " index {:?} {} since {}: {}", index.name, index.id.0, index.since, index.definition)
                .unwrap();
        }
        let mut keys = Vec::new();
        for height in [newest.0, newest.0 / 2] {
            let snapshot = chain.snapshot_at(Height(height)).unwrap();
            writeln!(out, " at {height}").unwrap();
            let orderings = indexes.iter().filter(|index| index.since <= Height(height));
            list(&mut out, &snapshot, &info.name, "units", Scan::units());
            for index in orderings {
                list(&mut out, &snapshot, &info.name, &index.name, Scan::index(&index.name));
            }
            let units = snapshot.scan(&info.name, Scan::units()).unwrap();
            keys.extend(units.map(|unit| unit.unwrap().key));
        }
        keys.sort();
        keys.dedup();
        for key in keys {
            writeln!(out, " unit {}", key.escape_ascii()).unwrap();
            for version in grouping.inspect(&key).unwrap().map(Result::unwrap) {
                let content = version.content.escape_ascii();
                writeln!(out, "  {} {} {:?} {content}", version.height, version.time.0, version.kind).unwrap();
            }
        }
    }
    out
}

fn list(out: &mut String, snapshot: &Snapshot, grouping: &str, name: &str, scan: Scan) {
    let units = snapshot.scan(grouping, scan).unwrap().map(Result::unwrap);
    let keys: Vec<_> = units.map(|unit| format!("{}@{}", unit.key.escape_ascii(), unit.height)).collect();
    writeln!(out, "  {name}: {}", keys.join(" ")).unwrap();
}

/// A copy of the fixture, to be written to.
fn copy() -> (Place, PathBuf) {
    let place = Place::new();
    let root = place.path().join("store");
    copy_directory(&fixture().join("store"), &root);
    (place, root)
}

fn expected() -> String {
    fs::read_to_string(fixture().join("listing.txt")).unwrap()
}

#[track_caller]
fn check(store: &Store) {
    let chain = store.chain("default").unwrap();
    assert_eq!(chain.recovery().ignored_runs, 0, "{:?}", chain.recovery());
    assert!(listing(&chain) == expected(), "what is found differs from what was written");
}

#[test]
fn version_1_is_read() {
    let total: u64 = files(&fixture()).iter().map(|path| length(path)).sum();
    assert!(total < 100_000, "{total}");
    let runs = files(&fixture()).iter().filter(|path| path.to_string_lossy().contains("run-")).count();
    assert!(runs >= 2, "{runs}");
    check(&Store::open_read_only(fixture().join("store"), options()).unwrap());
    let root = fixture().join("store");
    let verified = Place::new().run(&["verify", "--data-root", root.to_str().unwrap()]);
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
}

#[test]
fn version_1_is_written_to() {
    let (place, root) = copy();
    let store = Store::open(&root, options()).unwrap();
    check(&store);
    let chain = store.chain("default").unwrap();
    let people = chain.grouping("people").unwrap();
    for n in 0..200 {
        people
            .put(format!("new {n}").as_bytes(), Content::json(&format!(r#"{{"city":"Brno","age":1000{n}}}"#)))
            .unwrap();
    }
    chain.drain().unwrap();
    drop((people, chain));
    store.close().unwrap();
    assert_eq!(place.run(&["verify", "--data-root", "store"]).code, 0);
}

/// The index is made again from the log alone.
#[test]
fn version_1_is_derived_again() {
    let (_place, root) = copy();
    fs::remove_dir_all(root.join("default/log.idx")).unwrap();
    check(&Store::open_read_only(&root, options()).unwrap());
    let store = Store::open(&root, options()).unwrap();
    check(&store);
    store.close().unwrap();
    check(&Store::open_read_only(&root, options()).unwrap());
}

#[test]
fn version_1_is_restored_from_a_backup() {
    let place = Place::new();
    let backup = fixture().join("backup");
    place.prints(&["restore", backup.to_str().unwrap(), "new"]);
    let store = Store::open_read_only(place.path().join("new"), options()).unwrap();
    let chain = store.chain("default").unwrap();
    assert!(listing(&chain) == expected());
}

/// Writes the fixture, where there is none.
#[test]
#[ignore = "the fixture was made once, and stays as it is"]
fn make() {
    assert!(!fixture().exists(), "the fixture is never made again");
    let root = fixture().join("store");
    for session in 0..3_u64 {
        // The first two sessions merge their runs, the last one leaves several.
        let store = Store::open(&root, StoreOptions { background: Background::Manual, ..options() }).unwrap();
        let chain = store.chain("default").unwrap();
        let (people, raw) = (chain.grouping("people").unwrap(), chain.grouping("raw records").unwrap());
        if session == 0 {
            people.create_index("city", IndexDefinition::json("city"), &mut |_| {}).unwrap();
            let age: IndexDefinition = "json:-age,name.last unique sparse".parse().unwrap();
            people.create_index("age", age, &mut |_| {}).unwrap();
            raw.create_index("part", "raw:2+3,-0+1 filler=0x20".parse().unwrap(), &mut |_| {}).unwrap();
            people.create_index("dropped", IndexDefinition::json("x"), &mut |_| {}).unwrap();
        }
        for n in session * 20..session * 20 + 25 {
            let city = ["Brno", "Praha", "Ústí", "Bern"][(n % 4) as usize];
            let age = if n % 7 == 0 { "null".to_owned() } else { format!("{n}.5") };
            let content = format!(r#"{{"city":"{city}","age":{age},"name":{{"last":"N{n}"}}}}"#);
            people.put(format!("p{}", n % 30).as_bytes(), Content::json(&content)).unwrap();
            raw.put(&[0, n as u8 % 15, 0xff], Content::raw(format!("{}  {:03}\0", n % 3, n % 11).as_bytes())).unwrap();
            if n % 9 == 8 {
                people.delete(format!("p{}", n % 30).as_bytes()).unwrap();
            }
        }
        if session == 1 {
            people.drop_index("dropped").unwrap();
            raw.clear().unwrap();
            raw.put(b"after", Content::raw(b"9 after")).unwrap();
            people
                .create_index(
                    "late",
                    IndexDefinition { sparse: Sparse::Missing, ..IndexDefinition::json("age") },
                    &mut |_| {},
                )
                .unwrap();
            people.revert(b"p3", Height(14)).unwrap();
        }
        let mut both = chain.begin();
        both.put(&people, b"p1", Content::json(r#"{"city":"Bern"}"#)).unwrap();
        both.put(&raw, b"", Content::raw(b"")).unwrap();
        both.set_actor("maker");
        both.commit().unwrap();
        while session < 2 && chain.run_background_step().unwrap() {}
        drop((people, raw, chain));
        store.close().unwrap();
    }
    let store = Store::open_read_only(&root, options()).unwrap();
    fs::write(fixture().join("listing.txt"), listing(&store.chain("default").unwrap())).unwrap();
    let (root, backup) = (root.to_str().unwrap().to_owned(), fixture().join("backup"));
    Place::new().prints(&["backup", backup.to_str().unwrap(), "--data-root", &root]);
}
