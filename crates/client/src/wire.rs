//! What goes over the wire, as types: the JSON of requests and answers, version 1.
//!
//! Server and client share them, and so does the command line, whose `--json` prints the same objects. Fields stay as they are within a wire
//! version; new ones may come, so readers ignore what they don't know. `docs/HTTP.md` is the document of record.
//!
//! | type | where |
//! |---|---|
//! | [`Written`], [`Reverted`] | answers to PUT, DELETE, `.revert` |
//! | [`Line`], [`End`] | a line of a list (NDJSON): a unit, a version, or the end |
//! | [`BulkLine`], [`BulkAnswer`] | `.bulk` |
//! | [`IndexItem`], [`GroupingItem`], [`ChainItem`], [`StatsItem`] | listings |
//! | [`Failure`] | `{"error": …}` |

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The version of the protocol: each answer has it in the header [`VERSION_HEADER`].
pub const VERSION: u32 = 1;
/// The header with the version of the protocol.
pub const VERSION_HEADER: &str = "immux-wire";
/// The header with the height of the snapshot that an answer was read from, or of the commit that was made.
pub const HEIGHT_HEADER: &str = "immux-height";
/// The media type of lists and of `.bulk`.
pub const NDJSON: &str = "application/x-ndjson";

/// A commit that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its height.
    pub height: u64,
    /// After a PUT: whether the unit was not there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<bool>,
}

/// A unit that is again as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reverted {
    /// The height of the new version.
    pub height: u64,
    /// The height whose content it has.
    pub to: u64,
}

/// A line of a list. Which fields it has says what it is: `end` or `error`, else a unit or a version.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Line<'a> {
    /// The value by which an index found the unit: one value, or an array where the index has several fields.
    #[serde(default, deserialize_with = "also_null", skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The unit key, where it is text.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'a, str>>,
    /// The unit key in hexadecimal digits, where it is no text.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub key_hex: Option<Cow<'a, str>>,
    /// The height of the version.
    #[serde(default)]
    pub height: u64,
    /// When it was written, as RFC 3339; versions only.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub time: Option<Cow<'a, str>>,
    /// `json`, `raw` or `deleted`.
    #[serde(default, borrow)]
    pub kind: Cow<'a, str>,
    /// Bytes of the content; versions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// JSON content, on one line.
    #[serde(default, borrow, deserialize_with = "also_null", skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a RawValue>,
    /// Raw content.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub content_base64: Option<Cow<'a, str>>,
    /// The end of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// The list breaks off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// The last line of each list. A list without it was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How many lines came before.
    pub count: u64,
    /// The height of the snapshot.
    pub height: u64,
    /// Where to go on, at the same height; `None` when nothing is left.
    #[serde(default)]
    pub cursor: Option<String>,
    /// `false` where the index is younger than the snapshot, so that all units were read and sorted.
    #[serde(default = "yes")]
    pub used_index: bool,
}

fn yes() -> bool {
    true
}

/// The value `null` is a value, not the absence of one.
fn also_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The answer to a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// How many units there are.
    pub count: u64,
    /// The height of the snapshot.
    pub height: u64,
}

/// A line of a `.bulk` request.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct BulkLine<'a> {
    /// `put` (where it is left out), `insert` or `delete`.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub op: Option<Cow<'a, str>>,
    /// The unit key, where it is text.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'a, str>>,
    /// The unit key in hexadecimal digits.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub key_hex: Option<Cow<'a, str>>,
    /// The height at which the unit must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_match: Option<u64>,
    /// JSON content.
    #[serde(default, borrow, deserialize_with = "also_null", skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a RawValue>,
    /// Raw content; JSON, if `kind` says so.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub content_base64: Option<Cow<'a, str>>,
    /// What the content is, `json` or `raw`, where its form does not tell.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'a, str>>,
}

/// What became of a `.bulk` request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BulkAnswer {
    /// Lines that were written.
    pub written: u64,
    /// Of them, those whose unit was not there before.
    #[serde(default)]
    pub created: u64,
    /// Lines that were not.
    pub failed: u64,
    /// Commits that were made.
    #[serde(default)]
    pub commits: u64,
    /// The height of the last commit.
    pub height: u64,
    /// The first of the lines that failed.
    #[serde(default)]
    pub errors: Vec<BulkError>,
    /// Why it ended before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// A line of a `.bulk` request that was not written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BulkError {
    /// Its number, from 1.
    pub line: u64,
    /// Why.
    #[serde(flatten)]
    pub failure: Failure,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexItem {
    /// The grouping.
    pub grouping: String,
    /// The index's name.
    pub index: String,
    /// What it orders units by, such as `json:date,-amount unique`.
    pub definition: String,
    /// The height of its definition.
    pub since: u64,
    /// Whether it is filled.
    pub ready: bool,
    /// While it is being filled: how far that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<IndexProgress>,
}

/// How far the filling of an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexProgress {
    /// Units that have been read.
    pub units: u64,
    /// Entries that these units gave.
    #[serde(default)]
    pub entries: u64,
}

/// A list of indexes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexList {
    /// In the order of their names' creation.
    pub indexes: Vec<IndexItem>,
}

/// The body of a request that makes an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRequest {
    /// What it orders units by.
    pub definition: String,
}

/// A grouping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupingItem {
    /// Its name.
    pub grouping: String,
    /// How many indexes it has.
    pub indexes: u64,
    /// How many units it has, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<u64>,
}

/// A list of groupings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupingList {
    /// In the order in which they came to be.
    pub groupings: Vec<GroupingItem>,
}

/// A chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainItem {
    /// Its name.
    pub chain: String,
}

/// A list of chains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainList {
    /// In the order of their names.
    pub chains: Vec<ChainItem>,
}

/// Sizes and counts of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatsItem {
    /// Its name.
    pub chain: String,
    /// The newest height.
    pub height: u64,
    /// Of the newest commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The newest height that is known to survive power loss.
    pub synced_height: u64,
    /// How many groupings there are.
    pub groupings: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Bytes of all runs.
    pub index_bytes: u64,
    /// What the entries that are in no run yet take in memory.
    pub newest_entries_bytes: u64,
    /// The runs, oldest first.
    pub runs: Vec<RunItem>,
}

/// A file of index entries for a stretch of heights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunItem {
    /// The first height.
    pub start_height: u64,
    /// The last height; below the first one for the entries of a new index.
    pub end_height: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Versions of units.
    pub versions: u64,
    /// Index entries that had not ended.
    pub live_entries: u64,
    /// Index entries that had.
    pub ended_entries: u64,
    /// Ends of entries of older runs.
    pub ends: u64,
}

/// The answer of `/.health`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The version of the protocol.
    pub wire: u32,
}

/// Why a request was refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Stays the same in all versions, for programs: `unit_missing`, `height_mismatch` …
    pub code: String,
    /// What was wrong, for people.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What else there is to say, such as `"actual": 7`.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// The body of an answer that refuses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub error: Failure,
}
