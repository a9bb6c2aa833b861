//! The versions that a delta holds, and the way from a unit key to the newest of them.

use hashbrown::HashTable;
use smallvec::SmallVec;

use super::NewVersion;
use crate::sync::RwLock;
use crate::sync::atomic::{AtomicU32, Ordering as Atomic};
use crate::types::{Birth, GroupingId, Height, IndexId, Position, VersionKind};

/// The place of a version in its delta's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionId(u32);

const NONE: u32 = u32::MAX;

impl VersionId {
    /// The version's place in [`Versions::newest`].
    pub(crate) fn place(self) -> usize {
        self.0 as usize
    }

    pub(super) fn to_bits(self) -> u32 {
        self.0
    }

    pub(super) fn from_bits(bits: u32) -> VersionId {
        VersionId(bits)
    }
}

/// One version of one unit.
pub(crate) struct Version {
    key: SmallVec<[u8; 24]>,
    height: Height,
    place: u32,
    successor: AtomicU32,
    pub(crate) position: Position,
    hash: u64,
    previous: u32,
    pub(crate) grouping: GroupingId,
    pub(crate) kind: VersionKind,
    births: Box<[(IndexId, Birth)]>,
}

/// The newest version of a unit in a delta that takes no more. One cache line, for keys that are not long.
#[repr(align(64))]
pub(crate) struct Newest {
    pub(crate) key: SmallVec<[u8; 24]>,
    pub(crate) birth: Birth,
    pub(crate) position: Position,
}

impl Version {
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(crate) fn birth(&self) -> Birth {
        Birth::new(self.height, self.place)
    }

    /// The births of the unit's key values, where they differ from the version's own.
    pub(crate) fn births(&self) -> &[(IndexId, Birth)] {
        &self.births
    }
}

/// A longer way back through the versions of one unit is left to the sorted ordering.
const STEPS: usize = 64;

/// What a look-up by unit key finds.
pub(crate) enum Found<'a> {
    /// The newest version at or below the height.
    Version(&'a Version),
    /// No version here is at or below the height.
    Nothing,
    /// The unit has very many newer versions: search its ordering.
    Far,
}

/// An append-only table that is read without locks, and a hash table over the newest version of each unit.
pub(crate) struct Versions {
    table: boxcar::Vec<Version>,
    newest: RwLock<HashTable<u32>>,
}

impl Versions {
    pub(super) fn new() -> Versions {
        Versions { table: boxcar::Vec::new(), newest: RwLock::new(HashTable::new()) }
    }

    pub(super) fn add(&self, new: &NewVersion<'_>) -> VersionId {
        // The table says where it puts the version; one thread at a time writes, so the next place is its length.
        let id = u32::try_from(self.table.count()).unwrap_or(NONE);
        assert!(id < NONE, "a delta is frozen long before it has 2^32 versions");
        let mut newest = self.newest.write();
        let slot = newest.find_mut(new.hash, |&at| self.is(at, new.hash, new.grouping, new.key));
        let previous = slot.as_ref().map_or(NONE, |at| **at);
        let place = self.table.push(Version {
            key: SmallVec::from_slice(new.key),
            height: new.birth.height,
            place: new.birth.place,
            successor: AtomicU32::new(NONE),
            position: new.position,
            hash: new.hash,
            previous,
            grouping: new.grouping,
            kind: new.kind,
            births: new.births.into(),
        });
        assert!(place == id as usize, "one thread at a time writes to a delta");
        match slot {
            Some(at) => {
                self.table[*at as usize].successor.store(id, Atomic::Release);
                *at = id;
            }
            None => {
                newest.insert_unique(new.hash, id, |&at| self.table[at as usize].hash);
            }
        }
        VersionId(id)
    }

    /// The version that an event of this delta names.
    pub(crate) fn get(&self, id: VersionId) -> &Version {
        &self.table[id.0 as usize]
    }

    /// For each version, in the order of their ids, the newest one of the same unit: what a run says of entries that live.
    /// Side by side, since they are read in the order of keys, which leads all over the place.
    pub(crate) fn newest(&self) -> Vec<Newest> {
        let ids = 0..self.table.count();
        ids.map(|id| {
            let newest = self.newest_of(VersionId(id as u32));
            Newest { key: newest.key.clone(), birth: newest.birth(), position: newest.position }
        })
        .collect()
    }

    fn newest_of(&self, id: VersionId) -> &Version {
        let mut version = self.get(id);
        loop {
            let successor = version.successor.load(Atomic::Acquire);
            if successor == NONE {
                return version;
            }
            version = &self.table[successor as usize];
        }
    }

    /// Whether the unit was written again after the version `id`.
    pub(crate) fn has_successor(&self, id: VersionId) -> bool {
        self.get(id).successor.load(Atomic::Acquire) != NONE
    }

    /// The newest version of a unit at or below height `at`.
    pub(crate) fn find(&self, grouping: GroupingId, key: &[u8], hash: u64, at: Height) -> Found<'_> {
        let newest = self.newest.read().find(hash, |&id| self.is(id, hash, grouping, key)).copied();
        let Some(mut id) = newest else {
            return Found::Nothing;
        };
        for _ in 0..STEPS {
            let version = &self.table[id as usize];
            if version.height <= at {
                return Found::Version(version);
            }
            if version.previous == NONE {
                return Found::Nothing;
            }
            id = version.previous;
        }
        Found::Far
    }

    fn is(&self, id: u32, hash: u64, grouping: GroupingId, key: &[u8]) -> bool {
        let version = &self.table[id as usize];
        version.hash == hash && *version.key == *key && version.grouping == grouping
    }
}
