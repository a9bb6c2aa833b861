//! The log, frame by frame: is it whole, and what does it say?
//!
//! Whatever the derived part should hold is derived here once more, by the code that commits and replays use
//! ([`Changes`]), and given to the sorters.

use std::collections::BTreeSet;
use std::path::Path;

use super::derived::{Derived, Points};
use super::record::{self, Event};
use super::report::{Part, Report, Summary};
use super::sorter::{Scratch, Sorter};
use crate::chain::catalog::{Catalog, GroupingEntry, IndexEntry, decode_definition};
use crate::chain::{Changes, Old};
use crate::error::Result;
use crate::index::KeySet;
use crate::log::{Examined, Fault as LogFault, Frame, Gap, LocalLog, Log, LogPoint, NewVersion, Operation};
use crate::types::{Birth, GroupingId, Height, IndexId};

/// Bytes of log between two reports of progress.
const REPORT_EVERY: u64 = 8 << 20;

/// What the log says, in sorted records, and how far that can be believed.
pub(super) struct Truth<'a> {
    pub(super) catalog: Catalog,
    pub(super) versions: Sorter<'a>,
    pub(super) events: Sorter<'a>,
    /// Groupings of which something is lost: what their indexes should hold is not known.
    pub(super) unsure: BTreeSet<GroupingId>,
    /// Commits are lost: nothing can be compared.
    pub(super) broken: bool,
    /// Whether the runs belong to this log.
    pub(super) runs_fit: bool,
    pub(super) end: LogPoint,
}

struct Walk<'a, 'w, 'r> {
    log: &'a LocalLog,
    path: &'a Path,
    report: &'w mut Report<'r>,
    summary: &'w mut Summary,
    truth: Truth<'a>,
    new: KeySet,
    old: KeySet,
    births: Vec<(IndexId, Birth)>,
    changes: Changes,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// Reads the log up to the end that it has now.
pub(super) fn walk<'a>(
    log: &'a LocalLog,
    path: &'a Path,
    derived: Option<&Derived>,
    scratch: &'a Scratch,
    memory: usize,
    report: &mut Report<'_>,
    summary: &mut Summary,
) -> Result<Truth<'a>> {
    let truth = Truth {
        catalog: Catalog::default(),
        versions: Sorter::new(scratch, memory / 4),
        events: Sorter::new(scratch, memory / 2),
        unsure: BTreeSet::new(),
        broken: false,
        runs_fit: true,
        end: log.header().base(),
    };
    let (new, old) = (KeySet::new(), KeySet::new());
    let (births, changes, key, value) = (Vec::new(), Changes::default(), Vec::new(), Vec::new());
    let mut walk = Walk { log, path, report, summary, truth, new, old, births, changes, key, value };
    walk.run(derived)?;
    Ok(walk.truth)
}

impl Walk<'_, '_, '_> {
    fn run(&mut self, derived: Option<&Derived>) -> Result<()> {
        // The slot comes first: the writer may go on meanwhile, and what a slot calls synced is in the file by then.
        let slot = self.log.synced_by_slot()?;
        let mut examiner = self.log.examine(self.log.file_bytes()?)?;
        let total = Some(examiner.limit());
        let mut points = Points::new(derived, slot, self.path);
        let mut reported = 0;
        loop {
            let done = examiner.at().offset;
            if done - reported >= REPORT_EVERY {
                reported = done;
                self.report.progress("reading the log", done, total);
            }
            match examiner.step() {
                Examined::Frame { frame, unfit } => {
                    if let Some(unfit) = unfit {
                        self.unfit(&frame, &unfit);
                    }
                    self.truth.end = frame.end();
                    points.pass(&frame, self.truth.broken, self.report);
                    if frame.is_commit() {
                        self.commit(&frame)?;
                    }
                }
                Examined::Gap(gap) => {
                    let synced = slot.map_or(0, |slot| slot.offset);
                    if !self.gap(&gap, synced)? {
                        break;
                    }
                }
                Examined::End => break,
            }
            for (offset, what) in examiner.take_unreadable() {
                self.log_fault(offset, None, format!("the device does not give these bytes: {what}"));
            }
        }
        self.summary.log_bytes = self.truth.end.offset;
        self.summary.height = self.truth.end.height;
        if let Some(slot) = slot.filter(|slot| slot.offset > self.truth.end.offset && !self.truth.broken) {
            self.truth.broken = true;
            let what =
                format!("the log ends here, and was synced up to height {} and offset {}", slot.height, slot.offset);
            self.log_fault(self.truth.end.offset, Some(self.truth.end.height.next()), what);
        }
        points.finish(self.truth.end, self.truth.broken, self.report);
        self.truth.runs_fit = points.fit;
        Ok(())
    }

    fn log_fault(&mut self, offset: u64, height: Option<Height>, what: impl Into<String>) {
        self.report.fault(Part::Log, self.path, Some(offset), height, what);
    }

    fn unfit(&mut self, frame: &Frame<'_>, unfit: &LogFault) {
        // Times are for people; the rest says that something is missing or other.
        self.truth.broken |= !matches!(unfit, LogFault::Time { .. });
        self.log_fault(frame.offset(), Some(frame.height()), unfit.to_string());
    }

    /// Tells of bytes that are no frame; `false` when nothing follows.
    fn gap(&mut self, gap: &Gap, synced: u64) -> Result<bool> {
        let next = gap.from.height.next();
        let bytes = gap.to - gap.from.offset;
        if let Some(last) = gap.last_lost {
            self.truth.broken = true;
            let lost = match last.0.checked_sub(next.0) {
                None => "no commit was in them".to_owned(),
                Some(0) => format!("the commit at height {next} was in them"),
                Some(_) => format!("the commits at heights {next} to {last} were in them"),
            };
            let what = format!("{bytes} bytes, up to offset {}, are no frames ({}); {lost}", gap.to, gap.what);
            self.log_fault(gap.from.offset, Some(next), what);
            return Ok(true);
        }
        if gap.from.offset < synced {
            self.truth.broken = true;
            let what = format!("{bytes} bytes up to the end of the file are no frames ({})", gap.what);
            self.log_fault(gap.from.offset, Some(next), what);
        } else if self.log.has_writer()? {
            let note = format!("the last {bytes} bytes of the log are being written, and were left out");
            self.summary.notes.push(note);
        } else {
            self.summary.notes.push(format!(
                "the log ends with an unfinished commit, {bytes} bytes at offset {} ({}): it was not acknowledged as synced, \
                 and the next writer cuts it off",
                gap.from.offset, gap.what
            ));
        }
        Ok(false)
    }

    fn commit(&mut self, frame: &Frame<'_>) -> Result<()> {
        let mut whole = true;
        for operation in frame.checked_operations() {
            match operation {
                Ok(operation) => self.operation(frame, &operation)?,
                Err(fault) => {
                    whole = false;
                    self.bad_operation(frame, &fault);
                }
            }
        }
        self.summary.commits += u64::from(whole);
        Ok(())
    }

    fn bad_operation(&mut self, frame: &Frame<'_>, fault: &LogFault) {
        let LogFault::Body { place, .. } = fault else {
            self.truth.broken = true;
            return self.log_fault(frame.offset(), Some(frame.height()), fault.to_string());
        };
        let (grouping, offset) = frame.place_of_body(*place).unwrap_or((GroupingId(0), frame.offset()));
        self.truth.unsure.insert(grouping);
        let name =
            self.truth.catalog.by_id(grouping).map(|grouping| format!("; it is of grouping {:?}", grouping.name));
        let what = format!("{fault}{}", name.unwrap_or_default());
        self.log_fault(offset, Some(frame.height()), what);
    }

    fn operation(&mut self, frame: &Frame<'_>, operation: &Operation<'_>) -> Result<()> {
        let height = frame.height();
        let catalog = &mut self.truth.catalog;
        let changed = match operation {
            Operation::Version(version) => return self.version(frame, version),
            Operation::DefineGrouping { id, name } => catalog.define_grouping(*id, name, height),
            Operation::DefineIndex { grouping, index, definition } => {
                decode_definition(definition).and_then(|(name, definition)| {
                    let entry =
                        IndexEntry { id: *index, name, definition, since: height, dropped: None, filled: false };
                    catalog.define_index(*grouping, entry)
                })
            }
            Operation::DropIndex { grouping, index } => catalog.drop_index(*grouping, *index, height),
            Operation::ClearGrouping { grouping } => catalog.clear(*grouping, height),
        };
        if let Err(error) = changed {
            self.truth.broken = true;
            self.log_fault(frame.offset(), Some(height), error.to_string());
        }
        Ok(())
    }

    fn version(&mut self, frame: &Frame<'_>, version: &NewVersion<'_>) -> Result<()> {
        self.summary.versions += 1;
        let height = frame.height();
        let Some(grouping) = self.truth.catalog.by_id(version.grouping) else {
            if !self.truth.broken {
                let what = format!("grouping {} was never defined", version.grouping.0);
                self.log_fault(frame.offset(), Some(height), what);
            }
            self.truth.broken = true;
            return Ok(());
        };
        self.new.clear();
        if let Err(error) = grouping.extractor.extract(version.kind, version.content, &mut self.new) {
            self.truth.unsure.insert(grouping.id);
            self.log_fault(version.position.offset(), Some(height), error.to_string());
        }
        let birth = Birth::new(height, version.place);
        let maintained = |id: IndexId| grouping.index_by_id(id).is_some_and(|index| index.is_maintained_at(height));
        self.births.clear();
        match &version.previous {
            Some(previous) if grouping.has_indexes() => {
                self.births.extend(previous.births);
                self.old_keys(frame, version, &grouping);
                let birth_before = Birth::new(previous.height, previous.place);
                let old = Old { keys: &self.old, birth: birth_before, births: &self.births };
                self.changes.derive(&self.new, birth, Some(old), maintained);
            }
            _ => self.changes.derive(&self.new, birth, None, maintained),
        }
        self.emit(version, birth)
    }

    /// The keys of the version that is replaced.
    fn old_keys(&mut self, frame: &Frame<'_>, version: &NewVersion<'_>, grouping: &GroupingEntry) {
        self.old.clear();
        let Some(previous) = &version.previous else {
            return;
        };
        let read = self.log.read_body(previous.position).and_then(|body| {
            let same_unit = body.key() == version.key;
            grouping.extractor.extract(body.kind(), body.content(), &mut self.old)?;
            Ok(same_unit)
        });
        match read {
            Ok(true) => {}
            Ok(false) => {
                self.truth.unsure.insert(grouping.id);
                let what = format!(
                    "operation {}: the version before, at offset {}, is of another unit",
                    version.place,
                    previous.position.offset()
                );
                self.log_fault(version.position.offset(), Some(frame.height()), what);
            }
            // The damage itself was told when that body was met.
            Err(_) => {
                self.truth.unsure.insert(grouping.id);
            }
        }
    }

    fn emit(&mut self, version: &NewVersion<'_>, birth: Birth) -> Result<()> {
        let grouping = version.grouping;
        let previous = version.previous.as_ref().map(|previous| record::Previous {
            birth: Birth::new(previous.height, previous.place),
            position: previous.position,
            births: previous.births.collect(),
        });
        let births = self.changes.births.clone();
        let fact = record::Version { kind: version.kind, position: version.position, births, previous };
        record::version_key(&mut self.key, grouping, version.key, birth);
        fact.encode(&mut self.value);
        self.truth.versions.push(&self.key, &self.value)?;
        for (index, at) in &self.changes.lives {
            record::event_key(&mut self.key, grouping, *index, self.new.get(*at).1, birth, true);
            Event::Live { position: version.position, unit: version.key }.encode(&mut self.value);
            self.truth.events.push(&self.key, &self.value)?;
        }
        for (index, at, born) in &self.changes.kills {
            record::event_key(&mut self.key, grouping, *index, self.old.get(*at).1, *born, false);
            Event::Kill { end: birth.height }.encode(&mut self.value);
            self.truth.events.push(&self.key, &self.value)?;
        }
        Ok(())
    }
}
