//! The derived part on disk: writing runs, merging them, and the manifest that names those in force.
//!
//! A run counts from the moment the manifest with its name is in place. Before that the log is synced up to the run's
//! end: a manifest never knows more than the log that survives power loss.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::background::MOST_FROZEN;
use super::flush::write_delta;
use super::open::make_directory;
use super::view::View;
use super::{Access, Shared};
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::log::LogPoint;
use crate::options::Background;
use crate::planted;
use crate::run::{
    Manifest, MergeRules, Run, RunEntry, RunMeta, RunSize, RunSummary, RunWriter, choose_merge, file_name, merge,
};
use crate::storage::OpenMode;
use crate::sync::atomic::Ordering as Atomic;
use crate::types::{GroupingId, Height, IndexId};

/// The runs in force, and the number of the next one. Whoever holds it may change the manifest.
pub(crate) struct Runs {
    /// Oldest first.
    pub(crate) in_force: Vec<NumberedRun>,
    pub(crate) next: u64,
    /// Whether the directory exists.
    pub(crate) directory_made: bool,
    /// While the log is being recovered nothing can be said in a manifest.
    pub(crate) manifest_held_back: bool,
}

/// A run and the number in its file name.
#[derive(Clone)]
pub(crate) struct NumberedRun {
    pub(crate) number: u64,
    pub(crate) run: Arc<Run>,
}

/// The clears of each grouping, ascending, and the indexes that were dropped.
type ClearsAndDrops = (BTreeMap<GroupingId, Vec<Height>>, BTreeSet<(GroupingId, IndexId)>);

/// The runs to merge next.
///
/// The entries of a new index must end up in a run whose stretch has the height of its definition. So they merge with
/// others only together with a run that comes after them; until there is one, among themselves.
fn choose_inputs(runs: &[NumberedRun], under_load: bool) -> Option<Range<usize>> {
    let size_of = |numbered: &NumberedRun| RunSize {
        bytes: numbered.run.bytes(),
        kills: numbered.run.counts().kills,
        entries: numbered.run.counts().total(),
    };
    let sizes: Vec<RunSize> = runs.iter().map(size_of).collect();
    let is_new_index = |numbered: &NumberedRun| numbered.run.meta().is_empty_stretch();
    let waiting = runs.iter().rev().take_while(|numbered| is_new_index(numbered)).count();
    let settled = runs.len() - waiting;
    if let Some(mut chosen) = choose_merge(&sizes[..settled], under_load) {
        while is_new_index(&runs[chosen.end - 1]) {
            chosen.end += 1;
        }
        return Some(chosen);
    }
    // Together they may be too many.
    choose_merge(&sizes, under_load)?;
    let mut start = settled;
    for same in runs[settled..].chunk_by(|a, b| a.run.meta().end == b.run.meta().end) {
        if same.len() > 1 {
            return Some(start..start + same.len());
        }
        start += same.len();
    }
    None
}

impl Shared {
    /// The log bytes of the delta that is next to be written.
    pub(crate) fn oldest_frozen_log_bytes(&self) -> u64 {
        self.view().frozen.last().map_or(0, |delta| delta.log_bytes())
    }

    /// Freezes the active delta, so that the flusher writes it. The caller holds the writer's lock.
    pub(crate) fn freeze(&self, end: LogPoint) {
        let active = self.view().active.clone();
        if active.is_empty() {
            return;
        }
        active.freeze(end);
        let counts_all = self.counts_all.load(Atomic::Relaxed);
        let fresh = Arc::new(Delta::after(&active, end.height.next(), end.offset, counts_all));
        self.change_view(|view| {
            view.frozen.insert(0, Arc::clone(&view.active));
            view.active = Arc::clone(&fresh);
        });
    }

    /// Puts an empty delta in the place of the active one. The caller holds the writer's lock.
    pub(crate) fn renew_active(&self, end: LogPoint) {
        if self.view().active.is_empty() {
            let fresh = Arc::new(Delta::new(end.height.next(), end.offset, self.counts_all.load(Atomic::Relaxed)));
            self.change_view(|view| view.active = Arc::clone(&fresh));
        } else {
            self.freeze(end);
        }
    }

    /// Without background threads, a writer that has filled too many deltas writes the oldest one itself.
    pub(crate) fn flush_if_alone(&self) -> Result<()> {
        if self.options.background == Background::Manual && self.view().frozen.len() >= MOST_FROZEN {
            self.flush_oldest()?;
        }
        Ok(())
    }

    /// Does one piece of background work; `false` when there is none.
    pub(crate) fn background_step(&self) -> Result<bool> {
        Ok(self.flush_oldest()? || self.merge_some(false)? || self.hash_step())
    }

    /// Does, or waits for, all background work.
    pub(crate) fn drain(&self) -> Result<()> {
        match self.options.background {
            Background::Threads if matches!(self.access, Access::Write) => self.background.wait_until_idle(),
            Background::Threads => Ok(()),
            Background::Manual => {
                while self.background_step()? {}
                Ok(())
            }
        }
    }

    /// Writes the oldest frozen delta as a run; `false` when there is none.
    pub(crate) fn flush_oldest(&self) -> Result<bool> {
        let _one_at_a_time = self.flushing.lock();
        let Some(delta) = self.view().frozen.last().cloned() else {
            return Ok(false);
        };
        if planted::is(planted::Fault::ViewLosesDelta) {
            self.change_view(|view| view.frozen.retain(|frozen| !Arc::ptr_eq(frozen, &delta)));
        }
        let Some(end) = delta.end_point() else {
            unreachable!("a delta that is frozen knows where it ends");
        };
        let meta = RunMeta {
            log_id: self.log.header().log_id,
            generation: self.log.header().generation,
            start: delta.start(),
            end: delta.end(),
            end_offset: end.offset,
            end_chain: end.chain,
            end_time: end.time,
        };
        let written = self.write_run(meta, |mut writer| {
            write_delta(&delta, &mut writer, |id| self.catalog.read().by_id(id))?;
            writer.finish().map(Some)
        })?;
        let Some(written) = written else {
            unreachable!("only a merge is given up");
        };
        self.install(
            |runs| {
                // Entries of an index that was defined later belong behind it.
                let is_later = |run: &&NumberedRun| run.run.meta().is_empty_stretch() && run.run.meta().end >= meta.end;
                let later = runs.iter().rev().take_while(is_later).count();
                runs.insert(runs.len() - later, written.clone());
            },
            |view| {
                if planted::is(planted::Fault::ViewLosesDelta) {
                    return;
                }
                let written_off = view.frozen.pop();
                assert!(written_off.is_some_and(|frozen| Arc::ptr_eq(&frozen, &delta)), "the oldest delta was written");
            },
            None,
        )?;
        Ok(true)
    }

    /// Whether some merge is worth it.
    pub(crate) fn has_merge_to_do(&self) -> bool {
        choose_inputs(&self.runs.lock().in_force, false).is_some()
    }

    /// Merges the runs whose merge is most worth it; `false` when none is.
    pub(crate) fn merge_some(&self, under_load: bool) -> Result<bool> {
        let _one_at_a_time = self.merging.lock();
        let before: Vec<NumberedRun> = self.runs.lock().in_force.clone();
        if self.remove_damaged_runs() {
            return Ok(false);
        }
        let Some(chosen) = choose_inputs(&before, under_load) else {
            return Ok(false);
        };
        let inputs: Vec<Arc<Run>> = before[chosen.clone()].iter().map(|numbered| Arc::clone(&numbered.run)).collect();
        let numbers: Vec<u64> = before[chosen].iter().map(|numbered| numbered.number).collect();
        let meta = RunMeta::union(inputs.iter().map(|run| run.meta()));
        let (clears, dropped) = self.clears_and_drops(meta.end);
        let rules = MergeRules { clears: &clears, dropped: &dropped, stop: self.background.stop_merge() };
        let written = match self.write_run(meta, |writer| merge(&inputs, writer, &rules)) {
            Ok(Some(written)) => written,
            Ok(None) => return Ok(false),
            Err(Error::Damaged { .. }) if self.remove_damaged_runs() => return Ok(false),
            Err(error) => return Err(error),
        };
        self.install(
            |runs| {
                // Runs that were put between the inputs meanwhile stay, before the result.
                let newest = numbers.last().copied();
                let at = runs.iter().position(|numbered| Some(numbered.number) == newest);
                let at = at.unwrap_or_else(|| unreachable!("only one merge at a time takes runs away"));
                runs[at] = written.clone();
                runs.retain(|numbered| !numbers.contains(&numbered.number));
            },
            |_| {},
            None,
        )?;
        for numbered in inputs.iter() {
            // A file that stays is removed when the chain is opened next.
            let _ = self.options.storage.remove(numbered.path());
        }
        Ok(true)
    }

    /// Removes the files of runs in which damage was met, so that the next opening makes them again from the log; tells
    /// whether there are any. Until then what is whole of them is read on, and nothing is merged.
    pub(crate) fn remove_damaged_runs(&self) -> bool {
        let runs = self.runs.lock();
        let mut any = false;
        for damaged in runs.in_force.iter().filter(|numbered| numbered.run.is_damaged()) {
            any = true;
            // It may be gone already; if it can't be removed, the damage will be met again.
            let _ = self.options.storage.remove(damaged.run.path());
        }
        any
    }

    /// What a merge up to the height `end` needs to know.
    fn clears_and_drops(&self, end: Height) -> ClearsAndDrops {
        let catalog = self.catalog.read();
        let (mut clears, mut drops) = (BTreeMap::new(), BTreeSet::new());
        for grouping in catalog.groupings() {
            if !grouping.clears.is_empty() {
                clears.insert(grouping.id, grouping.clears.clone());
            }
            // An index that is dropped later must stay: an older copy of the log may be put back.
            let dropped = grouping.indexes.iter().filter(|index| index.dropped.is_some_and(|dropped| dropped <= end));
            drops.extend(dropped.map(|index| (grouping.id, index.id)));
        }
        (clears, drops)
    }

    /// Writes a run file; `None` when `fill` gave it up. Then, and after an error, nothing of it is left.
    pub(crate) fn write_run(
        &self,
        meta: RunMeta,
        fill: impl FnOnce(RunWriter) -> Result<Option<RunSummary>>,
    ) -> Result<Option<NumberedRun>> {
        let number = {
            let mut runs = self.runs.lock();
            self.have_index_directory(&mut runs)?;
            runs.next += 1;
            runs.next - 1
        };
        let path = self.index_directory.join(file_name(number));
        let storage = &*self.options.storage;
        let written = (|| {
            let filled = fill(RunWriter::create(storage, &path, meta)?)?;
            // The file's name must be there before a manifest has it.
            let directory = self.index_directory.as_path();
            storage.sync_dir(directory).map_err(|source| Error::io(directory, source))?;
            filled.map(|_| self.open_run(&path)).transpose()
        })();
        if !matches!(written, Ok(Some(_))) {
            // What is left of it is removed when the chain is opened next.
            let _ = storage.remove(&path);
        }
        Ok(written?.map(|run| NumberedRun { number, run }))
    }

    /// Puts other runs in force: first in the manifest, then for readers. `filled`: an index that has all its entries with
    /// them.
    pub(crate) fn install(
        &self,
        change_runs: impl FnOnce(&mut Vec<NumberedRun>),
        change_view: impl Fn(&mut View),
        filled: Option<IndexId>,
    ) -> Result<()> {
        let mut runs = self.runs.lock();
        self.have_index_directory(&mut runs)?;
        let mut in_force = runs.in_force.clone();
        change_runs(&mut in_force);
        if !runs.manifest_held_back {
            let catalog = self.catalog.read().encode(filled);
            // What the manifest says must not be ahead of the log that survives.
            if !planted::is(planted::Fault::LogNotSyncedBeforeManifest) {
                self.log.checkpoint()?;
            }
            let header = self.log.header();
            let entries =
                in_force.iter().map(|numbered| RunEntry { number: numbered.number, summary: numbered.run.summary() });
            let manifest = Manifest {
                log_id: header.log_id,
                generation: header.generation,
                runs: entries.collect(),
                next_run: runs.next,
                catalog,
            };
            manifest.store(&*self.options.storage, &self.index_directory)?;
        }
        runs.in_force = in_force;
        let newest_first: Vec<Arc<Run>> =
            runs.in_force.iter().rev().map(|numbered| Arc::clone(&numbered.run)).collect();
        self.change_view(|view| {
            view.runs.clone_from(&newest_first);
            change_view(view);
        });
        match filled {
            Some(index) => self.catalog.write().index_filled(index),
            None => Ok(()),
        }
    }

    pub(super) fn have_index_directory(&self, runs: &mut Runs) -> Result<()> {
        self.log.check_place()?;
        if !runs.directory_made {
            make_directory(&*self.options.storage, &self.index_directory)?;
            runs.directory_made = true;
        }
        Ok(())
    }

    /// Replaces the view by a changed copy of it.
    pub(crate) fn change_view(&self, change: impl Fn(&mut View)) {
        self.view.rcu(|view| {
            let mut changed = View::clone(view);
            change(&mut changed);
            changed
        });
        let view = self.view();
        self.background.view_changed(view.frozen.len(), view.runs.len());
    }

    fn open_run(&self, path: &Path) -> Result<Arc<Run>> {
        let file = self.options.storage.open(path, OpenMode::Read).map_err(|source| Error::io(path, source))?;
        Run::open(file, path)
    }
}
