//! The living entries of an index at a height, in order.
//!
//! For each (key value, birth) the sources hold a `Live` event, or a `Live` and a `Kill`, or one `Past`. An entry is
//! alive at height `h` if it was born at or below `h`, and did not end at or below `h`, and its grouping was not cleared
//! between. That needs no look at the unit: only the unit's *newest version* may be elsewhere than the entry's hint says,
//! and [`IndexScan::version`] finds it.

use std::sync::Arc;

use super::Shared;
use super::catalog::GroupingEntry;
use super::dead::DeadWalk;
use super::merged::{Event, Merged, Start};
use super::range::Range;
use super::view::{View, hash_of};
use crate::error::{Error, Result};
use crate::planted;
use crate::types::{Birth, Height, IndexId, Position};

/// An entry that is alive.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) birth: Birth,
    pub(crate) unit_key: Vec<u8>,
    hint: Option<Hint>,
}

/// Where the unit's newest version was, as far as the entry's source knew.
struct Hint {
    birth: Birth,
    position: Position,
    age: usize,
}

/// What has become of an entry, as seen from the scan's height.
enum State {
    Lives,
    NotYet,
    Dead { since: Height },
}

/// The steps after which a scan takes up the newest view, so that it holds no files and memory that others let go.
const STEPS_PER_VIEW: u32 = 1024;

/// A scan by an index.
pub(crate) struct IndexScan {
    shared: Arc<Shared>,
    grouping: Arc<GroupingEntry>,
    index: IndexId,
    at: Height,
    floor: Height,
    range: Range,
    view: Arc<View>,
    merged: Merged,
    entry: Entry,
    dead: DeadWalk,
    steps: u32,
}

impl IndexScan {
    /// A scan of `range` at height `at`, standing before the first entry.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        grouping: Arc<GroupingEntry>,
        index: IndexId,
        at: Height,
        range: Range,
    ) -> Result<IndexScan> {
        let start = range.clone();
        IndexScan::from(shared, grouping, index, at, range, start.start_of_index())
    }

    /// A scan of `range` that stands at `start`.
    pub(crate) fn from(
        shared: &Arc<Shared>,
        grouping: Arc<GroupingEntry>,
        index: IndexId,
        at: Height,
        range: Range,
        start: Start<'_>,
    ) -> Result<IndexScan> {
        let view = shared.view();
        let floor = grouping.floor(at);
        let mut merged = Merged::index(&view, grouping.id, index, at, floor, range.backward);
        merged.start(start)?;
        let shared = Arc::clone(shared);
        let (entry, dead) = (Entry::default(), DeadWalk::default());
        Ok(IndexScan { shared, grouping, index, at, floor, range, view, merged, entry, dead, steps: 0 })
    }

    /// Goes to another place of the same reading, and on from there in either direction.
    pub(crate) fn restart(&mut self, start: Start<'_>, backward: bool) -> Result<()> {
        self.remember_dead();
        self.range.backward = backward;
        self.merged.turn(backward);
        self.merged.start(start)
    }

    /// The grouping.
    pub(crate) fn grouping(&self) -> &GroupingEntry {
        &self.grouping
    }

    /// The index.
    pub(crate) fn index(&self) -> IndexId {
        self.index
    }

    /// Steps to the next living entry; `false` at the end of the range.
    pub(crate) fn next(&mut self) -> Result<bool> {
        loop {
            let Some(state) = self.gather()? else {
                self.remember_dead();
                return Ok(false);
            };
            self.steps += 1;
            if self.steps == STEPS_PER_VIEW {
                self.steps = 0;
                self.take_up_newest_view()?;
            }
            match state {
                State::Lives => {
                    self.remember_dead();
                    return Ok(true);
                }
                State::NotYet => self.remember_dead(),
                State::Dead { since } => self.pass_dead(since)?,
            }
        }
    }

    /// Passes a dead entry, and all others of a stretch that is known to be dead.
    fn pass_dead(&mut self, since: Height) -> Result<()> {
        let (grouping, backward) = (self.grouping.id, self.range.backward);
        // Sections that a clear hides, and those of entries that ended in older runs, were not looked at: what is in
        // them is dead now, and need not have been before.
        self.dead.step(&self.entry.key, self.entry.birth, since.max(self.at), backward);
        let place = (self.entry.key.clone(), self.entry.birth);
        if let Some((start, stretch)) = self.shared.dead.around(grouping, self.index, &place, self.at) {
            let (key, birth) = if backward { &start } else { &stretch.end };
            self.merged.start(if backward { Start::Before(key, *birth) } else { Start::At(key, *birth) })?;
            self.dead.leap(&start, &stretch);
        }
        Ok(())
    }

    fn remember_dead(&mut self) {
        if let Some((start, stretch)) = self.dead.end() {
            self.shared.dead.remember(self.grouping.id, self.index, start, stretch, self.at);
        }
    }

    /// The entry at which the scan stands.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Takes all events of the next (key, birth) into `entry`, and tells what has become of it.
    fn gather(&mut self) -> Result<Option<State>> {
        let entry = &mut self.entry;
        match self.merged.top() {
            Some(source) if self.range.contains(source.key()) => {
                entry.key.clear();
                entry.key.extend_from_slice(source.key());
                entry.birth = source.birth();
            }
            _ => return Ok(None),
        }
        let (mut born, mut ended) = (false, Height::MAX);
        while let Some(source) = self.merged.top() {
            if source.birth() != entry.birth || source.key() != entry.key {
                break;
            }
            match source.event() {
                Event::Live { unit_key, height, place, position, rewritten } => {
                    born = true;
                    entry.unit_key.clear();
                    entry.unit_key.extend_from_slice(unit_key);
                    let birth = Birth::new(height, place);
                    entry.hint = (!rewritten && height <= self.at).then_some(Hint { birth, position, age: source.age });
                }
                Event::Past { unit_key, end } => {
                    born = true;
                    ended = ended.min(end);
                    entry.unit_key.clear();
                    entry.unit_key.extend_from_slice(unit_key);
                    entry.hint = None;
                }
                Event::Kill { end } => ended = ended.min(end),
            }
            self.merged.advance()?;
        }
        let birth = entry.birth.height;
        if birth > self.at || (!born && ended > self.at) {
            return Ok(Some(State::NotYet));
        }
        if birth < self.floor {
            return Ok(Some(State::Dead { since: ended.min(self.floor) }));
        }
        if planted::is(planted::Fault::EndOffByOne) && ended == self.at {
            return Ok(Some(State::Lives));
        }
        Ok(Some(if ended <= self.at { State::Dead { since: ended } } else { State::Lives }))
    }

    fn take_up_newest_view(&mut self) -> Result<()> {
        let newest = self.shared.view();
        if Arc::ptr_eq(&newest, &self.view) {
            return Ok(());
        }
        let backward = self.range.backward;
        // The hint's age counts in the old view.
        self.entry.hint = None;
        self.merged = Merged::index(&newest, self.grouping.id, self.index, self.at, self.floor, backward);
        self.view = newest;
        let Entry { key, birth, .. } = &self.entry;
        self.merged.start(if backward { Start::Before(key, *birth) } else { Start::At(key, birth.next()) })
    }

    /// Where the newest version at the scan's height of the entry's unit is.
    pub(crate) fn version(&self) -> Result<(Birth, Position)> {
        let hash = hash_of(&self.entry.unit_key);
        let mut among = self.entry.hint.as_ref().map_or(usize::MAX, |hint| hint.age);
        if planted::is(planted::Fault::StaleHintTrusted) && self.entry.hint.is_some() {
            among = 0;
        }
        let newer = self.view.version(&self.grouping, &self.entry.unit_key, hash, self.at, among)?;
        match (newer, &self.entry.hint) {
            (Some(version), _) => Ok((version.birth, version.position)),
            (None, Some(hint)) => Ok((hint.birth, hint.position)),
            (None, None) => Err(Error::Invalid(format!(
                "index {} has an entry for a unit that is not there: rebuild it by removing the .idx directory",
                self.index.0
            ))),
        }
    }
}
