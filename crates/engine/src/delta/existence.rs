//! Is there an entry with this key value? Answered from counts, without sorting what nobody reads.
//!
//! A commit asks about each of its new key values in each delta, and nearly always the answer lies in memory that the
//! processor does not have at hand. So the tables are laid out for it: one cache line holds a key value's counts, and
//! [`Existence::prefetch`] asks for the lines of all key values before the first is read.

use crate::prefetch;
use crate::types::IndexId;

/// What a delta did to one key value of one index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Entries born in this delta and not ended in it.
    pub(crate) live: u32,
    /// Entries born before this delta and ended in it.
    pub(crate) killed: u32,
}

/// The counts of a delta, by index and hash of the key.
#[derive(Default)]
pub(crate) struct Existence {
    indexes: Vec<(IndexId, Table)>,
}

impl Existence {
    /// An empty one with room for as much, since tables that grow are slow.
    pub(crate) fn empty_of_same_size(&self) -> Existence {
        Existence { indexes: self.indexes.iter().map(|(id, table)| (*id, Table::for_keys(table.keys))).collect() }
    }

    /// Counts an entry that is born here.
    pub(crate) fn born(&mut self, index: IndexId, hash: u64) {
        self.counts(index, hash).live += 1;
    }

    /// Counts the end of an entry; `here`: it was born in this delta.
    pub(crate) fn ended(&mut self, index: IndexId, hash: u64, here: bool) {
        let counts = self.counts(index, hash);
        if here {
            counts.live -= 1;
        } else {
            counts.killed += 1;
        }
    }

    /// Forgets an index: its grouping was cleared.
    pub(crate) fn forget(&mut self, index: IndexId) {
        if let Ok(at) = self.place(index) {
            self.indexes.remove(at);
        }
    }

    /// Asks for what [`Existence::of`] will read.
    pub(crate) fn prefetch(&self, index: IndexId, hash: u64) {
        if let Ok(at) = self.place(index) {
            self.indexes[at].1.prefetch(hash);
        }
    }

    /// What this delta did to the key value. Different key values with one hash are counted together: never an entry
    /// less than there are.
    pub(crate) fn of(&self, index: IndexId, hash: u64) -> Counts {
        self.place(index).map_or_else(|_| Counts::default(), |at| self.indexes[at].1.get(hash))
    }

    /// Bytes of all tables.
    pub(crate) fn bytes(&self) -> usize {
        self.indexes.iter().map(|(_, table)| size_of_val(table.slots.as_slice())).sum()
    }

    fn counts(&mut self, index: IndexId, hash: u64) -> &mut Counts {
        let at = match self.place(index) {
            Ok(at) => at,
            Err(at) => {
                self.indexes.insert(at, (index, Table::for_keys(0)));
                at
            }
        };
        self.indexes[at].1.get_or_insert(hash)
    }

    fn place(&self, index: IndexId) -> Result<usize, usize> {
        self.indexes.binary_search_by_key(&index, |(id, _)| *id)
    }
}

/// A hash table from hashes to counts, with open addressing. It only grows.
struct Table {
    /// A power of two of them.
    slots: Vec<Slot>,
    keys: usize,
}

/// Four of them fill a cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Slot {
    /// 0 in a free slot.
    hash: u64,
    counts: Counts,
}

const FEWEST_SLOTS: usize = 16;

impl Table {
    fn for_keys(keys: usize) -> Table {
        // At most 3 of 4 slots are taken.
        let slots = (keys + keys / 3 + 1).next_power_of_two().max(FEWEST_SLOTS);
        Table { slots: vec![Slot::default(); slots], keys: 0 }
    }

    fn prefetch(&self, hash: u64) {
        prefetch::line(&self.slots[self.home(hash)]);
    }

    fn get(&self, hash: u64) -> Counts {
        self.slots[self.find(hash)].counts
    }

    fn get_or_insert(&mut self, hash: u64) -> &mut Counts {
        let mut at = self.find(hash);
        if self.slots[at].hash == 0 {
            if 4 * (self.keys + 1) > 3 * self.slots.len() {
                self.grow();
                at = self.find(hash);
            }
            self.slots[at].hash = taken(hash);
            self.keys += 1;
        }
        &mut self.slots[at].counts
    }

    fn grow(&mut self) {
        let mut larger = Table { slots: vec![Slot::default(); 2 * self.slots.len()], keys: self.keys };
        for slot in self.slots.iter().filter(|slot| slot.hash != 0) {
            let at = larger.find(slot.hash);
            larger.slots[at] = *slot;
        }
        *self = larger;
    }

    fn home(&self, hash: u64) -> usize {
        taken(hash) as usize & (self.slots.len() - 1)
    }

    /// The slot of a hash, or the free one where it would be.
    fn find(&self, hash: u64) -> usize {
        let hash = taken(hash);
        let mut at = self.home(hash);
        while self.slots[at].hash != hash && self.slots[at].hash != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }
}

/// The hash as it stands in a slot: never 0.
fn taken(hash: u64) -> u64 {
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_a_map() {
        let mut existence = Existence::default();
        let mut model = std::collections::HashMap::<(u32, u64), Counts>::new();
        let mut state = 1_u64;
        for step in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (index, hash) = ((state >> 60) as u32, (state >> 40) % 5000 + 1);
            let counts = model.entry((index, hash)).or_default();
            if step % 3 == 0 && counts.live > 0 {
                counts.live -= 1;
                existence.ended(IndexId(index), hash, true);
            } else if step % 7 == 0 {
                counts.killed += 1;
                existence.ended(IndexId(index), hash, false);
            } else {
                counts.live += 1;
                existence.born(IndexId(index), hash);
            }
        }
        for index in 0..16 {
            for hash in 1..=5000 {
                let expected = model.get(&(index, hash)).copied().unwrap_or_default();
                assert_eq!(existence.of(IndexId(index), hash), expected);
            }
        }
        assert_eq!(existence.empty_of_same_size().of(IndexId(3), 1), Counts::default());
        existence.forget(IndexId(3));
        assert!((0..5000).all(|hash| existence.of(IndexId(3), hash) == Counts::default()));
    }
}
