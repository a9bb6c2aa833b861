//! The examples in docs/FORMAT.md are true.

use serde_json::Value;

use crate::index::{IndexDefinition, decode_key, key_from_values};

/// The cells of the table under this heading, without their backticks.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let format = include_str!("../../../../../docs/FORMAT.md");
    let table = format.lines().skip_while(|line| *line != heading).skip(2).take_while(|line| line.starts_with('|'));
    let cells =
        |line: &'static str| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
    table.map(cells).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<char> = hex.chars().filter(|c| *c != ' ').collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap()).collect()
}

#[test]
fn definitions_have_these_bytes() {
    let rows = rows("| definition | bytes |");
    assert_eq!(rows.len(), 5);
    for row in rows {
        let definition: IndexDefinition = row[0].parse().unwrap();
        assert_eq!(definition.encode(), bytes(row[1]), "{row:?}");
        assert_eq!(IndexDefinition::decode(&bytes(row[1])).unwrap(), definition);
        assert_eq!(definition.to_string(), row[0]);
    }
}

#[test]
fn keys_have_these_bytes() {
    let rows = rows("| definition | values | key |");
    assert_eq!(rows.len(), 21);
    for row in rows {
        let definition: IndexDefinition = row[0].parse().unwrap();
        let values: Vec<Value> = serde_json::from_str(row[1]).unwrap();
        assert_eq!(key_from_values(&definition, &values).unwrap(), bytes(row[2]), "{row:?}");
        let decoded = decode_key(&definition, &bytes(row[2])).unwrap();
        assert_eq!(key_from_values(&definition, &decoded).unwrap(), bytes(row[2]));
    }
}
