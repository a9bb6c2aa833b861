//! Versions: does each frame name the version that it replaces, and do the runs have them all?
//!
//! The log's versions come sorted, those of the runs are read beside them. On the way, what the creation of an index takes
//! from the units that were there is added to the events.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::derived::Derived;
use super::record::{self, Event, Previous, Version};
use super::report::{Part, Report, Summary, shown};
use super::sorter::{Sorted, Sorter};
use crate::chain::catalog::{Catalog, GroupingEntry};
use crate::error::Result;
use crate::index::{KeyExtractor, KeySet};
use crate::log::{LocalLog, Log};
use crate::run::{Cursor, SectionId};
use crate::types::{Birth, Height, IndexId, VersionKind};

/// Versions between two reports of progress.
const REPORT_EVERY: u64 = 1 << 16;

pub(super) struct Units<'a, 'r> {
    pub(super) log: &'a LocalLog,
    pub(super) path: &'a Path,
    pub(super) catalog: &'a Catalog,
    pub(super) unsure: &'a BTreeSet<crate::types::GroupingId>,
    pub(super) derived: Option<&'a Derived>,
    pub(super) report: &'a mut Report<'r>,
    pub(super) summary: &'a mut Summary,
}

/// The version that the walk through the log's versions stands at.
struct Current {
    unit: Vec<u8>,
    birth: Birth,
    version: Version,
}

/// An index, and what it takes from units that were there.
struct Fill {
    index: IndexId,
    since: Height,
    floor: Height,
    extractor: KeyExtractor,
    /// Whether the unit that is being looked at has given its version.
    done: bool,
}

impl Units<'_, '_> {
    /// Compares all versions; gives the events with what the creation of indexes added.
    pub(super) fn compare<'e>(&mut self, versions: Sorter<'_>, mut events: Sorter<'e>) -> Result<Sorter<'e>> {
        let mut truth = versions.sorted()?;
        for grouping in self.catalog.groupings() {
            self.grouping(grouping, &mut truth, &mut events)?;
        }
        Ok(events)
    }

    fn grouping(&mut self, grouping: &Arc<GroupingEntry>, truth: &mut Sorted, events: &mut Sorter<'_>) -> Result<()> {
        let sure = !self.unsure.contains(&grouping.id);
        let mut cursors = if sure { self.cursors(grouping)? } else { Vec::new() };
        let mut fills = Vec::new();
        for index in &grouping.indexes {
            fills.push(Fill {
                index: index.id,
                since: index.since,
                floor: grouping.floor(index.since),
                extractor: KeyExtractor::new(&[(index.id, index.definition.clone())])?,
                done: false,
            });
        }
        let covered = self.derived.map_or(Height::ZERO, Derived::covered);
        let mut newer: Option<Current> = None;
        let mut unit = Vec::new();
        while let Some((key, value)) = truth.record() {
            let Some((of, birth)) = record::read_version_key(key, &mut unit) else {
                unreachable!("the walk through the log made this key");
            };
            if of != grouping.id {
                break;
            }
            let Some(version) = Version::decode(value) else {
                unreachable!("the walk through the log made this value");
            };
            truth.advance()?;
            let current = Current { unit: unit.clone(), birth, version };
            let same_unit = newer.as_ref().is_some_and(|newer| newer.unit == current.unit);
            if sure && let Some(newer) = &newer {
                self.check_previous(grouping, newer, same_unit.then_some(&current));
            }
            if !same_unit {
                fills.iter_mut().for_each(|fill| fill.done = false);
            }
            if sure {
                self.fill(grouping, &current, &mut fills, events)?;
                self.extra(grouping, &mut cursors, Some(&current))?;
                if birth.height <= covered {
                    self.compare_one(grouping, &mut cursors, &current)?;
                }
            }
            newer = Some(current);
        }
        if sure {
            if let Some(oldest) = &newer {
                self.check_previous(grouping, oldest, None);
            }
            self.extra(grouping, &mut cursors, None)?;
        }
        Ok(())
    }

    /// Cursors at the first version of the grouping in each run.
    fn cursors(&self, grouping: &GroupingEntry) -> Result<Vec<Cursor>> {
        let id = SectionId::versions(grouping.id);
        let mut cursors = Vec::new();
        for looked in self.derived.iter().flat_map(|derived| &derived.runs) {
            if looked.bad.contains(&id) {
                continue;
            }
            if let Some(section) = looked.run.section(id) {
                let mut cursor = looked.run.cursor(section);
                cursor.seek_first()?;
                cursors.push(cursor);
            }
        }
        Ok(cursors)
    }

    /// Tells of the versions in runs that come before `until` and so are not the log's.
    fn extra(&mut self, grouping: &GroupingEntry, cursors: &mut [Cursor], until: Option<&Current>) -> Result<()> {
        for cursor in cursors {
            while cursor.valid()
                && until.is_none_or(|until| {
                    (cursor.key(), std::cmp::Reverse(cursor.birth()))
                        < (until.unit.as_slice(), std::cmp::Reverse(until.birth))
                })
            {
                let (path, offset) = (cursor.run().path(), cursor.offset());
                let what = format!(
                    "a version of unit {} of grouping {:?} is here, and not in the log, or in another run too",
                    shown(cursor.key()),
                    grouping.name
                );
                self.report.fault(Part::Run, path, Some(offset), Some(cursor.birth().height), what);
                cursor.next()?;
            }
        }
        Ok(())
    }

    fn compare_one(&mut self, grouping: &GroupingEntry, cursors: &mut [Cursor], current: &Current) -> Result<()> {
        self.summary.compared += 1;
        if self.summary.compared.is_multiple_of(REPORT_EVERY) {
            self.report.progress("comparing versions", self.summary.compared, Some(self.summary.versions));
        }
        let Some(derived) = self.derived else {
            return Ok(());
        };
        let id = SectionId::versions(grouping.id);
        let Some(home) = derived.runs.iter().find(|looked| looked.has(current.birth.height)) else {
            return Ok(()); // its run is missing, which was told
        };
        if home.bad.contains(&id) {
            return Ok(());
        }
        let name = || format!("unit {} of grouping {:?}", shown(&current.unit), grouping.name);
        let here =
            |cursor: &&mut Cursor| cursor.valid() && cursor.key() == current.unit && cursor.birth() == current.birth;
        let at_home = |cursor: &Cursor| Arc::ptr_eq(cursor.run(), &home.run);
        let Some(cursor) = cursors.iter_mut().filter(|cursor| at_home(cursor)).find(here) else {
            let what = format!("the version of {} is missing", name());
            self.report.fault(Part::Run, home.run.path(), None, Some(current.birth.height), what);
            return Ok(());
        };
        let version = &current.version;
        let wrong = if cursor.kind() != version.kind {
            Some("its kind")
        } else if cursor.version().2 != version.position {
            Some("its position in the log")
        } else if !cursor.births().eq(version.births.iter().copied()) {
            Some("the births of its key values")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let what = format!("the version of {} is wrong: {wrong} is not what the log says", name());
            let (path, offset) = (cursor.run().path(), cursor.offset());
            self.report.fault(Part::Run, path, Some(offset), Some(current.birth.height), what);
        }
        cursor.next()
    }

    /// Whether `newer` names `older`, the unit's version before it, as the one that it replaces.
    fn check_previous(&mut self, grouping: &GroupingEntry, newer: &Current, older: Option<&Current>) {
        let hidden = |older: &&Current| {
            older.version.kind == VersionKind::Deleted || older.birth.height < grouping.floor(newer.birth.height)
        };
        let expected = older.filter(|older| !hidden(older)).map(|older| Previous {
            birth: older.birth,
            position: older.version.position,
            births: older.version.births.clone(),
        });
        let named = &newer.version.previous;
        if *named == expected {
            return;
        }
        let wrong = match (named, &expected) {
            (None, Some(expected)) => format!("names none, and that of height {} is there", expected.birth.height),
            (Some(named), None) => format!("names one at height {}, and there is none", named.birth.height),
            (Some(named), Some(expected)) if named.birth != expected.birth => {
                format!(
                    "names that of height {}, and it is that of height {}",
                    named.birth.height, expected.birth.height
                )
            }
            (Some(named), Some(expected)) if named.position != expected.position => format!(
                "says that it is at offset {}, and it is at {}",
                named.position.offset(),
                expected.position.offset()
            ),
            _ => "has other births of its key values".to_owned(),
        };
        let what = format!(
            "operation {}, on unit {} of grouping {:?}: as the version before, it {wrong}",
            newer.birth.place,
            shown(&newer.unit),
            grouping.name
        );
        let offset = newer.version.position.offset();
        self.report.fault(Part::Log, self.path, Some(offset), Some(newer.birth.height), what);
    }

    /// Adds the entries that indexes took from this version when they were made.
    fn fill(
        &mut self,
        grouping: &GroupingEntry,
        current: &Current,
        fills: &mut [Fill],
        events: &mut Sorter<'_>,
    ) -> Result<()> {
        let height = current.birth.height;
        let mut keys = KeySet::new();
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for fill in fills.iter_mut().filter(|fill| !fill.done && height <= fill.since) {
            fill.done = true;
            if current.version.kind == VersionKind::Deleted || height < fill.floor {
                continue;
            }
            let body = self.log.read_body(current.version.position)?;
            fill.extractor.extract(body.kind(), body.content(), &mut keys)?;
            for (_, index_key) in keys.iter() {
                record::event_key(&mut key, grouping.id, fill.index, index_key, current.birth, true);
                Event::Live { position: current.version.position, unit: &current.unit }.encode(&mut value);
                events.push(&key, &value)?;
            }
        }
        Ok(())
    }
}
