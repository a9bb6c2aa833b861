//! The stretch of an ordering that a scan covers.

use super::merged::Start;
use crate::scan::{Cursor, Scan};
use crate::types::Birth;

/// Bounds, direction, and the entry after which to go on.
#[derive(Clone)]
pub(crate) struct Range {
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    pub(crate) backward: bool,
    resume: Option<Cursor>,
}

impl Range {
    /// The range of a request.
    pub(crate) fn of(scan: &Scan) -> Range {
        Range { from: scan.from.clone(), to: scan.to.clone(), backward: scan.backward, resume: scan.resume.clone() }
    }

    /// All of an ordering, forward.
    pub(crate) fn all() -> Range {
        Range { from: None, to: None, backward: false, resume: None }
    }

    /// All of an ordering, backward.
    pub(crate) fn all_backward() -> Range {
        Range { backward: true, ..Range::all() }
    }

    /// The entries with exactly this key, forward.
    pub(crate) fn of_key(key: &[u8]) -> Range {
        let mut to = key.to_vec();
        to.push(0);
        Range { from: Some(key.to_vec()), to: Some(to), backward: false, resume: None }
    }

    /// Where to begin in an index.
    pub(crate) fn start_of_index(&self) -> Start<'_> {
        match (&self.resume, self.backward) {
            (Some(cursor), false) if self.is_inside(cursor) => Start::At(&cursor.key, cursor.birth.next()),
            (Some(cursor), true) if self.is_inside(cursor) => Start::Before(&cursor.key, cursor.birth),
            _ => self.start_of_bounds(Birth::MIN),
        }
    }

    /// Where to begin in an ordering of units: a cursor's unit is passed with all its versions. `after` is room for the
    /// key that follows.
    pub(crate) fn start_of_units<'a>(&'a self, after: &'a mut Vec<u8>) -> Start<'a> {
        match (&self.resume, self.backward) {
            (Some(cursor), false) if self.is_inside(cursor) => {
                after.clone_from(&cursor.key);
                after.push(0);
                Start::At(after, Birth::MAX)
            }
            (Some(cursor), true) if self.is_inside(cursor) => Start::Before(&cursor.key, Birth::MAX),
            _ => self.start_of_bounds(Birth::MAX),
        }
    }

    /// `first`: the birth that comes first among those of one key.
    fn start_of_bounds(&self, first: Birth) -> Start<'_> {
        if self.backward {
            self.to.as_ref().map_or(Start::Last, |to| Start::Before(to, first))
        } else {
            self.from.as_ref().map_or(Start::First, |from| Start::At(from, first))
        }
    }

    /// Whether the range goes on at `key`: the bound that the direction leads to.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        if self.backward {
            self.from.as_deref().is_none_or(|from| from <= key)
        } else {
            self.to.as_deref().is_none_or(|to| key < to)
        }
    }

    /// Whether an entry of an index is in the range, and comes after the one at which to go on.
    pub(crate) fn covers(&self, key: &[u8], birth: Birth) -> bool {
        let inside =
            self.from.as_deref().is_none_or(|from| from <= key) && self.to.as_deref().is_none_or(|to| key < to);
        let after = |cursor: &Cursor| {
            let (entry, cursor) = ((key, birth), (cursor.key.as_slice(), cursor.birth));
            if self.backward { entry < cursor } else { entry > cursor }
        };
        inside && self.resume.as_ref().is_none_or(after)
    }

    /// Goes on after an entry.
    pub(crate) fn resume_after(&mut self, cursor: Cursor) {
        self.resume = Some(cursor);
    }

    /// A cursor outside of the bounds must not lead a scan out of them.
    fn is_inside(&self, cursor: &Cursor) -> bool {
        if self.backward {
            self.to.as_ref().is_none_or(|to| cursor.key < *to)
        } else {
            self.from.as_ref().is_none_or(|from| *from <= cursor.key)
        }
    }
}
