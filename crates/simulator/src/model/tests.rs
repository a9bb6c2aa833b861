use std::collections::BTreeMap;

use libimmuxdb::VersionKind;

use super::*;

const GROUPING: &str = "g";

fn json(n: i128) -> Content {
    let fields = BTreeMap::from([("n", Value::Quarters(4 * n))]);
    Content { kind: VersionKind::Json, bytes: format!("{{\"n\":{n}}}").into_bytes().into(), fields }
}

fn raw(bytes: &[u8]) -> Content {
    Content { kind: VersionKind::Raw, bytes: bytes.into(), fields: BTreeMap::new() }
}

fn by_n(descending: bool) -> IndexSpec {
    let parts = Parts::Fields(vec![Field { path: "n", descending }]);
    IndexSpec { parts, unique: false, sparse: false, filler: None }
}

fn commit(model: &mut Model, operations: &[Operation]) -> Height {
    model.commit(operations.iter().map(|operation| (GROUPING.to_owned(), operation.clone())).collect())
}

fn put(key: &str, content: Content) -> Operation {
    Operation::Put(key.into(), content)
}

fn order(model: &Model, height: u64, index: &str) -> String {
    let grouping = &model.at(Height(height)).groupings[GROUPING];
    let units = grouping.indexes[index].in_order().into_iter().map(|(_, _, unit)| String::from_utf8_lossy(unit));
    units.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_rewrite_keeps_its_place_and_a_changed_key_goes_behind_the_others() {
    let mut model = Model::default();
    commit(&mut model, &[Operation::CreateIndex("by n".to_owned(), by_n(false))]);
    commit(&mut model, &[put("a", json(1)), put("b", json(1))]);
    commit(&mut model, &[put("c", json(1))]);
    assert_eq!(order(&model, 3, "by n"), "a b c");
    commit(&mut model, &[put("a", json(1))]);
    assert_eq!(order(&model, 4, "by n"), "a b c");
    commit(&mut model, &[put("a", json(2))]);
    assert_eq!(order(&model, 5, "by n"), "b c a");
    commit(&mut model, &[put("a", json(1))]);
    assert_eq!(order(&model, 6, "by n"), "b c a");
    commit(&mut model, &[Operation::Delete(b"b".to_vec())]);
    commit(&mut model, &[put("b", json(1))]);
    assert_eq!(order(&model, 8, "by n"), "c a b");
    assert_eq!(order(&model, 3, "by n"), "a b c", "the past stays");
}

#[test]
fn an_index_that_comes_later_takes_the_births_of_the_versions() {
    let mut model = Model::default();
    commit(&mut model, &[put("a", json(1)), put("b", json(1)), put("x", raw(b"x"))]);
    commit(&mut model, &[put("a", json(1))]);
    commit(&mut model, &[Operation::CreateIndex("by n".to_owned(), by_n(true))]);
    assert_eq!(order(&model, 3, "by n"), "b a");
    commit(&mut model, &[put("c", json(7))]);
    assert_eq!(order(&model, 4, "by n"), "c b a", "descending");
}

#[test]
fn a_cleared_grouping_is_empty_and_its_past_is_not() {
    let mut model = Model::default();
    commit(&mut model, &[Operation::CreateIndex("by n".to_owned(), by_n(false)), put("a", json(1))]);
    commit(&mut model, &[Operation::Clear, put("b", json(2))]);
    assert_eq!(order(&model, 1, "by n"), "a");
    assert_eq!(order(&model, 2, "by n"), "b");
    model.truncate(Height(1));
    assert_eq!(model.height(), Height(1));
    assert_eq!(order(&model, 1, "by n"), "a");
}

#[test]
fn sparse_indexes_and_fillers_leave_units_out() {
    let sparse = IndexSpec { sparse: true, ..by_n(false) };
    let without = Content { fields: BTreeMap::new(), ..json(0) };
    assert_eq!(sparse.key(&without), None);
    assert_eq!(by_n(false).key(&without), Some(vec![KeyPart::Ascending(Value::Null)]));
    assert_eq!(by_n(false).key(&raw(b"abc")), None);

    let parts = Parts::Bytes(vec![
        Range { offset: 2, len: 1, descending: false },
        Range { offset: 0, len: 1, descending: true },
    ]);
    let filled = IndexSpec { parts, unique: false, sparse: false, filler: Some(b' ') };
    assert_eq!(filled.key(&raw(b"a")), None, "too short");
    assert_eq!(filled.key(&raw(b" a ")), None, "filler");
    assert_eq!(filled.key(&raw(b"a  ")), Some(vec![KeyPart::Byte(b' '), KeyPart::Byte(!b'a')]));
}

#[test]
fn a_unique_index_forbids_a_second_unit_with_its_key() {
    let mut model = Model::default();
    let unique = IndexSpec { unique: true, ..by_n(false) };
    commit(&mut model, &[Operation::CreateIndex("by n".to_owned(), unique), put("a", json(1))]);
    let grouping = &model.newest().groupings[GROUPING];
    assert_eq!(grouping.forbidding_indexes(&b"b".to_vec(), &json(1)), ["by n"]);
    assert!(grouping.forbidding_indexes(&b"a".to_vec(), &json(1)).is_empty());
    assert!(grouping.forbidding_indexes(&b"b".to_vec(), &json(2)).is_empty());
}

#[test]
fn versions_tell_the_history_of_a_unit() {
    let mut model = Model::default();
    commit(&mut model, &[put("a", json(1))]);
    commit(&mut model, &[put("b", json(1))]);
    commit(&mut model, &[Operation::Delete(b"a".to_vec())]);
    commit(&mut model, &[Operation::Clear, put("a", json(2))]);
    commit(&mut model, &[Operation::Clear]);
    let versions = model.versions(GROUPING, &b"a".to_vec());
    let expected = [(1, Some(json(1))), (3, None), (4, Some(json(2))), (5, None)];
    assert_eq!(versions, expected.map(|(h, content)| Version { height: Height(h), content }));
}

#[test]
fn values_order_by_type_and_then_by_value() {
    let ordered = [
        Value::Null,
        Value::Quarters(-3),
        Value::Quarters(4),
        Value::Text(String::new()),
        Value::Text("a".to_owned()),
        Value::EmptyObject,
        Value::Bool(false),
        Value::Bool(true),
    ];
    assert!(ordered.is_sorted());
}
