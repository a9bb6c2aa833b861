//! One ordering read from all deltas and runs at once.
//!
//! Each *source* is a sorted stretch of events of one ordering: a piece of a delta, or a section of a run. A heap keeps
//! the source that comes next on top. What the events mean together, whether an entry is alive at a height, is decided
//! one level up, in `index_scan` and `unit_scan`.

use std::cmp::Ordering as Order;
use std::sync::Arc;

use super::view::{VersionFound, View};
use crate::delta::{Delta, Piece, What};
use crate::error::Result;
use crate::run::{Cursor as RunCursor, Run, SectionId, SectionKind};
use crate::types::{Birth, GroupingId, Height, IndexId, Position};

/// Where to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    First,
    Last,
    /// At the first event that is not before this one.
    At(&'a [u8], Birth),
    /// At the last event before this one.
    Before(&'a [u8], Birth),
}

/// What an event says.
pub(crate) enum Event<'a> {
    /// An entry was born, and not ended as far as this source knows.
    Live { unit_key: &'a [u8], height: Height, place: u32, position: Position, rewritten: bool },
    /// An entry that was born elsewhere ended.
    Kill { end: Height },
    /// An entry was born and ended.
    Past { unit_key: &'a [u8], end: Height },
}

/// A sorted stretch of events.
pub(crate) struct Source {
    events: Events,
    /// 0 for the newest delta; counts on through deltas and runs.
    pub(crate) age: usize,
}

#[expect(
    clippy::large_enum_variant,
    reason = "a reading has few sources, and each comparison of two of them would follow a box"
)]
enum Events {
    Piece { delta: Arc<Delta>, piece: Arc<Piece>, at: usize },
    Run { cursor: RunCursor, kind: SectionKind },
}

impl Source {
    pub(crate) fn key(&self) -> &[u8] {
        match &self.events {
            Events::Piece { piece, at, .. } => piece.key(*at),
            Events::Run { cursor, .. } => cursor.key(),
        }
    }

    pub(crate) fn birth(&self) -> Birth {
        match &self.events {
            Events::Piece { piece, at, .. } => piece.event(*at).birth(),
            Events::Run { cursor, .. } => cursor.birth(),
        }
    }

    pub(crate) fn event(&self) -> Event<'_> {
        match &self.events {
            Events::Piece { delta, piece, at } => match piece.event(*at).what() {
                What::Kill(end) => Event::Kill { end },
                What::Live(id) => {
                    let version = delta.versions().get(id);
                    Event::Live {
                        unit_key: version.key(),
                        height: version.birth().height,
                        place: version.birth().place,
                        position: version.position,
                        rewritten: delta.versions().has_successor(id),
                    }
                }
            },
            Events::Run { cursor, kind } => match kind {
                SectionKind::Kills => Event::Kill { end: cursor.end() },
                SectionKind::Past => Event::Past { unit_key: cursor.unit_key(), end: cursor.end() },
                SectionKind::Live | SectionKind::Versions => {
                    let (height, place, position) = cursor.version();
                    Event::Live { unit_key: cursor.unit_key(), height, place, position, rewritten: false }
                }
            },
        }
    }

    /// The version that an event of the units' ordering stands for.
    pub(crate) fn version_found(&self) -> VersionFound {
        match &self.events {
            Events::Piece { delta, piece, at } => {
                let What::Live(id) = piece.event(*at).what() else {
                    unreachable!("the units' ordering has no kills");
                };
                let version = delta.versions().get(id);
                VersionFound {
                    birth: version.birth(),
                    kind: version.kind,
                    position: version.position,
                    births: version.births().to_vec(),
                }
            }
            Events::Run { cursor, .. } => VersionFound {
                birth: cursor.birth(),
                kind: cursor.kind(),
                position: cursor.version().2,
                births: cursor.births().collect(),
            },
        }
    }

    fn valid(&self) -> bool {
        match &self.events {
            Events::Piece { piece, at, .. } => *at < piece.len(),
            Events::Run { cursor, .. } => cursor.valid(),
        }
    }

    fn start(&mut self, start: Start<'_>) -> Result<()> {
        match &mut self.events {
            Events::Piece { piece, at, .. } => {
                *at = match start {
                    Start::First => 0,
                    Start::Last => piece.len().wrapping_sub(1),
                    Start::At(key, birth) => piece.seek(key, birth),
                    Start::Before(key, birth) => piece.seek(key, birth).wrapping_sub(1),
                };
                Ok(())
            }
            Events::Run { cursor, .. } => match start {
                Start::First => cursor.seek_first(),
                Start::Last => cursor.seek_last(),
                Start::At(key, birth) => cursor.seek(key, birth),
                Start::Before(key, birth) => cursor.seek_before(key, birth),
            },
        }
    }

    fn step(&mut self, backward: bool) -> Result<()> {
        match &mut self.events {
            Events::Piece { at, .. } => {
                *at = if backward { at.wrapping_sub(1) } else { *at + 1 };
                Ok(())
            }
            Events::Run { cursor, .. } if backward => cursor.prev(),
            Events::Run { cursor, .. } => cursor.next(),
        }
    }
}

/// A merged reading of one ordering.
pub(crate) struct Merged {
    sources: Vec<Source>,
    /// The valid sources, the next one on top.
    heap: Vec<u32>,
    backward: bool,
    newest_first: bool,
}

impl Merged {
    /// The events of `index` that a read at height `at` can need.
    pub(crate) fn index(
        view: &View,
        grouping: GroupingId,
        index: IndexId,
        at: Height,
        floor: Height,
        backward: bool,
    ) -> Merged {
        let mut merged = Merged::empty(backward, false);
        let mut age = 0;
        for delta in view.deltas() {
            if delta.start() <= at {
                merged.add_pieces(delta, grouping, index, age);
            }
            age += 1;
        }
        for run in &view.runs {
            let meta = run.meta();
            // One more than `at`: an index that was created at `at` has entries in a run that begins right after it.
            if meta.start <= at.next() {
                let kinds: &[SectionKind] = if at < meta.end {
                    &[SectionKind::Live, SectionKind::Kills, SectionKind::Past]
                } else {
                    &[SectionKind::Live, SectionKind::Kills]
                };
                for &kind in kinds {
                    merged.add_section(run, SectionId { grouping, index, kind }, floor, age);
                }
            }
            age += 1;
        }
        merged
    }

    /// The versions of a grouping's units that a read at height `at` can need.
    pub(crate) fn units(view: &View, grouping: GroupingId, at: Height, floor: Height, backward: bool) -> Merged {
        let mut merged = Merged::empty(backward, true);
        let mut age = 0;
        for delta in view.deltas() {
            if delta.start() <= at {
                merged.add_pieces(delta, grouping, IndexId::UNITS, age);
            }
            age += 1;
        }
        for run in &view.runs {
            if run.meta().start <= at && run.meta().end >= floor {
                let kind = SectionKind::Versions;
                merged.add_section(run, SectionId { grouping, index: IndexId::UNITS, kind }, floor, age);
            }
            age += 1;
        }
        merged
    }

    /// The versions of a grouping's units in one delta.
    pub(crate) fn versions_of_delta(delta: &Arc<Delta>, grouping: GroupingId) -> Merged {
        let mut merged = Merged::empty(false, true);
        merged.add_pieces(delta, grouping, IndexId::UNITS, 0);
        merged
    }

    fn empty(backward: bool, newest_first: bool) -> Merged {
        Merged { sources: Vec::new(), heap: Vec::new(), backward, newest_first }
    }

    fn add_pieces(&mut self, delta: &Arc<Delta>, grouping: GroupingId, index: IndexId, age: usize) {
        if let Some(ordering) = delta.ordering(grouping, index) {
            for piece in ordering.pieces() {
                let events = Events::Piece { delta: Arc::clone(delta), piece, at: 0 };
                self.sources.push(Source { events, age });
            }
        }
    }

    /// A section whose entries were all born, and ended, before the clear at `floor` is left out.
    fn add_section(&mut self, run: &Arc<Run>, id: SectionId, floor: Height, age: usize) {
        if let Some(section) = run.section(id).filter(|section| section.highest_height() >= floor) {
            let cursor = run.cursor(section);
            self.sources.push(Source { events: Events::Run { cursor, kind: id.kind }, age });
        }
    }

    /// Goes the other way, or the same; [`Merged::start`] comes next.
    pub(crate) fn turn(&mut self, backward: bool) {
        self.backward = backward;
    }

    /// Begins, or begins anew.
    pub(crate) fn start(&mut self, start: Start<'_>) -> Result<()> {
        self.heap.clear();
        for (at, source) in self.sources.iter_mut().enumerate() {
            source.start(start)?;
            if source.valid() {
                self.heap.push(at as u32);
            }
        }
        for at in (0..self.heap.len() / 2).rev() {
            self.sink(at);
        }
        Ok(())
    }

    /// The source whose event is next.
    pub(crate) fn top(&self) -> Option<&Source> {
        self.heap.first().map(|at| &self.sources[*at as usize])
    }

    /// Steps over the event on top.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let Some(&at) = self.heap.first() else {
            return Ok(());
        };
        let source = &mut self.sources[at as usize];
        source.step(self.backward)?;
        if !source.valid() {
            self.heap.swap_remove(0);
        }
        self.sink(0);
        Ok(())
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let mut next = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.comes_before(child, next) {
                    next = child;
                }
            }
            if next == at {
                return;
            }
            self.heap.swap(at, next);
            at = next;
        }
    }

    fn comes_before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.sources[self.heap[a] as usize], &self.sources[self.heap[b] as usize]);
        let order = a
            .key()
            .cmp(b.key())
            .then_with(|| if self.newest_first { b.birth().cmp(&a.birth()) } else { a.birth().cmp(&b.birth()) });
        order == if self.backward { Order::Greater } else { Order::Less }
    }
}
