//! What comes through a door.

use libimmuxdb::VersionKind;
use serde_json::Value;

use crate::failure::{Failure, Result};

/// A unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The unit key.
    pub key: Vec<u8>,
    /// The height of the version.
    pub height: u64,
    /// JSON or raw.
    pub kind: VersionKind,
    /// The content; empty where only keys were asked for.
    pub content: Vec<u8>,
    /// The value by which an index found it.
    pub value: Option<Value>,
}

/// What reading a unit found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The height that was read at.
    pub height: u64,
    /// The unit, if it was there.
    pub unit: Option<Unit>,
}

/// A version of a unit.
#[derive(Clone, Debug)]
pub struct Version {
    /// The height of the commit that wrote it.
    pub height: u64,
    /// When that commit happened, as RFC 3339.
    pub time: String,
    /// JSON, raw, or deleted.
    pub kind: VersionKind,
    /// Bytes of the content.
    pub size: u64,
    /// The content; empty for a deletion.
    pub content: Vec<u8>,
}

/// A list that comes item by item.
pub struct List<T> {
    /// The items.
    pub items: Box<dyn Iterator<Item = Result<T>>>,
    /// Asked after the last item: whether the order came from the index (or no index was asked for).
    pub used_index: Box<dyn Fn() -> bool>,
}

/// How far the writing of rows came.
#[derive(Debug, Default)]
pub struct WrittenRows {
    /// Rows that were written: the first ones.
    pub rows: usize,
    /// Of them, those whose key was not there.
    pub inserted: u64,
    /// Commits that were made.
    pub commits: u64,
    /// Why the others were not.
    pub fault: Option<RowFault>,
}

/// Why a row was not written.
#[derive(Debug)]
pub enum RowFault {
    /// The first row that was not written can't be; other rows might.
    Row(String),
    /// No row could be written.
    Other(Failure),
}
