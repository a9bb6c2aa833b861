//! The two ways from a command to a store: its files, or a running server.
//!
//! ```text
//!                     ┌── embedded ──► opened ──► libimmuxdb ──► the files of --data-root
//!  commands ──► Door ─┤
//!                     └── remote ────► immuxdb_client ── HTTP ──► the server of --server
//! ```
//!
//! A command says what it wants, and prints what comes: it does not know which door it went through. What the doors give is made of the same
//! types, and their failures have the same words and exit codes where they mean the same.

mod embedded;
mod items;
mod remote;
mod scan;

use immuxdb_client::wire::{IndexItem, StatsItem};
use libimmuxdb::Durability;
use libimmuxdb::index::IndexDefinition;
use libimmuxdb::proof::{ExtensionProof, Root, UnitProof};

pub(crate) use self::embedded::chain_stats;
pub use self::items::{Found, List, RowFault, Unit, Version, WrittenRows};
pub use self::scan::ScanRequest;
use crate::configuration::Resolved;
use crate::failure::{Failure, Result, nearest};
use crate::load::Row;
use crate::moment::Moment;

/// Content to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// JSON.
    Json(&'a [u8]),
    /// A raw record.
    Raw(&'a [u8]),
}

/// What must be so for a write to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    Any,
    /// The unit is not there.
    Absent,
    /// The unit is at this height.
    At(u64),
}

/// What a writing command does where there is no store yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It makes one.
    Create,
    /// It fails, so that a wrong name makes no store.
    Refuse,
}

/// A chain, through its files or a server.
pub trait Door {
    /// The chain's name.
    fn chain(&self) -> &str;

    /// The newest height.
    fn height(&self) -> Result<u64>;

    /// The names of the groupings, in the order in which they came to be.
    fn grouping_names(&self) -> Result<Vec<String>>;

    /// How many units a grouping has, and how many indexes.
    fn grouping_counts(&self, grouping: &str, units: bool) -> Result<(Option<u64>, u64)>;

    /// A unit, now or then.
    fn get(&self, grouping: &str, key: &[u8], at: Option<Moment>) -> Result<Found>;

    /// Writes a unit; gives the height.
    fn put(&self, grouping: &str, key: &[u8], content: Content<'_>, condition: Condition) -> Result<u64>;

    /// Deletes a unit; gives the height, or `None` where there is no such unit.
    fn delete(&self, grouping: &str, key: &[u8]) -> Result<Option<u64>>;

    /// Gives a unit an earlier content; gives the new height and the one whose content it has, or `None` where there is no such unit.
    fn revert(&self, grouping: &str, key: &[u8], to: Moment) -> Result<Option<(u64, u64)>>;

    /// The versions of a unit, newest first; none where there is no such unit.
    fn history(&self, grouping: &str, key: &[u8], limit: Option<usize>) -> Result<List<Version>>;

    /// Units in order.
    fn scan(&self, grouping: &str, request: &ScanRequest) -> Result<List<Unit>>;

    /// How many units [`Door::scan`] would give.
    fn count(&self, grouping: &str, request: &ScanRequest) -> Result<u64>;

    /// The indexes of a grouping; none where there is no such grouping.
    fn indexes(&self, grouping: &str) -> Result<Vec<IndexItem>>;

    /// Makes an index and waits until it is filled, with a bar where there is somebody to see it; gives the height.
    fn create_index(&self, grouping: &str, index: &str, definition: &IndexDefinition) -> Result<u64>;

    /// Drops an index; gives the height.
    fn drop_index(&self, grouping: &str, index: &str) -> Result<u64>;

    /// Sizes and counts.
    fn stats(&self) -> Result<StatsItem>;

    /// The root at a height or time, or now.
    fn root(&self, at: Option<Moment>) -> Result<Root>;

    /// The proof of a unit's newest version then, or now; `None` where there was no such unit.
    fn prove_unit(&self, grouping: &str, key: &[u8], at: Option<Moment>) -> Result<Option<UnitProof>>;

    /// The proof that one height's history begins with another's.
    fn prove_extends(&self, old: u64, new: u64) -> Result<ExtensionProof>;

    /// Writes rows in as few commits as possible: all of them, or those before one that can't be written.
    fn write_rows(&self, grouping: &str, rows: &[Row]) -> WrittenRows;

    /// Ends: what was written is then as safe as it will be.
    fn close(self: Box<Self>) -> Result<()>;
}

/// A door to read through.
///
/// # Errors
/// There is no such store, server or chain, or it can't be read.
pub fn to_read(resolved: &Resolved) -> Result<Box<dyn Door>> {
    match &resolved.configuration.server {
        None => Ok(Box::new(embedded::Embedded::to_read(resolved)?)),
        Some(server) => Ok(Box::new(remote::Remote::to_read(server, resolved)?)),
    }
}

/// A door to write through; `durability` where another than the store's or server's own is wanted.
///
/// # Errors
/// Another process writes to the chain, or it can't be opened; there is no such server.
pub fn to_write(resolved: &Resolved, missing: Missing, durability: Option<Durability>) -> Result<Box<dyn Door>> {
    match &resolved.configuration.server {
        None => Ok(Box::new(embedded::Embedded::to_write(&resolved.configuration, missing, durability)?)),
        Some(server) => Ok(Box::new(remote::Remote::to_write(server, resolved, durability)?)),
    }
}

/// The chains of the store.
///
/// # Errors
/// There is no such store or server.
pub fn chains(resolved: &Resolved) -> Result<Vec<String>> {
    match &resolved.configuration.server {
        None => embedded::chains(resolved),
        Some(server) => remote::chains(server, resolved),
    }
}

impl dyn Door {
    /// Makes sure that a grouping is there.
    ///
    /// # Errors
    /// It is not.
    pub fn expect_grouping(&self, name: &str) -> Result<()> {
        let groupings = self.grouping_names()?;
        if groupings.iter().any(|grouping| grouping == name) {
            return Ok(());
        }
        Err(Failure::not_found(format!("there is no grouping {name:?} in chain {:?}", self.chain())).help(suggestion(
            name,
            &groupings,
            "it comes to be with its first write",
        )))
    }
}

/// There is no such chain at a place.
pub(crate) fn no_chain(name: &str, place: &str, chains: &[String]) -> Failure {
    Failure::not_found(format!("there is no chain {name:?} in {place}")).help(suggestion(
        name,
        chains,
        "it comes to be with its first write",
    ))
}

fn suggestion(wrong: &str, names: &[String], otherwise: &str) -> String {
    /// More names than this are no help.
    const MANY: usize = 12;
    if let Some(near) = nearest(wrong, names.iter().map(String::as_str)) {
        return format!("did you mean {near:?}?");
    }
    match names.len() {
        0 => otherwise.to_owned(),
        1..=MANY => format!("there are: {}", names.join(", ")),
        count => format!("there are {count} others"),
    }
}
