//! What a reader reads: the deltas and runs that together hold all commits, newest first.
//!
//! ```text
//!   heights  1 ……………………… 800 | 801 …… 950 | 951 … 990 | 991 … 1007 (growing)
//!            run 12            | run 15     | frozen    | active
//! ```
//!
//! A view never loses anything: as the chain grows, newer views arrange the same history in other files. So a reader may
//! take up the newest view at any step, and holds none for longer than it works.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::catalog::{GroupingEntry, IndexEntry};
use super::merged::{Merged, Start};
use crate::delta::{Delta, Existence, Found};
use crate::error::Result;
use crate::run::{Run, SectionId};
use crate::sync::MutexGuard;
use crate::types::{Birth, GroupingId, Height, IndexId, Position, VersionKind};

/// Deltas and runs, each newest first.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) active: Arc<Delta>,
    pub(crate) frozen: Vec<Arc<Delta>>,
    pub(crate) runs: Vec<Arc<Run>>,
}

/// A version that a look-up found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionFound {
    pub(crate) birth: Birth,
    pub(crate) kind: VersionKind,
    pub(crate) position: Position,
    /// The births of its key values, where they differ from `birth`.
    pub(crate) births: Vec<(IndexId, Birth)>,
}

/// The hash that tables and filters use for a unit key or an index key.
pub(crate) fn hash_of(key: &[u8]) -> u64 {
    xxh3_64(key)
}

impl View {
    /// The deltas, newest first.
    pub(crate) fn deltas(&self) -> impl Iterator<Item = &Arc<Delta>> {
        std::iter::once(&self.active).chain(&self.frozen)
    }

    /// The newest version of a unit at or below `at`, unless a clear or a deletion hides it.
    pub(crate) fn unit(&self, grouping: &GroupingEntry, key: &[u8], at: Height) -> Result<Option<VersionFound>> {
        let found = self.version(grouping, key, hash_of(key), at, usize::MAX)?;
        Ok(found.filter(|version| version.kind != VersionKind::Deleted))
    }

    /// What is known of key values without sorting and without the log, for a writer.
    pub(crate) fn known_keys(&self) -> KnownKeys<'_> {
        let counted = |delta| KnownDelta { delta, counts: delta.existence().lock() };
        KnownKeys { view: self, deltas: self.deltas().map(|delta| counted(delta.as_ref())).collect() }
    }

    /// The newest version of a unit at or below `at`, deletions included, unless a clear hides it, among the `newest`
    /// deltas and runs.
    pub(crate) fn version(
        &self,
        grouping: &GroupingEntry,
        key: &[u8],
        hash: u64,
        at: Height,
        newest: usize,
    ) -> Result<Option<VersionFound>> {
        let floor = grouping.floor(at);
        let found = self.any_version(grouping, key, hash, at, floor, newest)?;
        Ok(found.filter(|version| version.birth.height >= floor))
    }

    fn any_version(
        &self,
        grouping: &GroupingEntry,
        key: &[u8],
        hash: u64,
        at: Height,
        floor: Height,
        mut newest: usize,
    ) -> Result<Option<VersionFound>> {
        for delta in self.deltas() {
            if newest == 0 {
                return Ok(None);
            }
            newest -= 1;
            if delta.start() > at {
                continue;
            }
            match delta.versions().find(grouping.id, key, hash, at) {
                Found::Nothing => {}
                Found::Version(version) => {
                    return Ok(Some(VersionFound {
                        birth: version.birth(),
                        kind: version.kind,
                        position: version.position,
                        births: version.births().to_vec(),
                    }));
                }
                Found::Far => {
                    if let Some(found) = far_version(delta, grouping, key, at)? {
                        return Ok(Some(found));
                    }
                }
            }
        }
        for run in self.runs.iter().take(newest) {
            if run.meta().start > at || run.meta().end < floor {
                continue;
            }
            if let Some(found) = run.find_version(grouping.id, key, hash, at)? {
                return Ok(Some(VersionFound {
                    birth: Birth::new(found.height, found.place),
                    kind: found.kind,
                    position: found.position,
                    births: found.births,
                }));
            }
        }
        Ok(None)
    }
}

/// The counts of all deltas, locked, and the filters of all runs.
pub(crate) struct KnownKeys<'a> {
    view: &'a View,
    /// Newest first.
    deltas: Vec<KnownDelta<'a>>,
}

struct KnownDelta<'a> {
    delta: &'a Delta,
    counts: MutexGuard<'a, Existence>,
}

impl KnownKeys<'_> {
    /// Asks for all that [`KnownKeys::has_entry`] will read.
    pub(crate) fn prefetch(&self, grouping: GroupingId, index: IndexId, hash: u64) {
        for known in &self.deltas {
            known.counts.prefetch(index, hash);
        }
        let id = SectionId::live(grouping, index);
        for section in self.view.runs.iter().filter_map(|run| run.section(id)) {
            section.prefetch(hash);
        }
    }

    /// Whether an entry of `index` has the key now (`at` is the newest height), as far as counts, filters and the births
    /// in runs tell; `None` when ends must be looked at, too.
    pub(crate) fn has_entry(
        &self,
        grouping: &GroupingEntry,
        index: &IndexEntry,
        (key, hash): (&[u8], u64),
        at: Height,
    ) -> Result<Option<bool>> {
        let floor = grouping.floor(at);
        let mut killed = 0;
        let mut unsure = false;
        for KnownDelta { delta, counts } in &self.deltas {
            if delta.end() < floor && !delta.is_empty() {
                break;
            }
            if !delta.counts_all() && !index.definition.unique {
                unsure = true;
                continue;
            }
            let counts = counts.of(index.id, hash);
            if counts.live > killed {
                return Ok(Some(true));
            }
            unsure |= counts.live > 0;
            killed += counts.killed;
        }
        if unsure {
            return Ok(None);
        }
        let id = SectionId::live(grouping.id, index.id);
        for section in self.view.runs.iter().filter_map(|run| run.section(id)) {
            if section.highest_height() >= floor && section.may_contain(hash) && section.has_key(key)? {
                return Ok(None);
            }
        }
        Ok(Some(false))
    }
}

/// The version at or below `at` of a unit with very many newer ones, by its ordering.
fn far_version(delta: &Arc<Delta>, grouping: &GroupingEntry, key: &[u8], at: Height) -> Result<Option<VersionFound>> {
    let mut versions = Merged::versions_of_delta(delta, grouping.id);
    versions.start(Start::At(key, Birth::new(at, u32::MAX)))?;
    Ok(match versions.top() {
        Some(source) if source.key() == key => Some(source.version_found()),
        _ => None,
    })
}
