//! The comparison of all that can be read with the model.

use libimmuxdb::{Height, VersionKind};

use super::listing::Listing;
use super::vocabulary::GROUPINGS;
use super::{Driver, Outcome};
use crate::model::UnitKey;

/// Earlier heights that a check looks at.
const PAST_HEIGHTS: u64 = 3;
/// The units of a large grouping.
const LARGE: u64 = 200;

impl Driver {
    /// Compares the newest height in full, some earlier ones, and the history of the units.
    pub(super) fn check_everything(&mut self) -> Outcome {
        let newest = self.ledger.model.height();
        self.say(|| format!("-- compare everything at height {newest}"));
        self.check_names()?;
        self.check_unique()?;
        self.check_height(newest)?;
        for _ in 0..PAST_HEIGHTS {
            let height = Height(self.random.below(newest.0 + 1));
            self.check_height(height)?;
            self.check_time(height)?;
        }
        self.check_history()?;
        self.check_proofs()
    }

    /// Compares all orderings of all groupings at a height, in both directions.
    fn check_height(&mut self, at: Height) -> Outcome {
        let snapshot = self.snapshot_at(at)?;
        for name in GROUPINGS {
            let newest = self.ledger.model.newest().groupings.get(name);
            let indexes: Vec<_> = newest.map(|grouping| grouping.indexes.keys().cloned().collect()).unwrap_or_default();
            let listings = std::iter::once(Listing::units()).chain(indexes.iter().map(|index| Listing::index(index)));
            // Large groupings are looked at in part.
            let units = newest.map_or(0, |grouping| grouping.units.len() as u64);
            let percent = if units < LARGE { 100 } else { 25 };
            for listing in listings {
                for listing in [listing.clone(), listing.backward()] {
                    if self.random.chance(percent) {
                        self.compare_scan(name, &snapshot, &listing, None)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares the versions of some units: of all that exist, now and then.
    fn check_history(&mut self) -> Outcome {
        for name in GROUPINGS {
            let units = self.ledger.model.newest().groupings.get(name).map(|grouping| &grouping.units);
            let keys: Vec<_> = units.map(|units| units.keys().cloned().collect()).unwrap_or_default();
            let percent =
                if keys.len() as u64 >= LARGE { 2 } else { *self.random.pick(&[100, 10, 10, 10, 10, 10, 10, 10]) };
            for key in keys {
                if self.random.chance(percent) {
                    self.inspect(name, &key)?;
                }
            }
        }
        Ok(())
    }

    /// Compares the versions of a unit.
    pub(super) fn inspect(&mut self, name: &str, key: &UnitKey) -> Outcome {
        let grouping = self.grouping(name)?;
        let read = self.reading("inspect", || grouping.inspect(key)?.collect::<libimmuxdb::Result<Vec<_>>>())?;
        let Some(found) = read else {
            return Ok(());
        };
        let mut expected = self.ledger.model.versions(name, key);
        expected.reverse();
        let shown = String::from_utf8_lossy(key);
        if found.len() != expected.len() {
            let heights: Vec<_> = found.iter().map(|version| version.height.0).collect();
            let right: Vec<_> = expected.iter().map(|version| version.height.0).collect();
            return Err(format!("unit {shown:?} of {name:?} has versions at {heights:?}, not {right:?}"));
        }
        for (found, expected) in found.iter().zip(&expected) {
            let (kind, bytes) = match &expected.content {
                Some(content) => (content.kind, &*content.bytes),
                None => (VersionKind::Deleted, &[][..]),
            };
            if found.height != expected.height || found.kind != kind || found.content != bytes {
                return Err(format!(
                    "unit {shown:?} of {name:?} has a version {:?} at {}, not {expected:?}",
                    found.kind, found.height
                ));
            }
            if !self.ledger.model.learn_time(found.height, found.time) {
                return Err(format!("the commit at {} has another time than before: {:?}", found.height, found.time));
            }
        }
        Ok(())
    }

    /// A commit has one time for ever, no later one has an earlier time, and the time leads back to the height.
    pub(super) fn check_time(&mut self, height: Height) -> Outcome {
        if height == Height::ZERO {
            return Ok(());
        }
        let snapshot = self.snapshot_at(height)?;
        let Some(time) = self.reading("time of a height", || snapshot.time())? else {
            return Ok(());
        };
        if !self.ledger.model.learn_time(height, time) {
            return Err(format!("the commit at {height} has another time than before: {time:?}"));
        }
        let model = &self.ledger.model;
        let heights = (1..=model.height().0).map(Height);
        let known: Vec<_> = heights.filter_map(|height| model.commit_at(height).time).collect();
        if !known.is_sorted() {
            return Err(format!("time runs backwards in the log, near height {height}"));
        }
        let chain = std::sync::Arc::clone(self.chain());
        let Some(found) = self.reading("height of a time", || chain.height_at(time))? else {
            return Ok(());
        };
        // The newest height of that time: other commits may have happened in the same microsecond.
        let Some(same) = self.reading("time of a height", || chain.time_of(found))? else {
            return Ok(());
        };
        if found < height || same != time {
            return Err(format!("time {time:?} of height {height} leads to height {found}, of {same:?}"));
        }
        Ok(())
    }

    /// No crash may leave an index that is to be unique and is not.
    fn check_unique(&self) -> Outcome {
        for (name, grouping) in &self.ledger.model.newest().groupings {
            for (index_name, index) in grouping.indexes.iter().filter(|(_, index)| index.spec.unique) {
                let entries = index.in_order();
                if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    return Err(format!(
                        "the unique index {index_name:?} of {name:?} has {:?} twice, for {:?} and {:?}",
                        pair[0].0, pair[0].2, pair[1].2
                    ));
                }
            }
        }
        Ok(())
    }

    /// Groupings and indexes are there by name.
    pub(super) fn check_names(&mut self) -> Outcome {
        let state = self.ledger.model.newest();
        let mut found: Vec<_> = self.chain().groupings().into_iter().map(|grouping| grouping.name).collect();
        found.sort();
        let expected: Vec<_> = state.groupings.keys().cloned().collect();
        if found != expected {
            return Err(format!("there are the groupings {found:?}, not {expected:?}"));
        }
        for (name, grouping) in &state.groupings {
            let mut found: Vec<_> =
                self.grouping(name)?.indexes().into_iter().map(|index| (index.name, index.since)).collect();
            found.sort();
            let expected: Vec<_> = grouping.indexes.iter().map(|(name, index)| (name.clone(), index.since)).collect();
            if found != expected {
                return Err(format!("grouping {name:?} has the indexes {found:?}, not {expected:?}"));
            }
        }
        Ok(())
    }
}
