//! What goes into a grouping and comes out of it.

use crate::types::{Birth, Durability, Height, Timestamp, VersionKind};

/// Content to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    pub(crate) kind: VersionKind,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Content<'a> {
    /// JSON text, kept byte for byte. Writing it fails if it is not valid JSON.
    pub fn json(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Content<'a> {
        Content { kind: VersionKind::Json, bytes: text.as_ref() }
    }

    /// A raw record.
    pub fn raw(bytes: &'a (impl AsRef<[u8]> + ?Sized)) -> Content<'a> {
        Content { kind: VersionKind::Raw, bytes: bytes.as_ref() }
    }
}

/// A unit as it was at the height that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The unit key.
    pub key: Vec<u8>,
    /// The height of the version.
    pub height: Height,
    /// JSON or raw.
    pub kind: VersionKind,
    /// The content; empty after a scan for keys only.
    pub content: Vec<u8>,
    /// The encoded index key by which a scan found the unit; empty after other reads.
    pub index_key: Vec<u8>,
    /// When the unit got that index key; the version's own birth after other reads.
    pub birth: Birth,
}

/// One entry of a unit's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The height of the commit that wrote it.
    pub height: Height,
    /// When that commit happened.
    pub time: Timestamp,
    /// JSON, raw, or deleted.
    pub kind: VersionKind,
    /// The content; empty for a deletion.
    pub content: Vec<u8>,
}

/// A commit that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its height.
    pub height: Height,
    /// Whether it gave a unit a key value that another unit has, in an index that allows it. Always `false` unless
    /// [`WriteOptions::report_duplicates`] was set.
    pub duplicates: bool,
    /// How many units came to be: they were not there before, or had been deleted.
    pub created: usize,
}

/// How to commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// The promise to keep before returning; `None` for the store's default.
    pub durability: Option<Durability>,
    /// Whether to find out if a duplicate of an index key came to be. An index that is still being filled is not asked.
    pub report_duplicates: bool,
}

impl WriteOptions {
    /// The store's defaults, with this durability.
    #[must_use]
    pub fn durability(level: Durability) -> WriteOptions {
        WriteOptions { durability: Some(level), report_duplicates: false }
    }

    /// Also report duplicates.
    #[must_use]
    pub fn report_duplicates(mut self) -> WriteOptions {
        self.report_duplicates = true;
        self
    }
}
