//! The definition of an index: which parts of a unit make its key.
//!
//! ```
//! use libimmuxdb::index::IndexDefinition;
//!
//! let by_district = IndexDefinition::json("district_id").and("date").descending();
//! assert_eq!(by_district.to_string(), "json:district_id,-date");
//! let by_number = IndexDefinition::raw(0..18).unique();
//! assert_eq!(by_number.to_string(), "raw:0+18 unique");
//! ```

use std::ops::Range;

use crate::error::{Error, Result};
use crate::limits;

/// The version of the key encoding that this engine writes (see docs/FORMAT.md). A definition carries the one its keys have.
pub const KEY_ENCODING: u16 = 1;

/// Which parts of a unit make its key, and what goes for the keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexDefinition {
    /// Where the key comes from.
    pub source: KeySource,
    /// Whether no two units may have the same key.
    pub unique: bool,
    /// Which units are left out of the index.
    pub sparse: Sparse,
    /// The version of the key encoding: [`KEY_ENCODING`].
    pub encoding: u16,
}

/// Where the key of a unit comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// Fields of JSON content. Units with raw content have no entry.
    Json(Vec<JsonField>),
    /// Stretches of the content's bytes, of raw and JSON content alike. A unit too short for a part has no entry.
    Raw(Vec<RawPart>),
}

/// A field of a JSON key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JsonField {
    /// The way to the field.
    pub path: FieldPath,
    /// Whether larger values come first.
    pub descending: bool,
}

/// A stretch of bytes of a raw key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RawPart {
    /// The first byte's offset in the content.
    pub offset: u32,
    /// How many bytes.
    pub len: u32,
    /// Whether larger values come first.
    pub descending: bool,
}

/// Which units an index leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sparse {
    /// None.
    #[default]
    No,
    /// JSON: units in which all fields of the key are missing. (A field that is `null` is not missing.)
    Missing,
    /// Raw: units whose key bytes all equal this one.
    Filler(u8),
}

/// The way to a field through nested objects: `["address", "city"]`. In an array, a number names an element.
///
/// As text the segments are joined by dots; `\` before a character (a dot, a comma, a space …) takes that character as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// A path of these segments.
    pub fn new(segments: impl IntoIterator<Item = impl Into<String>>) -> FieldPath {
        FieldPath(segments.into_iter().map(Into::into).collect())
    }

    /// The names on the way, outermost first.
    #[must_use]
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    fn validate(&self) -> Result<()> {
        if self.0.is_empty() || self.0.iter().any(String::is_empty) {
            return Err(Error::Invalid(format!("the field path {:?} has an empty segment", self.to_string())));
        }
        if self.0.len() > limits::JSON_DEPTH {
            return Err(Error::Invalid(format!(
                "a field path has {} segments; at most {} are allowed",
                self.0.len(),
                limits::JSON_DEPTH
            )));
        }
        match self.0.iter().find(|name| name.len() > limits::NAME_BYTES) {
            Some(name) => {
                Err(Error::TooLarge { what: "segment of a field path", actual: name.len(), limit: limits::NAME_BYTES })
            }
            None => Ok(()),
        }
    }
}

impl IndexDefinition {
    /// An index by a JSON field, ascending. `path` is text such as `address.city`.
    pub fn json(path: impl Into<FieldPath>) -> IndexDefinition {
        IndexDefinition::of(KeySource::Json(vec![JsonField { path: path.into(), descending: false }]))
    }

    /// An index by the bytes at these offsets of the content, ascending.
    #[must_use]
    pub fn raw(bytes: Range<u32>) -> IndexDefinition {
        IndexDefinition::of(KeySource::Raw(vec![RawPart::of(bytes)]))
    }

    fn of(source: KeySource) -> IndexDefinition {
        IndexDefinition { source, unique: false, sparse: Sparse::No, encoding: KEY_ENCODING }
    }

    /// Adds a further JSON field, ascending.
    ///
    /// # Panics
    /// When the definition is a raw one.
    #[must_use]
    pub fn and(mut self, path: impl Into<FieldPath>) -> IndexDefinition {
        match &mut self.source {
            KeySource::Json(fields) => fields.push(JsonField { path: path.into(), descending: false }),
            KeySource::Raw(_) => panic!("a raw index has no JSON fields; use and_bytes"),
        }
        self
    }

    /// Adds a further stretch of bytes, ascending.
    ///
    /// # Panics
    /// When the definition is a JSON one.
    #[must_use]
    pub fn and_bytes(mut self, bytes: Range<u32>) -> IndexDefinition {
        match &mut self.source {
            KeySource::Raw(parts) => parts.push(RawPart::of(bytes)),
            KeySource::Json(_) => panic!("a JSON index has no raw parts; use and"),
        }
        self
    }

    /// Turns the order of the field or part added last.
    #[must_use]
    pub fn descending(mut self) -> IndexDefinition {
        match &mut self.source {
            KeySource::Json(fields) => {
                if let Some(field) = fields.last_mut() {
                    field.descending = true;
                }
            }
            KeySource::Raw(parts) => {
                if let Some(part) = parts.last_mut() {
                    part.descending = true;
                }
            }
        }
        self
    }

    /// Allows a key value for one unit only.
    #[must_use]
    pub fn unique(mut self) -> IndexDefinition {
        self.unique = true;
        self
    }

    /// Leaves out the units in which all fields are missing (JSON only).
    #[must_use]
    pub fn sparse(mut self) -> IndexDefinition {
        self.sparse = Sparse::Missing;
        self
    }

    /// Leaves out the units whose key bytes all equal `byte` (raw only).
    #[must_use]
    pub fn filler(mut self, byte: u8) -> IndexDefinition {
        self.sparse = Sparse::Filler(byte);
        self
    }

    /// How many fields or parts the key has.
    #[must_use]
    pub fn fields(&self) -> usize {
        match &self.source {
            KeySource::Json(fields) => fields.len(),
            KeySource::Raw(parts) => parts.len(),
        }
    }

    /// Checks that the definition makes sense and stays within the limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::TooLarge`], saying what is wrong.
    pub fn validate(&self) -> Result<()> {
        let invalid = |what: String| Err(Error::Invalid(what));
        if self.encoding != KEY_ENCODING {
            return invalid(format!(
                "the index has key encoding {}, and this version knows only {KEY_ENCODING}",
                self.encoding
            ));
        }
        if self.fields() == 0 {
            return invalid("an index needs at least one field".to_owned());
        }
        if self.fields() > limits::FIELDS_PER_INDEX {
            return invalid(format!(
                "the index has {} fields; at most {} are allowed",
                self.fields(),
                limits::FIELDS_PER_INDEX
            ));
        }
        match (&self.source, self.sparse) {
            (KeySource::Json(_), Sparse::Filler(_)) => {
                invalid("a filler byte goes with raw indexes only; use sparse".to_owned())
            }
            (KeySource::Raw(_), Sparse::Missing) => {
                invalid("sparse goes with JSON indexes only; use a filler byte".to_owned())
            }
            (KeySource::Json(fields), _) => validate_fields(fields),
            (KeySource::Raw(parts), _) => validate_parts(parts),
        }
    }
}

fn validate_fields(fields: &[JsonField]) -> Result<()> {
    for (place, field) in fields.iter().enumerate() {
        field.path.validate()?;
        if fields[..place].iter().any(|other| other.path == field.path) {
            return Err(Error::Invalid(format!("the field {} is in the index twice", field.path)));
        }
    }
    Ok(())
}

fn validate_parts(parts: &[RawPart]) -> Result<()> {
    let mut total = 0;
    for part in parts {
        let end = u64::from(part.offset) + u64::from(part.len);
        if part.len == 0 {
            return Err(Error::Invalid(format!("the part at byte {} has no length", part.offset)));
        }
        if end > limits::CONTENT_BYTES as u64 {
            return Err(Error::Invalid(format!(
                "a part ends at byte {end}; content has at most {} bytes",
                limits::CONTENT_BYTES
            )));
        }
        total += part.len as usize;
    }
    if total > limits::INDEX_KEY_BYTES {
        return Err(Error::TooLarge { what: "index key", actual: total, limit: limits::INDEX_KEY_BYTES });
    }
    Ok(())
}

impl RawPart {
    fn of(bytes: Range<u32>) -> RawPart {
        RawPart { offset: bytes.start, len: bytes.end.saturating_sub(bytes.start), descending: false }
    }

    /// The part's bytes in a content, if the content is long enough.
    pub(super) fn of_content(self, content: &[u8]) -> Option<&[u8]> {
        let start = self.offset as usize;
        content.get(start..start + self.len as usize)
    }
}
