//! Contents whose fields are known, so that the model need not parse anything; and the keys that indexes make of them.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use libimmuxdb::VersionKind;

/// A value of a field. The order of the variants is the order of their types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Null.
    Null,
    /// A number, in quarters: integers and doubles on one exact scale.
    Quarters(i128),
    /// A string.
    Text(String),
    /// An object without fields.
    EmptyObject,
    /// A truth value.
    Bool(bool),
}

/// A unit's content: the bytes, and for JSON the fields that they spell.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// JSON or raw.
    pub kind: VersionKind,
    /// What is written and must be read.
    pub bytes: Arc<[u8]>,
    /// Field paths (`a.b` for a nested one) and their values.
    pub fields: BTreeMap<&'static str, Value>,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 60;
        let shown = &self.bytes[..self.bytes.len().min(SHOWN)];
        write!(f, "{:?} {} bytes {:?}", self.kind, self.bytes.len(), String::from_utf8_lossy(shown))
    }
}

impl Content {
    /// A raw content.
    #[must_use]
    pub fn raw(bytes: &[u8]) -> Content {
        Content { kind: VersionKind::Raw, bytes: bytes.into(), fields: BTreeMap::new() }
    }
}

/// What an index key is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Fields of JSON contents. Raw contents have no entry; a missing field counts as null.
    Fields(Vec<Field>),
    /// Ranges of the bytes of any content. Contents that are too short have no entry.
    Bytes(Vec<Range>),
}

/// A field of a JSON key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its path.
    pub path: &'static str,
    /// Whether larger values come first.
    pub descending: bool,
}

/// A range of bytes of a raw key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first byte.
    pub offset: usize,
    /// How many.
    pub len: usize,
    /// Whether larger bytes come first.
    pub descending: bool,
}

/// An index as somebody asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    /// What the key is made of.
    pub parts: Parts,
    /// Whether two units may not have the same key.
    pub unique: bool,
    /// JSON: whether units without any of the fields are left out.
    pub sparse: bool,
    /// Raw: the byte of which a key that is left out consists.
    pub filler: Option<u8>,
}

/// A piece of an index key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyPart {
    /// A field in the order of the values.
    Ascending(Value),
    /// A field in the opposite order.
    Descending(Reverse<Value>),
    /// One byte of a raw content, complemented where larger ones come first.
    Byte(u8),
}

/// An index key, or the first parts of one.
pub type Key = Vec<KeyPart>;

impl IndexSpec {
    /// The key of a unit with this content, if the index has it at all.
    #[must_use]
    pub fn key(&self, content: &Content) -> Option<Key> {
        match &self.parts {
            Parts::Fields(fields) => {
                let is_json = content.kind == VersionKind::Json;
                let present = fields.iter().any(|field| content.fields.contains_key(field.path));
                (is_json && (present || !self.sparse)).then(|| {
                    let value = |field: &Field| content.fields.get(field.path).cloned().unwrap_or(Value::Null);
                    fields.iter().map(|field| field.part(value(field))).collect()
                })
            }
            Parts::Bytes(ranges) => {
                let mut bytes = Vec::new();
                let mut key = Key::new();
                for range in ranges {
                    let part = content.bytes.get(range.offset..range.offset + range.len)?;
                    bytes.extend_from_slice(part);
                    key.extend(part.iter().map(|&byte| range.part(byte)));
                }
                let left_out = self.filler.is_some_and(|filler| bytes.iter().all(|&byte| byte == filler));
                (!left_out).then_some(key)
            }
        }
    }
}

impl Field {
    /// The part of a key that a value makes.
    #[must_use]
    pub fn part(&self, value: Value) -> KeyPart {
        if self.descending { KeyPart::Descending(Reverse(value)) } else { KeyPart::Ascending(value) }
    }
}

impl Range {
    /// The part of a key that a byte makes.
    #[must_use]
    pub fn part(&self, byte: u8) -> KeyPart {
        KeyPart::Byte(if self.descending { !byte } else { byte })
    }
}

/// Where a key lies: below the keys that begin with `bound`, among them, or above.
pub fn compare_to_bound<T: Ord>(key: &[T], bound: &[T]) -> Ordering {
    key[..key.len().min(bound.len())].cmp(bound)
}
