//! The units of a grouping at a height, by unit key.
//!
//! The sources hold versions, those of one unit next to each other, newest first. A scan takes of each unit the newest
//! version at or below its height, and leaps over the others when there are many.

use std::sync::Arc;

use super::Shared;
use super::catalog::GroupingEntry;
use super::merged::{Merged, Start};
use super::range::Range;
use super::view::{VersionFound, View, hash_of};
use crate::error::Result;
use crate::types::{Birth, Height, VersionKind};

/// More versions of one unit than these are leapt over by a search.
const STEPS: u32 = 8;

/// The units after which a scan takes up the newest view.
const UNITS_PER_VIEW: u32 = 1024;

/// A scan by unit key.
pub(crate) struct UnitScan {
    shared: Arc<Shared>,
    grouping: Arc<GroupingEntry>,
    at: Height,
    floor: Height,
    range: Range,
    view: Arc<View>,
    merged: Merged,
    key: Vec<u8>,
    units: u32,
}

impl UnitScan {
    /// A scan of `range` at height `at`, standing before the first unit.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        grouping: Arc<GroupingEntry>,
        at: Height,
        range: Range,
    ) -> Result<UnitScan> {
        let (start, mut room) = (range.clone(), Vec::new());
        UnitScan::from(shared, grouping, at, range, start.start_of_units(&mut room))
    }

    /// A scan of `range` that stands at `start`.
    pub(crate) fn from(
        shared: &Arc<Shared>,
        grouping: Arc<GroupingEntry>,
        at: Height,
        range: Range,
        start: Start<'_>,
    ) -> Result<UnitScan> {
        let view = shared.view();
        let floor = grouping.floor(at);
        let mut merged = Merged::units(&view, grouping.id, at, floor, range.backward);
        merged.start(start)?;
        let (shared, key) = (Arc::clone(shared), Vec::new());
        Ok(UnitScan { shared, grouping, at, floor, range, view, merged, key, units: 0 })
    }

    /// Goes to another place of the same reading, and on from there in either direction.
    pub(crate) fn restart(&mut self, start: Start<'_>, backward: bool) -> Result<()> {
        self.range.backward = backward;
        self.merged.turn(backward);
        self.merged.start(start)
    }

    /// The grouping.
    pub(crate) fn grouping(&self) -> &GroupingEntry {
        &self.grouping
    }

    /// The key of the unit at which the scan stands.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Steps to the next unit that is there; `None` at the end of the range.
    pub(crate) fn next(&mut self) -> Result<Option<VersionFound>> {
        loop {
            match self.merged.top() {
                Some(source) if self.range.contains(source.key()) => {
                    self.key.clear();
                    self.key.extend_from_slice(source.key());
                }
                _ => return Ok(None),
            }
            let found = if self.range.backward { self.oldest_to_newest()? } else { self.newest_to_oldest()? };
            self.units += 1;
            if self.units == UNITS_PER_VIEW {
                self.units = 0;
                self.take_up_newest_view()?;
            }
            match found {
                Some(found) if found.kind != VersionKind::Deleted && found.birth.height >= self.floor => {
                    return Ok(Some(found));
                }
                _ => {}
            }
        }
    }

    fn newest_to_oldest(&mut self) -> Result<Option<VersionFound>> {
        let mut found = None;
        let mut steps = 0;
        while let Some(source) = self.merged.top() {
            if source.key() != self.key {
                break;
            }
            if found.is_none() && source.birth().height <= self.at {
                found = Some(source.version_found());
            }
            steps += 1;
            if steps < STEPS {
                self.merged.advance()?;
            } else if found.is_none() {
                self.merged.start(Start::At(&self.key, Birth::new(self.at, u32::MAX)))?;
                steps = 0;
            } else {
                self.leap()?;
                break;
            }
        }
        Ok(found)
    }

    fn oldest_to_newest(&mut self) -> Result<Option<VersionFound>> {
        let mut found = None;
        let mut steps = 0;
        while let Some(source) = self.merged.top() {
            if source.key() != self.key {
                break;
            }
            if source.birth().height <= self.at {
                found = Some(source.version_found());
            }
            steps += 1;
            if steps == STEPS {
                self.leap()?;
                let hash = hash_of(&self.key);
                return self.view.version(&self.grouping, &self.key, hash, self.at, usize::MAX);
            }
            self.merged.advance()?;
        }
        Ok(found)
    }

    /// To the next unit, past all versions of this one.
    fn leap(&mut self) -> Result<()> {
        if self.range.backward {
            self.merged.start(Start::Before(&self.key, Birth::MAX))
        } else {
            let mut next = self.key.clone();
            next.push(0);
            self.merged.start(Start::At(&next, Birth::MAX))
        }
    }

    fn take_up_newest_view(&mut self) -> Result<()> {
        let newest = self.shared.view();
        if Arc::ptr_eq(&newest, &self.view) {
            return Ok(());
        }
        self.merged = Merged::units(&newest, self.grouping.id, self.at, self.floor, self.range.backward);
        self.view = newest;
        self.leap()
    }
}
