//! The versions of a unit, and when heights happened.

use std::sync::Arc;

use super::Shared;
use super::catalog::GroupingEntry;
use super::merged::{Merged, Start};
use super::view::{VersionFound, View};
use crate::error::{Error, Result};
use crate::log::Log;
use crate::run::Mark;
use crate::types::{Birth, Height, Timestamp, VersionKind};
use crate::unit::Version;
use crate::units::Versions;

/// The versions after which the newest view is taken up.
const VERSIONS_PER_VIEW: u32 = 1024;

/// The versions of one unit, newest first.
pub(crate) struct VersionScan {
    shared: Arc<Shared>,
    grouping: Arc<GroupingEntry>,
    key: Vec<u8>,
    /// Versions at or below this are still to come.
    below: Option<Birth>,
    /// Clears that are still to come, oldest first.
    clears: Vec<Height>,
    view: Arc<View>,
    merged: Merged,
    /// The version that comes next, after any clears above it.
    next: Option<VersionFound>,
    steps: u32,
}

impl VersionScan {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        grouping: Arc<GroupingEntry>,
        key: &[u8],
        at: Height,
    ) -> Result<VersionScan> {
        let view = shared.view();
        let mut merged = Merged::units(&view, grouping.id, at, Height::ZERO, false);
        merged.start(Start::At(key, Birth::new(at, u32::MAX)))?;
        let clears = grouping.clears.iter().copied().filter(|clear| *clear <= at).collect();
        let (shared, key) = (Arc::clone(shared), key.to_vec());
        let mut scan = VersionScan { shared, grouping, key, below: None, clears, view, merged, next: None, steps: 0 };
        scan.step()?;
        Ok(scan)
    }

    /// Takes the next version out of the sources.
    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps == VERSIONS_PER_VIEW {
            self.steps = 0;
            self.take_up_newest_view()?;
        }
        self.next = None;
        while let Some(source) = self.merged.top() {
            if source.key() != self.key {
                return Ok(());
            }
            // Two sources may have one version while a follower takes up a run.
            let is_new = self.below.is_none_or(|below| source.birth() < below);
            if is_new {
                let found = source.version_found();
                self.below = Some(found.birth);
                self.next = Some(found);
            }
            self.merged.advance()?;
            if is_new {
                return Ok(());
            }
        }
        Ok(())
    }

    fn take_up_newest_view(&mut self) -> Result<()> {
        let newest = self.shared.view();
        if Arc::ptr_eq(&newest, &self.view) {
            return Ok(());
        }
        let Some(below) = self.below else {
            return Ok(());
        };
        self.merged = Merged::units(&newest, self.grouping.id, below.height, Height::ZERO, false);
        self.view = newest;
        self.merged.start(Start::At(&self.key, below))
    }

    /// The next version; `None` after the first that was ever written.
    pub(crate) fn next(&mut self) -> Result<Option<Version>> {
        let Some(found) = &self.next else {
            return Ok(None);
        };
        while let Some(clear) = self.clears.pop_if(|clear| *clear > found.birth.height) {
            let others = self.clears.last().is_some_and(|older| *older > found.birth.height);
            // The clear that ended this version is the oldest one above it.
            if !others && found.kind != VersionKind::Deleted {
                let time = self.shared.time_of(clear)?;
                return Ok(Some(Version { height: clear, time, kind: VersionKind::Deleted, content: Vec::new() }));
            }
        }
        let body = self.shared.log.read_body(found.position)?;
        let meta = self.shared.log.frame_meta(body.frame_offset())?;
        let version =
            Version { height: found.birth.height, time: meta.time, kind: found.kind, content: body.content().to_vec() };
        drop(body);
        self.step()?;
        Ok(Some(version))
    }
}

impl Shared {
    /// The versions of a unit up to `at`.
    pub(crate) fn inspect(self: &Arc<Self>, grouping: &str, key: &[u8], at: Height) -> Result<Versions> {
        let known = self.catalog.read().grouping(grouping);
        let scan = known.map(|grouping| VersionScan::new(self, grouping, key, at)).transpose()?;
        Ok(Versions::new(scan))
    }

    /// When the commit at `height` happened.
    pub(crate) fn time_of(&self, height: Height) -> Result<Timestamp> {
        let newest = self.visible();
        if height > newest || height == Height::ZERO {
            return Err(Error::HeightUnknown { asked: height, newest });
        }
        let from = self.last_mark(|mark| mark.height <= height)?;
        if let Some(mark) = from.filter(|mark| mark.height == height) {
            return Ok(mark.time);
        }
        let mut frames = self.log.frames(self.point_after(from)?)?;
        while let Some(frame) = frames.next()? {
            if frame.is_commit() && frame.height() == height {
                return Ok(frame.time());
            }
        }
        Err(Error::HeightUnknown { asked: height, newest })
    }

    /// The newest visible height whose commit happened at or before `time`.
    pub(crate) fn height_at(&self, time: Timestamp) -> Result<Height> {
        let newest = self.visible();
        let from = self.last_mark(|mark| mark.time <= time)?;
        let mut height = from.map_or(self.log.header().base_height, |mark| mark.height);
        let mut frames = self.log.frames(self.point_after(from)?)?;
        while let Some(frame) = frames.next()? {
            if frame.time() > time {
                break;
            }
            if frame.is_commit() {
                height = frame.height();
            }
        }
        Ok(height.min(newest))
    }

    /// The newest mark of which `before` holds; it holds of all older ones, too.
    pub(super) fn last_mark(&self, before: impl Fn(&Mark) -> bool) -> Result<Option<Mark>> {
        let view = self.view();
        for delta in view.deltas() {
            let marks = delta.marks();
            let below = marks.partition_point(|mark| before(&mark.to_run_mark()));
            if let Some(at) = below.checked_sub(1) {
                return Ok(Some(marks[at].to_run_mark()));
            }
        }
        for run in &view.runs {
            if let Some(mark) = run.marks()?.last(&before) {
                return Ok(Some(mark));
            }
        }
        Ok(None)
    }

    /// From where on the log is to be read after a mark.
    pub(super) fn point_after(&self, mark: Option<Mark>) -> Result<crate::log::LogPoint> {
        match mark {
            Some(mark) => self.log.point_after(mark.height, mark.end_offset, mark.time),
            None => Ok(self.log.header().base()),
        }
    }
}
