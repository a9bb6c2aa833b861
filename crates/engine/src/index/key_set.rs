//! The keys of one unit.

use crate::types::IndexId;

use super::fields::Span;

/// The keys that a unit has in the indexes of its grouping: ordered by index, then key, each once.
///
/// Made to be used again and again: nothing is allocated for a unit once it has grown. An index may have several keys of a unit.
#[derive(Debug, Default)]
pub struct KeySet {
    /// The keys' bytes, in the order in which they came.
    pub(super) bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Where the wanted fields stand: the extractor's scratch space.
    pub(super) spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    index: IndexId,
    start: u32,
    end: u32,
}

impl KeySet {
    /// An empty set.
    #[must_use]
    pub fn new() -> KeySet {
        KeySet::default()
    }

    /// Takes all keys out.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All keys, ordered by index, then key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (IndexId, &[u8])> {
        self.entries.iter().map(|entry| (entry.index, self.key(entry)))
    }

    /// The key at a place in the order of [`KeySet::iter`].
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn get(&self, place: usize) -> (IndexId, &[u8]) {
        let entry = &self.entries[place];
        (entry.index, self.key(entry))
    }

    /// The keys in one index, in order.
    pub fn of(&self, index: IndexId) -> impl ExactSizeIterator<Item = &[u8]> {
        let start = self.entries.partition_point(|entry| entry.index < index);
        let rest = &self.entries[start..];
        let count = rest.iter().take_while(|entry| entry.index == index).count();
        rest[..count].iter().map(|entry| self.key(entry))
    }

    /// Whether an index has this key.
    #[must_use]
    pub fn contains(&self, index: IndexId, key: &[u8]) -> bool {
        self.of(index).any(|other| other == key)
    }

    /// Adds a key.
    pub fn insert(&mut self, index: IndexId, key: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.close(index, start);
    }

    /// Makes the bytes from `start` on a key. At the end when indexes come in order, as they do.
    #[inline]
    pub(super) fn close(&mut self, index: IndexId, start: usize) {
        let entry = Entry {
            index,
            start: start as u32,
            end: u32::try_from(self.bytes.len())
                .unwrap_or_else(|_| unreachable!("1024 keys of 128 KiB are below 4 GiB")),
        };
        if self.entries.last().is_none_or(|last| last.index < index) {
            self.entries.push(entry);
            return;
        }
        let order = |other: &Entry| (other.index, self.key(other)).cmp(&(index, self.key(&entry)));
        match self.entries.binary_search_by(order) {
            Ok(_) => self.bytes.truncate(start),
            Err(place) => self.entries.insert(place, entry),
        }
    }

    fn key(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start as usize..entry.end as usize]
    }
}
