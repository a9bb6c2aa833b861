//! Runs: immutable files of sorted index events.
//!
//! The newest index events of a chain are in memory (the delta). When there are enough of them they are written, once
//! and in order, as a *run*; later, neighbouring runs are merged into one. A run is never changed. The [`Manifest`]
//! names those that count, and is replaced in one step.
//!
//! ```text
//!  run-17
//! +--------+-------+------------------+------------------+-----+-----------+--------+
//! | header | marks | section          | section          | ... | directory | footer |
//! +--------+-------+------------------+------------------+-----+-----------+--------+
//!                  /                   \
//!                 +-------+-------+-----+-------+-------------+--------------+
//!                 | block | block | ... | block | block index | Bloom filter |
//!                 +-------+-------+-----+-------+-------------+--------------+
//!                /         \
//!               +------------+------------+-----+----------+--------+-----+
//!               | 16 entries | 16 entries | ... | restarts | counts | CRC |
//!               +------------+------------+-----+----------+--------+-----+
//! ```
//!
//! A section holds one kind of event of one ordering. Its entries are sorted by key, and for equal keys by birth:
//!
//! | section | key | entry | for equal keys |
//! |---|---|---|---|
//! | [`Versions`](SectionKind::Versions) | unit key | a version of the unit | newest first |
//! | [`Live`](SectionKind::Live) | index key | a unit got this key value and has it still | oldest first |
//! | [`Kills`](SectionKind::Kills) | index key | a unit lost a key value that it got in an older run | oldest first |
//! | [`Past`](SectionKind::Past) | index key | a unit got this key value, and lost it | oldest first |
//!
//! Reading goes from the coarse to the fine. The directory leads to the section; its filter says at the price of one
//! cache line that a key is not there; the block index, eight bytes of each block's first key side by side, leads to a
//! block of about 4 KiB; the restart points, one every 16 entries, lead to a few entries that are decoded one by one,
//! since each stores only what differs from the one before.
//!
//! All of it is read in place from the mapped file. Opening a run checks its header, directory and footer; a block, a
//! page of a filter, a block index is checked against its CRC when it is first touched, and a bit remembers that it was.
//!
//! The bytes are described in `docs/FORMAT.md`.

mod block;
mod checked;
mod cursor;
mod directory;
mod entry;
mod file;
mod filter;
mod inspect;
mod lookup;
mod manifest;
mod marks;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod memory;
mod merge;
mod number;
mod policy;
mod reader;
mod section;
#[cfg(test)]
mod tests;
mod writer;

pub use cursor::Cursor;
pub use entry::{Births, Entry};
pub use file::{RunCounts, RunMeta, file_name};
pub use manifest::{Manifest, RunEntry};
pub use marks::{Mark, Marks};
pub use merge::{MergeRules, merge};
pub use policy::{RunSize, choose_merge};
pub use reader::Run;
pub use section::Section;
pub use writer::{RunSummary, RunWriter};

use crate::types::{Birth, GroupingId, IndexId};
use std::cmp::Ordering;

/// What the entries of a section are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SectionKind {
    /// The versions of a grouping's units: (unit key, height and place descending).
    Versions = 0,
    /// Entries that were born in this run's stretch and have not ended in it.
    Live = 1,
    /// Ends of entries that were born in an older run.
    Kills = 2,
    /// Entries whose birth and end are both known here.
    Past = 3,
}

impl SectionKind {
    fn from_byte(byte: u8) -> Option<SectionKind> {
        match byte {
            0 => Some(SectionKind::Versions),
            1 => Some(SectionKind::Live),
            2 => Some(SectionKind::Kills),
            3 => Some(SectionKind::Past),
            _ => None,
        }
    }

    /// The order of entries with equal keys.
    #[inline]
    fn compare_births(self, a: Birth, b: Birth) -> Ordering {
        match self {
            SectionKind::Versions => b.cmp(&a),
            _ => a.cmp(&b),
        }
    }

    /// The order of the section.
    #[inline]
    fn compare(self, a: (&[u8], Birth), b: (&[u8], Birth)) -> Ordering {
        a.0.cmp(b.0).then_with(|| self.compare_births(a.1, b.1))
    }

    fn has_filter(self) -> bool {
        matches!(self, SectionKind::Versions | SectionKind::Live)
    }
}

/// Which section: an ordering of a grouping, and what of it. Sections are written in ascending order of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectionId {
    /// The grouping.
    pub grouping: GroupingId,
    /// The index; [`IndexId::UNITS`] exactly when `kind` is [`SectionKind::Versions`].
    pub index: IndexId,
    /// What its entries are.
    pub kind: SectionKind,
}

impl SectionId {
    /// The versions of a grouping's units.
    #[must_use]
    pub fn versions(grouping: GroupingId) -> SectionId {
        SectionId { grouping, index: IndexId::UNITS, kind: SectionKind::Versions }
    }

    /// The live entries of an index.
    #[must_use]
    pub fn live(grouping: GroupingId, index: IndexId) -> SectionId {
        SectionId { grouping, index, kind: SectionKind::Live }
    }

    /// The kills of an index.
    #[must_use]
    pub fn kills(grouping: GroupingId, index: IndexId) -> SectionId {
        SectionId { grouping, index, kind: SectionKind::Kills }
    }

    /// The past entries of an index.
    #[must_use]
    pub fn past(grouping: GroupingId, index: IndexId) -> SectionId {
        SectionId { grouping, index, kind: SectionKind::Past }
    }

    fn is_valid(self) -> bool {
        (self.kind == SectionKind::Versions) == (self.index == IndexId::UNITS)
    }
}

/// The hash that the filters want of a key.
#[inline]
#[must_use]
pub fn key_hash(key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(key)
}
