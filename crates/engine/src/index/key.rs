//! Keys from values, for the bounds of scans, and values from keys, for display.

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::limits::INDEX_KEY_BYTES;

use super::definition::{IndexDefinition, KeySource, RawPart};
use super::extract::{check_size, invert};
use super::json::validate_json;
use super::transcode::put_json;
use super::value::{Reader, put_value, read_value};

/// The name in the object that stands for raw bytes which are no text: `{"hex": "00ff"}`.
const HEX: &str = "hex";

/// The key of these values, one for each field; or of fewer, which is a prefix of all keys whose first fields are these.
///
/// For raw indexes a value is a string, or `{"hex": "00ff"}` for other bytes. It has the length of its part; the last may be
/// shorter, and is then a prefix as well.
///
/// # Errors
/// [`Error::Invalid`] when the values do not fit the definition, [`Error::TooLarge`] for a key that no unit can have.
pub fn key_from_values(definition: &IndexDefinition, values: &[Value]) -> Result<Vec<u8>> {
    check_count(definition, values.len())?;
    let mut key = Vec::new();
    match &definition.source {
        KeySource::Json(fields) => {
            for (field, value) in fields.iter().zip(values) {
                let start = key.len();
                put_value(&mut key, value, 0)?;
                if field.descending {
                    invert(&mut key[start..]);
                }
            }
        }
        KeySource::Raw(parts) => {
            for (place, (part, value)) in parts.iter().zip(values).enumerate() {
                put_raw(&mut key, *part, value, place + 1 == values.len())?;
            }
        }
    }
    check_size("index key", key.len(), INDEX_KEY_BYTES)?;
    Ok(key)
}

/// As [`key_from_values`], from the JSON text of each value.
///
/// It reads numbers exactly as they are read from content, where parsing into a [`Value`] may round a long fraction to a neighbour.
///
/// # Errors
/// Those of [`key_from_values`], and [`Error::InvalidJson`].
pub fn key_from_json(definition: &IndexDefinition, values: &[&str]) -> Result<Vec<u8>> {
    check_count(definition, values.len())?;
    let KeySource::Json(fields) = &definition.source else {
        let values = values.iter().map(|text| serde_json::from_str(text));
        let values: Result<Vec<Value>, _> = values.collect();
        return key_from_values(definition, &values.map_err(|error| Error::InvalidJson(error.to_string()))?);
    };
    let mut key = Vec::new();
    for (field, text) in fields.iter().zip(values) {
        validate_json(text.as_bytes())?;
        let start = key.len();
        put_json(&mut key, text.trim_ascii().as_bytes(), INDEX_KEY_BYTES);
        if field.descending {
            invert(&mut key[start..]);
        }
    }
    check_size("index key", key.len(), INDEX_KEY_BYTES)?;
    Ok(key)
}

/// The values of a key, one for each field, for display. Numbers come back exactly; one that is whole, as an integer.
///
/// # Errors
/// [`Error::Invalid`] when the bytes are no key of such an index.
pub fn decode_key(definition: &IndexDefinition, key: &[u8]) -> Result<Vec<Value>> {
    check_size("index key", key.len(), INDEX_KEY_BYTES)?;
    let mut reader = Reader::new(key);
    let mut values = Vec::with_capacity(definition.fields());
    match &definition.source {
        KeySource::Json(fields) => {
            for field in fields {
                reader.set_descending(field.descending);
                values.push(read_value(&mut reader, 0)?);
            }
        }
        KeySource::Raw(parts) => {
            for part in parts {
                reader.set_descending(part.descending);
                values.push(show_raw(reader.take(part.len as usize)?));
            }
        }
    }
    if !reader.is_at_end() {
        return Err(Error::Invalid("an index key has bytes after its last field".to_owned()));
    }
    Ok(values)
}

fn check_count(definition: &IndexDefinition, count: usize) -> Result<()> {
    if count > definition.fields() {
        return Err(Error::Invalid(format!(
            "{count} values were given for the {} fields of the index {definition}",
            definition.fields()
        )));
    }
    Ok(())
}

fn put_raw(key: &mut Vec<u8>, part: RawPart, value: &Value, last: bool) -> Result<()> {
    let bytes = match value {
        Value::String(string) => Some(string.as_bytes().to_vec()),
        Value::Object(fields) if fields.len() == 1 => fields.get(HEX).and_then(Value::as_str).and_then(parse_hex),
        _ => None,
    };
    let mut bytes = bytes.ok_or_else(|| {
        Error::Invalid(format!("the value {value} is not for a raw index; give a string or {{\"hex\": \"00ff\"}}"))
    })?;
    let len = part.len as usize;
    if bytes.len() > len || (bytes.len() < len && !last) {
        return Err(Error::Invalid(format!(
            "the value {value} has {} bytes, and its part of the key has {len}",
            bytes.len()
        )));
    }
    if part.descending {
        invert(&mut bytes);
    }
    key.extend_from_slice(&bytes);
    Ok(())
}

fn show_raw(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(string) if !string.chars().any(char::is_control) => Value::String(string),
        Ok(string) => json!({ HEX: show_hex(string.as_bytes()) }),
        Err(error) => json!({ HEX: show_hex(error.as_bytes()) }),
    }
}

fn show_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pair = |pair: &[u8]| Some((digit(&pair[0])? * 16 + digit(&pair[1])?) as u8);
    text.as_bytes().chunks(2).map(pair).collect()
}
