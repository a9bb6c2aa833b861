//! The engine's errors: few, and each says when it happens and what to do.

use std::io;
use std::path::PathBuf;

use crate::types::Height;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name, key, content or commit is over its limit, or empty where it may not be.
    #[error("{what} has {actual} bytes; at most {limit} are allowed")]
    TooLarge {
        /// What was measured, such as "unit key".
        what: &'static str,
        /// Its size.
        actual: usize,
        /// The limit (see [`crate::limits`]).
        limit: usize,
    },

    /// A name or an option that cannot be.
    #[error("{0}")]
    Invalid(String),

    /// Content was given as JSON and is not.
    #[error("the content is not valid JSON: {0}")]
    InvalidJson(String),

    /// `insert` found the unit, or a unique index found another unit with the key.
    #[error("the unit exists already ({})", place_of(*height))]
    UnitExists {
        /// The height of the version that is there.
        height: Height,
    },

    /// A unique index has the key value already, for another unit.
    #[error("index {index:?} is unique and has this key value already")]
    DuplicateKey {
        /// The index's name.
        index: String,
    },

    /// `compare_and_set` found another version than the expected one.
    #[error("{}, and height {expected} was expected", .actual.map_or_else(|| "the unit does not exist".to_owned(), |h| format!("the unit is {}", place_of(h))))]
    HeightMismatch {
        /// The height that the caller expected.
        expected: Height,
        /// The height of the current version; `None` when the unit does not exist.
        actual: Option<Height>,
    },

    /// `delete` or `revert` found no such unit.
    #[error("there is no such unit")]
    UnitMissing,

    /// No grouping has this name.
    #[error("there is no grouping {0:?}")]
    GroupingMissing(String),

    /// No index has this name in its grouping.
    #[error("there is no index {index:?} in grouping {grouping:?}")]
    IndexMissing {
        /// The grouping's name.
        grouping: String,
        /// The index's name.
        index: String,
    },

    /// An index with this name is there already.
    #[error("grouping {grouping:?} has an index {index:?} already")]
    IndexExists {
        /// The grouping's name.
        grouping: String,
        /// The index's name.
        index: String,
    },

    /// A height beyond the newest commit, or before the oldest that is kept.
    #[error("height {asked} is not in this chain, whose newest height is {newest}")]
    HeightUnknown {
        /// The height that was asked for.
        asked: Height,
        /// The newest height.
        newest: Height,
    },

    /// Another process (or another handle in this one) writes to the chain.
    #[error("{} is held by another writer{}; close it, or open the store read-only", .path.display(), .holder.as_ref().map_or_else(String::new, |h| format!(" ({h})")))]
    Held {
        /// The chain's log.
        path: PathBuf,
        /// Process id and start time of the holder, where they are known.
        holder: Option<String>,
    },

    /// The store was opened read-only, or damage was found when it was opened.
    #[error("the chain is open read-only: {0}")]
    ReadOnly(String),

    /// There is no space on the device. The commit did not happen, and writing goes on when there is space.
    #[error("no space is left on the device of {}", .path.display())]
    NoSpace {
        /// The file that could not grow.
        path: PathBuf,
    },

    /// An earlier write or sync failed, so nothing more is written. Reads go on; close and open the store to recover.
    #[error("an earlier I/O error stopped writing ({0}); reads go on, reopen the store to recover")]
    Poisoned(String),

    /// Bytes on disk are not what was written.
    #[error("{} is damaged at offset {offset}: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damage begins.
        offset: u64,
        /// What was expected and found.
        what: String,
    },

    /// A file was made by a newer ImmuxDB, or is no ImmuxDB file.
    #[error("{}: {what}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is in the way, and what to do.
        what: String,
    },

    /// The operating system reports an error.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

impl Error {
    /// An I/O error with the path it concerns; a full device, quota or limit of a file's size
    /// becomes [`Error::NoSpace`].
    pub fn io(path: impl Into<PathBuf>, source: io::Error) -> Error {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Error::NoSpace { path }
            }
            _ => Error::Io { path, source },
        }
    }
}

/// Where a version is; one that is only being written has no height yet.
fn place_of(height: Height) -> String {
    if height == Height::MAX { "written earlier in this transaction".to_owned() } else { format!("at height {height}") }
}

/// The engine's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;
