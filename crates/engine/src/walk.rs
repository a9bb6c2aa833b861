//! A walk along an ordering while commits go on.
//!
//! A scan reads the chain at one height. A walk stands *between* units, takes its steps in either direction, and at each
//! step sees the chain as it is then: that is what a program means that reads the next record, changes it, and reads on.
//!
//! ```text
//!   ordering     Bern 3    Brno 1    Brno 7    Graz 2
//!                              ▲                          stands behind (Brno, 1), even when that entry ends
//!   next     ->  Brno 7, or what has come to be between since
//!   previous ->  what is before (Brno, 1) now
//! ```
//!
//! Beginning a scan costs a search in each sorted piece, so a walk begins anew only when it must. Entries that *ended*
//! since its scan began are noticed when their unit is looked up, which has to be done anyway. Only when an entry *came to
//! be* in the ordering, the scan cannot know of it, and another one begins at the same place.

use std::sync::Arc;

use crate::chain::{Chain, IndexScan, Range, Start, UnitScan, VersionFound, hash_of};
use crate::error::{Error, Result};
use crate::grouping::Grouping;
use crate::types::{Birth, Height, IndexId, Position, VersionKind};

/// Where a walk is to stand, and which way it goes from there. In the ordering by unit key births do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek<'a> {
    /// Before everything; forward.
    First,
    /// Behind everything; backward.
    Last,
    /// Before the entry with this key and birth, or before where it would be; forward.
    From(&'a [u8], Birth),
    /// Behind it; forward.
    After(&'a [u8], Birth),
    /// Behind it; backward.
    Through(&'a [u8], Birth),
    /// Before it; backward.
    Before(&'a [u8], Birth),
}

impl Seek<'_> {
    fn backward(&self) -> bool {
        matches!(self, Seek::Last | Seek::Through(..) | Seek::Before(..))
    }

    fn start_of_index(&self) -> Start<'_> {
        match *self {
            Seek::First => Start::First,
            Seek::Last => Start::Last,
            Seek::From(key, birth) => Start::At(key, birth),
            Seek::After(key, birth) => Start::At(key, birth.next()),
            Seek::Through(key, birth) => Start::Before(key, birth.next()),
            Seek::Before(key, birth) => Start::Before(key, birth),
        }
    }

    /// Of a unit the newest version comes first. `room` is for the key that follows.
    fn start_of_units<'a>(&'a self, room: &'a mut Vec<u8>) -> Start<'a> {
        let mut following = |key: &[u8]| {
            room.clear();
            room.extend_from_slice(key);
            room.push(0);
        };
        match *self {
            Seek::First => Start::First,
            Seek::Last => Start::Last,
            Seek::From(key, _) => Start::At(key, Birth::MAX),
            Seek::Before(key, _) => Start::Before(key, Birth::MAX),
            Seek::After(key, _) => {
                following(key);
                Start::At(room, Birth::MAX)
            }
            Seek::Through(key, _) => {
                following(key);
                Start::Before(room, Birth::MAX)
            }
        }
    }
}

enum Source {
    Units(UnitScan),
    Index(IndexScan),
}

/// A walk along a grouping's units by unit key, or by an index whose units have one key each (a raw one).
pub struct Walk {
    chain: Arc<Chain>,
    grouping: Arc<str>,
    index: Option<String>,
    source: Option<Source>,
    /// The height at which `source` reads.
    height: Height,
    /// The entry at which the last step arrived.
    key: Vec<u8>,
    birth: Birth,
    position: Position,
    room: Vec<u8>,
    backward: bool,
    /// Where the next step begins, with `key` and `birth`, if not where the last one ended.
    pending: Option<Place>,
}

/// A [`Seek`] whose key and birth are elsewhere.
#[derive(Clone, Copy)]
enum Place {
    First,
    Last,
    From,
    After,
    Through,
    Before,
}

impl Place {
    fn with(self, key: &[u8], birth: Birth) -> Seek<'_> {
        match self {
            Place::First => Seek::First,
            Place::Last => Seek::Last,
            Place::From => Seek::From(key, birth),
            Place::After => Seek::After(key, birth),
            Place::Through => Seek::Through(key, birth),
            Place::Before => Seek::Before(key, birth),
        }
    }
}

impl Walk {
    /// A walk by unit key.
    #[must_use]
    pub fn by_unit_key(grouping: &Grouping) -> Walk {
        Walk::new(grouping, None)
    }

    /// A walk by an index.
    ///
    /// # Errors
    /// [`Error::IndexMissing`]; [`Error::Invalid`] for an index by JSON fields, or one that is still being filled.
    pub fn by_index(grouping: &Grouping, index: &str) -> Result<Walk> {
        let info = grouping.index(index)?;
        if !matches!(info.definition.source, crate::index::KeySource::Raw(_)) || !info.ready {
            return Err(Error::Invalid(format!("index {index:?} is not a raw one, or not ready: use a scan")));
        }
        Ok(Walk::new(grouping, Some(index.to_owned())))
    }

    fn new(grouping: &Grouping, index: Option<String>) -> Walk {
        Walk {
            chain: Arc::clone(grouping.chain()),
            grouping: grouping.name().into(),
            index,
            source: None,
            height: Height::ZERO,
            key: Vec::new(),
            birth: Birth::MIN,
            position: Position::default(),
            room: Vec::new(),
            backward: false,
            pending: Some(Place::First),
        }
    }

    /// Goes to a place, from which [`Walk::step`] goes on. A new walk is at [`Seek::First`].
    pub fn seek(&mut self, to: Seek<'_>) {
        let (place, entry) = match to {
            Seek::First => (Place::First, None),
            Seek::Last => (Place::Last, None),
            Seek::From(key, birth) => (Place::From, Some((key, birth))),
            Seek::After(key, birth) => (Place::After, Some((key, birth))),
            Seek::Through(key, birth) => (Place::Through, Some((key, birth))),
            Seek::Before(key, birth) => (Place::Before, Some((key, birth))),
        };
        self.pending = Some(place);
        if let Some((key, birth)) = entry {
            self.key.clear();
            self.key.extend_from_slice(key);
            self.birth = birth;
        }
    }

    /// Steps over the next unit in the direction of the last [`Walk::seek`]; `false` where there is none (now: a unit that
    /// comes to be there later is found by a later step). Key, birth and content are those of that unit, until `seek`.
    ///
    /// # Errors
    /// [`Error::IndexMissing`]; [`Error::Damaged`], [`Error::Io`].
    pub fn step(&mut self) -> Result<bool> {
        let now = self.chain.height();
        let outdated = self.is_outdated(now);
        if self.pending.is_some() || outdated {
            let on = if self.backward { Place::Before } else { Place::After };
            let place = self.pending.unwrap_or(on);
            let key = std::mem::take(&mut self.key);
            let placed = self.place(place.with(&key, self.birth), outdated);
            self.key = key;
            placed?;
            self.pending = None;
        }
        let shared = self.chain.shared();
        loop {
            match &mut self.source {
                None => return Ok(false),
                Some(Source::Units(scan)) => {
                    let Some(mut found) = scan.next()? else {
                        return Ok(false);
                    };
                    if now > self.height {
                        match shared.view().unit(scan.grouping(), scan.key(), now)? {
                            Some(newest) => found = newest,
                            None => continue,
                        }
                    }
                    self.key.clear();
                    self.key.extend_from_slice(scan.key());
                    self.birth = found.birth;
                    self.position = found.position;
                    return Ok(true);
                }
                Some(Source::Index(scan)) => {
                    if !scan.next()? {
                        return Ok(false);
                    }
                    let position = if now > self.height {
                        let entry = scan.entry();
                        match shared.view().unit(scan.grouping(), &entry.unit_key, now)? {
                            Some(newest) if has_birth(&newest, scan.index(), entry.birth) => newest.position,
                            _ => continue,
                        }
                    } else {
                        scan.version()?.1
                    };
                    let entry = scan.entry();
                    self.key.clear();
                    self.key.extend_from_slice(&entry.key);
                    self.birth = entry.birth;
                    self.position = position;
                    return Ok(true);
                }
            }
        }
    }

    /// The key of the unit over which the last step went: its index key, or its unit key.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// When that unit got the index key; in the ordering by unit key, when its version was written.
    #[must_use]
    pub fn birth(&self) -> Birth {
        self.birth
    }

    /// That unit's own key.
    #[must_use]
    pub fn unit_key(&self) -> &[u8] {
        match &self.source {
            Some(Source::Index(scan)) => &scan.entry().unit_key,
            _ => &self.key,
        }
    }

    /// Gives that unit's content to `visit`, without copying it where the log's bytes are at hand.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn content<T>(&self, visit: impl FnOnce(&[u8]) -> T) -> Result<T> {
        self.chain.shared().visit_content(self.position, self.unit_key(), visit)
    }

    /// Whether something came to be in the ordering since the scan began.
    fn is_outdated(&self, now: Height) -> bool {
        let index = match &self.source {
            None => return false,
            Some(Source::Units(_)) => IndexId::UNITS,
            Some(Source::Index(scan)) => scan.index(),
        };
        now > self.height && self.chain.shared().arrivals.since(index, self.height)
    }

    fn place(&mut self, at: Seek<'_>, outdated: bool) -> Result<()> {
        self.backward = at.backward();
        match &mut self.source {
            Some(Source::Units(scan)) if !outdated => scan.restart(at.start_of_units(&mut self.room), self.backward),
            Some(Source::Index(scan)) if !outdated => scan.restart(at.start_of_index(), self.backward),
            _ => self.begin(at),
        }
    }

    fn begin(&mut self, at: Seek<'_>) -> Result<()> {
        self.source = None;
        let shared = self.chain.shared();
        self.height = self.chain.height();
        let Some(grouping) = shared.catalog.read().grouping(&self.grouping) else {
            return Ok(());
        };
        let range = if at.backward() { Range::all_backward() } else { Range::all() };
        self.source = Some(match &self.index {
            None => {
                Source::Units(UnitScan::from(shared, grouping, self.height, range, at.start_of_units(&mut self.room))?)
            }
            Some(name) => {
                let (grouping, index, _) = shared.index_for_read(&grouping, name, self.height)?;
                let start = at.start_of_index();
                Source::Index(IndexScan::from(shared, grouping, index.id, self.height, range, start)?)
            }
        });
        Ok(())
    }
}

/// Whether the unit's one key in an index has this birth in this version: the entry lives.
fn has_birth(version: &VersionFound, index: IndexId, birth: Birth) -> bool {
    let own = version.births.iter().find(|(id, _)| *id == index);
    own.map_or(version.birth, |(_, birth)| *birth) == birth && version.kind != VersionKind::Deleted
}

/// A unit's content, where only a look at it is needed.
impl Grouping {
    /// Gives the content of a unit as it is now to `visit`; `None` when there is no such unit.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn visit<T>(&self, key: &[u8], visit: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let chain = self.chain();
        chain.refresh()?;
        let shared = chain.shared();
        let Some(grouping) = shared.catalog.read().grouping(self.name()) else {
            return Ok(None);
        };
        let view = shared.view();
        match view.version(&grouping, key, hash_of(key), chain.height(), usize::MAX)? {
            Some(version) if version.kind != VersionKind::Deleted => {
                shared.visit_content(version.position, key, visit).map(Some)
            }
            _ => Ok(None),
        }
    }
}
