//! Stretches of an index in which every entry is dead, so that scans can leap over them.
//!
//! A queue is the case in point: units become `NEW` and then `DONE`, and each reader asks for the first `NEW`. The
//! entries that ended stand before it until a merge takes them away; walking over all of them again and again would make
//! the millionth step cost a million. So a scan that walked over many dead entries remembers the stretch:
//!
//! ```text
//!   NEW: ✝ ✝ ✝ ✝ ✝ ✝ ✝ ✝ ✝ ✝ ✝ ✝ ✝ · · ·
//!        └──── dead since 812 ────┘ ↑ the next scan goes on here
//! ```
//!
//! What is dead at a height is dead at every later one, so a stretch holds from the height at which its last entry ended.
//! Only an entry that is born inside of it could make it wrong, and then it is cut in two. Within one key value that
//! cannot be, since a new entry has the newest birth. A stretch over several key values is remembered only if no commit
//! was applied since the scan's height; a commit that is applied later finds the stretch and cuts it.

use std::collections::{BTreeMap, HashMap};

use crate::planted;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering as Atomic};
use crate::types::{Birth, GroupingId, Height, IndexId};

/// A place in the order of an index.
pub(crate) type Place = (Vec<u8>, Birth);

/// Dead entries from its start up to, but not including, `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) end: Place,
    /// From this height on all of them are dead.
    pub(crate) since: Height,
}

/// Stretches of one index that are remembered at most.
const MOST: usize = 256;

type Stretches = BTreeMap<Place, Stretch>;

/// The stretches of all indexes of a chain.
#[derive(Default)]
pub(crate) struct DeadStretches {
    indexes: Mutex<HashMap<(GroupingId, IndexId), Stretches>>,
    /// How many there are, so that those who need none take no lock.
    count: AtomicUsize,
    /// The newest height whose entries are being added, or were.
    applying: AtomicU64,
}

impl DeadStretches {
    /// Entries of the commit at `height` are going to be added.
    pub(crate) fn apply(&self, height: Height) {
        self.applying.store(height.0, Atomic::SeqCst);
    }

    /// An entry was added.
    pub(crate) fn born(&self, grouping: GroupingId, index: IndexId, key: &[u8], birth: Birth) {
        if self.count.load(Atomic::SeqCst) == 0 || planted::is(planted::Fault::DeadStretchKept) {
            return;
        }
        let mut indexes = self.indexes.lock();
        let Some(stretches) = indexes.get_mut(&(grouping, index)) else {
            return;
        };
        let place = (key.to_vec(), birth);
        let Some((start, stretch)) = around(stretches, &place) else {
            return;
        };
        stretches.remove(&start);
        let after = (place.0.clone(), birth.next());
        if start < place {
            stretches.insert(start, Stretch { end: place, since: stretch.since });
        }
        if after < stretch.end {
            stretches.insert(after, stretch);
        }
        self.count.store(indexes.values().map(BTreeMap::len).sum(), Atomic::SeqCst);
    }

    /// The stretch around a place in which all is dead at height `at`, and its start.
    pub(crate) fn around(
        &self,
        grouping: GroupingId,
        index: IndexId,
        place: &Place,
        at: Height,
    ) -> Option<(Place, Stretch)> {
        if self.count.load(Atomic::Relaxed) == 0 {
            return None;
        }
        let indexes = self.indexes.lock();
        around(indexes.get(&(grouping, index))?, place).filter(|(_, stretch)| stretch.since <= at)
    }

    /// Remembers that a scan at height `at` found all entries from `start` to before `stretch.end` dead.
    pub(crate) fn remember(&self, grouping: GroupingId, index: IndexId, start: Place, stretch: Stretch, at: Height) {
        let mut indexes = self.indexes.lock();
        let one_key = start.0 == stretch.end.0;
        let stretches = indexes.entry((grouping, index)).or_default();
        let covered: Vec<Place> = stretches
            .range(start.clone()..stretch.end.clone())
            .filter(|(_, inner)| inner.end <= stretch.end && inner.since <= stretch.since)
            .map(|(start, _)| start.clone())
            .collect();
        for start in covered {
            stretches.remove(&start);
        }
        if stretches.len() >= MOST {
            stretches.pop_first();
        }
        stretches.insert(start.clone(), stretch);
        self.count.store(indexes.values().map(BTreeMap::len).sum(), Atomic::SeqCst);
        // Whoever applies a commit says so before it adds entries, and looks here after: one of us sees the other.
        if !one_key
            && self.applying.load(Atomic::SeqCst) > at.0
            && let Some(stretches) = indexes.get_mut(&(grouping, index))
        {
            stretches.remove(&start);
        }
    }
}

fn around(stretches: &Stretches, place: &Place) -> Option<(Place, Stretch)> {
    let (start, stretch) = stretches.range(..=place.clone()).next_back()?;
    (*place < stretch.end).then(|| (start.clone(), stretch.clone()))
}

/// The dead entries that a scan has walked over without a living one between.
#[derive(Default)]
pub(crate) struct DeadWalk {
    /// The first and the last in the order of the index, whatever the scan's direction.
    ends: Option<(Place, Place)>,
    since: Height,
    walked: u32,
}

/// Fewer dead entries are walked over as fast as leapt over.
const WORTH_REMEMBERING: u32 = 32;

impl DeadWalk {
    /// The scan came to a dead entry; `since`: the height at which it ended.
    pub(crate) fn step(&mut self, key: &[u8], birth: Birth, since: Height, backward: bool) {
        self.walked += 1;
        self.since = self.since.max(since);
        match &mut self.ends {
            None => self.ends = Some(((key.to_vec(), birth), (key.to_vec(), birth))),
            Some((first, last)) => {
                let end = if backward { first } else { last };
                end.0.clear();
                end.0.extend_from_slice(key);
                end.1 = birth;
            }
        }
    }

    /// The scan leapt over a stretch.
    pub(crate) fn leap(&mut self, start: &Place, stretch: &Stretch) {
        self.since = self.since.max(stretch.since);
        let last = || (stretch.end.0.clone(), stretch.end.1);
        match &mut self.ends {
            None => self.ends = Some((start.clone(), last())),
            Some((first, end)) => {
                if *start < *first {
                    *first = start.clone();
                }
                if stretch.end > *end {
                    *end = last();
                }
            }
        }
    }

    /// The scan is past the dead entries. Gives what is worth remembering.
    pub(crate) fn end(&mut self) -> Option<(Place, Stretch)> {
        let walk = std::mem::take(self);
        let (start, last) = walk.ends?;
        let end = (last.0, last.1.next());
        (walk.walked >= WORTH_REMEMBERING).then_some((start, Stretch { end, since: walk.since }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: GroupingId = GroupingId(1);
    const I: IndexId = IndexId(1);

    fn place(key: &str, height: u64) -> Place {
        (key.as_bytes().to_vec(), Birth::new(Height(height), 0))
    }

    fn stretch(key: &str, height: u64, since: u64) -> Stretch {
        Stretch { end: place(key, height), since: Height(since) }
    }

    #[test]
    fn a_stretch_holds_from_its_height_on() {
        let dead = DeadStretches::default();
        dead.remember(G, I, place("a", 1), stretch("a", 9, 20), Height(25));
        assert_eq!(dead.around(G, I, &place("a", 5), Height(19)), None);
        assert!(dead.around(G, I, &place("a", 5), Height(20)).is_some());
        assert_eq!(dead.around(G, I, &place("a", 9), Height(20)), None);
        assert_eq!(dead.around(G, IndexId(2), &place("a", 5), Height(20)), None);
    }

    #[test]
    fn an_entry_that_is_born_inside_cuts_it_in_two() {
        let dead = DeadStretches::default();
        dead.remember(G, I, place("a", 1), stretch("c", 9, 20), Height(25));
        dead.apply(Height(26));
        dead.born(G, I, b"b", Birth::new(Height(26), 0));
        assert!(dead.around(G, I, &place("b", 25), Height(30)).is_some());
        assert_eq!(dead.around(G, I, &place("b", 26), Height(30)), None);
        assert!(dead.around(G, I, &place("b", 27), Height(30)).is_some());
    }

    #[test]
    fn a_stretch_over_several_keys_is_forgotten_if_a_commit_came_between() {
        let dead = DeadStretches::default();
        dead.apply(Height(26));
        dead.remember(G, I, place("a", 1), stretch("c", 9, 20), Height(25));
        assert_eq!(dead.around(G, I, &place("b", 1), Height(30)), None);
        dead.remember(G, I, place("a", 1), stretch("a", 9, 20), Height(25));
        assert!(dead.around(G, I, &place("a", 2), Height(30)).is_some());
    }
}
