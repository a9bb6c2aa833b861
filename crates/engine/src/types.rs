//! The words of the engine, as types.
//!
//! | word | type | meaning |
//! |---|---|---|
//! | height | [`Height`] | the position of a commit in its chain: 1, 2, 3 … |
//! | birth | [`Birth`] | the height, and the place in that commit, at which a unit got a key value |
//! | position | [`Position`] | where a body stands in the log |
//! | grouping, index | [`GroupingId`], [`IndexId`] | numbers that are never reused within a chain |

use std::fmt;

/// The position of a commit in its chain. The first commit has height 1; height 0 is the empty chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Height(pub u64);

impl Height {
    /// The height of a chain without commits.
    pub const ZERO: Height = Height(0);
    /// A height that no commit reaches.
    pub const MAX: Height = Height(u64::MAX);

    /// The height of the commit that follows.
    #[must_use]
    pub fn next(self) -> Height {
        Height(self.0 + 1)
    }
}

impl fmt::Display for Height {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The height, and the place among the operations of that commit, at which a unit got a key value.
///
/// It orders the duplicates of a key: the height *is* the duplicate's number, so that adding one reads nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Birth {
    /// The height of the commit.
    pub height: Height,
    /// The place of the operation in its commit, from 0.
    pub place: u32,
}

impl Birth {
    /// Before every birth.
    pub const MIN: Birth = Birth { height: Height::ZERO, place: 0 };
    /// After every birth.
    pub const MAX: Birth = Birth { height: Height::MAX, place: u32::MAX };

    /// The birth of what operation `place` of commit `height` brings.
    #[must_use]
    pub fn new(height: Height, place: u32) -> Birth {
        Birth { height, place }
    }

    /// The birth that follows.
    pub(crate) fn next(self) -> Birth {
        match self.place.checked_add(1) {
            Some(place) => Birth { place, ..self },
            None => Birth::new(Height(self.height.0.saturating_add(1)), 0),
        }
    }
}

/// Where a body begins in the log: the log's generation (upper 16 bits) and the byte offset in its file (lower 48).
///
/// A generation ends when the log is rewritten (trimmed); the first has number 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

impl Position {
    const OFFSET_BITS: u32 = 48;

    /// The largest byte offset that a position can name: 256 TiB less one.
    pub const MAX_OFFSET: u64 = (1 << Self::OFFSET_BITS) - 1;

    /// The position of `offset` in the log of `generation`.
    #[must_use]
    pub fn new(generation: u16, offset: u64) -> Position {
        assert!(offset <= Self::MAX_OFFSET, "log offset {offset} is out of range");
        Position(u64::from(generation) << Self::OFFSET_BITS | offset)
    }

    /// The log generation.
    #[must_use]
    pub fn generation(self) -> u16 {
        (self.0 >> Self::OFFSET_BITS) as u16
    }

    /// The byte offset in the log's file.
    #[must_use]
    pub fn offset(self) -> u64 {
        self.0 & Self::MAX_OFFSET
    }

    /// The packed form that files hold.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The position of a packed form.
    #[must_use]
    pub fn from_bits(bits: u64) -> Position {
        Position(bits)
    }
}

/// The number of a grouping in its chain, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupingId(pub u32);

/// The number of an index in its chain, from 1. Number 0 stands for the order of the units by their own keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(pub u32);

impl IndexId {
    /// The ordering of a grouping's units by unit key.
    pub const UNITS: IndexId = IndexId(0);
}

/// What a version of a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum VersionKind {
    /// The unit was deleted; the version has no content.
    Deleted = 0,
    /// The content is JSON text, kept byte for byte.
    Json = 1,
    /// The content is a raw record.
    Raw = 2,
}

impl VersionKind {
    /// The kind that a byte in a file stands for.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<VersionKind> {
        match byte {
            0 => Some(VersionKind::Deleted),
            1 => Some(VersionKind::Json),
            2 => Some(VersionKind::Raw),
            _ => None,
        }
    }
}

/// How far a commit has gone when it returns. Each level is a promise about what survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Durability {
    /// The commit survives a clean close; it may sit in this process's memory until then.
    Buffered = 0,
    /// The commit survives the death of this process (`kill -9`): the operating system holds it.
    Process = 1,
    /// The commit survives power loss: the device has acknowledged an `fdatasync` after it.
    #[default]
    Sync = 2,
}

/// Microseconds since 1970-01-01 00:00 UTC. Within a chain, time never goes backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);
