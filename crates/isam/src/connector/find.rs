//! READ by a key, and START.

use libimmuxdb::{Birth, Seek};

use super::position::{Position, copy};
use super::{Connector, Read};
use crate::failure::Failure;
use crate::file::engine;
use crate::status::Status;

/// What START looks for, by the key value in the record area (or its first bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first record with that value.
    Equal,
    /// The first record above it.
    Greater,
    /// The first record with that value or above.
    NotLess,
    /// The last record below it.
    Less,
    /// The last record with that value or below.
    NotGreater,
    /// The first record of all.
    First,
    /// The last record of all.
    Last,
}

impl Connector {
    /// READ by a key, which becomes the key of reference. Of duplicates it reads the first.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NotInput`], [`Status::IoError`].
    pub fn read_key(&mut self, key: usize, area: &mut [u8]) -> Result<Read, Failure> {
        self.begin_operation();
        self.check_reads()?;
        self.take_value(key, area)?;
        self.reference = key;
        self.position = Position::Unknown;
        let Some(open) = &mut self.open else {
            return Err(Status::Missing.into());
        };
        open.renew().map_err(engine)?;
        open.walking = None;
        let found = if key == 0 {
            let len = open.records.visit(&self.value, |record| copy(record, area)).map_err(engine)?;
            self.beside.birth = Birth::MIN;
            len.map(|len| (len, self.value.clone()))
        } else {
            let walk = open.walk(key).map_err(engine)?;
            walk.seek(Seek::From(&self.value, Birth::MIN));
            if walk.step().map_err(engine)? && walk.key() == self.value {
                let len = walk.content(|record| copy(record, area)).map_err(engine)?;
                self.beside.birth = walk.birth();
                Some((len, walk.unit_key().to_vec()))
            } else {
                None
            }
        };
        let Some((len, primary)) = found else {
            return Err(Status::Missing.into());
        };
        self.beside.key.clone_from(&self.value);
        self.position = Position::Read;
        self.read_last = Some(primary);
        self.was_read(len, area.len())
    }

    /// START: finds a record, without reading it, at which the next [`Connector::read_next`] begins in either direction.
    /// The key becomes the key of reference. Only the first `key_len` bytes of its values are compared; 0 stands for all.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NotInput`], [`Status::IoError`].
    pub fn start(&mut self, relation: Relation, key: usize, key_len: usize, area: &[u8]) -> Result<Status, Failure> {
        self.begin_operation();
        self.check_reads()?;
        if matches!(relation, Relation::First | Relation::Last) {
            self.key(key)?;
        } else {
            self.take_value(key, area)?;
            if key_len > 0 {
                self.value.truncate(key_len);
            }
        }
        self.reference = key;
        self.position = Position::Unknown;
        let Some(open) = &mut self.open else {
            return Err(Status::Missing.into());
        };
        open.renew().map_err(engine)?;
        open.walking = None;
        let walk = open.walk(key).map_err(engine)?;
        let value = self.value.as_slice();
        let above = above_prefix(value);
        let found = match (relation, above.as_deref()) {
            (Relation::First, _) => Some(Seek::First),
            (Relation::Last, _) | (Relation::NotGreater, None) => Some(Seek::Last),
            (Relation::Equal | Relation::NotLess, _) => Some(Seek::From(value, Birth::MIN)),
            (Relation::Greater, Some(above)) => Some(Seek::From(above, Birth::MIN)),
            (Relation::Greater, None) => None,
            (Relation::Less, _) => Some(Seek::Before(value, Birth::MIN)),
            (Relation::NotGreater, Some(above)) => Some(Seek::Before(above, Birth::MIN)),
        };
        let Some(place) = found else {
            return Err(Status::Missing.into());
        };
        walk.seek(place);
        if !walk.step().map_err(engine)? || (relation == Relation::Equal && !walk.key().starts_with(value)) {
            return Err(Status::Missing.into());
        }
        self.beside.key.clear();
        self.beside.key.extend_from_slice(walk.key());
        self.beside.birth = walk.birth();
        self.position = Position::Found;
        Ok(Status::Ok)
    }

    /// Takes the value of a key out of a record area.
    pub(super) fn take_value(&mut self, key: usize, area: &[u8]) -> Result<(), Failure> {
        let mut value = std::mem::take(&mut self.value);
        let whole = self.key(key).map(|key| key.take(area, &mut value));
        self.value = value;
        if whole? {
            return Ok(());
        }
        let what = format!("the record area has {} bytes, and key {key} reaches beyond them", area.len());
        Err(Failure::new(Status::IoError, what))
    }
}

/// The first key above all that begin with `prefix`; `None` when there is none.
fn above_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut above = prefix[..=last].to_vec();
    above[last] += 1;
    Some(above)
}
