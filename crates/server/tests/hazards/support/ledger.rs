//! A history that follows from the height alone.
//!
//! Height 1 makes the index. Every later commit has two operations: one on a unit whose number follows from the height
//! (a version, or its deletion), and one on the unit `last`, which says the height. So whoever sees height h knows every
//! unit that must be there, every index entry and their order; and half a commit cannot hide.

use std::collections::BTreeMap;

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Chain, Content, Height, Result, Scan, Snapshot, VersionKind};
use std::sync::Arc;

pub const GROUPING: &str = "ledger";
pub const INDEX: &str = "bucket";
const UNITS: u64 = 97;
const BUCKETS: u64 = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    height: u64,
    bucket: u64,
    /// When the unit got this bucket: height and place.
    birth: (u64, u32),
}

/// The units that must be there at a height.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    height: u64,
    units: BTreeMap<Vec<u8>, Entry>,
}

fn unit_of(height: u64) -> Vec<u8> {
    format!("unit {:02}", height.wrapping_mul(2_654_435_761) % UNITS).into_bytes()
}

fn bucket_of(height: u64, place: u32) -> u64 {
    (height / 3 + u64::from(place)) % BUCKETS
}

fn content_of(height: u64, place: u32) -> String {
    let pad = "=".repeat((height % 150) as usize);
    format!(r#"{{"height":{height},"bucket":{},"pad":"{pad}"}}"#, bucket_of(height, place))
}

impl Ledger {
    pub fn at(height: u64) -> Ledger {
        let mut ledger = Ledger::default();
        ledger.advance(height);
        ledger
    }

    pub fn height(&self) -> u64 {
        self.height
    }

    /// The height of the unit that was not written for the longest time.
    pub fn oldest_version(&self) -> u64 {
        self.units.values().map(|entry| entry.height).min().unwrap()
    }

    pub fn advance(&mut self, to: u64) {
        assert!(self.height <= to, "height {to} after height {}", self.height);
        while self.height < to {
            self.height += 1;
            if self.height > 1 {
                let height = self.height;
                let unit = unit_of(height);
                if self.deletes(height) {
                    self.units.remove(&unit);
                } else {
                    self.put(unit, height, 0);
                }
                self.put(b"last".to_vec(), height, 1);
            }
        }
    }

    /// Whether the commit after this state deletes its unit.
    fn deletes(&self, height: u64) -> bool {
        height.is_multiple_of(11) && self.units.contains_key(&unit_of(height))
    }

    fn put(&mut self, key: Vec<u8>, height: u64, place: u32) {
        let bucket = bucket_of(height, place);
        let before = self.units.get(&key).filter(|entry| entry.bucket == bucket);
        let birth = before.map_or((height, place), |entry| entry.birth);
        self.units.insert(key, Entry { height, bucket, birth });
    }

    /// Commits the next height.
    pub fn commit_next(&mut self, chain: &Arc<Chain>) -> Result<Height> {
        let grouping = chain.grouping(GROUPING)?;
        let height = self.height + 1;
        let committed = if height == 1 {
            grouping.create_index(INDEX, IndexDefinition::json(INDEX), &mut |_| {})?
        } else {
            let mut transaction = chain.begin();
            if self.deletes(height) {
                transaction.delete(&grouping, &unit_of(height))?;
            } else {
                transaction.put(&grouping, &unit_of(height), Content::json(&content_of(height, 0)))?;
            }
            transaction.put(&grouping, b"last", Content::json(&content_of(height, 1)))?;
            transaction.commit()?.height
        };
        assert_eq!(committed.0, height);
        self.advance(height);
        Ok(committed)
    }

    /// Commits up to a height.
    pub fn commit_to(&mut self, chain: &Arc<Chain>, height: u64) {
        while self.height < height {
            self.commit_next(chain).unwrap();
        }
    }

    /// Checks everything that the snapshot gives: units one by one, all units in order, and the index.
    pub fn check(&self, snapshot: &Snapshot) {
        let height = self.height;
        assert_eq!(snapshot.height().0, height);
        for number in 0..UNITS {
            let key = format!("unit {number:02}").into_bytes();
            let unit = snapshot.get(GROUPING, &key).unwrap().map(|unit| (unit.height.0, unit.content));
            let expected = self.units.get(&key).map(|entry| self.version(&key, entry));
            assert_eq!(unit, expected, "{} at height {height}", String::from_utf8_lossy(&key));
        }
        let units = snapshot.scan(GROUPING, Scan::units()).unwrap().map(Result::unwrap);
        let units: Vec<_> = units.map(|unit| (unit.key, (unit.height.0, unit.content))).collect();
        let expected: Vec<_> = self.units.iter().map(|(key, entry)| (key.clone(), self.version(key, entry))).collect();
        assert_eq!(units, expected, "units in order at height {height}");
        if height > 0 {
            self.check_index(snapshot);
        }
    }

    fn check_index(&self, snapshot: &Snapshot) {
        let mut expected: Vec<_> = self.units.iter().collect();
        expected.sort_by_key(|(_, entry)| (entry.bucket, entry.birth));
        let expected: Vec<_> =
            expected.into_iter().map(|(key, entry)| (key.clone(), self.version(key, entry))).collect();
        let read = |scan: Scan| -> Vec<_> {
            let units = snapshot.scan(GROUPING, scan).unwrap().map(Result::unwrap);
            units
                .map(|unit| {
                    assert_eq!(unit.kind, VersionKind::Json);
                    (unit.key, (unit.height.0, unit.content))
                })
                .collect()
        };
        assert_eq!(read(Scan::index(INDEX)), expected, "the index at height {}", self.height);
        let mut backward = read(Scan::index(INDEX).backward());
        backward.reverse();
        assert_eq!(backward, expected, "the index backward at height {}", self.height);
    }

    fn version(&self, key: &[u8], entry: &Entry) -> (u64, Vec<u8>) {
        let place = u32::from(key == b"last");
        (entry.height, content_of(entry.height, place).into_bytes())
    }
}

/// Checks the newest height and some earlier ones.
pub fn check_all(chain: &Arc<Chain>) {
    let newest = chain.snapshot().unwrap().height().0;
    for height in [newest, newest * 2 / 3, newest / 2, newest / 7] {
        Ledger::at(height).check(&chain.snapshot_at(Height(height)).unwrap());
    }
}
