//! Random reads, each compared with the model.

use std::collections::VecDeque;

use libimmuxdb::{Cursor, Error, Height, Scan, Snapshot, Unit, Units};

use super::listing::{Edge, Expected, Found, Listing, Ordered, Place, expected};
use super::vocabulary::{INDEXES, Vocabulary};
use super::{Driver, Outcome, translate};
use crate::model::{Grouping, Index, UnitKey};
use crate::random::Random;

/// What is held from one operation to later ones, within a life.
#[derive(Default)]
pub(super) struct Held {
    snapshots: Vec<Snapshot>,
    scans: Vec<RunningScan>,
    pauses: Vec<Pause>,
}

/// A scan that is not at its end.
struct RunningScan {
    units: Units,
    rest: VecDeque<Found>,
    by_index: bool,
}

/// A scan that ended at its limit, to be resumed with its cursor.
struct Pause {
    grouping: &'static str,
    /// The creation of its index, if it goes by one.
    since: Option<Height>,
    listing: Listing,
    cursor: Cursor,
}

const MOST_HELD: usize = 4;

/// Puts a thing among others of which few are kept.
fn hold<T>(held: &mut Vec<T>, thing: T) {
    if held.len() == MOST_HELD {
        held.remove(0);
    }
    held.push(thing);
}

impl Driver {
    /// One read, or something else that changes no file.
    pub(super) fn read(&mut self) -> Outcome {
        type Kind = fn(&mut Driver) -> Outcome;
        let kind: Kind = self.random.weighted(&[
            (10, Driver::get as Kind),
            (20, Driver::scan),
            (5, Driver::resume),
            (5, Driver::step_scan),
            (4, Driver::count),
            (5, Driver::inspect_some),
            (4, Driver::take_snapshot),
            (3, Driver::look_at_times),
            (3, Driver::check_proofs),
            (2, Driver::list_names),
            (2, Driver::read_elsewhere),
            (1, Driver::write_elsewhere),
        ]);
        kind(self)
    }

    /// Does a read. One that fails because something failed below it gives nothing.
    pub(super) fn reading<T>(
        &mut self,
        what: &str,
        read: impl FnOnce() -> libimmuxdb::Result<T>,
    ) -> Outcome<Option<T>> {
        let misfortunes = self.disk.misfortunes();
        match read() {
            Ok(value) => {
                self.coverage.count(what);
                Ok(Some(value))
            }
            Err(_) if self.disk.misfortunes() > misfortunes || self.disk.stopped() || self.is_writer_dead() => {
                self.coverage.count(format!("{what}: failed"));
                Ok(None)
            }
            Err(Error::Damaged { .. }) if self.may_meet_damage() => {
                self.coverage.count(format!("{what}: damage is met"));
                Ok(None)
            }
            Err(Error::Poisoned(_) | Error::IndexMissing { .. }) if self.is_poisoned() => {
                self.coverage.count(format!("{what}: refused after an I/O error"));
                Ok(None)
            }
            Err(error) => Err(format!("{what} fails: {error}")),
        }
    }

    /// A snapshot: of now, one that is held, or of any height.
    fn some_snapshot(&mut self) -> Outcome<Snapshot> {
        let newest = self.ledger.model.height();
        match self.random.below(10) {
            0..5 => self.snapshot_at(newest),
            5..7 if !self.held.snapshots.is_empty() => Ok(self.random.pick(&self.held.snapshots).clone()),
            _ => {
                let height = Height(self.random.below(newest.0 + 1));
                self.snapshot_at(height)
            }
        }
    }

    pub(super) fn snapshot_at(&self, height: Height) -> Outcome<Snapshot> {
        self.chain().snapshot_at(height).map_err(|error| format!("there is no snapshot at height {height}: {error}"))
    }

    fn take_snapshot(&mut self) -> Outcome {
        let snapshot = self.some_snapshot()?;
        hold(&mut self.held.snapshots, snapshot);
        let newest = self.chain().height();
        let beyond = Height(newest.0 + 1 + self.random.below(3));
        match self.chain().snapshot_at(beyond) {
            Err(Error::HeightUnknown { .. }) => Ok(()),
            Err(error) => Err(format!("a snapshot beyond height {newest} gives another error: {error}")),
            Ok(_) => Err(format!("there is a snapshot at height {beyond}, beyond {newest}")),
        }
    }

    fn get(&mut self) -> Outcome {
        let name = self.grouping_name();
        let key = self.some_key(name);
        if self.random.chance(50) {
            let grouping = self.grouping(name)?;
            let found = self.reading("get", || grouping.get(&key))?;
            let height = self.ledger.model.height();
            return found.map_or(Ok(()), |found| self.compare_unit(name, height, &key, found));
        }
        let snapshot = self.some_snapshot()?;
        let found = self.reading("get at a height", || snapshot.get(name, &key))?;
        found.map_or(Ok(()), |found| self.compare_unit(name, snapshot.height(), &key, found))
    }

    fn compare_unit(&self, name: &str, at: Height, key: &UnitKey, found: Option<Unit>) -> Outcome {
        let expected = self.ledger.model.at(at).groupings.get(name).and_then(|grouping| grouping.units.get(key));
        let same = match (&found, expected) {
            (None, None) => true,
            (Some(unit), Some(expected)) => {
                unit.key == *key
                    && unit.height == expected.birth.height
                    && unit.birth == expected.birth
                    && unit.kind == expected.content.kind
                    && *unit.content == *expected.content.bytes
                    && unit.index_key.is_empty()
            }
            _ => false,
        };
        if same {
            Ok(())
        } else {
            let key = String::from_utf8_lossy(key);
            Err(format!("unit {key:?} of {name:?} at height {at} is {}, not {expected:?}", show(found.as_ref())))
        }
    }

    /// A scan of anything in any way.
    fn some_listing(&mut self, name: &str) -> Listing {
        let (random, vocabulary) = (&mut self.random, self.vocabulary);
        let newest = self.ledger.model.newest().groupings.get(name);
        let indexes: Vec<_> = newest.map(|grouping| grouping.indexes.iter().collect()).unwrap_or_default();
        let edges = random.weighted(&[(4, 0), (4, 1), (2, 2)]);
        let ordered = if indexes.is_empty() || random.chance(30) {
            let bound = |_| (*random.pick(&Edge::ALL), shortened(random, vocabulary));
            Ordered::ByUnitKey((0..edges).map(bound).collect())
        } else {
            let (index, known) = indexes[random.index(indexes.len())];
            let bound = |_| (*random.pick(&Edge::ALL), vocabulary.bound(random, &known.spec));
            Ordered::ByIndex(index.clone(), (0..edges).map(bound).collect())
        };
        Listing {
            ordered,
            backward: random.chance(50),
            limit: random.chance(40).then(|| random.below(12)),
            keys_only: random.chance(20),
            resume: None,
        }
    }

    fn scan(&mut self) -> Outcome {
        let name = self.grouping_name();
        if self.random.chance(5) {
            return self.scan_by_no_index(name);
        }
        let listing = self.some_listing(name);
        let snapshot = self.some_snapshot()?;
        if self.random.chance(15) {
            return self.begin_scan(name, &snapshot, listing);
        }
        let cursor = self.compare_scan(name, &snapshot, &listing, None)?;
        if let (Some((cursor, place)), true) = (cursor, listing.limit.is_some()) {
            let since = self.index_of(name, &listing).map(|index| index.since);
            let listing = Listing { resume: Some(place), ..listing };
            hold(&mut self.held.pauses, Pause { grouping: name, since, listing, cursor });
        }
        Ok(())
    }

    fn scan_by_no_index(&mut self, name: &str) -> Outcome {
        let newest = self.ledger.model.newest().groupings.get(name);
        let index = *self.random.pick(&INDEXES);
        if newest.is_none_or(|grouping| grouping.indexes.contains_key(index)) {
            return Ok(());
        }
        let grouping = self.grouping(name)?;
        let fails = match grouping.scan(Scan::index(index)) {
            Err(Error::IndexMissing { .. }) => return Ok(()),
            // A definition whose commit failed may be known all the same.
            _ if self.is_wounded() => return Ok(()),
            Err(error) => error.to_string(),
            Ok(_) => "a scan".to_owned(),
        };
        Err(format!("a scan by index {index:?}, which is not there, gives {fails}"))
    }

    /// The index that a listing uses, as it is now.
    fn index_of(&self, name: &str, listing: &Listing) -> Option<&Index> {
        let Ordered::ByIndex(index, _) = &listing.ordered else {
            return None;
        };
        self.ledger.model.newest().groupings.get(name)?.indexes.get(index).map(|index| &**index)
    }

    fn expected(&self, name: &str, at: Height, listing: &Listing) -> Expected {
        self.expected_with(name, at, listing, true)
    }

    fn expected_with(&self, name: &str, at: Height, listing: &Listing, usable: bool) -> Expected {
        let nothing = Grouping::default();
        let grouping = self.ledger.model.at(at).groupings.get(name).map_or(&nothing, |grouping| grouping);
        expected(grouping, at, listing, self.index_of(name, listing), usable)
    }

    /// The engine's form of a scan.
    fn scan_of(&self, name: &str, listing: &Listing, cursor: Option<Cursor>) -> Outcome<Scan> {
        let mut scan = match &listing.ordered {
            Ordered::ByUnitKey(bounds) => {
                bounds.iter().fold(Scan::units(), |scan, (edge, bound)| bounded(scan, *edge, bound.clone()))
            }
            Ordered::ByIndex(index, bounds) => {
                let Some(known) = self.index_of(name, listing) else {
                    return Ok(Scan::index(index));
                };
                bounds.iter().try_fold(Scan::index(index), |scan, (edge, bound)| {
                    let bytes = translate::key_bytes(&known.spec, bound);
                    bytes.map(|bytes| bounded(scan, *edge, bytes)).map_err(|error| format!("no key bytes: {error}"))
                })?
            }
        };
        if listing.backward {
            scan = scan.backward();
        }
        if listing.keys_only {
            scan = scan.keys_only();
        }
        if let Some(limit) = listing.limit {
            scan = scan.limit(limit);
        }
        if let Some(cursor) = cursor {
            // As whoever hands it over a network would.
            let cursor =
                Cursor::from_bytes(&cursor.to_bytes()).map_err(|error| format!("a cursor is lost: {error}"))?;
            scan = scan.resume(cursor);
        }
        Ok(scan)
    }

    /// Scans to the end and compares. Gives the cursor at the end, and the place of the last unit.
    pub(super) fn compare_scan(
        &mut self,
        name: &str,
        snapshot: &Snapshot,
        listing: &Listing,
        cursor: Option<Cursor>,
    ) -> Outcome<Option<(Cursor, Place)>> {
        let must_use_index = !self.is_wounded();
        self.compare_scan_of(name, snapshot, listing, cursor, must_use_index)
    }

    /// As `compare_scan`, for those who may not have heard yet that an index is filled.
    pub(super) fn compare_scan_of(
        &mut self,
        name: &str,
        snapshot: &Snapshot,
        listing: &Listing,
        cursor: Option<Cursor>,
        must_use_index: bool,
    ) -> Outcome<Option<(Cursor, Place)>> {
        let at = snapshot.height();
        if !self.can_tell(name, at, listing) {
            return Ok(None);
        }
        let scan = self.scan_of(name, listing, cursor)?;
        let read = self.reading("scan", || {
            let mut units = snapshot.scan(name, scan)?;
            let found: libimmuxdb::Result<Vec<Unit>> = units.by_ref().collect();
            Ok((found?, units.used_index(), units.cursor().cloned()))
        })?;
        let Some((found, used_index, cursor)) = read else {
            return Ok(None);
        };
        let expected = self.expected_with(name, at, listing, used_index || must_use_index);
        let context = || format!("scan of {name:?} at height {at} ({listing:?})");
        let spec = self.index_of(name, listing).map(|index| &index.spec);
        let mut pairs = found.iter().zip(&expected.units);
        if let Some((unit, expected)) = pairs.find(|(unit, expected)| !is_same(unit, expected)) {
            return Err(format!("{} gives {}, not {}", context(), show(Some(unit)), show_found(expected)));
        }
        if found.len() != expected.units.len() {
            let more = expected.units.get(found.len()).map_or_else(
                || format!("and then {}", show(found.get(expected.units.len()))),
                |missing| format!("and then not {}", show_found(missing)),
            );
            return Err(format!("{} gives {} units, not {}: {more}", context(), found.len(), expected.units.len()));
        }
        if let Some(spec) = spec {
            for (unit, expected) in found.iter().zip(&expected.units) {
                let Place::OfEntry(key, _) = &expected.place else { continue };
                if translate::key_bytes(spec, key).is_ok_and(|bytes| bytes != unit.index_key) {
                    return Err(format!(
                        "{} gives {} with another index key than {key:?}",
                        context(),
                        show(Some(unit))
                    ));
                }
            }
        }
        let must_use = expected.used_index && must_use_index;
        if used_index != expected.used_index && !found.is_empty() && (must_use || !expected.used_index) {
            return Err(format!("{} says that it used its index: {used_index}", context()));
        }
        if !expected.used_index {
            self.coverage.count("scan without its index");
        }
        Ok(cursor.zip(expected.units.last().map(|last| last.place.clone())))
    }

    /// Before a grouping came to be, it has no indexes to scan by.
    fn can_tell(&self, name: &str, at: Height, listing: &Listing) -> bool {
        matches!(listing.ordered, Ordered::ByUnitKey(_)) || self.ledger.model.at(at).groupings.contains_key(name)
    }

    fn begin_scan(&mut self, name: &str, snapshot: &Snapshot, listing: Listing) -> Outcome {
        if !self.can_tell(name, snapshot.height(), &listing) {
            return Ok(());
        }
        let scan = self.scan_of(name, &listing, None)?;
        let Some(units) = self.reading("scan held open", || snapshot.scan(name, scan))? else {
            return Ok(());
        };
        let rest = self.expected(name, snapshot.height(), &listing).units.into();
        let by_index = matches!(listing.ordered, Ordered::ByIndex(..));
        hold(&mut self.held.scans, RunningScan { units, rest, by_index });
        self.step_scan()
    }

    /// Goes on with a scan that others' writes have overtaken.
    fn step_scan(&mut self) -> Outcome {
        if self.held.scans.is_empty() {
            return Ok(());
        }
        let nth = self.random.index(self.held.scans.len());
        let mut scan = self.held.scans.remove(nth);
        for _ in 0..self.random.below(6) {
            let Some(step) = self.reading("step of a scan", || scan.units.next().transpose())? else {
                return Ok(());
            };
            match (step, scan.rest.pop_front()) {
                (None, None) => return Ok(()),
                (Some(unit), Some(expected)) if is_same(&unit, &expected) => {}
                (unit, expected) => {
                    let expected = expected.as_ref().map_or_else(|| "its end".to_owned(), show_found);
                    let kind = if scan.by_index { "an index" } else { "unit key" };
                    return Err(format!("a scan by {kind} goes on with {}, not {expected}", show(unit.as_ref())));
                }
            }
        }
        self.held.scans.push(scan);
        Ok(())
    }

    /// Resumes a scan where it was, after whatever has been written since.
    fn resume(&mut self) -> Outcome {
        if self.held.pauses.is_empty() {
            return Ok(());
        }
        let nth = self.random.index(self.held.pauses.len());
        let Pause { grouping, since, listing, cursor } = self.held.pauses.remove(nth);
        if since != self.index_of(grouping, &listing).map(|index| index.since) {
            // The index is gone, or is another one by now.
            return Ok(());
        }
        let snapshot = self.snapshot_at(self.ledger.model.height())?;
        self.coverage.count("resumed scan");
        self.compare_scan(grouping, &snapshot, &listing, Some(cursor)).map(|_| ())
    }

    fn count(&mut self) -> Outcome {
        let name = self.grouping_name();
        let listing = self.some_listing(name);
        let snapshot = self.some_snapshot()?;
        if !self.can_tell(name, snapshot.height(), &listing) {
            return Ok(());
        }
        let scan = self.scan_of(name, &listing, None)?;
        let Some(count) = self.reading("count", || snapshot.count(name, scan))? else {
            return Ok(());
        };
        let expected = self.expected(name, snapshot.height(), &listing).units.len() as u64;
        if count == expected {
            return Ok(());
        }
        Err(format!("count of {name:?} at height {} ({listing:?}) is {count}, not {expected}", snapshot.height()))
    }

    fn inspect_some(&mut self) -> Outcome {
        let name = self.grouping_name();
        let key = self.some_key(name);
        self.inspect(name, &key)
    }

    fn look_at_times(&mut self) -> Outcome {
        let height = Height(self.random.below(self.ledger.model.height().0 + 1));
        self.check_time(height)
    }

    fn list_names(&mut self) -> Outcome {
        if self.is_wounded() {
            return Ok(());
        }
        self.check_names()
    }
}

/// A prefix of a key, half of the time.
fn shortened(random: &mut Random, vocabulary: Vocabulary) -> UnitKey {
    let mut key = vocabulary.unit_key(random);
    if random.chance(50) {
        key.truncate(random.index(key.len() + 1));
    }
    key
}

fn bounded(scan: Scan, edge: Edge, bound: Vec<u8>) -> Scan {
    match edge {
        Edge::From => scan.from(bound),
        Edge::After => scan.after(bound),
        Edge::To => scan.to(bound),
        Edge::Through => scan.through(bound),
        Edge::Prefix => scan.prefix(bound),
    }
}

fn is_same(unit: &Unit, expected: &Found) -> bool {
    unit.key == expected.key
        && unit.height == expected.height
        && unit.kind == expected.kind
        && unit.content == expected.content
        && unit.birth == expected.birth
}

fn show(unit: Option<&Unit>) -> String {
    match unit {
        None => "nothing".to_owned(),
        Some(unit) => {
            let key = String::from_utf8_lossy(&unit.key[..unit.key.len().min(40)]).into_owned();
            let (height, birth) = (unit.height, unit.birth);
            format!(
                "unit {key:?} of height {height}, born {}.{}, {} bytes",
                birth.height,
                birth.place,
                unit.content.len()
            )
        }
    }
}

fn show_found(found: &Found) -> String {
    let key = String::from_utf8_lossy(&found.key[..found.key.len().min(40)]).into_owned();
    let (height, birth) = (found.height, found.birth);
    format!("unit {key:?} of height {height}, born {}.{}, {} bytes", birth.height, birth.place, found.content.len())
}
