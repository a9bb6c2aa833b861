//! What each engine has to do, and what it promises.

use std::path::Path;

use anyhow::Result;
use immuxdb_benches::records::{Alternate, Key, RECORD};

/// An engine under test. The names and settings of the three are in the README.
pub trait Engine {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// Opens the store in `root` (makes it, when the directory is empty), works with it, and closes it: when this returns, nothing is left to be done,
    /// by another thread either.
    ///
    /// # Errors
    /// The engine's, and those of the work.
    fn open(&self, root: &Path, work: &mut Work<'_>) -> Result<()>;
}

/// What is done with an open store.
pub type Work<'w> = dyn FnMut(&mut dyn Table) -> Result<()> + 'w;

/// What became of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The unit key is taken; nothing was changed.
    Refused,
    /// The record is there, and no other had one of its alternate keys' values.
    New,
    /// The record is there; some alternate key's value was there already.
    Duplicate,
}

/// The records of an open store.
pub trait Table {
    /// Inserts a record as one commit: visible to every reader, in other processes too, and safe from this process's death when this returns.
    ///
    /// # Errors
    /// The engine's.
    fn insert(&mut self, key: &Key, record: &[u8; RECORD]) -> Result<Inserted>;

    /// Reads the record with a unit key; says whether there is one.
    ///
    /// # Errors
    /// The engine's.
    fn get(&mut self, key: &Key, record: &mut Vec<u8>) -> Result<bool>;

    /// Reads the first record, in the order of writing, with a value of an alternate key; says whether there is one.
    ///
    /// # Errors
    /// The engine's.
    fn first(&mut self, alternate: usize, value: &Alternate, record: &mut Vec<u8>) -> Result<bool>;

    /// Shows all records in the order of an alternate key, duplicates in the order of writing; or the reverse of that.
    ///
    /// # Errors
    /// The engine's.
    fn scan(&mut self, alternate: usize, backward: bool, show: &mut dyn FnMut(&[u8])) -> Result<()>;
}
