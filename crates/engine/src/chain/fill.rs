//! Giving a new index the entries of the units that are there.
//!
//! ```text
//!   h      commit "define index": every later commit maintains the index
//!   …      units as of h ──► keys ──► sorted portions ──► one run each, holding only this index
//!   then   the runs are put in force where they belong: before all that knows heights above h
//! ```
//!
//! Writing goes on meanwhile; an entry that ends before the fill is done leaves a kill behind, which finds it later. Only
//! a unique index makes writers wait, since its key values must not be given away twice while nobody knows them all.

use std::sync::Arc;

use super::Shared;
use super::catalog::{GroupingEntry, IndexEntry};
use super::commit::{Step, Writer};
use super::maintain::NumberedRun;
use super::merged::{Merged, Start};
use super::range::Range;
use super::unit_scan::UnitScan;
use super::view::View;
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::index::{IndexDefinition, KeyExtractor, KeySet};
use crate::log::{Log, LogPoint};
use crate::planted;
use crate::run::{RunMeta, SectionId};
use crate::types::{Birth, Height, Position};
use crate::unit::WriteOptions;

/// How far a new index has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexProgress {
    /// Units whose keys were taken.
    pub units: u64,
    /// Entries written.
    pub entries: u64,
}

/// Units between two reports of progress.
const REPORT_EVERY: u64 = 4096;

/// Entries that are sorted in memory and written together.
#[derive(Default)]
struct Portion {
    keys: Vec<u8>,
    entries: Vec<Entry>,
}

struct Entry {
    key: (usize, usize),
    unit_key: (usize, usize),
    birth: Birth,
    position: Position,
}

impl Portion {
    fn add(&mut self, key: &[u8], unit_key: &[u8], birth: Birth, position: Position) {
        let mut place = |bytes: &[u8]| {
            let start = self.keys.len();
            self.keys.extend_from_slice(bytes);
            (start, self.keys.len())
        };
        let (key, unit_key) = (place(key), place(unit_key));
        self.entries.push(Entry { key, unit_key, birth, position });
    }

    fn bytes(&self) -> usize {
        self.keys.len() + self.entries.len() * size_of::<Entry>()
    }

    fn bytes_of(&self, (start, end): (usize, usize)) -> &[u8] {
        &self.keys[start..end]
    }

    fn sort(&mut self) {
        let Portion { keys, entries } = self;
        let bytes_of = |(start, end): (usize, usize)| &keys[start..end];
        entries.sort_unstable_by(|a, b| (bytes_of(a.key), a.birth).cmp(&(bytes_of(b.key), b.birth)));
    }
}

impl Shared {
    /// Defines an index and fills it. Returns the height of its definition.
    pub(crate) fn create_index(
        self: &Arc<Self>,
        grouping: &str,
        name: &str,
        definition: &IndexDefinition,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<Height> {
        definition.validate()?;
        let _one_at_a_time = self.filling.lock();
        if definition.unique {
            let mut writer = self.writer.lock();
            let since = self.define_index(&mut writer, grouping, name, definition)?;
            let filled = self.fill_index(grouping, name, progress);
            if let Err(error) = filled {
                self.commit_locked(&mut writer, &[Step::DropIndex { grouping, name }], WriteOptions::default())?;
                return Err(error);
            }
            return Ok(since);
        }
        let since = {
            let mut writer = self.writer.lock();
            self.define_index(&mut writer, grouping, name, definition)?
        };
        if let Err(error) = self.fill_index(grouping, name, progress) {
            self.commit(&[Step::DropIndex { grouping, name }], None, WriteOptions::default())?;
            return Err(error);
        }
        Ok(since)
    }

    fn define_index(
        self: &Arc<Self>,
        writer: &mut Writer,
        grouping: &str,
        name: &str,
        definition: &IndexDefinition,
    ) -> Result<Height> {
        let step = Step::DefineIndex { grouping, name, definition };
        let committed = self.commit_locked(writer, &[step], WriteOptions::default())?;
        Ok(committed.height)
    }

    /// Fills the indexes whose filling was interrupted. A unique one over duplicates, which nobody was told of yet, is
    /// dropped.
    pub(crate) fn fill_unfilled(self: &Arc<Self>) -> Result<()> {
        let groupings = self.catalog.read().groupings().to_vec();
        for grouping in groupings {
            for index in grouping.indexes.iter().filter(|index| index.dropped.is_none() && !index.filled) {
                match self.fill_index(&grouping.name, &index.name, &mut |_| {}) {
                    // Its creation was interrupted before it could be refused.
                    Err(Error::DuplicateKey { .. }) => {
                        let step = Step::DropIndex { grouping: &grouping.name, name: &index.name };
                        self.commit(&[step], None, WriteOptions::default())?;
                    }
                    outcome => outcome?,
                }
            }
        }
        Ok(())
    }

    fn fill_index(self: &Arc<Self>, grouping: &str, name: &str, progress: &mut dyn FnMut(IndexProgress)) -> Result<()> {
        let entry = self.catalog.read().grouping(grouping);
        let entry = entry.ok_or_else(|| Error::GroupingMissing(grouping.to_owned()))?;
        let index = entry.index(name).cloned();
        let index =
            index.ok_or_else(|| Error::IndexMissing { grouping: grouping.to_owned(), index: name.to_owned() })?;
        if index.filled {
            return Ok(());
        }
        let written = self.write_entries(&entry, &index, progress)?;
        if index.definition.unique
            && let Err(error) = self.check_unique(&entry, &index, &written)
        {
            for numbered in &written {
                // What stays is removed when the chain is opened next.
                let _ = self.options.storage.remove(numbered.run.path());
            }
            return Err(error);
        }
        self.install(
            |runs| {
                let known_later = |numbered: &NumberedRun| numbered.run.meta().end > index.since;
                let at = runs.iter().position(known_later).unwrap_or(runs.len());
                runs.splice(at..at, written.iter().cloned());
            },
            |_| {},
            Some(index.id),
        )
    }

    fn write_entries(
        self: &Arc<Self>,
        grouping: &Arc<GroupingEntry>,
        index: &IndexEntry,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<Vec<NumberedRun>> {
        let extractor = KeyExtractor::new(&[(index.id, index.definition.clone())])?;
        let mut at = index.since;
        if planted::is(planted::Fault::FillMissesRewrites) {
            at = self.view().active.start().min(index.since);
        }
        let mut units = UnitScan::new(self, Arc::clone(grouping), at, Range::all())?;
        let mut keys = KeySet::new();
        let mut portion = Portion::default();
        let mut written = Vec::new();
        let mut done = IndexProgress { units: 0, entries: 0 };
        while let Some(version) = units.next()? {
            let body = self.log.read_body(version.position)?;
            keys.clear();
            extractor.extract(version.kind, body.content(), &mut keys)?;
            for (_, key) in keys.iter() {
                portion.add(key, units.key(), version.birth, version.position);
                done.entries += 1;
            }
            done.units += 1;
            if portion.bytes() >= self.options.delta_bytes() {
                written.push(self.write_portion(grouping, index, &mut portion)?);
            }
            if done.units.is_multiple_of(REPORT_EVERY) {
                progress(done);
            }
        }
        if !portion.entries.is_empty() {
            written.push(self.write_portion(grouping, index, &mut portion)?);
        }
        progress(done);
        Ok(written)
    }

    fn write_portion(
        &self,
        grouping: &GroupingEntry,
        index: &IndexEntry,
        portion: &mut Portion,
    ) -> Result<NumberedRun> {
        let mut portion = std::mem::take(portion);
        portion.sort();
        let point = self.point_of_definition(index.since)?;
        let meta = RunMeta {
            log_id: self.log.header().log_id,
            generation: self.log.header().generation,
            // An empty stretch: the run holds no height's events, only an index as it was.
            start: index.since.next(),
            end: index.since,
            end_offset: point.offset,
            end_chain: point.chain,
            end_time: point.time,
        };
        let written = self.write_run(meta, |mut writer| {
            writer.begin_section(SectionId::live(grouping.id, index.id))?;
            for entry in &portion.entries {
                let (key, unit_key) = (portion.bytes_of(entry.key), portion.bytes_of(entry.unit_key));
                writer.push_live(key, entry.birth, unit_key, entry.birth, entry.position)?;
            }
            writer.finish().map(Some)
        })?;
        let Some(written) = written else {
            unreachable!("only a merge is given up");
        };
        Ok(written)
    }

    /// Where the log goes on after the commit at `height`, which defined an index.
    fn point_of_definition(&self, height: Height) -> Result<LogPoint> {
        if let Some((_, point)) = self.definitions.lock().iter().find(|(defined, _)| *defined == height) {
            return Ok(*point);
        }
        let mut frames = self.log.frames(self.log.header().base())?;
        while let Some(frame) = frames.next()? {
            if frame.is_commit() && frame.height() == height {
                return Ok(frame.end());
            }
        }
        Err(Error::HeightUnknown { asked: height, newest: self.visible() })
    }

    /// Refuses a unique index if two of the entries that it would have are of one key value.
    fn check_unique(&self, grouping: &GroupingEntry, index: &IndexEntry, written: &[NumberedRun]) -> Result<()> {
        let runs = written.iter().map(|numbered| Arc::clone(&numbered.run)).collect();
        let active = Arc::new(Delta::new(index.since.next(), 0, false));
        let alone = View { active, frozen: Vec::new(), runs };
        let mut entries = Merged::index(&alone, grouping.id, index.id, index.since, Height::ZERO, false);
        entries.start(Start::First)?;
        let mut last: Option<Vec<u8>> = None;
        while let Some(entry) = entries.top() {
            if last.as_deref() == Some(entry.key()) {
                return Err(Error::DuplicateKey { index: index.name.clone() });
            }
            let room = last.get_or_insert_default();
            room.clear();
            room.extend_from_slice(entry.key());
            entries.advance()?;
        }
        Ok(())
    }
}
