//! Reading in the order of an index that did not exist yet.
//!
//! Before the height of its definition an index has no entries, and while it is being filled not all of them. The units are
//! there, though, and so are their keys and what the versions know of those keys' births: each pass over all units keeps the next few thousand entries in index order, until all were given. Memory is bounded;
//! time is one pass for each portion.

use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::catalog::{GroupingEntry, IndexEntry};
use super::derive::birth_of;
use super::{Range, Shared, UnitScan};
use crate::error::Result;
use crate::index::{KeyExtractor, KeySet};
use crate::log::Log;
use crate::scan::Cursor;
use crate::types::{Birth, Height, IndexId, Position};

/// Entries that one pass keeps.
const PORTION: usize = 4096;

/// An entry that the index would have.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FallbackEntry {
    pub(crate) key: Vec<u8>,
    pub(crate) birth: Birth,
    /// The version's own birth.
    pub(crate) version: Birth,
    pub(crate) unit_key: Vec<u8>,
    pub(crate) position: Position,
}

/// A scan in the order of an index, without the index.
pub(crate) struct FallbackScan {
    shared: Arc<Shared>,
    grouping: Arc<GroupingEntry>,
    extractor: KeyExtractor,
    index: IndexId,
    at: Height,
    range: Range,
    portion: VecDeque<FallbackEntry>,
    finished: bool,
}

impl FallbackScan {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        grouping: Arc<GroupingEntry>,
        index: &IndexEntry,
        at: Height,
        range: Range,
    ) -> Result<FallbackScan> {
        let extractor = KeyExtractor::new(&[(index.id, index.definition.clone())])?;
        let (shared, portion) = (Arc::clone(shared), VecDeque::new());
        Ok(FallbackScan { shared, grouping, extractor, index: index.id, at, range, portion, finished: false })
    }

    pub(crate) fn next(&mut self) -> Result<Option<FallbackEntry>> {
        if self.portion.is_empty() && !self.finished {
            self.pass()?;
        }
        Ok(self.portion.pop_front())
    }

    /// Keeps the entries that come next of all units.
    fn pass(&mut self) -> Result<()> {
        let mut units = UnitScan::new(&self.shared, Arc::clone(&self.grouping), self.at, Range::all())?;
        let mut keys = KeySet::new();
        let mut kept = Kept { heap: BinaryHeap::new(), backward: self.range.backward };
        while let Some(version) = units.next()? {
            let body = self.shared.log.read_body(version.position)?;
            keys.clear();
            self.extractor.extract(version.kind, body.content(), &mut keys)?;
            for (nth, (_, key)) in keys.iter().enumerate() {
                let birth = birth_of(&version.births, version.birth, self.index, nth);
                if self.range.covers(key, birth) {
                    kept.add(FallbackEntry {
                        key: key.to_vec(),
                        birth,
                        version: version.birth,
                        unit_key: units.key().to_vec(),
                        position: version.position,
                    });
                }
            }
        }
        self.finished = kept.heap.len() < PORTION;
        self.portion = kept.in_order();
        if let Some(last) = self.portion.back() {
            self.range.resume_after(Cursor { key: last.key.clone(), birth: last.birth });
        }
        Ok(())
    }
}

/// The entries that come first, of all that were added.
struct Kept {
    heap: BinaryHeap<Ranked>,
    backward: bool,
}

struct Ranked {
    entry: FallbackEntry,
    backward: bool,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let order = self.entry.cmp(&other.entry);
        if self.backward { order.reverse() } else { order }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.entry == other.entry
    }
}

impl Eq for Ranked {}

impl Kept {
    fn add(&mut self, entry: FallbackEntry) {
        self.heap.push(Ranked { entry, backward: self.backward });
        if self.heap.len() > PORTION {
            self.heap.pop();
        }
    }

    fn in_order(self) -> VecDeque<FallbackEntry> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.entry).collect()
    }
}
