//! The delta: the newest index entries, in memory.
//!
//! A commit adds one *version* of its unit and a few *events* (key values got and lost). Most of them are never asked
//! for before the delta becomes a run, so the delta does as little as possible when they arrive, and sorts late:
//!
//! ```text
//!  commit ──► versions   append-only table; a hash table leads from a unit key to its newest version
//!        └──► orderings  one for the units and one per index:
//!
//!                 tail (unsorted, the writer appends)      pieces (sorted, immutable)
//!                 [ … e9 e7 e8 ]  ── a reader comes ──►    [ 40 events ] [ 9 ] [ 3 ]
//! ```
//!
//! A reader of an ordering turns its tail into a sorted piece, and joins neighbouring pieces while the older is at most
//! twice as long: writing one and reading one in turns costs a logarithm, not a sort. The writer holds a tail's lock
//! only to append to it; sorting happens outside, under a lock that only readers of the same ordering share.
//!
//! | question | answered by | cost |
//! |---|---|---|
//! | newest version of this unit | [`Versions`] | one hash probe |
//! | does a unit have this key value? | [`Existence`] | one hash probe, no sorting |
//! | what comes after this key? | [`Ordering`] | binary search in each piece |
//!
//! When a delta has grown to its limit it is *frozen*, and a new one takes its place; the background writes the frozen
//! one to a run (see `chain::flush`).

mod existence;
mod ordering;
mod versions;

use std::sync::{Arc, OnceLock};

pub(crate) use existence::Existence;
pub(crate) use ordering::{Event, Ordering, Piece, What};
pub(crate) use versions::{Found, Newest, Version, VersionId, Versions};

use crate::log::LogPoint;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering as Atomic};
use crate::sync::{Mutex, RwLock, RwLockReadGuard};
use crate::types::{Birth, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};

/// A sample of the log: the commit at `height` ends at `end` and happened at `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) height: Height,
    pub(crate) end: u64,
    pub(crate) time: Timestamp,
}

impl Mark {
    /// As runs keep it.
    pub(crate) fn to_run_mark(self) -> crate::run::Mark {
        crate::run::Mark { height: self.height, end_offset: self.end, time: self.time }
    }
}

/// The bytes of log between two marks.
const MARK_DISTANCE: u64 = 64 << 10;

/// What a commit brings to one unit.
pub(crate) struct NewVersion<'a> {
    pub(crate) grouping: GroupingId,
    pub(crate) key: &'a [u8],
    pub(crate) hash: u64,
    pub(crate) birth: Birth,
    pub(crate) kind: VersionKind,
    pub(crate) position: Position,
    pub(crate) births: &'a [(IndexId, Birth)],
}

/// The versions and events of the commits from `start` on.
pub(crate) struct Delta {
    start: Height,
    log_start: u64,
    end: AtomicU64,
    log_end: AtomicU64,
    versions: Versions,
    orderings: RwLock<Orderings>,
    existence: Mutex<Existence>,
    marks: Mutex<Vec<Mark>>,
    bytes: AtomicUsize,
    existence_bytes: AtomicUsize,
    counts_all: bool,
    end_point: OnceLock<LogPoint>,
}

/// Few groupings are active at a time, so a sorted vector beats a hash table.
type Orderings = Vec<((GroupingId, IndexId), Arc<Ordering>)>;

impl Delta {
    /// An empty delta for the commits from `start` on, whose frames begin at `log_start`. `counts_all`: the key values of
    /// all indexes are counted, not only those of unique ones.
    pub(crate) fn new(start: Height, log_start: u64, counts_all: bool) -> Delta {
        Delta::with_existence(start, log_start, counts_all, Existence::default())
    }

    /// An empty delta that is going to be like `before`, which it follows.
    pub(crate) fn after(before: &Delta, start: Height, log_start: u64, counts_all: bool) -> Delta {
        let existence = before.existence.lock().empty_of_same_size();
        Delta::with_existence(start, log_start, counts_all, existence)
    }

    fn with_existence(start: Height, log_start: u64, counts_all: bool, existence: Existence) -> Delta {
        Delta {
            start,
            log_start,
            end: AtomicU64::new(start.0.saturating_sub(1)),
            log_end: AtomicU64::new(log_start),
            versions: Versions::new(),
            orderings: RwLock::default(),
            existence: Mutex::new(existence),
            marks: Mutex::default(),
            bytes: AtomicUsize::new(0),
            existence_bytes: AtomicUsize::new(0),
            counts_all,
            end_point: OnceLock::new(),
        }
    }

    /// The first height whose commit belongs here.
    pub(crate) fn start(&self) -> Height {
        self.start
    }

    /// The newest height that was applied; `start - 1` when there is none.
    pub(crate) fn end(&self) -> Height {
        Height(self.end.load(Atomic::Acquire))
    }

    /// Whether no commit was applied.
    pub(crate) fn is_empty(&self) -> bool {
        self.end() < self.start
    }

    /// Whether the key values of all indexes are counted.
    pub(crate) fn counts_all(&self) -> bool {
        self.counts_all
    }

    /// Where the log goes on after this delta; known once it is frozen.
    pub(crate) fn end_point(&self) -> Option<LogPoint> {
        self.end_point.get().copied()
    }

    /// No more commits come here; the log goes on at `end`.
    pub(crate) fn freeze(&self, end: LogPoint) {
        assert!(end.height == self.end(), "a delta ends with its newest commit");
        assert!(self.end_point.set(end).is_ok(), "a delta is frozen once");
    }

    /// An estimate of the memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Atomic::Relaxed) + self.existence_bytes.load(Atomic::Relaxed)
    }

    /// The bytes of log that a recovery would have to read to get this delta back.
    pub(crate) fn log_bytes(&self) -> u64 {
        self.log_end.load(Atomic::Relaxed) - self.log_start
    }

    /// The versions by unit.
    pub(crate) fn versions(&self) -> &Versions {
        &self.versions
    }

    /// What is known about key values without sorting. Only the writer asks.
    pub(crate) fn existence(&self) -> &Mutex<Existence> {
        &self.existence
    }

    /// The marks, oldest first.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        self.marks.lock().clone()
    }

    /// The ordering of `index` in `grouping`, if anything was added to it.
    pub(crate) fn ordering(&self, grouping: GroupingId, index: IndexId) -> Option<Arc<Ordering>> {
        let orderings = self.orderings.read();
        let at = find(&orderings, (grouping, index)).ok()?;
        Some(Arc::clone(&orderings[at].1))
    }

    /// All orderings, by grouping and index.
    pub(crate) fn orderings(&self) -> Vec<((GroupingId, IndexId), Arc<Ordering>)> {
        self.orderings.read().clone()
    }

    /// Begins to add what one operation of a commit brings. Only one thread at a time writes to a delta.
    pub(crate) fn add(&self) -> Adding<'_> {
        Adding { delta: self, orderings: Some(self.orderings.read()), at: 0, bytes: 0 }
    }

    /// Says that all of the commit at `mark.height` was added.
    pub(crate) fn finish_commit(&self, mark: Mark) {
        let mut marks = self.marks.lock();
        if marks.last().is_none_or(|last| mark.end - last.end >= MARK_DISTANCE) {
            self.existence_bytes.store(self.existence.lock().bytes(), Atomic::Relaxed);
            marks.push(mark);
        }
        self.log_end.store(mark.end, Atomic::Relaxed);
        let before = self.end.swap(mark.height.0, Atomic::Release);
        assert!(before + 1 == mark.height.0, "height {} follows {before}", mark.height);
    }

    /// Makes room for an ordering.
    fn make_ordering(&self, id: (GroupingId, IndexId)) {
        let mut orderings = self.orderings.write();
        if let Err(at) = find(&orderings, id) {
            let ordering = if id.1 == IndexId::UNITS { Ordering::newest_first() } else { Ordering::oldest_first() };
            orderings.insert(at, (id, Arc::new(ordering)));
        }
    }
}

/// Adds the version and the events of one operation. Those of an index come after one another, in ascending order of
/// indexes, so that each ordering is found next to the one before.
pub(crate) struct Adding<'a> {
    delta: &'a Delta,
    /// Always there, save while an ordering is made.
    orderings: Option<RwLockReadGuard<'a, Orderings>>,
    at: usize,
    bytes: usize,
}

impl Adding<'_> {
    /// Adds the version of a unit.
    pub(crate) fn version(&mut self, new: &NewVersion<'_>) -> VersionId {
        let id = self.delta.versions.add(new);
        self.push((new.grouping, IndexId::UNITS), new.key, new.birth, What::Live(id));
        self.bytes += size_of::<Version>() + new.key.len() + size_of_val(new.births) + 32;
        id
    }

    /// A unit got a key value with the version `id`.
    pub(crate) fn live(&mut self, grouping: GroupingId, index: IndexId, key: &[u8], birth: Birth, id: VersionId) {
        self.push((grouping, index), key, birth, What::Live(id));
    }

    /// A unit lost, at height `end`, the key value that it got at `birth`.
    pub(crate) fn kill(&mut self, grouping: GroupingId, index: IndexId, key: &[u8], birth: Birth, end: Height) {
        self.push((grouping, index), key, birth, What::Kill(end));
    }

    fn push(&mut self, id: (GroupingId, IndexId), key: &[u8], birth: Birth, what: What) {
        self.bytes += size_of::<Event>() + key.len();
        loop {
            if let Some(orderings) = &self.orderings {
                let is_here = |at: usize| orderings.get(at).is_some_and(|(known, _)| *known == id);
                let near = [self.at, self.at + 1].into_iter().find(|at| is_here(*at));
                if let Some(at) = near.or_else(|| find(orderings, id).ok()) {
                    self.at = at;
                    return orderings[at].1.push(key, birth, what);
                }
            }
            self.orderings = None;
            self.delta.make_ordering(id);
            self.orderings = Some(self.delta.orderings.read());
        }
    }
}

impl Drop for Adding<'_> {
    fn drop(&mut self) {
        self.delta.bytes.fetch_add(self.bytes, Atomic::Relaxed);
    }
}

fn find(orderings: &Orderings, wanted: (GroupingId, IndexId)) -> Result<usize, usize> {
    orderings.binary_search_by_key(&wanted, |(id, _)| *id)
}
