//! Random values, and the order that keys must have, in exact arithmetic.

use std::cmp::Ordering;

use proptest::prelude::*;
use serde_json::{Number, Value};

/// Numbers, with the places crowded at which doubles and integers part.
pub fn numbers() -> impl Strategy<Value = Value> {
    let edges = prop::sample::select(vec![0i128, 1 << 31, 1 << 52, 1 << 53, 1 << 54, 1 << 62, 1 << 63, 1 << 64]);
    let near = (edges, -3000i128..3000, any::<bool>()).prop_map(|(edge, by, negative)| {
        let integer = if negative { -(edge + by) } else { edge + by };
        integer_or_double(integer)
    });
    let near_double = (near.clone(), -3i32..=3).prop_map(|(number, steps)| {
        let mut double = number.as_f64().unwrap();
        for _ in 0..steps.abs() {
            double = if steps < 0 { double.next_down() } else { double.next_up() };
        }
        Value::from(double)
    });
    let special = prop::sample::select(vec![
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        -f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        f64::MAX,
        f64::MIN,
        0.1,
        1e308,
    ]);
    prop_oneof![
        3 => near,
        3 => near_double,
        2 => (-20i64..20).prop_map(Value::from),
        2 => (-20i32..20).prop_map(|n| Value::from(f64::from(n) / 4.0)),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        2 => any::<f64>().prop_filter("JSON has only these", |f| f.is_finite()).prop_map(Value::from),
        1 => special.prop_map(Value::from),
    ]
}

fn integer_or_double(integer: i128) -> Value {
    match (i64::try_from(integer), u64::try_from(integer)) {
        (Ok(integer), _) => Value::from(integer),
        (_, Ok(integer)) => Value::from(integer),
        _ => Value::from(integer as f64),
    }
}

pub fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ab\u{0}\u{1}\u{2}\u{7f}é\u{10ffff}]{0,4}",
        1 => any::<String>(),
    ]
}

pub fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "c", "0", "1", "2", "aa"]).prop_map(str::to_owned),
        1 => "[a\u{0}\"\\\\é]{1,2}",
    ]
}

pub fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        3 => numbers(),
        3 => strings().prop_map(Value::from),
    ]
}

pub fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The order of values: by type, then by value.
pub fn compare(one: &Value, other: &Value) -> Ordering {
    type_rank(one).cmp(&type_rank(other)).then_with(|| compare_same(one, other))
}

fn compare_same(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare_numbers(one, other),
        (Value::String(one), Value::String(other)) => one.as_bytes().cmp(other.as_bytes()),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Array(one), Value::Array(other)) => {
            let unequal = one.iter().zip(other).map(|(one, other)| compare(one, other)).find(|order| order.is_ne());
            unequal.unwrap_or(one.len().cmp(&other.len()))
        }
        (Value::Object(one), Value::Object(other)) => {
            let sorted = |object: &serde_json::Map<String, Value>| {
                let mut fields: Vec<(String, Value)> = object.clone().into_iter().collect();
                fields.sort_by(|one, other| one.0.cmp(&other.0));
                fields
            };
            let (one, other) = (sorted(one), sorted(other));
            let unequal = one.iter().zip(&other).map(|(one, other)| {
                type_rank(&one.1)
                    .cmp(&type_rank(&other.1))
                    .then_with(|| one.0.cmp(&other.0))
                    .then_with(|| compare_same(&one.1, &other.1))
            });
            unequal.into_iter().find(|order| order.is_ne()).unwrap_or(one.len().cmp(&other.len()))
        }
        _ => Ordering::Equal,
    }
}

fn type_rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Number(_) => 1,
        Value::String(_) => 2,
        Value::Object(_) => 3,
        Value::Array(_) => 4,
        Value::Bool(_) => 5,
    }
}

/// By exact value: an integer against a double by the double's whole part (exact in an `i128` below 2^127), then the fraction.
fn compare_numbers(one: &Number, other: &Number) -> Ordering {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(one), None) => compare_mixed(one, other.as_f64().unwrap()),
        (None, Some(other)) => compare_mixed(other, one.as_f64().unwrap()).reverse(),
        (None, None) => one.as_f64().unwrap().partial_cmp(&other.as_f64().unwrap()).unwrap(),
    }
}

fn compare_mixed(integer: i128, double: f64) -> Ordering {
    if double.abs() >= 1e30 {
        return 0.0.partial_cmp(&double).unwrap();
    }
    let whole = double.trunc();
    integer.cmp(&(whole as i128)).then_with(|| whole.partial_cmp(&double).unwrap())
}
