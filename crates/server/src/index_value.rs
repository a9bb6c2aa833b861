//! Values of an index on the command line.
//!
//! | written | means |
//! |---|---|
//! | `10`, `-1.5`, `true`, `null`, `'"10"'` | the JSON value |
//! | `PRAGUE`, `007` | what is no JSON value is text |
//! | `'[10, "PRAGUE"]'` | a value for each field of the index, or for the first ones |
//! | `PRAGUE`, `10`, `'{"hex": "00ff"}'` | for an index over raw bytes all is text, but for that |

use libimmuxdb::index::{IndexDefinition, KeySource, key_from_json};
use serde_json::value::RawValue;

use crate::failure::{Failure, Result};

/// The encoded key of a value.
///
/// # Errors
/// The value is no JSON where it should be, or does not fit the index.
pub fn index_key(definition: &IndexDefinition, text: &str) -> Result<Vec<u8>> {
    let values = values(definition, text)?;
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    encode(definition, &values)
}

/// The encoded begin of the keys that begin with a value: with its last field, if that is a text and not yet complete.
///
/// # Errors
/// The value is no JSON where it should be, or does not fit the index.
pub fn index_prefix(definition: &IndexDefinition, text: &str) -> Result<Vec<u8>> {
    let values = values(definition, text)?;
    let texts: Vec<&str> = values.iter().map(String::as_str).collect();
    let mut key = encode(definition, &texts)?;
    let ends_with_text = values.last().is_some_and(|value| value.starts_with('"'));
    if ends_with_text && matches!(definition.source, KeySource::Json(_)) {
        // The byte that ends a text.
        key.pop();
    }
    Ok(key)
}

fn encode(definition: &IndexDefinition, values: &[&str]) -> Result<Vec<u8>> {
    key_from_json(definition, values).map_err(|error| Failure::usage(error.to_string()))
}

/// The JSON text of each field's value.
fn values(definition: &IndexDefinition, text: &str) -> Result<Vec<String>> {
    let not_json = |error: serde_json::Error| {
        Failure::usage(format!("the value {text} is not valid JSON: {error}"))
            .help("write a text as '\"text\"', and a value for each field as '[10, \"text\"]'")
    };
    let trimmed = text.trim();
    match trimmed.bytes().next() {
        Some(b'[') => {
            let values: Vec<&RawValue> = serde_json::from_str(trimmed).map_err(not_json)?;
            Ok(values.into_iter().map(|value| value.get().to_owned()).collect())
        }
        Some(b'"' | b'{') => {
            let value: &RawValue = serde_json::from_str(trimmed).map_err(not_json)?;
            Ok(vec![value.get().to_owned()])
        }
        _ => {
            let is_json =
                matches!(definition.source, KeySource::Json(_)) && serde_json::from_str::<&RawValue>(trimmed).is_ok();
            Ok(vec![if is_json { trimmed.to_owned() } else { serde_json::Value::from(text).to_string() }])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(definition: &str, text: &str, values: &[&str]) {
        let definition: IndexDefinition = definition.parse().unwrap();
        assert_eq!(index_key(&definition, text).unwrap(), key_from_json(&definition, values).unwrap(), "{text}");
    }

    #[test]
    fn values_of_json() {
        same("json:a", "10", &["10"]);
        same("json:a", "1e1", &["10"]);
        same("json:a", "\"10\"", &["\"10\""]);
        same("json:a", "PRAGUE 1", &["\"PRAGUE 1\""]);
        same("json:a", "007", &["\"007\""]);
        same("json:a", "", &["\"\""]);
        same("json:a", "null", &["null"]);
        same("json:a,b", "[10, \"x\"]", &["10", "\"x\""]);
        same("json:a,b", "10", &["10"]);
        same("json:a", "[[1,2]]", &["[1,2]"]);
    }

    #[test]
    fn values_of_raw_bytes() {
        same("raw:0+2", "10", &["\"10\""]);
        same("raw:0+2", "\"10\"", &["\"10\""]);
        same("raw:0+2", "{\"hex\": \"00ff\"}", &["{\"hex\": \"00ff\"}"]);
        same("raw:0+2,2+3", "[\"ab\", \"cde\"]", &["\"ab\"", "\"cde\""]);
    }

    #[test]
    fn prefixes() {
        let definition: IndexDefinition = "json:a,-b".parse().unwrap();
        let key = |values: &[&str]| key_from_json(&definition, values).unwrap();
        assert!(key(&["\"abc\""]).starts_with(&index_prefix(&definition, "ab").unwrap()));
        assert!(key(&["1", "\"abc\""]).starts_with(&index_prefix(&definition, "[1, \"ab\"]").unwrap()));
        assert!(!key(&["\"bc\""]).starts_with(&index_prefix(&definition, "ab").unwrap()));
        assert_eq!(index_prefix(&definition, "1").unwrap(), key(&["1"]));
    }

    #[test]
    fn what_is_wrong() {
        let definition: IndexDefinition = "json:a".parse().unwrap();
        assert!(index_key(&definition, "\"abc").unwrap_err().what.contains("not valid JSON"));
        assert!(index_key(&definition, "[1, 2").unwrap_err().what.contains("not valid JSON"));
        assert_eq!(index_key(&definition, "[1, 2]").unwrap_err().exit.code(), 2);
    }
}
