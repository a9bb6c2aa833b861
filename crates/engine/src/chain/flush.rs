//! From a frozen delta to a run.

use std::sync::Arc;

use crate::delta::{Delta, Newest, Ordering, Piece, What};
use crate::error::Result;
use crate::planted;
use crate::prefetch;
use crate::run::{RunWriter, SectionId};
use crate::types::{GroupingId, Height, IndexId};

use super::catalog::GroupingEntry;

/// Writes everything in `delta` to `writer`. `grouping` gives the catalog's entry of an id.
pub(crate) fn write_delta(
    delta: &Delta,
    writer: &mut RunWriter,
    grouping: impl Fn(GroupingId) -> Option<Arc<GroupingEntry>>,
) -> Result<()> {
    for mark in delta.marks() {
        writer.push_mark(mark.to_run_mark())?;
    }
    let newest = delta.versions().newest();
    for ((id, index), ordering) in delta.orderings() {
        let Some(grouping) = grouping(id) else {
            continue;
        };
        if index == IndexId::UNITS {
            write_versions(delta, writer, id, &ordering)?;
        } else if grouping
            .index_by_id(index)
            .is_some_and(|index| index.dropped.is_none_or(|dropped| dropped > delta.end()))
        {
            write_index(delta, &newest, writer, &grouping, index, &ordering)?;
        }
    }
    Ok(())
}

fn write_versions(delta: &Delta, writer: &mut RunWriter, grouping: GroupingId, ordering: &Ordering) -> Result<()> {
    let piece = ordering.whole();
    writer.begin_section(SectionId::versions(grouping))?;
    for at in 0..piece.len() {
        let What::Live(id) = piece.event(at).what() else {
            unreachable!("the units' ordering has no kills");
        };
        let version = delta.versions().get(id);
        writer.push_version(version.key(), version.birth(), version.kind, version.position, version.births())?;
    }
    Ok(())
}

/// Events between asking for a version and reading it.
const LOOK_AHEAD: usize = 12;

fn prefetch_newest(newest: &[Newest], piece: &Piece, at: usize) {
    if at < piece.len()
        && let What::Live(id) = piece.event(at).what()
    {
        prefetch::line(&newest[id.place()]);
    }
}

/// How an entry left the delta.
enum Outcome {
    Live,
    Past(Height),
    Kill(Height),
}

/// Entries of a piece with what became of them: a birth and the kill that follows it are one.
struct Outcomes<'a> {
    piece: &'a Piece,
    /// The grouping's clears in the delta's stretch.
    clears: &'a [Height],
    at: usize,
}

impl Iterator for Outcomes<'_> {
    type Item = (usize, Outcome);

    fn next(&mut self) -> Option<(usize, Outcome)> {
        let at = self.at;
        if at == self.piece.len() {
            return None;
        }
        self.at += 1;
        let event = self.piece.event(at);
        if let What::Kill(end) = event.what() {
            return Some((at, Outcome::Kill(end)));
        }
        if self.at < self.piece.len() {
            let follower = self.piece.event(self.at);
            if let What::Kill(end) = follower.what()
                && follower.birth() == event.birth()
                && self.piece.key(self.at) == self.piece.key(at)
            {
                self.at += 1;
                if planted::is(planted::Fault::KillForgottenAtFlush) {
                    return Some((at, Outcome::Live));
                }
                return Some((at, Outcome::Past(end)));
            }
        }
        let cleared = self.clears.partition_point(|clear| *clear <= event.birth().height);
        Some((at, self.clears.get(cleared).map_or(Outcome::Live, |clear| Outcome::Past(*clear))))
    }
}

fn write_index(
    delta: &Delta,
    newest: &[Newest],
    writer: &mut RunWriter,
    grouping: &GroupingEntry,
    index: IndexId,
    ordering: &Ordering,
) -> Result<()> {
    let piece = ordering.whole();
    let until = grouping.clears.partition_point(|clear| *clear <= delta.end());
    let clears = &grouping.clears[..until];
    let clears = &clears[clears.partition_point(|clear| *clear < delta.start())..];
    let outcomes = || Outcomes { piece: &piece, clears, at: 0 };
    let (mut kills, mut past) = (0_usize, 0_usize);

    writer.begin_section(SectionId::live(grouping.id, index))?;
    for (at, outcome) in outcomes() {
        prefetch_newest(newest, &piece, at + LOOK_AHEAD);
        match outcome {
            Outcome::Kill(_) => kills += 1,
            Outcome::Past(_) => past += 1,
            Outcome::Live => {
                let event = piece.event(at);
                let What::Live(id) = event.what() else {
                    unreachable!("a live entry has a version");
                };
                let Newest { key, birth, position } = &newest[id.place()];
                writer.push_live(piece.key(at), event.birth(), key, *birth, *position)?;
            }
        }
    }
    if kills > 0 {
        writer.begin_section(SectionId::kills(grouping.id, index))?;
        for (at, outcome) in outcomes() {
            if let Outcome::Kill(end) = outcome {
                writer.push_kill(piece.key(at), piece.event(at).birth(), end)?;
            }
        }
    }
    if past > 0 {
        writer.begin_section(SectionId::past(grouping.id, index))?;
        for (at, outcome) in outcomes() {
            if let Outcome::Past(end) = outcome {
                let event = piece.event(at);
                let What::Live(id) = event.what() else {
                    unreachable!("an entry that was born has a version");
                };
                let version = delta.versions().get(id);
                writer.push_past(
                    piece.key(at),
                    event.birth(),
                    end,
                    version.key(),
                    version.birth(),
                    version.position,
                )?;
            }
        }
    }
    Ok(())
}
