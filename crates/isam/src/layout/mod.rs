//! The layout of a file: which bytes of a record make its keys, and how long records are.
//!
//! ```text
//!   record    0....|....1....|....2....|....3....|....4....|....5
//!             [ primary ][name      ]     [town][  ]         [  ]
//!   key 0     0+10                                                 unique
//!   key 1               10+12                                      with duplicates
//!   key 2                                 30+6        50+4         split: two parts, one after the other
//! ```
//!
//! A file keeps the layout that it was made with (`stored`); a program that opens it brings its own, and the two are
//! matched key by key (`matching`).

mod matching;
mod stored;

use std::fmt;

use libimmuxdb::index::{IndexDefinition, KEY_ENCODING, KeySource, RawPart, Sparse};
use libimmuxdb::limits;

pub(crate) use matching::match_keys;
pub(crate) use stored::{decode, encode};

/// The keys of one file, the primary key included.
pub(crate) const MOST_KEYS: usize = 255;

/// A stretch of a record's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The first byte, counted from 0.
    pub offset: u32,
    /// How many bytes.
    pub len: u32,
}

impl KeyPart {
    fn end(self) -> u64 {
        u64::from(self.offset) + u64::from(self.len)
    }
}

/// A key: its value is the bytes of its parts, one after another. Values order by their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where its bytes are; more than one for a split key.
    pub parts: Vec<KeyPart>,
    /// WITH DUPLICATES: several records may have one value.
    pub duplicates: bool,
    /// SUPPRESS WHEN: records whose key bytes all are this one are not in the index.
    pub sparse: Option<u8>,
}

impl Key {
    /// The length of its values, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len as usize).sum()
    }

    /// Whether it has no bytes, which no key of a file may.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces `value` by the key's value in a record; `false` when the record is too short for it.
    pub(crate) fn take(&self, record: &[u8], value: &mut Vec<u8>) -> bool {
        value.clear();
        self.parts.iter().all(|part| {
            let bytes = record.get(part.offset as usize..part.end() as usize);
            value.extend_from_slice(bytes.unwrap_or_default());
            bytes.is_some()
        })
    }

    /// Where its last byte ends.
    fn end(&self) -> u64 {
        self.parts.iter().map(|part| part.end()).max().unwrap_or_default()
    }

    /// The same bytes in as few parts as can be: two programs may cut one stretch differently.
    fn joined(&self) -> Vec<KeyPart> {
        let mut joined: Vec<KeyPart> = Vec::new();
        for part in &self.parts {
            match joined.last_mut() {
                Some(last) if last.end() == u64::from(part.offset) => last.len = last.len.saturating_add(part.len),
                _ => joined.push(*part),
            }
        }
        joined
    }

    fn definition(&self) -> IndexDefinition {
        let part = |part: &KeyPart| RawPart { offset: part.offset, len: part.len, descending: false };
        IndexDefinition {
            source: KeySource::Raw(self.joined().iter().map(part).collect()),
            unique: !self.duplicates,
            sparse: self.sparse.map_or(Sparse::No, Sparse::Filler),
            encoding: KEY_ENCODING,
        }
    }
}

impl fmt::Display for Key {
    /// As people count: `bytes 11-22 and 51-54, with duplicates`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes ")?;
        for (nth, part) in self.joined().iter().enumerate() {
            let and = if nth > 0 { " and " } else { "" };
            write!(f, "{and}{}-{}", u64::from(part.offset) + 1, part.end())?;
        }
        if self.duplicates {
            f.write_str(", with duplicates")?;
        }
        match self.sparse {
            Some(byte) => write!(f, ", suppressed when all {byte:#04x}"),
            None => Ok(()),
        }
    }
}

/// The keys and record lengths of a file, or those that a program declares of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The keys. The first is the primary key (RECORD KEY).
    pub keys: Vec<Key>,
    /// The length of the shortest record, in bytes.
    pub min_record: u32,
    /// The length of the longest record, in bytes.
    pub max_record: u32,
    /// Whether records have lengths of their own.
    pub variable: bool,
}

impl Layout {
    /// The primary key.
    pub(crate) fn primary(&self) -> &Key {
        &self.keys[0]
    }

    /// Whether a file can have this layout: if not, what is wrong with it.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let Some(primary) = self.keys.first() else {
            return Err("no record key is declared".to_owned());
        };
        if self.keys.len() > MOST_KEYS {
            return Err(format!("{} keys are declared; a file has at most {MOST_KEYS}", self.keys.len()));
        }
        if self.max_record == 0 || self.min_record > self.max_record {
            return Err(format!("records of {} to {} bytes are declared", self.min_record, self.max_record));
        }
        if self.max_record as usize > limits::CONTENT_BYTES {
            let most = limits::CONTENT_BYTES;
            return Err(format!("records of {} bytes are declared; a file has at most {most}", self.max_record));
        }
        if primary.duplicates || primary.sparse.is_some() {
            return Err("the record key allows duplicates or is suppressed".to_owned());
        }
        if primary.len() > limits::UNIT_KEY_BYTES {
            let most = limits::UNIT_KEY_BYTES;
            return Err(format!("the record key has {} bytes; at most {most} are allowed", primary.len()));
        }
        for (number, key) in self.keys.iter().enumerate() {
            if key.parts.is_empty() || key.parts.iter().any(|part| part.len == 0) {
                return Err(format!("key {number} has a part without bytes"));
            }
            if key.end() > u64::from(self.max_record) {
                return Err(format!("key {number} ({key}) reaches beyond the record's {} bytes", self.max_record));
            }
            key.definition().validate().map_err(|error| format!("key {number} ({key}): {error}"))?;
        }
        Ok(())
    }

    /// The indexes of the alternate keys.
    pub(crate) fn indexes(&self) -> Vec<(String, IndexDefinition)> {
        let alternates = self.keys.iter().enumerate().skip(1);
        alternates.map(|(number, key)| (index_name(number), key.definition())).collect()
    }
}

/// The name of the index of an alternate key.
pub(crate) fn index_name(key: usize) -> String {
    format!("key-{key}")
}
