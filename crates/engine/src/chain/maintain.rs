//! The derived part on disk: writing runs, merging them, and the manifest that names those in force.
//!
//! A run counts from the moment the manifest with its name is in place. Before that the log is synced up to the run's
//! end: a manifest never knows more than the log that survives power loss.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering as Atomic;

use super::Shared;
use super::flush::write_delta;
use super::view::View;
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::log::LogPoint;
use crate::run::{
    Manifest, MergeRules, Run, RunEntry, RunMeta, RunSize, RunWriter, choose_merge, file_name, merge,
};
use crate::storage::OpenMode;
use crate::types::Height;

/// The runs in force, and the number of the next one. Whoever holds it may change the manifest.
pub(crate) struct Runs {
    /// Oldest first.
    pub(crate) in_force: Vec<NumberedRun>,
    pub(crate) next: u64,
    /// Whether the directory exists.
    pub(crate) directory_made: bool,
}

/// A run and the number in its file name.
#[derive(Clone)]
pub(crate) struct NumberedRun {
    pub(crate) number: u64,
    pub(crate) run: Arc<Run>,
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
        active.set_end_point(end);
        let fresh = Arc::new(Delta::new(end.height.next(), end.offset, self.counts_all.load(Atomic::Relaxed)));
        self.change_view(|view| {
            view.frozen.insert(0, Arc::clone(&view.active));
            view.active = Arc::clone(&fresh);
        });
    }

    /// Writes the oldest frozen delta as a run; `false` when there is none.
    pub(crate) fn flush_oldest(&self) -> Result<bool> {
        let Some(delta) = self.view().frozen.last().cloned() else {
            return Ok(false);
        };
        let end = delta.end_point();
        let meta = RunMeta {
            log_id: self.log.header().log_id,
            generation: self.log.header().generation,
            start: delta.start(),
            end: delta.end(),
            end_offset: end.offset,
            end_chain: end.chain,
        };
        let written = self.write_run(meta, |writer| {
            write_delta(&delta, writer, |id| self.catalog.read().by_id(id))
        })?;
        self.install(|runs| runs.push(written.clone()), |view| {
            let written_off = view.frozen.pop();
            assert!(written_off.is_some_and(|frozen| Arc::ptr_eq(&frozen, &delta)), "the oldest delta was written");
        })?;
        Ok(true)
    }

    /// Merges the runs whose merge is most worth it; `false` when none is.
    pub(crate) fn merge_some(&self, under_load: bool) -> Result<bool> {
        let before: Vec<NumberedRun> = self.runs.lock().in_force.clone();
        let sizes: Vec<RunSize> = before
            .iter()
            .map(|numbered| RunSize {
                bytes: numbered.run.bytes(),
                kills: numbered.run.counts().kills,
                entries: numbered.run.counts().total(),
            })
            .collect();
        let Some(chosen) = choose_merge(&sizes, under_load) else {
            return Ok(false);
        };
        let inputs: Vec<Arc<Run>> = before[chosen.clone()].iter().map(|numbered| Arc::clone(&numbered.run)).collect();
        let numbers: Vec<u64> = before[chosen].iter().map(|numbered| numbered.number).collect();
        let meta = RunMeta::union(inputs.iter().map(|run| run.meta()));
        let rules = self.merge_rules();
        let stop = self.background.stop_merge();
        let mut given_up = false;
        let written = self.write_run(meta, |writer| {
            given_up = !merge(&inputs, writer, &rules, stop)?;
            if given_up { Err(Error::Invalid("the merge was given up".to_owned())) } else { Ok(()) }
        });
        if given_up {
            return Ok(false);
        }
        let written = written?;
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
        )?;
        for numbered in inputs.iter() {
            // A file that stays is removed when the chain is opened next.
            let _ = self.options.storage.remove(numbered.path());
        }
        Ok(true)
    }

    fn merge_rules(&self) -> MergeRules {
        let catalog = self.catalog.read();
        let mut rules = MergeRules::default();
        for grouping in catalog.groupings() {
            if !grouping.clears.is_empty() {
                rules.clears.insert(grouping.id, grouping.clears.clone());
            }
            let dropped = grouping.indexes.iter().filter(|index| index.dropped.is_some());
            rules.dropped.extend(dropped.map(|index| index.id));
        }
        rules
    }

    /// Writes a run file. After an error nothing of it is left.
    pub(crate) fn write_run(
        &self,
        meta: RunMeta,
        fill: impl FnOnce(&mut RunWriter) -> Result<()>,
    ) -> Result<NumberedRun> {
        let number = {
            let mut runs = self.runs.lock();
            if !runs.directory_made {
                self.make_index_directory()?;
                runs.directory_made = true;
            }
            runs.next += 1;
            runs.next - 1
        };
        let path = self.run_path(number);
        let storage = &*self.options.storage;
        let written = (|| {
            let mut writer = RunWriter::create(storage, &path, meta)?;
            fill(&mut writer)?;
            writer.finish()?;
            open_run(self, &path)
        })();
        match written {
            Ok(run) => Ok(NumberedRun { number, run }),
            Err(error) => {
                // What is left of it is removed when the chain is opened next.
                let _ = storage.remove(&path);
                Err(error)
            }
        }
    }

    /// Puts other runs in force: first in the manifest, then for readers.
    pub(crate) fn install(
        &self,
        change_runs: impl FnOnce(&mut Vec<NumberedRun>),
        change_view: impl Fn(&mut View),
    ) -> Result<()> {
        let mut runs = self.runs.lock();
        let mut in_force = runs.in_force.clone();
        change_runs(&mut in_force);
        let catalog = self.catalog.read().encode();
        // What the manifest says must not be ahead of the log that survives.
        let synced = self.log.sync()?;
        self.gate.advance(synced);
        let manifest = Manifest {
            log_id: self.log.header().log_id,
            generation: self.log.header().generation,
            runs: in_force
                .iter()
                .map(|numbered| RunEntry { number: numbered.number, meta: *numbered.run.meta() })
                .collect(),
            next_run: runs.next,
            catalog,
        };
        manifest.store(&*self.options.storage, &self.index_directory)?;
        runs.in_force = in_force;
        let newest_first: Vec<Arc<Run>> = runs.in_force.iter().rev().map(|numbered| Arc::clone(&numbered.run)).collect();
        self.change_view(|view| {
            view.runs.clone_from(&newest_first);
            change_view(view);
        });
        Ok(())
    }

    fn make_index_directory(&self) -> Result<()> {
        let storage = &*self.options.storage;
        let directory = &self.index_directory;
        storage.create_dir(directory).map_err(|source| Error::io(directory.as_path(), source))?;
        if let Some(parent) = directory.parent() {
            storage.sync_dir(parent).map_err(|source| Error::io(parent, source))?;
        }
        Ok(())
    }

    pub(crate) fn run_path(&self, number: u64) -> PathBuf {
        self.index_directory.join(file_name(number))
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

    /// The newest height that the runs in force cover.
    pub(crate) fn covered(&self) -> Height {
        let runs = self.runs.lock();
        runs.in_force.iter().map(|numbered| numbered.run.meta().end).max().unwrap_or_default()
    }
}

/// Opens a run file for reading.
pub(crate) fn open_run(shared: &Shared, path: &std::path::Path) -> Result<Arc<Run>> {
    let file = shared.options.storage.open(path, OpenMode::Read).map_err(|source| Error::io(path, source))?;
    Run::open(file, path)
}
