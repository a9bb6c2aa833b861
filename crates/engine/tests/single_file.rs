//! A chain that is one file, opened without syncs; groupings that come to be with their indexes; walks.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::Path;
use std::sync::Arc;

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{
    Background, Birth, Chain, Content, Durability, Error, Grouping, Scan, Seek, StoreOptions, Syncing, Walk,
};
use proptest::prelude::*;

fn options() -> StoreOptions {
    StoreOptions { durability: Durability::Process, syncing: Syncing::OnDemand, ..StoreOptions::default() }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn define(chain: &Arc<Chain>) -> Grouping {
    let grouping = chain.grouping("g").unwrap();
    let mut transaction = chain.begin();
    transaction.define(
        &grouping,
        vec![
            ("first".to_owned(), IndexDefinition::raw(0..1)),
            ("second".to_owned(), IndexDefinition::raw(1..2).unique()),
        ],
    );
    transaction.put(&chain.grouping("about").unwrap(), b"it", Content::raw("two indexes")).unwrap();
    transaction.commit().unwrap();
    grouping
}

#[test]
fn a_small_chain_is_one_file_and_its_indexes_are_ready_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FILE");
    let chain = Chain::open_file(&path, &options()).unwrap();
    let grouping = define(&chain);
    assert!(grouping.indexes().iter().all(|index| index.ready));
    grouping.put(b"a", Content::raw("xy")).unwrap();
    let refused = grouping.put(b"b", Content::raw("xy")).unwrap_err();
    assert!(matches!(refused, Error::DuplicateKey { index } if index == "second"));
    chain.close().unwrap();
    drop(grouping);
    drop(chain);
    assert_eq!(names(folder.path()), ["FILE"]);
    for read_only in [true, false] {
        let open = if read_only { Chain::open_file_read_only } else { Chain::open_file };
        let chain = open(&path, &options()).unwrap();
        let grouping = chain.grouping("g").unwrap();
        assert_eq!(grouping.count(Scan::index("first")).unwrap(), 1);
        assert_eq!(grouping.indexes().len(), 2);
    }
    assert_eq!(names(folder.path()), ["FILE"]);
}

#[test]
fn a_grouping_comes_to_be_once_and_with_nothing_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let chain = Chain::open_file(folder.path().join("FILE"), &options()).unwrap();
    let grouping = define(&chain);
    let before = chain.height();
    let mut again = chain.begin();
    again.define(&grouping, Vec::new());
    assert!(matches!(again.commit(), Err(Error::Invalid(_))));
    let other = chain.grouping("other").unwrap();
    let mut used = chain.begin();
    used.define(&other, Vec::new());
    used.put(&other, b"a", Content::raw("x")).unwrap();
    assert!(matches!(used.commit(), Err(Error::Invalid(_))));
    let mut twice = chain.begin();
    let index = ("same".to_owned(), IndexDefinition::raw(0..1));
    twice.define(&other, vec![index.clone(), index]);
    assert!(matches!(twice.commit(), Err(Error::IndexExists { .. })));
    assert_eq!(chain.height(), before);
}

#[test]
fn whoever_opens_a_file_and_writes_nothing_leaves_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("FILE");
    let chain = Chain::open_file(&path, &options()).unwrap();
    define(&chain).put(b"a", Content::raw("xy")).unwrap();
    chain.close().unwrap();
    drop(chain);
    let len = std::fs::metadata(&path).unwrap().len();
    for _ in 0..3 {
        Chain::open_file(&path, &options()).unwrap().close().unwrap();
    }
    assert_eq!(std::fs::metadata(&path).unwrap().len(), len);
    // And a sync that somebody asks for is one: of what earlier openings left, too.
    let chain = Chain::open_file(&path, &options()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    grouping.with(libimmuxdb::WriteOptions::durability(Durability::Sync)).put(b"b", Content::raw("zz")).unwrap();
    chain.sync().unwrap();
    drop((chain, grouping));
    let chain = Chain::open_file_read_only(&path, &options()).unwrap();
    assert_eq!(chain.grouping("g").unwrap().count(Scan::units()).unwrap(), 2);
    assert_eq!(chain.height().0, 3);
}

#[derive(Clone, Debug)]
enum Operation {
    Put(u8, [u8; 2]),
    Delete(u8),
    Clear,
    Step,
    Turn,
    Jump(u8),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0..12_u8, [0..4_u8, 0..255_u8]).prop_map(|(unit, content)| Operation::Put(unit, content)),
        3 => (0..12_u8).prop_map(Operation::Delete),
        1 => Just(Operation::Clear),
        10 => Just(Operation::Step),
        2 => Just(Operation::Turn),
        1 => (0..5_u8).prop_map(Operation::Jump),
    ]
}

type Entry = (Vec<u8>, Birth, Vec<u8>);

/// The entries as they are now.
fn entries(grouping: &Grouping, index: Option<&str>) -> Vec<Entry> {
    let scan = index.map_or_else(Scan::units, Scan::index);
    let units = grouping.scan(scan).unwrap().map(|unit| unit.unwrap());
    // In the ordering by unit key births do not count.
    let entry = |unit: libimmuxdb::Unit| match index {
        Some(_) => (unit.index_key, unit.birth, unit.content),
        None => (unit.key, Birth::MIN, unit.content),
    };
    units.map(entry).collect()
}

fn check(operations: &[Operation], index: Option<&str>, memory: usize) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { memory_limit: memory, background: Background::Manual, ..options() };
    let chain = Chain::open_file(folder.path().join("FILE"), &options).unwrap();
    let grouping = chain.grouping("g").unwrap();
    let mut transaction = chain.begin();
    transaction.define(&grouping, vec![("first".to_owned(), IndexDefinition::raw(0..1))]);
    transaction.commit().unwrap();
    let mut walk = index.map_or_else(|| Walk::by_unit_key(&grouping), |name| Walk::by_index(&grouping, name).unwrap());
    let (mut place, mut backward): (Option<(Vec<u8>, Birth)>, bool) = (None, false);
    for operation in operations {
        match operation {
            Operation::Put(unit, content) => {
                let mut long = content.to_vec();
                long.resize(200, b'.');
                grouping.put(&[*unit], Content::raw(&long)).unwrap();
            }
            // It may not be there.
            Operation::Delete(unit) => drop(grouping.delete(&[*unit])),
            Operation::Clear => drop(grouping.clear()),
            Operation::Turn => {
                backward = !backward;
                walk.seek(match (&place, backward) {
                    (None, false) => Seek::First,
                    (None, true) => Seek::Last,
                    (Some((key, birth)), false) => Seek::After(key, *birth),
                    (Some((key, birth)), true) => Seek::Before(key, *birth),
                });
            }
            Operation::Jump(key) => {
                walk.seek(Seek::From(&[*key], Birth::MIN));
                backward = false;
                let entries = entries(&grouping, index);
                let expected = entries.iter().find(|(found, _, _)| found.as_slice() >= [*key].as_slice());
                prop_assert_eq!(walk.step().unwrap(), expected.is_some());
                match expected {
                    Some((key, birth, _)) => place = Some((key.clone(), *birth)),
                    None => {
                        place = None;
                        walk.seek(Seek::First);
                    }
                }
            }
            Operation::Step => {
                let entries = entries(&grouping, index);
                let place_of = |entry: &Entry| (entry.0.clone(), entry.1);
                let expected = match (&place, backward) {
                    (None, false) => entries.first(),
                    (None, true) => entries.last(),
                    (Some(place), false) => entries.iter().find(|entry| place_of(entry) > *place),
                    (Some(place), true) => entries.iter().rfind(|entry| place_of(entry) < *place),
                };
                prop_assert_eq!(walk.step().unwrap(), expected.is_some());
                if let Some((key, birth, content)) = expected {
                    prop_assert_eq!(walk.key(), key.as_slice());
                    if index.is_some() {
                        prop_assert_eq!(walk.birth(), *birth);
                    }
                    prop_assert_eq!(&walk.content(<[u8]>::to_vec).unwrap(), content);
                    place = Some((key.clone(), *birth));
                } else if place.is_none() {
                    // Where nothing was found, a walk that was never anywhere begins again.
                    walk.seek(if backward { Seek::Last } else { Seek::First });
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn each_step_of_a_walk_sees_the_chain_as_it_is_then(
        operations in proptest::collection::vec(operation(), 1..400),
        by_index in any::<bool>(),
        little in any::<bool>(),
    ) {
        let memory = if little { 32 << 10 } else { 512 << 20 };
        check(&operations, by_index.then_some("first"), memory)?;
    }
}
