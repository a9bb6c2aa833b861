//! Keys, contents and names that are unusual; indexes over what does not go together.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Chain, Content, Durability, Error, Grouping, Scan, Store, StoreOptions, limits};

use crate::support::Site;
use crate::support::site::{little_memory, log_only};

/// Closes the store and opens it again; what the closure reads is the same before, after a clean close, and after the
/// index is made anew.
fn always(site: &Site, store: Store, chain: Arc<Chain>, check: impl Fn(&Arc<Chain>)) {
    check(&chain);
    chain.drain().unwrap();
    check(&chain);
    let killed = site.copy();
    drop(chain);
    store.close().unwrap();
    check(&site.open(&little_memory()).unwrap().1);
    check(&site.open_to_read().unwrap().1);
    check(&killed.open(&little_memory()).unwrap().1);
    let _ = std::fs::remove_dir_all(killed.index());
    check(&killed.open(&little_memory()).unwrap().1);
}

#[test]
fn keys_with_every_byte() {
    let site = Site::new();
    let (store, chain) = site.open(&little_memory()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    let mut keys: Vec<Vec<u8>> = vec![Vec::new()];
    for byte in 0..=255 {
        keys.extend([vec![byte], vec![byte, 0], vec![byte, 255], vec![0, byte], vec![255, 255, byte], vec![byte; 300]]);
    }
    keys.push((0..=255).collect());
    let keys: BTreeMap<Vec<u8>, usize> = keys.into_iter().enumerate().map(|(number, key)| (key, number)).collect();
    for (key, number) in &keys {
        grouping.put(key, Content::json(&number.to_string())).unwrap();
    }
    always(&site, store, chain, |chain| {
        let grouping = chain.grouping("g").unwrap();
        for (key, number) in &keys {
            let unit = grouping.get(key).unwrap().unwrap();
            assert_eq!(unit.content, number.to_string().into_bytes());
        }
        let read = |scan| grouping.scan(scan).unwrap().map(|unit| unit.unwrap().key).collect::<Vec<_>>();
        assert!(read(Scan::units()).iter().eq(keys.keys()), "bytes order");
        assert!(read(Scan::units().backward()).iter().eq(keys.keys().rev()));
        for prefix in [&[][..], &[0], &[255], &[255, 255], &[0, 0]] {
            assert!(read(Scan::units().prefix(prefix)).iter().eq(keys.keys().filter(|key| key.starts_with(prefix))));
        }
        for from in [&[][..], &[0], &[254, 255], &[255; 300]] {
            assert!(read(Scan::units().from(from)).iter().eq(keys.keys().filter(|key| key.as_slice() >= from)));
            assert!(read(Scan::units().to(from)).iter().eq(keys.keys().filter(|key| key.as_slice() < from)));
        }
    });
}

#[test]
fn raw_contents_of_every_byte_by_a_raw_index() {
    let site = Site::new();
    let (store, chain) = site.open(&little_memory()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    grouping.create_index("i", "raw:1+2,-0+1".parse::<IndexDefinition>().unwrap(), &mut |_| {}).unwrap();
    let contents: Vec<[u8; 3]> =
        (0..=255_u8).flat_map(|byte| [[byte, 0, 255], [7, byte, byte], [7, 255, byte]]).collect();
    for (number, content) in contents.iter().enumerate() {
        grouping.put(&(number as u32).to_be_bytes(), Content::raw(content)).unwrap();
    }
    // Too short for the index.
    grouping.put(b"short", Content::raw(b"ab")).unwrap();
    let mut expected: Vec<(usize, [u8; 3])> = contents.into_iter().enumerate().collect();
    expected.sort_by_key(|(number, content)| ([content[1], content[2], !content[0]], *number));
    always(&site, store, chain, |chain| {
        let units = chain.grouping("g").unwrap().scan(Scan::index("i")).unwrap();
        let contents: Vec<Vec<u8>> = units.map(|unit| unit.unwrap().content).collect();
        assert!(contents.iter().map(Vec::as_slice).eq(expected.iter().map(|(_, content)| content.as_slice())));
    });
}

#[test]
fn sizes_from_nothing_to_the_limits() {
    let site = Site::new();
    let (store, chain) = site.open(&little_memory()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    let key_sizes = [0, 1, limits::UNIT_KEY_BYTES - 1, limits::UNIT_KEY_BYTES];
    for size in key_sizes {
        grouping.put(&vec![0xff; size], Content::raw(b"")).unwrap();
        grouping.put(&vec![0xff; size], Content::raw(&vec![1; size])).unwrap();
    }
    let too_long = grouping.put(&vec![0xff; limits::UNIT_KEY_BYTES + 1], Content::raw(b""));
    assert_eq!(too_long.unwrap_err().to_string(), "unit key has 65537 bytes; at most 65536 are allowed");
    let content_sizes = [0, 1, 4095, 4096, 1 << 20, limits::CONTENT_BYTES];
    for size in content_sizes {
        grouping.put(format!("content {size}").as_bytes(), Content::raw(&vec![0; size])).unwrap();
    }
    let too_long = grouping.put(b"k", Content::raw(&vec![0; limits::CONTENT_BYTES + 1]));
    assert_eq!(too_long.unwrap_err().to_string(), "content has 67108865 bytes; at most 67108864 are allowed");
    always(&site, store, chain, |chain| {
        let grouping = chain.grouping("g").unwrap();
        for size in key_sizes {
            let unit = grouping.get(&vec![0xff; size]).unwrap().unwrap();
            assert!(unit.content.iter().eq(vec![1; size].iter()));
            assert_eq!(grouping.inspect(&vec![0xff; size]).unwrap().last().unwrap().unwrap().content, b"");
        }
        for size in content_sizes {
            let unit = grouping.get(format!("content {size}").as_bytes()).unwrap().unwrap();
            assert!(unit.content == vec![0; size]);
        }
        assert_eq!(grouping.count(Scan::units()).unwrap(), (key_sizes.len() + content_sizes.len()) as u64);
        assert_eq!(grouping.get(b"k").unwrap(), None);
    });
}

#[test]
fn names_at_and_over_the_limits() {
    let site = Site::new();
    let (store, chain) = site.open(&little_memory()).unwrap();
    let (longest, longer) = ("ä".repeat(127) + "x", "ä".repeat(128));
    assert_eq!((longest.len(), longer.len()), (limits::NAME_BYTES, limits::NAME_BYTES + 1));
    let strange = ["a b", "..", "a/b", "\u{202e}", "'; DROP TABLE", "\"", "-x", "日本"];
    for name in strange.iter().copied().chain([longest.as_str()]) {
        let grouping = chain.grouping(name).unwrap();
        grouping.put(b"k", Content::json("{}")).unwrap();
        grouping.create_index(name, IndexDefinition::json("a"), &mut |_| {}).unwrap();
    }
    for name in ["", longer.as_str()] {
        let refused = chain.grouping(name).map(|_| ()).unwrap_err();
        assert!(matches!(refused, Error::TooLarge { .. } | Error::Invalid(_)), "{refused}");
        let refused = chain.grouping("a b").unwrap().create_index(name, IndexDefinition::json("a"), &mut |_| {});
        assert!(matches!(refused, Err(Error::TooLarge { .. } | Error::Invalid(_))), "{refused:?}");
        let mut transaction = chain.begin();
        transaction.put(&chain.grouping("g").unwrap(), b"k", Content::json("1")).unwrap();
        transaction.set_actor(name);
        let refused = transaction.commit();
        assert!(matches!(refused, Err(Error::TooLarge { .. } | Error::Invalid(_))), "{refused:?}");
    }
    for name in ["", ".", "..", ".x", "a/b", "../x", "a\nb", "a\0b", longer.as_str()] {
        let refused = store.chain(name).map(|_| ()).unwrap_err();
        assert!(matches!(refused, Error::TooLarge { .. } | Error::Invalid(_)), "{name:?}: {refused}");
    }
    store.chain(&longest).unwrap().grouping("g").unwrap().put(b"k", Content::json("1")).unwrap();
    assert_eq!(store.chains().unwrap().len(), 2);
    always(&site, store, chain, |chain| {
        assert_eq!(chain.groupings().len(), strange.len() + 1);
        for name in strange.iter().copied().chain([longest.as_str()]) {
            assert_eq!(chain.grouping(name).unwrap().count(Scan::index(name)).unwrap(), 1);
        }
    });
}

/// Values of all types in one field: they order by type, then value.
#[test]
fn an_index_on_a_field_of_mixed_types() {
    let ordered = [
        "null",
        "-1.7976931348623157e308",
        "-9223372036854775808",
        "-1.5",
        "0",
        "5e-324",
        "1",
        "9007199254740992",
        "9007199254740993",
        "18446744073709551615",
        "1.7976931348623157e308",
        r#""""#,
        r#""\u0000""#,
        r#""1""#,
        r#""a""#,
        r#""a\u0000""#,
        r#""ab""#,
        r#""é""#,
        r#""\ud83d\ude00""#,
        "{}",
        r#"{"a":1}"#,
        r#"{"a":"1"}"#,
        "[]",
        "[null]",
        "[1]",
        "[1,2]",
        r#"["a"]"#,
        "false",
        "true",
    ];
    let site = Site::new();
    let (store, chain) = site.open(&little_memory()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    // One half before the index is made, the other half later; last ones first.
    let put = |number: usize| {
        let content = format!(r#"{{"v":{}}}"#, ordered[number]);
        grouping.put(format!("{:03}", 999 - number).as_bytes(), Content::json(&content)).unwrap();
    };
    (0..ordered.len()).rev().filter(|number| number % 2 == 0).for_each(put);
    for (name, definition) in [("up", "json:v"), ("down", "json:-v"), ("sparse", "json:v sparse")] {
        grouping.create_index(name, definition.parse::<IndexDefinition>().unwrap(), &mut |_| {}).unwrap();
    }
    (0..ordered.len()).rev().filter(|number| number % 2 == 1).for_each(put);
    grouping.put(b"missing", Content::json("{}")).unwrap();
    grouping.put(b"no object", Content::json("7")).unwrap();
    grouping.put(b"raw", Content::raw(b"{\"v\":1}")).unwrap();
    always(&site, store, chain, |chain| {
        let grouping = chain.grouping("g").unwrap();
        let read = |scan| -> Vec<String> {
            let units = grouping.scan(scan).unwrap().map(Result::unwrap);
            units.map(|unit| String::from_utf8(unit.content).unwrap()).collect()
        };
        let all: Vec<String> = ordered.iter().map(|value| format!(r#"{{"v":{value}}}"#)).collect();
        assert_eq!(read(Scan::index("sparse")), all);
        let mut with_missing = all.clone();
        with_missing.splice(1..1, ["{}".to_owned(), "7".to_owned()]);
        let up = read(Scan::index("up"));
        assert_eq!(up.len(), with_missing.len());
        assert_eq!(up[3..], with_missing[3..], "what is missing counts as null");
        let mut down = read(Scan::index("down"));
        down.reverse();
        assert_eq!(down[3..], with_missing[3..]);
    });
}

#[test]
fn a_unique_index_over_duplicates() {
    let site = Site::new();
    let (store, chain) = site.open(&little_memory()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    for number in 0..3000 {
        let content = format!(r#"{{"n":{}}}"#, if number == 2999 { 1234 } else { number });
        grouping.put(format!("{number}").as_bytes(), Content::json(&content)).unwrap();
    }
    let unique = || "json:n unique".parse::<IndexDefinition>().unwrap();
    let refused = grouping.create_index("n", unique(), &mut |_| {});
    assert!(matches!(&refused, Err(Error::DuplicateKey { index }) if index == "n"), "{refused:?}");
    assert!(grouping.indexes().is_empty());
    grouping.put(b"2999", Content::json(r#"{"n":2999}"#)).unwrap();
    grouping.create_index("n", unique(), &mut |_| {}).unwrap();
    always(&site, store, chain, |chain| {
        assert_eq!(chain.grouping("g").unwrap().count(Scan::index("n")).unwrap(), 3000);
    });
    let (_store, chain) = site.open(&log_only()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    let refused = grouping.put(b"new", Content::json(r#"{"n":1.5e1}"#));
    assert!(matches!(refused, Err(Error::DuplicateKey { .. })), "{refused:?}");
    // Two in one commit, and a swap of two values.
    let mut transaction = chain.begin();
    transaction.put(&grouping, b"x", Content::json(r#"{"n":-1}"#)).unwrap();
    transaction.put(&grouping, b"y", Content::json(r#"{"n":-1}"#)).unwrap();
    assert!(matches!(transaction.commit(), Err(Error::DuplicateKey { .. })));
    let mut transaction = chain.begin();
    transaction.put(&grouping, b"5", Content::json(r#"{"n":6}"#)).unwrap();
    transaction.put(&grouping, b"6", Content::json(r#"{"n":5}"#)).unwrap();
    transaction.commit().unwrap();
    assert_eq!(grouping.count(Scan::index("n")).unwrap(), 3000);
}

/// The making of a unique index was interrupted before its duplicates were found: the next opening must not finish it
/// as if there were none.
#[test]
fn a_unique_index_over_duplicates_whose_making_was_interrupted() {
    let site = Site::new();
    let (store, chain) = site.open(&log_only()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    for number in 0..10_000 {
        grouping.put(format!("{number}").as_bytes(), Content::json(r#"{"n":1}"#)).unwrap();
    }
    // A copy of the files in the middle of the filling is what a kill leaves.
    let mut killed = None;
    let unique = "json:n unique".parse::<IndexDefinition>().unwrap();
    let refused = grouping.create_index("n", unique, &mut |progress| {
        if progress.units < 10_000 && killed.is_none() {
            killed = Some(site.copy());
        }
    });
    assert!(matches!(refused, Err(Error::DuplicateKey { .. })), "{refused:?}");
    drop((chain, grouping));
    store.close().unwrap();
    let killed = killed.unwrap();
    let (_store, chain) = killed.open(&log_only()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    assert_eq!(grouping.count(Scan::units()).unwrap(), 10_000);
    if let Some(index) = grouping.indexes().first() {
        panic!("10,000 units have one key in unique index {:?} (ready: {})", index.name, index.ready);
    }
}

/// 100,000 units, or as many as IMMUXDB_HAZARD_UNITS says.
fn many() -> u64 {
    std::env::var("IMMUXDB_HAZARD_UNITS").map_or(100_000, |units| units.parse().unwrap())
}

#[test]
fn an_index_created_on_many_units_while_others_write() {
    let site = Site::new();
    let options = StoreOptions::default().memory_limit(16 << 20).durability(Durability::Buffered);
    let (store, chain) = site.open(&options).unwrap();
    let grouping = chain.grouping("g").unwrap();
    let units = many();
    let content = |number: u64, version: u64| {
        format!(r#"{{"n":{number},"city":{},"version":{version}}}"#, (number + version) % 10)
    };
    let key = |number: u64| number.to_be_bytes();
    for start in (0..units).step_by(1000) {
        let mut transaction = chain.begin();
        for number in start..(start + 1000).min(units) {
            transaction.put(&grouping, &key(number), Content::json(&content(number, 0))).unwrap();
        }
        transaction.commit().unwrap();
    }
    let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (grouping, stop, written) = (grouping.clone(), &stop, &written);
            scope.spawn(move || {
                let mut number = thread;
                while !stop.load(Ordering::Relaxed) {
                    // Changes one, takes one away, brings a new one.
                    grouping.put(&key(number), Content::json(&content(number, 1))).unwrap();
                    grouping.delete(&key(number + 2)).unwrap();
                    grouping.put(&key(units + number), Content::json(&content(units + number, 0))).unwrap();
                    written.fetch_add(1, Ordering::Relaxed);
                    number = (number + 4) % (units - 4);
                    if number < 4 {
                        break;
                    }
                }
            });
        }
        let mut seen = Vec::new();
        let begun = written.load(Ordering::Relaxed);
        grouping
            .create_index("city", IndexDefinition::json("city"), &mut |progress| seen.push(progress.units))
            .unwrap();
        assert!(written.load(Ordering::Relaxed) > begun, "writing went on");
        assert!(seen.is_sorted() && seen.len() as u64 > units / 5000);
        stop.store(true, Ordering::Relaxed);
    });
    check_city(&grouping);
    chain.drain().unwrap();
    check_city(&grouping);
    drop((chain, grouping));
    store.close().unwrap();
    let (_store, chain) = site.open(&options).unwrap();
    check_city(&chain.grouping("g").unwrap());
}

/// The index has exactly the units that there are, in its order.
fn check_city(grouping: &Grouping) {
    let city = |content: &[u8]| {
        let value: serde_json::Value = serde_json::from_slice(content).unwrap();
        value["city"].as_u64().unwrap()
    };
    let snapshot = grouping.chain().snapshot().unwrap();
    let read = |scan| -> Vec<(u64, Vec<u8>, u64)> {
        let units = snapshot.scan("g", scan).unwrap();
        assert!(units.used_index());
        units.map(|unit| unit.map(|unit| (city(&unit.content), unit.key, unit.height.0)).unwrap()).collect()
    };
    let by_index = read(Scan::index("city"));
    assert!(by_index.is_sorted_by_key(|(city, ..)| *city));
    let mut sorted = by_index;
    sorted.sort();
    let mut units = read(Scan::units());
    units.sort();
    assert!(sorted == units, "the index has {} entries for {} units", sorted.len(), units.len());
}
