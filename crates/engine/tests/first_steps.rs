//! The ways of a write and a read through the real door: the library on real files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use libimmuxdb::index::{IndexDefinition, key_from_json};
use libimmuxdb::{Background, Content, Durability, Error, Height, Scan, Store, StoreOptions, VersionKind};
use tempfile::TempDir;

/// Options under which runs are written every few hundred commits.
fn small(background: Background) -> StoreOptions {
    let mut options = StoreOptions::default().durability(Durability::Process).memory_limit(512 << 10);
    options.background = background;
    options
}

fn keys(store: &Store, grouping: &str, scan: Scan) -> Vec<String> {
    let chain = store.chain("default").unwrap();
    let units = chain.grouping(grouping).unwrap().scan(scan).unwrap();
    units.map(|unit| String::from_utf8(unit.unwrap().key).unwrap()).collect()
}

#[test]
fn versions_are_kept_and_found_after_reopening() {
    let directory = TempDir::new().unwrap();
    for round in 0..2 {
        let store = Store::open(directory.path(), small(Background::Threads)).unwrap();
        let chain = store.chain("default").unwrap();
        let people = chain.grouping("people").unwrap();
        if round == 0 {
            let first = people.insert(b"ada", Content::json(r#"{"age":36}"#)).unwrap();
            assert_eq!(first.height, Height(1));
            assert!(matches!(people.insert(b"ada", Content::raw("x")), Err(Error::UnitExists { height: Height(1) })));
            assert!(matches!(people.put(b"ada", Content::json("{")), Err(Error::InvalidJson(_))));
            people.compare_and_set(b"ada", Height(1), Content::json(r#"{"age":37}"#)).unwrap();
            let stale = people.compare_and_set(b"ada", Height(1), Content::raw("x"));
            assert!(matches!(stale, Err(Error::HeightMismatch { actual: Some(Height(2)), .. })));
            people.delete(b"ada").unwrap();
            assert!(matches!(people.delete(b"ada"), Err(Error::UnitMissing)));
            people.revert(b"ada", Height(1)).unwrap();
        }
        assert_eq!(chain.height(), Height(4));
        let history: Vec<_> = people.inspect(b"ada").unwrap().map(Result::unwrap).collect();
        let heights: Vec<_> = history.iter().map(|version| (version.height.0, version.kind)).collect();
        use VersionKind::{Deleted, Json};
        assert_eq!(heights, [(4, Json), (3, Deleted), (2, Json), (1, Json)]);
        assert!(history.windows(2).all(|pair| pair[0].time >= pair[1].time));
        let then = chain.snapshot_at(Height(2)).unwrap().get("people", b"ada").unwrap().unwrap();
        assert_eq!(then.content, br#"{"age":37}"#);
        assert_eq!(chain.snapshot_at(Height(3)).unwrap().get("people", b"ada").unwrap(), None);
        store.close().unwrap();
    }
}

#[test]
fn an_index_gives_duplicates_in_the_order_of_writing_over_runs() {
    for background in [Background::Threads, Background::Manual] {
        let directory = TempDir::new().unwrap();
        let store = Store::open(directory.path(), small(background)).unwrap();
        let chain = store.chain("default").unwrap();
        let grouping = chain.grouping("g").unwrap();
        grouping.create_index("city", IndexDefinition::json("city"), &mut |_| {}).unwrap();
        const COUNT: usize = 20_000;
        let name = |n: usize| format!("{:05}", n * 7919 % COUNT);
        for n in 0..COUNT {
            let content = format!(r#"{{"city":"c{}","n":{n}}}"#, n % 10);
            grouping.insert(name(n).as_bytes(), Content::json(&content)).unwrap();
            if n % 1000 == 999 && background == Background::Manual {
                while chain.run_background_step().unwrap() {}
            }
        }
        // Rewriting a unit without touching the city leaves its place; changing the city moves it to the end.
        grouping.put(name(10).as_bytes(), Content::json(r#"{"city":"c0","n":-1}"#)).unwrap();
        grouping.put(name(20).as_bytes(), Content::json(r#"{"city":"c1"}"#)).unwrap();
        grouping.put(name(20).as_bytes(), Content::json(r#"{"city":"c0"}"#)).unwrap();
        grouping.delete(name(30).as_bytes()).unwrap();
        let mut expected: Vec<_> = (0..COUNT).step_by(10).filter(|n| ![20, 30].contains(n)).map(name).collect();
        expected.push(name(20));

        let definition = IndexDefinition::json("city");
        let c0 = key_from_json(&definition, &[r#""c0""#]).unwrap();
        let scan = || Scan::index("city").prefix(c0.clone());
        assert_eq!(keys(&store, "g", scan()), expected);
        let mut backward = expected.clone();
        backward.reverse();
        assert_eq!(keys(&store, "g", scan().backward()), backward);
        assert_eq!(keys(&store, "g", scan().limit(3)), expected[..3]);
        let mut all: Vec<_> = (0..COUNT).filter(|n| *n != 30).map(name).collect();
        all.sort();
        assert_eq!(keys(&store, "g", Scan::units()), all);
        all.reverse();
        assert_eq!(keys(&store, "g", Scan::units().backward()), all);
        // A scan that stops and goes on finds the same.
        let mut units = grouping.scan(scan().limit(100)).unwrap();
        let first: Vec<_> = units.by_ref().map(|unit| unit.unwrap().key).collect();
        let rest = keys(&store, "g", scan().resume(units.cursor().unwrap().clone()));
        assert_eq!((first.len(), rest), (100, expected[100..].to_vec()));
        drop(units);
        chain.drain().unwrap();
        assert_eq!(keys(&store, "g", scan()), expected);
        let runs = chain.stats().runs.len();
        assert!((1..=4).contains(&runs), "{runs} runs");
        store.close().unwrap();
        let store = Store::open(directory.path(), small(background)).unwrap();
        assert_eq!(keys(&store, "g", scan()), expected);
        // The past is as it was, by index too.
        let before = store.chain("default").unwrap().snapshot_at(Height(COUNT as u64 + 1)).unwrap();
        let then: Vec<_> = before.scan("g", scan()).unwrap().map(|unit| unit.unwrap()).collect();
        let expected: Vec<_> = (0..COUNT).step_by(10).map(|n| name(n).into_bytes()).collect();
        assert_eq!(then.iter().map(|unit| unit.key.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(then[1].content, br#"{"city":"c0","n":10}"#);
    }
}

#[test]
fn an_index_comes_late_and_a_clear_takes_all() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), small(Background::Threads)).unwrap();
    let chain = store.chain("default").unwrap();
    let grouping = chain.grouping("g").unwrap();
    for n in 0..5000 {
        grouping.put(format!("{n:04}").as_bytes(), Content::json(&format!(r#"{{"v":{}}}"#, n % 7))).unwrap();
    }
    let before = chain.height();
    grouping.create_index("v", IndexDefinition::json("v").descending(), &mut |_| {}).unwrap();
    assert_eq!(grouping.count(Scan::index("v")).unwrap(), 5000);
    let unique = grouping.create_index("u", IndexDefinition::json("v").unique(), &mut |_| {});
    assert!(matches!(unique, Err(Error::DuplicateKey { .. })));
    assert_eq!(grouping.indexes().len(), 1);
    let first = grouping.scan(Scan::index("v").limit(1)).unwrap().next().unwrap().unwrap();
    assert_eq!(first.key, b"0006");

    // Before the index was there, its order is made from the units.
    let mut units = chain.snapshot_at(before).unwrap().scan("g", Scan::index("v").backward()).unwrap();
    assert!(!units.used_index());
    assert_eq!(units.next().unwrap().unwrap().key, b"4998".to_vec());
    assert_eq!(units.by_ref().count(), 4999);

    grouping.clear().unwrap();
    assert_eq!(grouping.count(Scan::index("v")).unwrap(), 0);
    assert_eq!(grouping.count(Scan::units()).unwrap(), 0);
    grouping.put(b"new", Content::json(r#"{"v":3}"#)).unwrap();
    assert_eq!(keys(&store, "g", Scan::index("v")), ["new"]);
    assert_eq!(
        grouping.inspect(b"0001").unwrap().map(|version| version.unwrap().kind).next(),
        Some(VersionKind::Deleted)
    );
    store.close().unwrap();
    let store = Store::open(directory.path(), small(Background::Threads)).unwrap();
    assert_eq!(keys(&store, "g", Scan::index("v")), ["new"]);
    assert_eq!(keys(&store, "g", Scan::units()), ["new"]);
    let past = store.chain("default").unwrap().snapshot_at(before.next()).unwrap();
    assert_eq!(past.count("g", Scan::index("v")).unwrap(), 5000);
}

#[test]
fn a_transaction_happens_at_one_height_or_not_at_all() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), small(Background::Threads)).unwrap();
    let chain = store.chain("default").unwrap();
    let (a, b) = (chain.grouping("a").unwrap(), chain.grouping("b").unwrap());
    a.create_index("n", IndexDefinition::json("n").unique(), &mut |_| {}).unwrap();
    let start = chain.height();
    let mut transaction = chain.begin();
    transaction.put(&a, b"1", Content::json(r#"{"n":1}"#)).unwrap();
    transaction.insert(&b, b"1", Content::raw("raw")).unwrap();
    assert_eq!(transaction.get(&b, b"1").unwrap().unwrap().content, b"raw");
    assert!(b.get(b"1").unwrap().is_none());
    assert_eq!(transaction.commit().unwrap().height, start.next());
    // Two units with one unique key: neither is written.
    let mut transaction = chain.begin();
    transaction.put(&a, b"2", Content::json(r#"{"n":2}"#)).unwrap();
    transaction.put(&a, b"3", Content::json(r#"{"n":2}"#)).unwrap();
    assert!(matches!(transaction.commit(), Err(Error::DuplicateKey { .. })));
    assert_eq!(keys(&store, "a", Scan::units()), ["1"]);
    // A key that one operation gives up, another may take.
    let mut transaction = chain.begin();
    transaction.delete(&a, b"1").unwrap();
    transaction.put(&a, b"2", Content::json(r#"{"n":1}"#)).unwrap();
    transaction.commit().unwrap();
    assert_eq!(keys(&store, "a", Scan::index("n")), ["2"]);
}

#[test]
fn readers_follow_a_writer_in_another_store_handle() {
    let directory = TempDir::new().unwrap();
    let writer = Store::open(directory.path(), small(Background::Threads)).unwrap();
    let chain = writer.chain("default").unwrap();
    let grouping = chain.grouping("g").unwrap();
    grouping.put(b"0", Content::json(r#"{"v":0}"#)).unwrap();
    let held = Store::open(directory.path(), small(Background::Threads)).unwrap().chain("default").err().unwrap();
    assert!(
        matches!(&held, Error::Held { holder: Some(holder), .. } if holder.contains(&std::process::id().to_string()))
    );

    let reader = Store::open_read_only(directory.path(), small(Background::Threads)).unwrap();
    assert_eq!(keys(&reader, "g", Scan::units()), ["0"]);
    grouping.create_index("v", IndexDefinition::json("v"), &mut |_| {}).unwrap();
    for n in 1..20_000 {
        grouping.put(n.to_string().as_bytes(), Content::json(&format!(r#"{{"v":{n}}}"#))).unwrap();
        if n % 1000 == 0 {
            let following = reader.chain("default").unwrap().grouping("g").unwrap();
            assert_eq!(following.count(Scan::index("v")).unwrap(), n + 1);
            assert!(following.get(n.to_string().as_bytes()).unwrap().is_some());
        }
    }
    let refused = reader.chain("default").unwrap().grouping("g").unwrap().put(b"x", Content::raw("x"));
    assert!(matches!(refused, Err(Error::ReadOnly(_))));
}

#[test]
fn a_commit_says_how_many_units_came_to_be() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), small(Background::Threads)).unwrap();
    let chain = store.chain("default").unwrap();
    let units = chain.grouping("units").unwrap();
    assert!(!chain.has_grouping("units"));
    assert_eq!(units.put(b"a", Content::raw("1")).unwrap().created, 1);
    assert_eq!(units.put(b"a", Content::raw("2")).unwrap().created, 0);
    assert_eq!(units.delete(b"a").unwrap().created, 0);
    let mut transaction = chain.begin();
    for key in [b"a", b"b", b"c"] {
        transaction.put(&units, key, Content::raw("3")).unwrap();
    }
    assert_eq!(transaction.commit().unwrap().created, 3);
    assert_eq!(units.revert(b"a", Height(2)).unwrap().created, 0);
    assert!(chain.has_grouping("units"));
    assert!(chain.trouble().is_none());

    // A condition of a transaction's deletion is checked, too.
    let mut transaction = chain.begin();
    transaction.compare_and_delete(&units, b"b", Height(1)).unwrap();
    assert!(matches!(transaction.commit(), Err(Error::HeightMismatch { actual: Some(Height(4)), .. })));
    let mut transaction = chain.begin();
    transaction.compare_and_delete(&units, b"b", Height(4)).unwrap();
    assert_eq!(transaction.commit().unwrap().created, 0);
    assert_eq!(units.get(b"b").unwrap(), None);
    store.close().unwrap();
}
