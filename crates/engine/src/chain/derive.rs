//! From a version and the one before it to what changes in the indexes.
//!
//! ```text
//!   old version: born 7           new version: born 12          changes
//!   city  Bern    (birth 3)       city  Bern                    keeps birth 3: its place among the duplicates stays
//!   age   41                      age   42                      kill (41, 7), live (42, 12)
//!   email a@b                     (none)                        kill (a@b, 7)
//! ```
//!
//! A commit and the replay of its frame both go through here, and so come to the same index.

use super::view::hash_of;
use crate::index::KeySet;
use crate::planted;
use crate::types::{Birth, IndexId};

/// What a new version changes. Keys stand in the key sets that it was derived from.
#[derive(Default)]
pub(crate) struct Changes {
    /// The births of the version's keys, for each index in which one differs from the version's own: as many as it has
    /// keys in that index, in the order of the keys.
    pub(crate) births: Vec<(IndexId, Birth)>,
    /// Entries that are born, as places in the new key set.
    pub(crate) lives: Vec<(IndexId, usize)>,
    /// The hashes of their keys.
    pub(crate) hashes: Vec<u64>,
    /// Entries that end, as places in the old key set.
    pub(crate) kills: Vec<(IndexId, usize, Birth)>,
}

/// The version that is replaced.
#[derive(Clone, Copy)]
pub(crate) struct Old<'a> {
    pub(crate) keys: &'a KeySet,
    pub(crate) birth: Birth,
    pub(crate) births: &'a [(IndexId, Birth)],
}

impl Changes {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.births.clear();
        self.lives.clear();
        self.hashes.clear();
        self.kills.clear();
    }

    /// Derives the changes from `old` to a version with the keys `new`, born at `birth`. Only indexes that `maintained`
    /// lets through take part.
    pub(crate) fn derive(
        &mut self,
        new: &KeySet,
        birth: Birth,
        old: Option<Old<'_>>,
        maintained: impl Fn(IndexId) -> bool,
    ) {
        self.clear();
        let Some(old) = old else {
            for at in 0..new.len() {
                let (index, _) = new.get(at);
                if maintained(index) {
                    self.live(index, new, at);
                }
            }
            return;
        };
        let (mut in_new, mut in_old) = (0, 0);
        while in_new < new.len() || in_old < old.keys.len() {
            let next = |set: &KeySet, at: usize| (at < set.len()).then(|| set.get(at).0);
            let index = match (next(new, in_new), next(old.keys, in_old)) {
                (Some(a), Some(b)) => a.min(b),
                (Some(a), None) | (None, Some(a)) => a,
                (None, None) => unreachable!("one of the sets goes on"),
            };
            let end_of =
                |set: &KeySet, from: usize| (from..set.len()).find(|&at| set.get(at).0 != index).unwrap_or(set.len());
            let (new_end, old_end) = (end_of(new, in_new), end_of(old.keys, in_old));
            if maintained(index) {
                self.derive_index(index, new, in_new..new_end, birth, &old, in_old..old_end);
            }
            (in_new, in_old) = (new_end, old_end);
        }
    }

    fn live(&mut self, index: IndexId, new: &KeySet, at: usize) {
        self.lives.push((index, at));
        self.hashes.push(hash_of(new.get(at).1));
    }

    /// Joins the keys of one index, which both sets hold in order.
    fn derive_index(
        &mut self,
        index: IndexId,
        new: &KeySet,
        mut in_new: std::ops::Range<usize>,
        birth: Birth,
        old: &Old<'_>,
        in_old: std::ops::Range<usize>,
    ) {
        let first_birth = self.births.len();
        let mut kept = false;
        for (nth, at) in in_old.enumerate() {
            let old_key = old.keys.get(at).1;
            let old_birth = birth_of(old.births, old.birth, index, nth);
            while !in_new.is_empty() && new.get(in_new.start).1 < old_key {
                self.live(index, new, in_new.start);
                self.births.push((index, birth));
                in_new.start += 1;
            }
            if !in_new.is_empty() && new.get(in_new.start).1 == old_key {
                if planted::is(planted::Fault::BirthsOutOfOrder) {
                    self.kills.push((index, at, old_birth));
                    self.live(index, new, in_new.start);
                    in_new.start += 1;
                    continue;
                }
                self.births.push((index, old_birth));
                kept = true;
                in_new.start += 1;
            } else {
                self.kills.push((index, at, old_birth));
            }
        }
        for at in in_new {
            self.live(index, new, at);
            self.births.push((index, birth));
        }
        if !kept {
            self.births.truncate(first_birth);
        }
    }
}

/// The birth of the `nth` key that a version, born at `own`, has in `index`.
pub(crate) fn birth_of(births: &[(IndexId, Birth)], own: Birth, index: IndexId, nth: usize) -> Birth {
    let first = births.partition_point(|(id, _)| *id < index);
    match births.get(first + nth) {
        Some((id, birth)) if *id == index => *birth,
        _ => own,
    }
}
