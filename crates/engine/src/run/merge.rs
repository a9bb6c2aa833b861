//! Merging: neighbouring runs become one.
//!
//! | in the inputs | in the output |
//! |---|---|
//! | live | live; its hint refreshed from the versions in newer inputs |
//! | live, born before a clear within the output's stretch | past, ended at that clear |
//! | live in one, its kill in a newer one | past; of several kills, the smallest end counts |
//! | live in two: its index was filled twice | live; the newer input's hint counts |
//! | kill alone | kill: its birth is in a still older run |
//! | past, version | the same; damage, if a walk meets another event with this key and birth |
//! | entries of a dropped index | nothing |
//!
//! All inputs' sections of one index are walked side by side, in the order of (key, birth), so that a kill comes
//! together with its birth. The output has up to three sections for the index, which are written one after another: the
//! walk that writes the live entries counts what the other two will get, and each of these is a walk of its own, made
//! only when there is something for it. So memory holds a cursor an input and the writer's buffers, whatever the size.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::number::shared_prefix;
use super::section::prefix_of;
use super::{Cursor, Entry, Run, RunSummary, RunWriter, Section, SectionId, SectionKind, key_hash};
use crate::error::{Error, Result};
use crate::planted;
use crate::sync::atomic::{AtomicBool, Ordering as Atomic};
use crate::types::{Birth, GroupingId, Height, IndexId, VersionKind};

/// How often a merge looks whether it should stop, in entries.
const STOP_INTERVAL: u32 = 4096;

/// What a merge must know beside its inputs.
pub struct MergeRules<'a> {
    /// The heights at which each grouping was cleared, ascending. Those above the output's end are not applied.
    pub clears: &'a BTreeMap<GroupingId, Vec<Height>>,
    /// Indexes that were dropped: their entries are left out.
    pub dropped: &'a BTreeSet<(GroupingId, IndexId)>,
    /// Set to end the merge early.
    pub stop: &'a AtomicBool,
}

/// Merges neighbouring runs, oldest first, into the one that `writer` makes; its meta should be
/// [`RunMeta::union`](super::RunMeta::union) of theirs. `None` when it was stopped. In this case, and after an error, the
/// caller removes what was written.
///
/// # Errors
/// [`Error::Damaged`] when an input is, [`Error::Io`], [`Error::NoSpace`].
pub fn merge(inputs: &[Arc<Run>], writer: RunWriter, rules: &MergeRules<'_>) -> Result<Option<RunSummary>> {
    let mut merge = Merge { inputs, writer, rules, until_stop_check: STOP_INTERVAL };
    for input in inputs {
        for mark in input.marks()?.iter() {
            merge.writer.push_mark(mark)?;
        }
    }
    let orderings: BTreeSet<(GroupingId, IndexId)> = inputs
        .iter()
        .flat_map(|input| input.sections())
        .map(|section| (section.id().grouping, section.id().index))
        .filter(|ordering| !rules.dropped.contains(ordering))
        .collect();
    for (grouping, index) in orderings {
        let completed =
            if index == IndexId::UNITS { merge.versions(grouping)? } else { merge.index(grouping, index)? };
        if !completed {
            return Ok(None);
        }
    }
    merge.writer.finish().map(Some)
}

struct Merge<'a> {
    inputs: &'a [Arc<Run>],
    writer: RunWriter,
    rules: &'a MergeRules<'a>,
    until_stop_check: u32,
}

/// What a walk over an index has seen, beside what it wrote.
#[derive(Default)]
struct Seen {
    kills: u64,
    past: u64,
}

impl Merge<'_> {
    fn stopped(&mut self) -> bool {
        self.until_stop_check -= 1;
        if self.until_stop_check > 0 {
            return false;
        }
        self.until_stop_check = STOP_INTERVAL;
        self.rules.stop.load(Atomic::Relaxed)
    }

    /// Merges the versions of a grouping; `false` when stopped.
    fn versions(&mut self, grouping: GroupingId) -> Result<bool> {
        const KIND: SectionKind = SectionKind::Versions;
        let id = SectionId::versions(grouping);
        let mut walk = Walk::new(self.inputs, &[id])?;
        self.writer.begin_section(id)?;
        while let Some(first) = walk.first() {
            if !self.writer.try_push(KIND, &first.cursor.entry())? {
                return Err(first.out_of_order());
            }
            walk.advance()?;
            if self.stopped() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Merges the sections of an index; `false` when stopped.
    fn index(&mut self, grouping: GroupingId, index: IndexId) -> Result<bool> {
        let inputs = self.inputs;
        let hints = Hints::new(inputs, grouping);
        let end = self.writer.meta().end;
        let clears: Vec<Height> = match self.rules.clears.get(&grouping) {
            Some(clears) => clears.iter().copied().filter(|&at| at <= end).collect(),
            None => Vec::new(),
        };
        let clears = Clears(clears);
        let live = SectionId::live(grouping, index);
        let kills = SectionId::kills(grouping, index);
        let past = SectionId::past(grouping, index);

        let Some(seen) = self.walk_index(&[live, kills], live, &clears, &hints)? else {
            return Ok(false);
        };
        if seen.kills > 0 && self.walk_index(&[live, kills], kills, &clears, &hints)?.is_none() {
            return Ok(false);
        }
        let has_past = inputs.iter().any(|input| input.section(past).is_some());
        let walked = match (seen.past > 0, has_past) {
            (true, _) => self.walk_index(&[live, kills, past], past, &clears, &hints)?,
            (false, true) => self.walk_index(&[past], past, &clears, &hints)?,
            (false, false) => Some(seen),
        };
        Ok(walked.is_some())
    }

    /// Walks over the sections `from` of all inputs, and writes what belongs to section `to`; `None` when stopped.
    fn walk_index(
        &mut self,
        from: &[SectionId],
        to: SectionId,
        clears: &Clears,
        hints: &Hints<'_>,
    ) -> Result<Option<Seen>> {
        let mut walk = Walk::new(self.inputs, from)?;
        let mut seen = Seen::default();
        self.writer.begin_section(to)?;
        while let Some(first) = walk.first() {
            let equals = walk.equals();
            let kind_of = |source: &Source| source.cursor.id().kind;
            if equals > 1 && walk.first_ones(equals).any(|source| kind_of(source) == SectionKind::Past) {
                return Err(first.out_of_order());
            }
            // An index that was filled twice has an entry in two inputs: the newer one's hint is the better.
            let lives = walk.first_ones(equals).filter(|source| kind_of(source) == SectionKind::Live);
            let live = lives.max_by_key(|source| source.input);
            let killed = walk.first_ones(equals).filter(|source| kind_of(source) == SectionKind::Kills);
            let mut end = killed.map(|source| source.cursor.end()).min();
            if planted::is(planted::Fault::KillForgotten) && live.is_some() {
                end = None;
            }
            let mut entry = live.unwrap_or(first).cursor.entry();
            if live.is_some()
                && !planted::is(planted::Fault::ClearForgotten)
                && let Some(clear) = clears.after(entry.birth.height)
            {
                end = Some(end.map_or(clear, |end| end.min(clear)));
            }
            let outcome = match (live, end) {
                (Some(_), None) => SectionKind::Live,
                (Some(_), Some(_)) => SectionKind::Past,
                (None, _) => kind_of(first),
            };
            if let Some(end) = end {
                entry.end = end;
            }
            match outcome {
                SectionKind::Kills => seen.kills += 1,
                SectionKind::Past => seen.past += 1,
                _ => {}
            }
            if outcome == to.kind {
                if outcome == SectionKind::Live {
                    hints.refresh(live.unwrap_or(first).input, &mut entry)?;
                }
                if !self.writer.try_push(outcome, &entry)? {
                    return Err(first.out_of_order());
                }
            }
            for _ in 0..equals {
                walk.advance()?;
            }
            if self.stopped() {
                return Ok(None);
            }
        }
        Ok(Some(seen))
    }
}

/// The heights at which a grouping was cleared, ascending.
struct Clears(Vec<Height>);

impl Clears {
    /// The first clear that ends what was born at `birth`.
    #[inline]
    fn after(&self, birth: Height) -> Option<Height> {
        if self.0.last().is_none_or(|&last| last <= birth) {
            return None;
        }
        let number = self.0.partition_point(|&clear| clear <= birth);
        self.0.get(number).copied()
    }
}

/// The versions of a grouping's units in all inputs, to refresh the hints of live entries with.
struct Hints<'a>(Vec<Option<Section<'a>>>);

impl<'a> Hints<'a> {
    fn new(inputs: &'a [Arc<Run>], grouping: GroupingId) -> Hints<'a> {
        let id = SectionId::versions(grouping);
        Hints(inputs.iter().map(|input| input.section(id)).collect())
    }

    /// The hint of an entry of input `input` is right as of its end: newer versions can only be in newer inputs.
    #[inline]
    fn refresh(&self, input: usize, entry: &mut Entry<'_>) -> Result<()> {
        let newer = &self.0[input + 1..];
        if newer.iter().all(Option::is_none) {
            return Ok(());
        }
        let hash = key_hash(entry.unit);
        for versions in newer.iter().rev().flatten() {
            if !versions.may_contain(hash) {
                continue;
            }
            if let Some(found) = versions.find_version(entry.unit, Height::MAX)? {
                let version = Birth::new(found.height, found.place);
                // A deleted unit has no live entries; a version older than the hint is from before an index's creation.
                if version > entry.version && found.kind != VersionKind::Deleted {
                    entry.version = version;
                    entry.position = found.position;
                }
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A cursor, and which input it is of.
struct Source {
    input: usize,
    cursor: Cursor,
}

impl Source {
    fn order(&self, other: &Source) -> Ordering {
        let kind = self.cursor.id().kind;
        kind.compare((self.cursor.key(), self.cursor.birth()), (other.cursor.key(), other.cursor.birth()))
    }

    #[cold]
    fn out_of_order(&self) -> Error {
        self.cursor.run().damaged(0, "events that are to be merged contradict each other")
    }
}

/// A source that has an entry, and eight bytes of that entry's key, which mostly decide the order.
#[derive(Clone, Copy)]
struct Turn {
    prefix: u64,
    source: usize,
}

/// Cursors side by side: the turn goes to the one with the lowest entry, and the others are sorted behind it.
struct Walk {
    sources: Vec<Source>,
    turns: Vec<Turn>,
    /// The bytes that all keys have in common.
    common: usize,
}

impl Walk {
    fn new(inputs: &[Arc<Run>], ids: &[SectionId]) -> Result<Walk> {
        let mut walk = Walk { sources: Vec::new(), turns: Vec::new(), common: 0 };
        let mut common: Option<&[u8]> = None;
        for (input, run) in inputs.iter().enumerate() {
            for section in ids.iter().filter_map(|&id| run.section(id)) {
                let of_section = section.common()?;
                let shared = shared_prefix(common.unwrap_or(of_section), of_section);
                common = Some(&of_section[..shared]);
                let mut cursor = run.cursor(section);
                cursor.seek_first()?;
                walk.sources.push(Source { input, cursor });
            }
        }
        walk.common = common.map_or(0, <[u8]>::len);
        for source in 0..walk.sources.len() {
            let turn = walk.turn(source);
            walk.turns.push(turn);
        }
        let mut turns = std::mem::take(&mut walk.turns);
        turns.sort_by(|&a, &b| walk.order(a, b));
        walk.turns = turns;
        Ok(walk)
    }

    #[inline]
    fn turn(&self, source: usize) -> Turn {
        let key = self.sources[source].cursor.key();
        Turn { prefix: prefix_of(key.get(self.common..).unwrap_or_default()), source }
    }

    #[inline]
    fn order(&self, a: Turn, b: Turn) -> Ordering {
        let by_prefix = a.prefix.cmp(&b.prefix);
        by_prefix.then_with(|| self.sources[a.source].order(&self.sources[b.source]))
    }

    #[inline]
    fn first(&self) -> Option<&Source> {
        self.turns.first().map(|turn| &self.sources[turn.source])
    }

    /// How many sources stand at the same key and birth, the first one included.
    #[inline]
    fn equals(&self) -> usize {
        let [first, others @ ..] = self.turns.as_slice() else {
            return 0;
        };
        let same = |other: &&Turn| first.prefix == other.prefix && self.order(*first, **other) == Ordering::Equal;
        1 + others.iter().take_while(same).count()
    }

    /// The sources at the first places.
    #[inline]
    fn first_ones(&self, count: usize) -> impl Iterator<Item = &Source> {
        self.turns[..count].iter().map(|turn| &self.sources[turn.source])
    }

    /// Moves the first cursor on, and to its place among the others.
    #[inline]
    fn advance(&mut self) -> Result<()> {
        let source = self.turns[0].source;
        let cursor = &mut self.sources[source].cursor;
        cursor.next()?;
        if !cursor.valid() {
            self.turns.remove(0);
            return Ok(());
        }
        let turn = self.turn(source);
        let mut at = 0;
        while at + 1 < self.turns.len() && self.order(turn, self.turns[at + 1]) == Ordering::Greater {
            self.turns[at] = self.turns[at + 1];
            at += 1;
        }
        self.turns[at] = turn;
        Ok(())
    }
}
