//! What the extractor finds is what a plain look-up in parsed values finds.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::values::{names, scalars, values};
use crate::error::Error;
use crate::index::{FieldPath, IndexDefinition, KeyExtractor, KeySet, KeySource, Sparse, decode_key, key_from_values};
use crate::limits::INDEX_KEY_BYTES;
use crate::types::{IndexId, VersionKind};

type Indexes = Vec<(IndexId, IndexDefinition)>;

fn look_up<'a>(value: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.segments().iter().try_fold(value, |value, segment| match value {
        Value::Object(fields) => fields.get(segment),
        Value::Array(elements) => {
            let number: usize = segment.parse().ok()?;
            elements.get(number).filter(|_| number.to_string() == *segment)
        }
        _ => None,
    })
}

fn naive(indexes: &Indexes, value: &Value) -> Vec<(IndexId, Vec<u8>)> {
    let mut keys = Vec::new();
    for (id, definition) in indexes {
        let KeySource::Json(fields) = &definition.source else { unreachable!() };
        let found: Vec<Option<&Value>> = fields.iter().map(|field| look_up(value, &field.path)).collect();
        if definition.sparse == Sparse::Missing && found.iter().all(Option::is_none) {
            continue;
        }
        let found: Vec<Value> = found.into_iter().map(|value| value.cloned().unwrap_or(Value::Null)).collect();
        keys.push((*id, key_from_values(definition, &found).unwrap()));
    }
    keys.sort();
    keys
}

fn extract(indexes: &Indexes, kind: VersionKind, content: &[u8]) -> Vec<(IndexId, Vec<u8>)> {
    let mut set = KeySet::new();
    set.insert(IndexId(77), b"left from the unit before");
    KeyExtractor::new(indexes).unwrap().extract(kind, content, &mut set).unwrap();
    set.iter().map(|(id, key)| (id, key.to_vec())).collect()
}

fn indexes() -> impl Strategy<Value = Indexes> {
    let segment = prop_oneof![4 => names(), 1 => "[a-c]{1,70}"];
    let path = prop::collection::vec(segment, 1..4).prop_map(FieldPath::new);
    let definition = (prop::collection::vec((path, any::<bool>()), 1..4), any::<bool>()).prop_filter_map(
        "a field twice",
        |(fields, sparse)| {
            let mut definition: Option<IndexDefinition> = None;
            for (path, descending) in fields {
                let with = match definition {
                    Some(definition) => definition.and(path),
                    None => IndexDefinition::json(path),
                };
                definition = Some(if descending { with.descending() } else { with });
            }
            let definition = definition.map(|d| if sparse { d.sparse() } else { d })?;
            definition.validate().ok().map(|()| definition)
        },
    );
    prop::collection::vec(definition, 0..6).prop_map(|definitions| {
        definitions.into_iter().zip((1..9).rev()).map(|(definition, id)| (IndexId(id), definition)).collect()
    })
}

fn is_short(value: &Value) -> bool {
    let quarters = |double: f64| double.abs() < 1e9 && (double * 4.0).fract() == 0.0;
    !value.is_f64() || value.as_f64().is_some_and(quarters)
}

/// JSON text with duplicate names, spaces and escapes, which writing a value cannot give.
fn texts() -> impl Strategy<Value = String> {
    let space = || prop::sample::select(vec!["", "", " ", "\n\t"]);
    let name = || {
        (names(), any::<bool>()).prop_map(|(name, escaped)| match escaped {
            true => format!("\"{}\"", name.chars().map(|c| format!("\\u{:04x}", c as u32)).collect::<String>()),
            false => Value::from(name).to_string(),
        })
    };
    scalars()
        .prop_filter("parsing may round longer fractions", is_short)
        .prop_map(|value| value.to_string())
        .prop_recursive(4, 40, 6, move |inner| {
            prop_oneof![
                (prop::collection::vec(inner.clone(), 0..5), space())
                    .prop_map(|(elements, space)| format!("[{space}{}{space}]", elements.join(&format!("{space},")))),
                (prop::collection::vec((name(), inner), 0..6), space()).prop_map(|(fields, space)| {
                    let fields: Vec<String> =
                        fields.into_iter().map(|(name, value)| format!("{name}{space}:{space}{value}")).collect();
                    format!("{{{space}{}{space}}}", fields.join(&format!("{space},")))
                }),
            ]
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn extraction_is_looking_up(indexes in indexes(), value in values()) {
        prop_assert_eq!(extract(&indexes, VersionKind::Json, value.to_string().as_bytes()), naive(&indexes, &value));
    }

    #[test]
    fn duplicate_names_spaces_and_escapes(indexes in indexes(), text in texts()) {
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(extract(&indexes, VersionKind::Json, text.as_bytes()), naive(&indexes, &value), "{}", text);
    }
}

fn one(definition: &str, kind: VersionKind, content: &[u8]) -> Option<Vec<Value>> {
    let definition: IndexDefinition = definition.parse().unwrap();
    let keys = extract(&vec![(IndexId(1), definition.clone())], kind, content);
    keys.first().map(|(_, key)| decode_key(&definition, key).unwrap())
}

#[test]
fn the_last_of_equal_names_counts() {
    let json = VersionKind::Json;
    assert_eq!(one("json:a.b sparse", json, br#"{"a":{"b":1},"a":5}"#), None);
    assert_eq!(one("json:a.b", json, br#"{"a":{"b":1,"b":2}}"#), Some(vec![json!(2)]));
    assert_eq!(one("json:a.b", json, br#"{"a":5,"\u0061":{"b":3}}"#), Some(vec![json!(3)]));
    assert_eq!(one("json:a", json, br#"{"a":{"c":1,"b":2,"c":[]}}"#), Some(vec![json!({"b": 2, "c": []})]));
}

#[test]
fn arrays_are_entered_by_number() {
    let text = br#"{"a":[{"b":1},{"b":2}],"0":{"1":"object"}}"#;
    let json = VersionKind::Json;
    assert_eq!(one("json:a.1.b", json, text), Some(vec![json!(2)]));
    assert_eq!(one("json:a.b sparse", json, text), None);
    assert_eq!(one("json:a.01.b sparse", json, text), None);
    assert_eq!(one("json:a.2 sparse", json, text), None);
    assert_eq!(one("json:0.1", json, text), Some(vec![json!("object")]));
    assert_eq!(one("json:a", json, text), Some(vec![json!([{"b": 1}, {"b": 2}])]));
}

#[test]
fn sparse_leaves_out_what_is_missing_but_not_null() {
    let json = VersionKind::Json;
    assert_eq!(one("json:a,b sparse", json, b"{}"), None);
    assert_eq!(one("json:a,b sparse", json, br#"{"a":null}"#), Some(vec![json!(null), json!(null)]));
    assert_eq!(one("json:a,b", json, b"7"), Some(vec![json!(null), json!(null)]));
}

#[test]
fn raw_parts_are_copied() {
    let raw = VersionKind::Raw;
    assert_eq!(one("raw:2+3", raw, b"..abc"), Some(vec![json!("abc")]));
    assert_eq!(one("raw:2+3", raw, b"..ab"), None, "too short");
    assert_eq!(one("raw:0+1,-3+2", VersionKind::Json, b"\"xyz\""), Some(vec![json!("\""), json!("z\"")]));
    assert_eq!(one("raw:1+2,4+1 filler=0x20", raw, b".  . ."), None);
    assert_eq!(one("raw:1+2,-4+1 filler=0x20", raw, b".  .x."), Some(vec![json!("  "), json!("x")]));
    assert_eq!(one("raw:1+2,-4+1 filler=0xdf", raw, b".  . ."), Some(vec![json!("  "), json!(" ")]));
    assert_eq!(one("json:a", raw, b"{}"), None, "raw content has no fields");
    assert_eq!(one("raw:0+1", VersionKind::Deleted, b"xyz"), None);
}

#[test]
fn bad_content_is_refused_whatever_the_indexes() {
    let definition = IndexDefinition::json("a");
    for indexes in [vec![], vec![(IndexId(1), IndexDefinition::raw(0..1))], vec![(IndexId(1), definition)]] {
        let extractor = KeyExtractor::new(&indexes).unwrap();
        let mut set = KeySet::new();
        for text in [&b"{\"b\":1e999}"[..], b"{\"b\":\"\\ud800\"}", b"{\"b\":\"\xff\"}", b"{} 1", b""] {
            let error = extractor.extract(VersionKind::Json, text, &mut set).unwrap_err();
            assert!(matches!(error, Error::InvalidJson(_)));
            assert!(set.is_empty());
        }
        assert!(extractor.extract(VersionKind::Raw, b"{", &mut set).is_ok());
    }
}

#[test]
fn large_keys_are_refused() {
    let extractor = KeyExtractor::new(&[(IndexId(1), IndexDefinition::json("a"))]).unwrap();
    let mut set = KeySet::new();
    let mut extract = |value: String| {
        let text = format!("{{\"a\":{value}}}");
        extractor.extract(VersionKind::Json, text.as_bytes(), &mut set).map(|()| set.iter().next().unwrap().1.len())
    };
    let string = |len: usize| format!("\"{}\"", "x".repeat(len));
    assert_eq!(extract(string(INDEX_KEY_BYTES - 2)).unwrap(), INDEX_KEY_BYTES);
    for large in [
        string(INDEX_KEY_BYTES - 1),
        string(INDEX_KEY_BYTES * 20),
        format!("[{}]", vec!["1"; INDEX_KEY_BYTES].join(",")),
        format!("[{}]", vec![string(100); INDEX_KEY_BYTES / 50].join(",")),
        format!("{{\"k\":{},\"j\":1}}", string(INDEX_KEY_BYTES)),
    ] {
        assert!(matches!(extract(large), Err(Error::TooLarge { what: "index key", .. })));
    }
    assert_eq!(extract("\"\\u0061\"".to_owned()).unwrap(), 3);
}

#[test]
fn an_index_is_there_once() {
    let twice = [(IndexId(2), IndexDefinition::json("a")), (IndexId(2), IndexDefinition::json("b"))];
    assert!(matches!(KeyExtractor::new(&twice), Err(Error::Invalid(_))));
}
