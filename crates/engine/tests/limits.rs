//! Limits that are too large, or too many, for a script. Each error says what was measured, and the limit.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod support;

use std::sync::Arc;

use libimmuxdb::index::{FieldPath, IndexDefinition};
use libimmuxdb::{Background, Content, Durability, Error, Grouping, Height, Scan, Store, StoreOptions, limits};
use support::storage::Hasty;
use tempfile::TempDir;

/// A grouping of a new store, which is closed when the directory goes.
fn grouping() -> (TempDir, Store, Grouping) {
    let directory = TempDir::new().unwrap();
    let mut options = StoreOptions::default().durability(Durability::Buffered);
    options.background = Background::Manual;
    options.storage = Arc::new(Hasty::default());
    let store = Store::open(directory.path(), options).unwrap();
    let grouping = store.chain("default").unwrap().grouping("g").unwrap();
    (directory, store, grouping)
}

#[track_caller]
fn assert_too_large<T: std::fmt::Debug>(result: libimmuxdb::Result<T>, expected: &str, by: usize, most: usize) {
    match result {
        Err(Error::TooLarge { what, actual, limit }) => assert_eq!((what, actual, limit), (expected, by, most)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_content_has_at_most_64_mib() {
    let (_directory, store, grouping) = grouping();
    let mut content = vec![b'x'; limits::CONTENT_BYTES];
    grouping.put(b"raw", Content::raw(&content)).unwrap();
    content.push(b'x');
    let one_more = limits::CONTENT_BYTES + 1;
    assert_too_large(grouping.put(b"raw", Content::raw(&content)), "content", one_more, limits::CONTENT_BYTES);
    content[0] = b'"';
    *content.last_mut().unwrap() = b'"';
    assert_too_large(grouping.put(b"json", Content::json(&content)), "content", one_more, limits::CONTENT_BYTES);
    content.remove(1);
    grouping.put(b"json", Content::json(&content)).unwrap();
    assert_eq!(grouping.get(b"raw").unwrap().unwrap().content.len(), limits::CONTENT_BYTES);
    assert_eq!(grouping.get(b"json").unwrap().unwrap().content, content);
    assert_eq!(grouping.chain().height(), Height(2));
    store.close().unwrap();
}

#[test]
fn a_commit_has_at_most_256_mib() {
    let (_directory, _store, grouping) = grouping();
    let chain = grouping.chain();
    let content = vec![b'x'; limits::CONTENT_BYTES];
    let last = &content[..limits::CONTENT_BYTES - 64];
    // A little less than the limit with keys and contents, and more than it with all that a frame has around them.
    let mut transaction = chain.begin();
    for key in [b"1", b"2", b"3"] {
        transaction.put(&grouping, key, Content::raw(&content)).unwrap();
    }
    transaction.put(&grouping, b"4", Content::raw(last)).unwrap();
    assert!(matches!(transaction.commit(), Err(Error::TooLarge { what: "commit", limit: limits::FRAME_BYTES, .. })));
    assert_eq!(chain.height(), Height::ZERO);
    assert_eq!(grouping.count(Scan::units()).unwrap(), 0);

    let mut transaction = chain.begin();
    for key in [b"1", b"2", b"3", b"4"] {
        let put = transaction.put(&grouping, key, Content::raw(&content));
        assert_eq!(put.is_err(), key == b"4", "the fourth one is refused at once");
    }

    let mut transaction = chain.begin();
    for key in [b"1", b"2", b"3"] {
        transaction.put(&grouping, key, Content::raw(&content)).unwrap();
    }
    transaction.put(&grouping, b"4", Content::raw(&content[..limits::CONTENT_BYTES - 1024])).unwrap();
    assert_eq!(transaction.commit().unwrap().height, Height(1));
    assert_eq!(grouping.count(Scan::units()).unwrap(), 4);
}

#[test]
fn a_commit_has_at_most_a_million_operations() {
    let (_directory, _store, grouping) = grouping();
    let fill = |count: usize| {
        let mut transaction = grouping.chain().begin();
        for n in 0..count as u32 {
            transaction.put(&grouping, &n.to_be_bytes(), Content::raw("")).unwrap();
        }
        transaction
    };
    // The definition of a grouping that is new counts, too: this is one more than there may be.
    assert!(matches!(fill(limits::OPERATIONS_PER_COMMIT).commit(), Err(Error::Invalid(_))));
    assert_eq!(grouping.chain().height(), Height::ZERO);
    assert_eq!(fill(limits::OPERATIONS_PER_COMMIT - 1).commit().unwrap().height, Height(1));
    assert_eq!(grouping.count(Scan::units()).unwrap(), limits::OPERATIONS_PER_COMMIT as u64 - 1);
}

#[test]
fn a_grouping_has_at_most_1024_indexes() {
    let (_directory, _store, grouping) = grouping();
    let create = |name: usize| {
        grouping.create_index(&name.to_string(), IndexDefinition::json(format!("f{name}").as_str()), &mut |_| {})
    };
    for name in 0..limits::INDEXES_PER_GROUPING {
        create(name).unwrap();
    }
    let limit = limits::INDEXES_PER_GROUPING;
    assert_too_large(create(limit), "the list of the grouping's indexes", limit + 1, limit);
    grouping.put(b"u", Content::json(r#"{"f0":0,"f1023":1}"#)).unwrap();
    assert_eq!(grouping.count(Scan::index("1023")).unwrap(), 1);
    // One that is dropped makes room.
    grouping.drop_index("0").unwrap();
    create(limit).unwrap();
    assert_eq!(grouping.indexes().len(), limit);
    assert_eq!(grouping.count(Scan::index("1024")).unwrap(), 1);
}

#[test]
fn an_index_has_paths_of_bounded_length() {
    let path = |segments: usize| FieldPath::new(vec!["a"; segments]);
    assert!(IndexDefinition::json(path(limits::JSON_DEPTH)).validate().is_ok());
    assert!(matches!(IndexDefinition::json(path(limits::JSON_DEPTH + 1)).validate(), Err(Error::Invalid(_))));
    let name = |bytes: usize| IndexDefinition::json(FieldPath::new(["n".repeat(bytes)]));
    assert!(name(limits::NAME_BYTES).validate().is_ok());
    let (by, most) = (limits::NAME_BYTES + 1, limits::NAME_BYTES);
    assert_too_large(name(by).validate(), "segment of a field path", by, most);

    let raw = |bytes: u32| IndexDefinition::raw(0..bytes);
    assert!(raw(limits::INDEX_KEY_BYTES as u32).validate().is_ok());
    let (by, most) = (limits::INDEX_KEY_BYTES + 1, limits::INDEX_KEY_BYTES);
    assert_too_large(raw(by as u32).validate(), "index key", by, most);
    let end = limits::CONTENT_BYTES as u32;
    assert!(IndexDefinition::raw(end - 1..end).validate().is_ok());
    assert!(matches!(IndexDefinition::raw(end - 1..end + 1).validate(), Err(Error::Invalid(_))));
}

#[test]
fn the_deepest_path_leads_to_a_value() {
    let (_directory, _store, grouping) = grouping();
    let depth = limits::JSON_DEPTH;
    let path = FieldPath::new(vec!["a"; depth]);
    grouping.create_index("deep", IndexDefinition::json(path), &mut |_| {}).unwrap();
    let content = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    grouping.put(b"u", Content::json(&content)).unwrap();
    let unit = grouping.scan(Scan::index("deep")).unwrap().next().unwrap().unwrap();
    let definition = grouping.index("deep").unwrap().definition;
    assert_eq!(libimmuxdb::index::decode_key(&definition, &unit.index_key).unwrap(), [serde_json::json!(1)]);
}

#[test]
fn an_actor_has_a_name_of_at_most_255_bytes() {
    let (_directory, _store, grouping) = grouping();
    let commit = |bytes: usize| {
        let mut transaction = grouping.chain().begin();
        transaction.put(&grouping, b"u", Content::raw("")).unwrap();
        transaction.set_actor("a".repeat(bytes));
        transaction.commit()
    };
    commit(limits::NAME_BYTES).unwrap();
    let (by, most) = (limits::NAME_BYTES + 1, limits::NAME_BYTES);
    let refused = commit(by);
    assert_too_large(refused, "actor", by, most);
    assert!(matches!(commit(0), Err(Error::Invalid(_))));
    assert_eq!(grouping.chain().height(), Height(1));
}

#[test]
fn a_transaction_counts_what_it_is_going_to_commit() {
    let (_directory, _store, grouping) = grouping();
    let content = vec![b'x'; limits::CONTENT_BYTES];
    let mut transaction = grouping.chain().begin();
    // Of several contents of one unit only the last is committed.
    for _ in 0..5 {
        transaction.put(&grouping, b"u", Content::raw(&content)).unwrap();
    }
    // What a clear forgets is not committed.
    transaction.clear(&grouping);
    transaction.put(&grouping, b"u", Content::raw(&content)).unwrap();
}
