//! Keys order as values do, end themselves, and can be read back.

use std::cmp::Ordering;
use std::slice;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::values::{compare, values};
use crate::error::Error;
use crate::index::{IndexDefinition, decode_key, key_from_json, key_from_values};
use crate::limits::{INDEX_KEY_BYTES, JSON_DEPTH};

fn key(definition: &str, values: &[Value]) -> Vec<u8> {
    key_from_values(&definition.parse().unwrap(), values).unwrap()
}

/// Two values that are often near each other: equal, or one a changed copy.
fn pairs() -> impl Strategy<Value = (Value, Value)> {
    prop_oneof![
        2 => (values(), values()),
        1 => values().prop_map(|value| (value.clone(), value)),
        1 => (super::values::numbers(), super::values::numbers()),
        1 => (super::values::strings(), super::values::strings()).prop_map(|(a, b)| (json!(a), json!(b))),
        1 => (values(), values()).prop_map(|(a, b)| (json!([a]), json!([a, b]))),
        1 => (values(), values(), values()).prop_map(|(a, b, c)| (json!({"a": a, "b": b}), json!({"a": a, "b": c}))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bytes_order_as_values((one, other) in pairs()) {
        let expected = compare(&one, &other);
        let (a, b) = (key("json:a", slice::from_ref(&one)), key("json:a", slice::from_ref(&other)));
        prop_assert_eq!(a.cmp(&b), expected, "{} {}", one, other);
        let (down, under) = (key("json:-a", &[one]), key("json:-a", &[other]));
        prop_assert_eq!(down.cmp(&under), expected.reverse());
        for (a, b) in [(&a, &b), (&b, &a), (&down, &under), (&under, &down)] {
            prop_assert!(!a.starts_with(b) || a == b, "no key is a prefix of another");
        }
    }

    #[test]
    fn several_fields_order_one_after_the_other((a, b) in pairs(), (c, d) in pairs(), signs in any::<(bool, bool)>()) {
        let turn = |order: Ordering, turned: bool| if turned { order.reverse() } else { order };
        let expected = turn(compare(&a, &b), signs.0).then(turn(compare(&c, &d), signs.1));
        let mut definition = IndexDefinition::json("a");
        if signs.0 { definition = definition.descending(); }
        definition = definition.and("b");
        if signs.1 { definition = definition.descending(); }
        let one = key_from_values(&definition, &[a.clone(), c]).unwrap();
        let other = key_from_values(&definition, &[b, d]).unwrap();
        prop_assert_eq!(one.cmp(&other), expected);
        let prefix = key_from_values(&definition, &[a]).unwrap();
        prop_assert!(one.starts_with(&prefix));
        prop_assert_eq!(other.starts_with(&prefix), compare(&decode_key(&definition, &one).unwrap()[0], &decode_key(&definition, &other).unwrap()[0]).is_eq());
    }

    #[test]
    fn keys_read_back(a in values(), b in values()) {
        let definition: IndexDefinition = "json:a,-b".parse().unwrap();
        let bytes = key_from_values(&definition, &[a.clone(), b.clone()]).unwrap();
        let decoded = decode_key(&definition, &bytes).unwrap();
        prop_assert!(compare(&decoded[0], &a).is_eq() && compare(&decoded[1], &b).is_eq());
        prop_assert_eq!(&key_from_values(&definition, &decoded).unwrap(), &bytes);
        let texts = [a.to_string(), format!(" {b}\n")];
        prop_assert_eq!(&key_from_json(&definition, &[&texts[0], &texts[1]]).unwrap(), &bytes);
    }

    #[test]
    fn arbitrary_bytes_decode_to_an_error_or_a_key(bytes in prop::collection::vec(
        prop_oneof![any::<u8>(), prop::sample::select(vec![0x00, 0x01, 0x10, 0x20, 0x30, 0x40, 0x50, 0x61, 0x70, 0xC3])], 0..40,
    )) {
        for definition in ["json:a", "json:-a,b", "raw:0+3", "raw:0+3,-7+2"] {
            let definition: IndexDefinition = definition.parse().unwrap();
            if let Ok(values) = decode_key(&definition, &bytes) {
                prop_assert_eq!(&key_from_values(&definition, &values).unwrap(), &bytes);
            }
        }
    }

    #[test]
    fn damaged_keys_decode_to_an_error_or_a_key(value in values(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let definition: IndexDefinition = "json:a".parse().unwrap();
        let mut bytes = key_from_values(&definition, &[value]).unwrap();
        let at = at.index(bytes.len());
        prop_assert!(decode_key(&definition, &bytes[..at]).is_err(), "a part of a key is no key");
        bytes[at] = byte;
        if let Ok(values) = decode_key(&definition, &bytes) {
            prop_assert_eq!(&key_from_values(&definition, &values).unwrap(), &bytes);
        }
    }
}

#[test]
fn numbers_read_back_exactly() {
    for number in [
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!((1i64 << 53) + 1),
        json!(-(1i64 << 53) - 1),
        json!(0.1),
        json!(-5e-324),
        json!(f64::MAX),
        json!(f64::MIN_POSITIVE),
    ] {
        let bytes = key("json:a", slice::from_ref(&number));
        assert_eq!(decode_key(&IndexDefinition::json("a"), &bytes).unwrap(), [number]);
    }
    let bytes = key("json:a", &[json!(-0.0)]);
    assert_eq!(decode_key(&IndexDefinition::json("a"), &bytes).unwrap(), [json!(0)]);
    assert_eq!(key("json:a", &[json!(3)]), key("json:a", &[json!(3.0)]));
    assert_eq!(key("json:a", &[json!(1u64 << 63)]), key("json:a", &[json!(9_223_372_036_854_775_808.0)]));
}

#[test]
fn texts_are_read_as_content_is() {
    let definition = IndexDefinition::json("a");
    for (text, same) in [
        ("1e2", "100"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("18446744073709551616", "18446744073709551617"),
        ("1E+2", "100.0"),
    ] {
        assert_eq!(key_from_json(&definition, &[text]).unwrap(), key_from_json(&definition, &[same]).unwrap());
    }
    for wrong in ["", "1 2", "1e400", "nul", "\"\\ud800\""] {
        assert!(matches!(key_from_json(&definition, &[wrong]), Err(Error::InvalidJson(_))), "{wrong}");
    }
}

#[test]
fn raw_values_fit_their_parts() {
    let definition: IndexDefinition = "raw:0+4,-10+2".parse().unwrap();
    let whole = key_from_values(&definition, &[json!("ACME"), json!({"hex": "00fF"})]).unwrap();
    assert_eq!(whole, b"ACME\xff\x00");
    assert_eq!(decode_key(&definition, &whole).unwrap(), [json!("ACME"), json!({"hex": "00ff"})]);
    assert_eq!(key_from_values(&definition, &[json!("AC")]).unwrap(), b"AC");
    for wrong in [
        vec![json!("AC"), json!("xx")],
        vec![json!("ACMES")],
        vec![json!(5)],
        vec![json!({"hex": "0"})],
        vec![json!({"hex": "é0"})],
        vec![json!("ACME"), json!("xx"), json!("y")],
    ] {
        assert!(matches!(key_from_values(&definition, &wrong), Err(Error::Invalid(_))), "{wrong:?}");
    }
}

#[test]
fn limits_hold() {
    let definition = IndexDefinition::json("a");
    let fits = json!("x".repeat(INDEX_KEY_BYTES - 2));
    assert_eq!(key_from_values(&definition, &[fits]).unwrap().len(), INDEX_KEY_BYTES);
    let large = "x".repeat(INDEX_KEY_BYTES - 1);
    assert!(matches!(key_from_values(&definition, &[json!(large)]), Err(Error::TooLarge { .. })));
    let mut deep = json!(1);
    for _ in 0..JSON_DEPTH {
        deep = json!([deep]);
    }
    assert!(key_from_values(&definition, &[deep.clone()]).is_ok());
    assert!(key_from_values(&definition, &[json!([deep])]).is_err());
    let bytes = vec![0x50; 100_000];
    assert!(decode_key(&definition, &bytes).is_err());
}
