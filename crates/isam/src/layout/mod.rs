//! The layout of a file: which bytes of a record make its keys, and how long records are.
//!
//! ```text
//!   record    0....|....1....|....2....|....3....|....4....|....5
//!             [ primary ][name      ]     [town][  ]         [  ]
//!   key 0     0+10                                                 unique
//!   key 1               10+12                                      with duplicates
//!   key 2                                 30+6        50+4         split: two parts, one after the other
//! ```

/// A stretch of a record's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The first byte, counted from 0.
    pub offset: u32,
    /// How many bytes.
    pub len: u32,
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
