//! A connector: one SELECT's way to an open file.

use crate::failure::Failure;
use crate::status::Status;

/// Which way READ goes along the key of reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// READ NEXT.
    Next,
    /// READ PREVIOUS.
    Previous,
}

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

/// A record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// [`Status::Ok`], [`Status::Duplicate`] or [`Status::RecordLongerThanArea`].
    pub status: Status,
    /// The record's length in bytes; the area holds the beginning of a longer one. The rest of a longer area is as it was.
    pub len: usize,
}

/// One SELECT: a way to a file, with its own mode, position and key of reference.
///
/// Keys are numbered as in the program's layout, from 0 for the primary key. Areas are record areas: the key values that
/// READ, START and DELETE look for are taken from where the keys stand in them.
pub struct Connector {}

impl Connector {
    /// CLOSE. The file itself is closed with its last connector.
    ///
    /// # Errors
    /// [`Status::IoError`], [`Status::NoSpace`]: something could not be finished; what was acknowledged is in the file.
    pub fn close(self) -> Result<Status, Failure> {
        Ok(Status::Ok)
    }

    /// READ NEXT and READ PREVIOUS, along the key of reference.
    ///
    /// # Errors
    /// [`Status::End`], [`Status::NoNextRecord`], [`Status::NotInput`], [`Status::IoError`].
    pub fn read_next(&mut self, _direction: Direction, _area: &mut [u8]) -> Result<Read, Failure> {
        Err(Status::NotInput.into())
    }

    /// READ by a key, which becomes the key of reference.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NotInput`], [`Status::IoError`].
    pub fn read_key(&mut self, _key: usize, _area: &mut [u8]) -> Result<Read, Failure> {
        Err(Status::NotInput.into())
    }

    /// START: finds a record, without reading it, at which the next [`Connector::read_next`] begins in either direction.
    /// The key becomes the key of reference. Only the first `key_len` bytes of its values are compared.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NotInput`], [`Status::IoError`].
    pub fn start(
        &mut self,
        _relation: Relation,
        _key: usize,
        _key_len: usize,
        _area: &[u8],
    ) -> Result<Status, Failure> {
        Err(Status::NotInput.into())
    }

    /// WRITE: a new record.
    ///
    /// # Errors
    /// [`Status::DuplicateKey`], [`Status::Sequence`], [`Status::RecordLength`], [`Status::NotOutput`],
    /// [`Status::NoSpace`], [`Status::IoError`]. Nothing was changed then.
    pub fn write(&mut self, _record: &[u8]) -> Result<Status, Failure> {
        Err(Status::NotOutput.into())
    }

    /// REWRITE: in sequential access of the record that was read last, otherwise of the one with the primary key.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NoCurrentRecord`], [`Status::Sequence`], [`Status::DuplicateKey`],
    /// [`Status::RecordLength`], [`Status::NotInputOutput`], [`Status::NoSpace`], [`Status::IoError`]. Nothing was
    /// changed then.
    pub fn rewrite(&mut self, _record: &[u8]) -> Result<Status, Failure> {
        Err(Status::NotInputOutput.into())
    }

    /// DELETE: in sequential access of the record that was read last, otherwise of the one with the primary key in `area`.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NoCurrentRecord`], [`Status::NotInputOutput`], [`Status::NoSpace`],
    /// [`Status::IoError`]. Nothing was changed then.
    pub fn delete(&mut self, _area: &[u8]) -> Result<Status, Failure> {
        Err(Status::NotInputOutput.into())
    }
}
