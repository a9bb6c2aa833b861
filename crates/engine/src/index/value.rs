//! Values as bytes that order as MongoDB orders values.
//!
//! A value is a *tag*, which orders the types, and a *payload*, which orders the values of a type and ends itself. An object writes
//! each field as tag, name, payload, so that it orders by type, then name, then value; a tag is never 0, which ends objects
//! and arrays and makes a shorter one come first.
//!
//! JSON objects have no order of fields, so they are written in the order of their names: objects that are equal as JSON
//! have equal keys. (MongoDB's are ordered, and compare in that order.)

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::limits::JSON_DEPTH;

use super::number;

/// The types' tags. The gaps are for types that JSON does not have; docs/FORMAT.md lists the reserved ones.
pub(super) mod tag {
    /// Ends objects and arrays.
    pub const END: u8 = 0x00;
    pub const NULL: u8 = 0x10;
    pub const NUMBER: u8 = 0x20;
    pub const STRING: u8 = 0x30;
    pub const OBJECT: u8 = 0x40;
    pub const ARRAY: u8 = 0x50;
    pub const BOOLEAN: u8 = 0x70;
}

/// In strings: ends them; bytes up to [`ESCAPE`] are written as `ESCAPE`, byte + 1.
const STRING_END: u8 = 0x00;
const ESCAPE: u8 = 0x01;

/// Writes a value. `depth` is how many levels of nesting are around it.
pub(super) fn put_value(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<()> {
    out.push(tag_of(value));
    put_payload(out, value, depth)
}

fn tag_of(value: &Value) -> u8 {
    match value {
        Value::Null => tag::NULL,
        Value::Number(_) => tag::NUMBER,
        Value::String(_) => tag::STRING,
        Value::Object(_) => tag::OBJECT,
        Value::Array(_) => tag::ARRAY,
        Value::Bool(_) => tag::BOOLEAN,
    }
}

fn put_payload(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<()> {
    match value {
        Value::Null => {}
        Value::Bool(boolean) => out.push(u8::from(*boolean)),
        Value::Number(number) => number::put_number(out, number)?,
        Value::String(string) => put_string(out, string.as_bytes()),
        Value::Array(elements) => {
            check_depth(depth)?;
            for element in elements {
                put_value(out, element, depth + 1)?;
            }
            out.push(tag::END);
        }
        Value::Object(fields) => {
            check_depth(depth)?;
            // The map keeps either the order of names or that of insertion, depending on how serde_json was built.
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in fields {
                out.push(tag_of(value));
                put_string(out, name.as_bytes());
                put_payload(out, value, depth + 1)?;
            }
            out.push(tag::END);
        }
    }
    Ok(())
}

fn check_depth(depth: usize) -> Result<()> {
    if depth >= JSON_DEPTH {
        return Err(Error::Invalid(format!("a value is nested deeper than {JSON_DEPTH} levels")));
    }
    Ok(())
}

/// Writes a string and its end.
pub(super) fn put_string(out: &mut Vec<u8>, string: &[u8]) {
    put_characters(out, string);
    out.push(STRING_END);
}

/// Writes a stretch of a string.
pub(super) fn put_characters(out: &mut Vec<u8>, mut characters: &[u8]) {
    while let Some(at) = characters.iter().position(|byte| *byte <= ESCAPE) {
        out.extend_from_slice(&characters[..at]);
        out.extend_from_slice(&[ESCAPE, characters[at] + 1]);
        characters = &characters[at + 1..];
    }
    out.extend_from_slice(characters);
}

/// Writes the end of a string.
pub(super) fn end_string(out: &mut Vec<u8>) {
    out.push(STRING_END);
}

/// Reads the bytes of a key, inverted ones too.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    mask: u8,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, mask: 0 }
    }

    /// Says whether the bytes that follow are inverted.
    pub(super) fn set_descending(&mut self, descending: bool) {
        self.mask = if descending { 0xFF } else { 0 };
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(super) fn take(&mut self, len: usize) -> Result<Vec<u8>> {
        let taken = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(too_short)?;
        self.at += len;
        Ok(taken.iter().map(|byte| byte ^ self.mask).collect())
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        for byte in &mut array {
            *byte = self.byte()?;
        }
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(too_short)?;
        self.at += 1;
        Ok(byte ^ self.mask)
    }
}

fn too_short() -> Error {
    Error::Invalid("an index key ends within a value".to_owned())
}

/// Reads a value. `depth` is how many levels of nesting are around it.
pub(super) fn read_value(reader: &mut Reader<'_>, depth: usize) -> Result<Value> {
    let tag = reader.byte()?;
    read_payload(reader, tag, depth)
}

fn read_payload(reader: &mut Reader<'_>, tag: u8, depth: usize) -> Result<Value> {
    match tag {
        tag::NULL => Ok(Value::Null),
        tag::BOOLEAN => match reader.byte()? {
            0 => Ok(Value::Bool(false)),
            1 => Ok(Value::Bool(true)),
            _ => Err(Error::Invalid("an index key has bytes that are no boolean".to_owned())),
        },
        tag::NUMBER => Ok(Value::Number(number::read_number(reader)?)),
        tag::STRING => Ok(Value::String(read_string(reader)?)),
        tag::ARRAY => {
            check_depth(depth)?;
            let mut elements = Vec::new();
            loop {
                match reader.byte()? {
                    tag::END => return Ok(Value::Array(elements)),
                    tag => elements.push(read_payload(reader, tag, depth + 1)?),
                }
            }
        }
        tag::OBJECT => {
            check_depth(depth)?;
            read_fields(reader, depth).map(Value::Object)
        }
        _ => {
            Err(Error::Invalid(format!("an index key has the type tag 0x{tag:02x}, which this version does not know")))
        }
    }
}

fn read_fields(reader: &mut Reader<'_>, depth: usize) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    let mut last: Option<String> = None;
    loop {
        let tag = reader.byte()?;
        if tag == tag::END {
            return Ok(fields);
        }
        let name = read_string(reader)?;
        if last.is_some_and(|last| last >= name) {
            return Err(Error::Invalid("an index key has an object whose fields are out of order".to_owned()));
        }
        let value = read_payload(reader, tag, depth + 1)?;
        fields.insert(name.clone(), value);
        last = Some(name);
    }
}

fn read_string(reader: &mut Reader<'_>) -> Result<String> {
    let wrong = || Error::Invalid("an index key has bytes that are no string".to_owned());
    let mut string = Vec::new();
    loop {
        match reader.byte()? {
            STRING_END => return String::from_utf8(string).map_err(|_| wrong()),
            ESCAPE => match reader.byte()? {
                escaped @ 1..=2 => string.push(escaped - 1),
                _ => return Err(wrong()),
            },
            byte => string.push(byte),
        }
    }
}
