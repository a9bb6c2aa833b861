//! What goes into the client's operations and comes out of them.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Result;

/// What the content of a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// JSON, kept byte for byte.
    Json,
    /// A raw record.
    Raw,
    /// The unit was deleted; there is no content.
    Deleted,
}

impl Kind {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Json => "json",
            Kind::Raw => "raw",
            Kind::Deleted => "deleted",
        }
    }
}

/// Content to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    pub(crate) kind: Kind,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Content<'a> {
    /// JSON text. The server refuses what is none.
    pub fn json(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Content<'a> {
        Content { kind: Kind::Json, bytes: text.as_ref() }
    }

    /// A raw record.
    pub fn raw(bytes: &'a (impl AsRef<[u8]> + ?Sized)) -> Content<'a> {
        Content { kind: Kind::Raw, bytes: bytes.as_ref() }
    }
}

/// A unit as it was at the height that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The unit key.
    pub key: Vec<u8>,
    /// The height of the version.
    pub height: u64,
    /// JSON or raw.
    pub kind: Kind,
    /// The content; empty in a scan for keys only. A scan gives JSON with spaces instead of its line breaks.
    pub content: Vec<u8>,
    /// The value by which an index found it; an array where the index has several fields. `None` after other reads.
    pub value: Option<Value>,
}

impl Unit {
    /// The content as a value of a type.
    ///
    /// # Errors
    /// [`crate::Error::Value`]: it is not JSON, or not such a value.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(serde_json::from_slice(&self.content)?)
    }
}

/// One entry of a unit's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The height of the commit that wrote it.
    pub height: u64,
    /// When that commit happened, as RFC 3339 in UTC.
    pub time: String,
    /// JSON, raw, or deleted.
    pub kind: Kind,
    /// Bytes of the content, as they were written.
    pub size: u64,
    /// The content, JSON with spaces instead of its line breaks; empty for a deletion.
    pub content: Vec<u8>,
}

impl Version {
    /// The content as a value of a type.
    ///
    /// # Errors
    /// [`crate::Error::Value`]: it is not JSON, or not such a value.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(serde_json::from_slice(&self.content)?)
    }
}

/// What a read found, and when that was so.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The height of the snapshot that was read.
    pub height: u64,
    /// The unit, if it was there.
    pub unit: Option<Unit>,
}

/// A place in a chain's history: a height, or a time that stands for the newest height that is not later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A height.
    Height(u64),
    /// A time as RFC 3339, such as `2026-01-31T12:00:00Z`.
    Time(String),
}

impl From<u64> for Moment {
    fn from(height: u64) -> Moment {
        Moment::Height(height)
    }
}

impl From<&str> for Moment {
    fn from(time: &str) -> Moment {
        Moment::Time(time.to_owned())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Height(height) => height.fmt(f),
            Moment::Time(time) => time.fmt(f),
        }
    }
}

/// What a commit that has returned survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// A clean stop of the server.
    Buffered,
    /// The death of the server's process (`kill -9`).
    Process,
    /// Power loss.
    Sync,
}

impl Durability {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Durability::Buffered => "buffered",
            Durability::Process => "process",
            Durability::Sync => "sync",
        }
    }
}

/// What must be so for a write to happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Any,
    /// The unit is not there.
    Absent,
    /// The unit's current version is that of this height.
    At(u64),
}
