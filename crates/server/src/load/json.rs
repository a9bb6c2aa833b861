//! What NDJSON and JSON arrays have in common: finding the unit key in an object.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Column, Problem, Row};

/// The field whose value is the unit key: a path of names. Without one given, the first field of the first object.
#[derive(Clone, Debug)]
pub(super) struct KeyField(Option<Vec<String>>);

impl KeyField {
    /// `a.b` is the field `b` of the object in the field `a`.
    pub(super) fn new(path: Option<&str>) -> KeyField {
        KeyField(path.map(|path| path.split('.').map(str::to_owned).collect()))
    }

    /// Checks that `text` is one JSON object, and makes it the content of a row. A fault's place is counted from the text's begin,
    /// which stands at `line` and `column` (from 1).
    pub(super) fn fill(&mut self, row: &mut Row, text: &[u8], line: u64, column: u64) -> Result<(), Problem> {
        row.line = line;
        let text = std::str::from_utf8(text).map_err(|error| {
            let before = &text[..error.valid_up_to()];
            let (line, column) = place(before, line, column);
            Problem::on_line(line, format!("the byte 0x{:02X} is not UTF-8", text[error.valid_up_to()]))
                .column(Column::Byte(column))
                .help("convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`")
        })?;
        let invalid = |error: serde_json::Error| {
            let on_first = error.line() <= 1;
            let column = error.column() as u64 + if on_first { column - 1 } else { 0 };
            Problem::on_line(
                line + (error.line() as u64).saturating_sub(1),
                format!("this is not valid JSON: {}", reason(&error)),
            )
            .column(Column::Byte(column.max(1)))
            .help("correct it there")
        };
        let first = text.trim_ascii_start().bytes().next();
        if first.is_some_and(|first| first != b'{') {
            serde_json::from_str::<IgnoredAny>(text).map_err(invalid)?;
            return Err(Problem::on_line(line, "this is not a JSON object")
                .help("each row is an object like {\"id\": 1, \"name\": \"Ann\"}"));
        }
        let path = match &self.0 {
            Some(path) => path,
            None => {
                let first = first_name(text).map_err(invalid)?.ok_or_else(|| {
                    Problem::on_line(line, "the object has no field for the key")
                        .help("name the key's field with --key")
                })?;
                self.0.insert(vec![first])
            }
        };
        let value = find(text, path).map_err(invalid)?;
        row.key.clear();
        row.key.extend_from_slice(&key(value, path).map_err(|what| {
            Problem::on_line(line, what)
                .help("each row needs a key that is a string or a number; name its field with --key")
        })?);
        row.content.clear();
        row.content.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Where the text that follows `before` begins.
fn place(before: &[u8], line: u64, column: u64) -> (u64, u64) {
    match before.iter().rposition(|byte| *byte == b'\n') {
        None => (line, column + before.len() as u64),
        Some(last) => {
            let lines = before.iter().filter(|byte| **byte == b'\n').count() as u64;
            (line + lines, (before.len() - last) as u64)
        }
    }
}

/// The reason alone, without the place that `serde_json` appends.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// The value at the path, if there is one. The last of several fields of one name counts, as in most readers of JSON.
fn find<'a>(text: &'a str, path: &[String]) -> serde_json::Result<Option<&'a str>> {
    let Some((name, rest)) = path.split_first() else {
        return Ok(Some(text));
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = deserializer.deserialize_map(FieldVisitor { name })?;
    deserializer.end()?;
    match value {
        Some(value) if rest.is_empty() => Ok(Some(value)),
        Some(value) if value.starts_with('{') => find(value, rest),
        _ => Ok(None),
    }
}

struct FieldVisitor<'n> {
    name: &'n str,
}

impl<'de> Visitor<'de> for FieldVisitor<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if name == self.name {
                found = Some(map.next_value::<&'de RawValue>()?.get());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// The name of the first field.
fn first_name(text: &str) -> serde_json::Result<Option<String>> {
    struct First;
    impl<'de> Visitor<'de> for First {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let first = map.next_key::<String>()?;
            if first.is_some() {
                map.next_value::<IgnoredAny>()?;
            }
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(first)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(First)
}

/// The unit key that a field's value makes.
fn key<'a>(value: Option<&'a str>, path: &[String]) -> Result<Cow<'a, [u8]>, String> {
    let name = path.join(".");
    let kind = match value.and_then(|value| value.bytes().next()) {
        None => return Err(format!("there is no field {name:?} for the key")),
        Some(b'"') => {
            let text: Cow<'a, str> = serde_json::from_str(value.unwrap_or_default())
                .map_err(|error| format!("the field {name:?} is not a valid string: {}", reason(&error)))?;
            return Ok(text.into_owned().into_bytes().into());
        }
        Some(b'-' | b'0'..=b'9') => return Ok(value.unwrap_or_default().as_bytes().into()),
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'n') => "null",
        Some(_) => "a boolean",
    };
    Err(format!("the field {name:?} is {kind}, which is no key"))
}
