//! Is there an entry with this key value? Answered from counts, without sorting what nobody reads.

use hashbrown::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
    indexes: Vec<(IndexId, Counted)>,
}

type Counted = HashMap<u64, Counts, BuildHasherDefault<Hashed>>;

impl Existence {
    /// An empty one with room for as much, since tables that grow are slow.
    pub(crate) fn empty_of_same_size(&self) -> Existence {
        let emptied = |(id, counted): &(IndexId, Counted)| {
            (*id, Counted::with_capacity_and_hasher(counted.len(), BuildHasherDefault::default()))
        };
        Existence { indexes: self.indexes.iter().map(emptied).collect() }
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

    /// What this delta did to the key value. Different key values with one hash are counted together: never an entry
    /// less than there are.
    pub(crate) fn of(&self, index: IndexId, hash: u64) -> Counts {
        match self.place(index) {
            Ok(at) => self.indexes[at].1.get(&hash).copied().unwrap_or_default(),
            Err(_) => Counts::default(),
        }
    }

    fn counts(&mut self, index: IndexId, hash: u64) -> &mut Counts {
        let at = match self.place(index) {
            Ok(at) => at,
            Err(at) => {
                self.indexes.insert(at, (index, Counted::default()));
                at
            }
        };
        self.indexes[at].1.entry(hash).or_default()
    }

    fn place(&self, index: IndexId) -> Result<usize, usize> {
        self.indexes.binary_search_by_key(&index, |(id, _)| *id)
    }
}

/// The keys are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole hashes are looked up");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
