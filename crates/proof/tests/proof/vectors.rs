//! The test vectors of docs/PROOFS.md.

use immuxdb_proof::{LogId, Operation, Root, Salt, Salts, Tree, VersionKind, commit_leaf, content_hash, key_hash};

#[test]
fn the_table_in_the_document() {
    let log = LogId([7; 16]);
    let document = include_str!("../../../../docs/PROOFS.md");
    let salts = Salts::of_body(&[1; 16]);
    let key = key_hash(&salts.key, b"ada");
    let content = content_hash(&salts.content, br#"{"city":"Bern"}"#);
    let grouping = Operation::DefineGrouping { grouping: 1, name: "people" }.leaf();
    let put = Operation::Version { kind: VersionKind::Json, grouping: 1, previous: 0, key, content }.leaf();
    let operations = Tree::Operations.node(&grouping, &put);
    let first = commit_leaf(1, 1_769_860_800_123_456, Some("eve"), 2, &operations).unwrap();
    let dropped = Operation::DropIndex { grouping: 1, index: 2 }.leaf();
    let second = commit_leaf(2, 1_769_860_800_123_457, None, 1, &dropped).unwrap();
    let tree = Tree::Commits.node(&first, &second);
    let Salt(key_salt) = salts.key;
    let Salt(content_salt) = salts.content;
    let salts = immuxdb_proof::Hash([key_salt, content_salt].concat().try_into().unwrap());
    let rows = [
        ("salts of the body's salt `01` × 16", salts),
        ("key hash of `ada` with these", key),
        ("content hash of `{\"city\":\"Bern\"}`", content),
        ("operation: define grouping 1 `people`", grouping),
        ("operation: put JSON to grouping 1, nothing replaced, these two hashes", put),
        ("tree over these two operations", operations),
        ("commit at height 1, time 1769860800123456, actor `eve`, of these two", first),
        ("operation: drop index 2 of grouping 1", dropped),
        (
            "operation: define index 2 of grouping 1, definition `01 02 03`",
            Operation::DefineIndex { grouping: 1, index: 2, definition: &[1, 2, 3] }.leaf(),
        ),
        ("operation: clear grouping 1", Operation::ClearGrouping { grouping: 1 }.leaf()),
        (
            "operation: delete in grouping 1, height 1 replaced, these two hashes",
            Operation::Version { kind: VersionKind::Deleted, grouping: 1, previous: 1, key, content }.leaf(),
        ),
        ("commit at height 2, time 1769860800123457, no actor, of the dropped index", second),
        ("tree over the two commits", tree),
        ("root of log `07` × 16 at height 2", Root::of_tree(log, 2, &tree).hash),
        ("root of log `07` × 16 at height 0", Root::empty(log).hash),
    ];
    let lines: Vec<String> = rows.iter().map(|(what, hash)| format!("| {what} | `{hash}` |")).collect();
    let missing: Vec<&String> = lines.iter().filter(|line| !document.lines().any(|row| row == *line)).collect();
    assert!(missing.is_empty(), "docs/PROOFS.md lacks\n{}", lines.join("\n"));
}
