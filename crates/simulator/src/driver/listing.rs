//! A scan as somebody asks for it, and the list that the model says it gives.

use std::cmp::Ordering;

use libimmuxdb::{Birth, Height, VersionKind};

use crate::model::{Grouping, Index, IndexSpec, Key, Unit, UnitKey, compare_to_bound};

/// One end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    From,
    After,
    To,
    Through,
    Prefix,
}

impl Edge {
    pub const ALL: [Edge; 5] = [Edge::From, Edge::After, Edge::To, Edge::Through, Edge::Prefix];

    /// Whether it lets keys through that lie so to its bound.
    fn admits(self, side: Ordering) -> bool {
        match self {
            Edge::From => side.is_ge(),
            Edge::After => side.is_gt(),
            Edge::To => side.is_lt(),
            Edge::Through => side.is_le(),
            Edge::Prefix => side.is_eq(),
        }
    }
}

/// What is listed, within what bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ordered {
    ByUnitKey(Vec<(Edge, UnitKey)>),
    ByIndex(String, Vec<(Edge, Key)>),
}

/// A scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listing {
    pub ordered: Ordered,
    pub backward: bool,
    pub limit: Option<u64>,
    pub keys_only: bool,
    /// The entry after which to go on.
    pub resume: Option<Place>,
}

impl Listing {
    /// All units.
    pub fn units() -> Listing {
        let ordered = Ordered::ByUnitKey(Vec::new());
        Listing { ordered, backward: false, limit: None, keys_only: false, resume: None }
    }

    /// All units that an index has.
    pub fn index(name: &str) -> Listing {
        Listing { ordered: Ordered::ByIndex(name.to_owned(), Vec::new()), ..Listing::units() }
    }

    /// The other way round.
    pub fn backward(self) -> Listing {
        Listing { backward: true, ..self }
    }
}

/// Where an entry stands in its ordering.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    OfUnit(UnitKey),
    OfEntry(Key, Birth),
}

/// A unit that a scan gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub key: UnitKey,
    pub height: Height,
    pub kind: VersionKind,
    pub content: Vec<u8>,
    pub birth: Birth,
    /// Where it stood, to go on from.
    pub place: Place,
}

/// The list of a scan, and whether its index could be used.
pub(super) struct Expected {
    pub units: Vec<Found>,
    pub used_index: bool,
}

/// What the model lists. `current` is the index as it is defined now; at a height before it was created, the engine
/// sorts all units instead; so it does where it cannot know the index (`usable`).
pub(super) fn expected(
    grouping: &Grouping,
    at: Height,
    listing: &Listing,
    current: Option<&Index>,
    usable: bool,
) -> Expected {
    let (mut units, used_index) = match &listing.ordered {
        Ordered::ByUnitKey(bounds) => (by_unit_key(grouping, bounds), true),
        Ordered::ByIndex(name, bounds) => match (grouping.indexes.get(name), current) {
            (Some(index), Some(current)) if current.since <= at => (by_index(grouping, index, bounds), usable),
            (_, Some(current)) => (by_index(grouping, &sorted(grouping, &current.spec), bounds), false),
            (_, None) => (Vec::new(), false),
        },
    };
    if listing.backward {
        units.reverse();
    }
    if let Some(resume) = &listing.resume {
        let passed = |found: &Found| if listing.backward { found.place >= *resume } else { found.place <= *resume };
        units.retain(|found| !passed(found));
    }
    if let Some(limit) = listing.limit {
        units.truncate(limit as usize);
    }
    if listing.keys_only {
        units.iter_mut().for_each(|found| found.content.clear());
    }
    Expected { units, used_index }
}

fn sorted(grouping: &Grouping, spec: &IndexSpec) -> Index {
    Index::over(&grouping.units, spec, Height::ZERO)
}

fn by_unit_key(grouping: &Grouping, bounds: &[(Edge, UnitKey)]) -> Vec<Found> {
    let admitted = |key: &UnitKey| bounds.iter().all(|(edge, bound)| edge.admits(compare_to_bound(key, bound)));
    let units = grouping.units.iter().filter(|(key, _)| admitted(key));
    units.map(|(key, unit)| found(key, unit, unit.birth, Place::OfUnit(key.clone()))).collect()
}

fn by_index(grouping: &Grouping, index: &Index, bounds: &[(Edge, Key)]) -> Vec<Found> {
    let admitted = |key: &Key| bounds.iter().all(|(edge, bound)| edge.admits(compare_to_bound(key, bound)));
    let entries = index.in_order().into_iter().filter(|(key, _, _)| admitted(key));
    entries
        .map(|(key, birth, unit)| found(unit, &grouping.units[unit], birth, Place::OfEntry(key.clone(), birth)))
        .collect()
}

fn found(key: &UnitKey, unit: &Unit, birth: Birth, place: Place) -> Found {
    Found {
        key: key.clone(),
        height: unit.birth.height,
        kind: unit.content.kind,
        content: unit.content.bytes.to_vec(),
        birth,
        place,
    }
}
