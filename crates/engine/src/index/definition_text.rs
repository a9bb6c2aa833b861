//! The text form of a definition, for the command line and for display.
//!
//! ```text
//! json:address.city,-age           fields in order; `-` turns the order; `\` takes the next character as it is
//! json:email unique sparse         words after the source
//! raw:0+18,-24+4 filler=0x20       offset+length
//! ```

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

use super::definition::{FieldPath, IndexDefinition, JsonField, KEY_ENCODING, KeySource, RawPart, Sparse};

/// Characters with a meaning in a path, which are displayed with `\` before them.
const SPECIAL: [char; 4] = ['.', ',', ' ', '\\'];

impl From<&str> for FieldPath {
    /// Splits at dots. A `\` takes the next character as it is.
    fn from(text: &str) -> FieldPath {
        let mut segments = vec![String::new()];
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match (character, segments.last_mut()) {
                ('.', _) => segments.push(String::new()),
                ('\\', Some(segment)) => segment.push(characters.next().unwrap_or('\\')),
                (_, Some(segment)) => segment.push(character),
                (_, None) => unreachable!("there is always a last segment"),
            }
        }
        FieldPath::new(segments)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.segments().iter().enumerate() {
            if place > 0 {
                f.write_str(".")?;
            }
            for (at, character) in segment.char_indices() {
                // A path that begins with `-` would read as a descending one.
                if SPECIAL.contains(&character) || (character == '-' && place == 0 && at == 0) {
                    f.write_str("\\")?;
                }
                write!(f, "{character}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for IndexDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |place: usize| if place == 0 { "" } else { "," };
        let sign = |descending: bool| if descending { "-" } else { "" };
        match &self.source {
            KeySource::Json(fields) => {
                f.write_str("json:")?;
                for (place, field) in fields.iter().enumerate() {
                    write!(f, "{}{}{}", comma(place), sign(field.descending), field.path)?;
                }
            }
            KeySource::Raw(parts) => {
                f.write_str("raw:")?;
                for (place, part) in parts.iter().enumerate() {
                    let (comma, sign) = (comma(place), sign(part.descending));
                    write!(f, "{comma}{sign}{}+{}", part.offset, part.len)?;
                }
            }
        }
        if self.unique {
            f.write_str(" unique")?;
        }
        match self.sparse {
            Sparse::No => Ok(()),
            Sparse::Missing => f.write_str(" sparse"),
            Sparse::Filler(byte) => write!(f, " filler=0x{byte:02x}"),
        }
    }
}

impl FromStr for IndexDefinition {
    type Err = Error;

    /// Reads the text form and validates the definition.
    fn from_str(text: &str) -> Result<IndexDefinition> {
        let wrong = |what: &str| Error::Invalid(format!("index definition {text:?}: {what}"));
        let mut words = split(text, ' ').into_iter().filter(|word| !word.is_empty());
        let source = words.next().unwrap_or_default();
        let source = if let Some(fields) = source.strip_prefix("json:") {
            KeySource::Json(split(fields, ',').into_iter().map(parse_field).collect())
        } else if let Some(parts) = source.strip_prefix("raw:") {
            let parts = parts
                .split(',')
                .map(|part| parse_part(part).ok_or_else(|| wrong("a part is offset+length, such as 0+18")));
            KeySource::Raw(parts.collect::<Result<_>>()?)
        } else {
            return Err(wrong("it begins with json: or raw:"));
        };
        let mut definition = IndexDefinition { source, unique: false, sparse: Sparse::No, encoding: KEY_ENCODING };
        for word in words {
            match word.strip_prefix("filler=") {
                Some(byte) => {
                    let byte = parse_byte(byte).ok_or_else(|| wrong("filler is 0x00 to 0xff"))?;
                    definition.sparse = Sparse::Filler(byte);
                }
                None if word == "unique" => definition.unique = true,
                None if word == "sparse" => definition.sparse = Sparse::Missing,
                None => return Err(wrong("after the fields come unique, sparse or filler=0x20")),
            }
        }
        definition.validate()?;
        Ok(definition)
    }
}

/// The stretches of `text` between separators that have no `\` before them.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut stretches = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == separator {
            stretches.push(&text[start..at]);
            start = at + separator.len_utf8();
        }
    }
    stretches.push(&text[start..]);
    stretches
}

fn parse_field(text: &str) -> JsonField {
    let (descending, path) = parse_sign(text);
    JsonField { path: path.into(), descending }
}

fn parse_part(text: &str) -> Option<RawPart> {
    let (descending, part) = parse_sign(text);
    let (offset, len) = part.split_once('+')?;
    Some(RawPart { offset: offset.parse().ok()?, len: len.parse().ok()?, descending })
}

fn parse_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

fn parse_byte(text: &str) -> Option<u8> {
    match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
