//! Index entries: does each section of each run hold what the log's events add up to, and nothing else?
//!
//! Where an entry must be follows from its birth, its end and the runs' stretches:
//!
//! ```text
//!   entry born at 7, ended at 12           run [1..10]     run [11..20]
//!   while the runs are two                 live            kill
//!   when they are merged                   past, ended at 12
//! ```
//!
//! | the entry was | is in |
//! |---|---|
//! | born by a commit | the run that has its birth |
//! | there when its index was made | a run that ends at the definition or later: live or past as of that run's end |
//! | ended by a commit | past in the same run, or a kill in the run that has the end |
//! | ended by a clear | past in the same run, or nothing: reads know of the clear |
//! | of an index that was dropped | only runs that end before |

use std::collections::BTreeSet;
use std::sync::Arc;

use super::derived::{Derived, Looked};
use super::record::{self, Event};
use super::report::{Part, Report, Summary, shown};
use super::sorter::{Sorted, Sorter};
use crate::chain::catalog::{Catalog, GroupingEntry, IndexEntry};
use crate::error::Result;
use crate::run::{Cursor, SectionId, SectionKind, key_hash};
use crate::types::{Birth, GroupingId, Height, Position};

/// Entries between two reports of progress.
const REPORT_EVERY: u64 = 1 << 16;

pub(super) struct Entries<'a, 'r> {
    pub(super) catalog: &'a Catalog,
    pub(super) unsure: &'a BTreeSet<GroupingId>,
    pub(super) derived: &'a Derived,
    pub(super) report: &'a mut Report<'r>,
    pub(super) summary: &'a mut Summary,
}

/// What the log says of an entry.
struct Entry {
    key: Vec<u8>,
    birth: Birth,
    /// The unit; `None` when the log has no birth of it.
    unit: Option<Vec<u8>>,
    /// Where the version is that it was born with.
    position: Position,
    /// The commit that ended it by itself.
    killed: Option<Height>,
}

/// An index, with what its grouping tells.
#[derive(Clone, Copy)]
struct Place<'a> {
    grouping: &'a GroupingEntry,
    index: &'a IndexEntry,
    filled: bool,
}

/// An entry as a run has it.
struct Stored<'a> {
    looked: &'a Looked,
    kind: SectionKind,
    unit: Vec<u8>,
    version: Birth,
    position: Position,
    end: Height,
    offset: u64,
}

impl<'a> Entries<'a, '_> {
    /// Compares all sections of all indexes.
    pub(super) fn compare(&mut self, events: Sorter<'_>) -> Result<()> {
        let mut truth = events.sorted()?;
        let filled: BTreeSet<_> = self.derived.catalog.iter().flat_map(Catalog::filled).collect();
        for grouping in self.catalog.groupings() {
            for index in &grouping.indexes {
                let place = Place { grouping, index, filled: filled.contains(&(index.id, index.since)) };
                self.index(place, &mut truth)?;
            }
        }
        self.unknown_sections()
    }

    /// Sections of groupings and indexes that never were.
    fn unknown_sections(&mut self) -> Result<()> {
        for looked in &self.derived.runs {
            for section in looked.run.sections() {
                let id = section.id();
                let known = self.catalog.by_id(id.grouping).is_some_and(|grouping| {
                    id.kind == SectionKind::Versions || grouping.index_by_id(id.index).is_some()
                });
                if !known {
                    let what =
                        format!("a section of grouping {} and index {}, which never were", id.grouping.0, id.index.0);
                    self.report.fault(Part::Run, looked.run.path(), None, None, what);
                }
            }
        }
        Ok(())
    }

    fn index(&mut self, place: Place<'_>, truth: &mut Sorted) -> Result<()> {
        let sure = !self.unsure.contains(&place.grouping.id);
        let mut cursors = if sure { self.cursors(place)? } else { Vec::new() };
        let mut key = Vec::new();
        loop {
            let logged = next_entry(truth, place, &mut key)?;
            if !sure {
                match logged {
                    Some(_) => continue,
                    None => return Ok(()),
                }
            }
            let until = logged.as_ref().map(|entry| (entry.key.as_slice(), entry.birth));
            loop {
                let least = cursors.iter().map(|(_, cursor)| (cursor.key(), cursor.birth())).min();
                let Some((key, birth)) = least.filter(|least| until.is_none_or(|until| *least < until)) else {
                    break;
                };
                let extra = Entry { key: key.to_vec(), birth, unit: None, position: Position::default(), killed: None };
                self.take_stored(&mut cursors, &extra, |entries, stored| entries.extra(place, &extra, &stored))?;
            }
            let Some(entry) = logged else {
                return Ok(());
            };
            let mut stored = Vec::new();
            self.take_stored(&mut cursors, &entry, |_, found| {
                stored.push(found);
                Ok(())
            })?;
            let before = self.summary.compared;
            self.summary.compared += stored.len() as u64;
            if before / REPORT_EVERY != self.summary.compared / REPORT_EVERY {
                self.report.progress("comparing index entries", self.summary.compared, None);
            }
            self.entry(place, &entry, &stored)?;
        }
    }

    /// Cursors at the first entries of each section of the index.
    fn cursors(&self, place: Place<'_>) -> Result<Vec<(&'a Looked, Cursor)>> {
        let mut cursors = Vec::new();
        for looked in &self.derived.runs {
            for kind in [SectionKind::Live, SectionKind::Kills, SectionKind::Past] {
                let id = SectionId { grouping: place.grouping.id, index: place.index.id, kind };
                if looked.bad.contains(&id) {
                    continue;
                }
                if let Some(section) = looked.run.section(id) {
                    let mut cursor = looked.run.cursor(section);
                    cursor.seek_first()?;
                    cursors.push((looked, cursor));
                }
            }
        }
        Ok(cursors)
    }

    /// Takes the entries at key and birth of `entry` from the cursors.
    fn take_stored(
        &mut self,
        cursors: &mut Vec<(&'a Looked, Cursor)>,
        entry: &Entry,
        mut then: impl FnMut(&mut Self, Stored<'a>) -> Result<()>,
    ) -> Result<()> {
        for (looked, cursor) in cursors.iter_mut() {
            if cursor.valid() && cursor.birth() == entry.birth && cursor.key() == entry.key {
                let (height, number, position) = cursor.version();
                let stored = Stored {
                    looked,
                    kind: cursor.id().kind,
                    unit: cursor.unit_key().to_vec(),
                    version: Birth::new(height, number),
                    position,
                    end: cursor.end(),
                    offset: cursor.offset(),
                };
                cursor.next()?;
                then(self, stored)?;
            }
        }
        cursors.retain(|(_, cursor)| cursor.valid());
        Ok(())
    }

    fn fault(&mut self, place: Place<'_>, entry: &Entry, looked: &Looked, offset: Option<u64>, what: &str) {
        let unit = entry.unit.as_ref().map_or_else(String::new, |unit| format!(" of unit {}", shown(unit)));
        let what = format!(
            "index {:?} of grouping {:?}: the entry {}{unit} {what}",
            place.index.name,
            place.grouping.name,
            shown(&entry.key)
        );
        self.report.fault(Part::Run, looked.run.path(), offset, Some(entry.birth.height), what);
    }

    fn extra(&mut self, place: Place<'_>, entry: &Entry, stored: &Stored<'_>) -> Result<()> {
        self.fault(place, entry, stored.looked, Some(stored.offset), "is here, and follows from nothing in the log");
        Ok(())
    }

    /// Compares what the log says of an entry with what the runs have of it.
    fn entry(&mut self, place: Place<'_>, entry: &Entry, stored: &[Stored<'_>]) -> Result<()> {
        let is_drop = |looked: &Looked| place.index.dropped.is_some_and(|dropped| dropped <= looked.run.meta().end);
        let derived = self.derived;
        let covered = derived.covered();
        let from_fill = entry.birth.height <= place.index.since;
        let clears = &place.grouping.clears;
        let cleared = clears.get(clears.partition_point(|clear| *clear <= entry.birth.height)).copied();
        let end = [entry.killed, cleared].into_iter().flatten().min();
        let home = derived.runs.iter().find(|looked| !from_fill && looked.has(entry.birth.height));
        let mut homes: Vec<&Looked> = Vec::new();

        for found in stored.iter().filter(|found| found.kind != SectionKind::Kills) {
            let meta = found.looked.run.meta();
            let right_place =
                if from_fill { meta.end >= place.index.since } else { found.looked.has(entry.birth.height) };
            if !right_place || is_drop(found.looked) || entry.unit.is_none() {
                self.extra(place, entry, found)?;
                continue;
            }
            homes.push(found.looked);
            let ended = end.filter(|end| *end <= meta.end);
            // A run that only has a new index knows of no ends.
            let ended = if meta.is_empty_stretch() { None } else { ended };
            match (found.kind, ended) {
                (SectionKind::Live, Some(end)) => {
                    let what = format!("is live, and ended at height {end}");
                    self.fault(place, entry, found.looked, Some(found.offset), &what);
                }
                (SectionKind::Past, None) => {
                    let what = format!("ended at height {} as the run says, and lives on as the log says", found.end);
                    self.fault(place, entry, found.looked, Some(found.offset), &what);
                }
                (SectionKind::Past, Some(end)) if found.end != end => {
                    let what = format!("ended at height {end}, and the run says {}", found.end);
                    self.fault(place, entry, found.looked, Some(found.offset), &what);
                }
                _ => self.unit_and_hint(place, entry, found)?,
            }
        }
        if homes.is_empty() && entry.unit.is_some() {
            self.missing(place, entry, home, (from_fill, covered), &is_drop);
        }
        self.kill(place, entry, stored, &homes, &is_drop)
    }

    /// No run has the birth of the entry; perhaps none should.
    fn missing(
        &mut self,
        place: Place<'_>,
        entry: &Entry,
        home: Option<&Looked>,
        (from_fill, covered): (bool, Height),
        is_drop: &impl Fn(&Looked) -> bool,
    ) {
        let derived = self.derived;
        let is_bad = |looked: &Looked| {
            [SectionKind::Live, SectionKind::Past].iter().any(|&kind| {
                looked.bad.contains(&SectionId { grouping: place.grouping.id, index: place.index.id, kind })
            })
        };
        if from_fill {
            let expected = place.filled && place.index.dropped.is_none() && derived.whole;
            let any_bad = derived.runs.iter().any(is_bad);
            if let (true, false, Some(newest)) = (expected, any_bad, derived.runs.last()) {
                self.fault(place, entry, newest, None, "is missing, in this run and in all before it");
            }
        } else if let Some(home) = home
            && entry.birth.height <= covered
            && !is_drop(home)
            && !is_bad(home)
        {
            self.fault(place, entry, home, None, "is missing");
        }
    }

    /// The kill of an entry that ended in another run than it was born in.
    fn kill(
        &mut self,
        place: Place<'_>,
        entry: &Entry,
        stored: &[Stored<'_>],
        homes: &[&Looked],
        is_drop: &impl Fn(&Looked) -> bool,
    ) -> Result<()> {
        let derived = self.derived;
        let expected = entry.killed.and_then(|killed| {
            let run = derived.runs.iter().find(|looked| looked.has(killed))?;
            let at_home = if entry.birth.height > place.index.since {
                run.has(entry.birth.height)
            } else {
                homes.iter().any(|home| Arc::ptr_eq(&home.run, &run.run))
            };
            (!at_home && !is_drop(run)).then_some((run, killed))
        });
        for found in stored.iter().filter(|found| found.kind == SectionKind::Kills) {
            match expected {
                Some((run, killed)) if Arc::ptr_eq(&run.run, &found.looked.run) => {
                    if found.end != killed {
                        let what = format!("ended at height {killed}, and the run says {}", found.end);
                        self.fault(place, entry, found.looked, Some(found.offset), &what);
                    }
                }
                _ => self.extra(place, entry, found)?,
            }
        }
        let id = SectionId::kills(place.grouping.id, place.index.id);
        if let Some((run, killed)) = expected
            && !run.bad.contains(&id)
            && !stored.iter().any(|found| found.kind == SectionKind::Kills && Arc::ptr_eq(&found.looked.run, &run.run))
        {
            self.fault(place, entry, run, None, &format!("ended at height {killed}, and its end is missing"));
        }
        Ok(())
    }

    /// Whether an entry leads to its unit, and to the version that it should.
    fn unit_and_hint(&mut self, place: Place<'_>, entry: &Entry, found: &Stored<'_>) -> Result<()> {
        if entry.unit.as_ref() != Some(&found.unit) {
            let what = format!("is of unit {} as the run says", shown(&found.unit));
            self.fault(place, entry, found.looked, Some(found.offset), &what);
            return Ok(());
        }
        let grouping = place.grouping.id;
        let hint = (found.version, found.position);
        let right = match found.kind {
            // A run that only has a new index may be ahead of the others.
            _ if found.looked.run.meta().is_empty_stretch() => hint == (entry.birth, entry.position),
            _ if !self.derived.versions_are_sound(grouping) => true,
            SectionKind::Live => self.version_at(grouping, &found.unit, found.looked.run.meta().end)? == Some(hint),
            _ => {
                let in_life = entry.birth <= found.version && found.version.height < found.end;
                in_life && self.version_at(grouping, &found.unit, found.version.height)? == Some(hint)
            }
        };
        if !right {
            let what =
                format!("leads to a version of height {}, which is not the one to lead to", found.version.height);
            self.fault(place, entry, found.looked, Some(found.offset), &what);
        }
        Ok(())
    }

    /// The newest version of a unit at or below `at`, from the runs, which were compared with the log before.
    fn version_at(&self, grouping: GroupingId, unit: &[u8], at: Height) -> Result<Option<(Birth, Position)>> {
        let hash = key_hash(unit);
        for looked in self.derived.runs.iter().rev() {
            let meta = looked.run.meta();
            if meta.is_empty_stretch() || meta.start > at {
                continue;
            }
            if let Some(version) = looked.run.find_version(grouping, unit, hash, at)? {
                return Ok(Some((Birth::new(version.height, version.place), version.position)));
            }
        }
        Ok(None)
    }
}

/// The next entry of the index, with all that the log says of it.
fn next_entry(truth: &mut Sorted, place: Place<'_>, key: &mut Vec<u8>) -> Result<Option<Entry>> {
    let mut entry: Option<Entry> = None;
    while let Some((bytes, value)) = truth.record() {
        let Some((grouping, index, birth)) = record::read_event_key(bytes, key) else {
            unreachable!("the walk through the log made this key");
        };
        let same_index = (grouping, index) == (place.grouping.id, place.index.id);
        let same = same_index && entry.as_ref().is_none_or(|entry| entry.birth == birth && entry.key == *key);
        if !same {
            break;
        }
        let entry = entry.get_or_insert_with(|| Entry {
            key: key.clone(),
            birth,
            unit: None,
            position: Position::default(),
            killed: None,
        });
        match Event::decode(value) {
            Some(Event::Live { position, unit }) => (entry.position, entry.unit) = (position, Some(unit.to_vec())),
            Some(Event::Kill { end }) => entry.killed = Some(entry.killed.map_or(end, |killed| killed.min(end))),
            None => unreachable!("the walk through the log made this value"),
        }
        truth.advance()?;
    }
    Ok(entry)
}
