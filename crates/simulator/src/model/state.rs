//! What is true at one height.

use std::collections::BTreeMap;
use std::sync::Arc;

use libimmuxdb::{Birth, Height};

use super::content::{Content, IndexSpec, Key};

/// A unit key.
pub type UnitKey = Vec<u8>;

/// One change, as a commit holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A unit gets a content.
    Put(UnitKey, Content),
    /// A unit ceases to be.
    Delete(UnitKey),
    /// All units of the grouping cease to be.
    Clear,
    /// An index comes to be, over the units that are there.
    CreateIndex(String, IndexSpec),
    /// An index ceases to be.
    DropIndex(String),
}

/// The state of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The groupings that have been written to.
    pub groupings: BTreeMap<String, Arc<Grouping>>,
}

impl State {
    /// Makes one change, which is number `birth.place` of the commit at `birth.height`.
    pub fn apply(&mut self, birth: Birth, grouping: &str, operation: &Operation) {
        let entry = self.groupings.entry(grouping.to_owned()).or_default();
        Arc::make_mut(entry).apply(birth, operation);
    }
}

/// A grouping: its units, and its indexes over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The units that exist.
    pub units: BTreeMap<UnitKey, Unit>,
    /// The indexes that exist.
    pub indexes: BTreeMap<String, Arc<Index>>,
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// When this version was written.
    pub birth: Birth,
    /// What was written.
    pub content: Content,
}

/// An index: which units it has, by which key, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// What was asked for.
    pub spec: IndexSpec,
    /// The height of its creation.
    pub since: Height,
    /// For each unit that it has: its key and birth.
    entries: BTreeMap<UnitKey, (Key, Birth)>,
}

impl Index {
    /// An index over units that are there: their entries are as old as the versions.
    pub fn over(units: &BTreeMap<UnitKey, Unit>, spec: &IndexSpec, since: Height) -> Index {
        let entries = units
            .iter()
            .filter_map(|(key, unit)| Some((key.clone(), (spec.key(&unit.content)?, unit.birth))))
            .collect();
        Index { spec: spec.clone(), since, entries }
    }

    /// A unit got a content. It keeps its place if its key is as before, else it goes behind all others of that key.
    fn put(&mut self, unit: &UnitKey, content: &Content, birth: Birth) {
        match (self.spec.key(content), self.entries.get(unit)) {
            (Some(key), Some((old, _))) if key == *old => {}
            (Some(key), _) => {
                self.entries.insert(unit.clone(), (key, birth));
            }
            (None, _) => {
                self.entries.remove(unit);
            }
        }
    }

    /// The entries in the index's order: by key, and by birth where keys are equal.
    pub fn in_order(&self) -> Vec<(&Key, Birth, &UnitKey)> {
        let mut entries: Vec<_> = self.entries.iter().map(|(unit, (key, birth))| (key, *birth, unit)).collect();
        entries.sort();
        entries
    }

    /// Whether `unit` would be the second to get `key`.
    pub fn is_refused(&self, key: &Key, unit: &UnitKey) -> bool {
        self.entries.iter().any(|(other, (held, _))| held == key && other != unit)
    }
}

impl Grouping {
    fn apply(&mut self, birth: Birth, operation: &Operation) {
        match operation {
            Operation::Put(key, content) => {
                self.units.insert(key.clone(), Unit { birth, content: content.clone() });
                for index in self.indexes.values_mut() {
                    Arc::make_mut(index).put(key, content, birth);
                }
            }
            Operation::Delete(key) => {
                self.units.remove(key);
                for index in self.indexes.values_mut() {
                    Arc::make_mut(index).entries.remove(key);
                }
            }
            Operation::Clear => {
                self.units.clear();
                for index in self.indexes.values_mut() {
                    Arc::make_mut(index).entries.clear();
                }
            }
            Operation::CreateIndex(name, spec) => {
                let index = Index::over(&self.units, spec, birth.height);
                self.indexes.insert(name.clone(), Arc::new(index));
            }
            Operation::DropIndex(name) => {
                self.indexes.remove(name);
            }
        }
    }

    /// The unique indexes that forbid `content` for unit `key`, because another unit has that index key.
    pub fn forbidding_indexes(&self, key: &UnitKey, content: &Content) -> Vec<String> {
        let forbids = |index: &Index| {
            let index_key = index.spec.key(content).filter(|_| index.spec.unique);
            index_key.is_some_and(|index_key| index.is_refused(&index_key, key))
        };
        self.indexes.iter().filter(|(_, index)| forbids(index)).map(|(name, _)| name.clone()).collect()
    }
}
