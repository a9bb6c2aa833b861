//! The position, and READ NEXT and PREVIOUS from it.
//!
//! | position | READ NEXT | READ PREVIOUS |
//! |---|---|---|
//! | just opened | the first record | 10 |
//! | behind a record that was read | the one after it | the one before it |
//! | at a record that START found | that record | that record |
//! | at the end, after 10 | 46 | the last record |
//! | at the beginning, after 10 | the first record | 46 |
//! | nowhere, after a READ or START that failed | 46 | 46 |

use libimmuxdb::Seek;

use super::{Connector, Read};
use crate::failure::Failure;
use crate::file::engine;
use crate::request::OpenMode;
use crate::settings::DuplicateStatus;
use crate::status::Status;

/// Which way READ goes along the key of reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// READ NEXT.
    Next,
    /// READ PREVIOUS.
    Previous,
}

/// Where a connector stands in the order of its key of reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Before the first record, and nothing was read yet.
    Opened,
    /// Behind the entry beside it, which was read.
    Read,
    /// At the entry beside it, which START found.
    Found,
    /// READ NEXT found nothing.
    End,
    /// READ PREVIOUS found nothing.
    Beginning,
    /// Nowhere.
    Unknown,
}

impl Connector {
    /// READ NEXT and READ PREVIOUS, along the key of reference.
    ///
    /// # Errors
    /// [`Status::End`], [`Status::NoNextRecord`], [`Status::NotInput`], [`Status::IoError`].
    pub fn read_next(&mut self, direction: Direction, area: &mut [u8]) -> Result<Read, Failure> {
        let read_last = self.read_last.take();
        self.check_reads()?;
        let place = match (self.position, direction) {
            (Position::Unknown, _) | (Position::End, Direction::Next) | (Position::Beginning, Direction::Previous) => {
                return Err(Status::NoNextRecord.into());
            }
            (Position::Opened, Direction::Previous) => return Err(self.nothing_more(direction)),
            (Position::Opened | Position::Beginning, Direction::Next) => Seek::First,
            (Position::End, Direction::Previous) => Seek::Last,
            (Position::Read, Direction::Next) => Seek::After(&self.beside.key, self.beside.birth),
            (Position::Read, Direction::Previous) => Seek::Before(&self.beside.key, self.beside.birth),
            (Position::Found, Direction::Next) => Seek::From(&self.beside.key, self.beside.birth),
            (Position::Found, Direction::Previous) => Seek::Through(&self.beside.key, self.beside.birth),
        };
        let Some(open) = &mut self.open else {
            return Err(self.nothing_more(direction));
        };
        open.renew().map_err(engine)?;
        let goes_on = open.walking == Some(direction);
        open.walking = None;
        let walk = open.walk(self.reference).map_err(engine)?;
        if !goes_on {
            walk.seek(place);
        }
        if !walk.step().map_err(engine)? {
            return Err(self.nothing_more(direction));
        }
        let len = walk.content(|record| copy(record, area)).map_err(engine)?;
        self.beside.key.clear();
        self.beside.key.extend_from_slice(walk.key());
        self.beside.birth = walk.birth();
        self.position = Position::Read;
        let mut primary = read_last.unwrap_or_default();
        primary.clear();
        primary.extend_from_slice(walk.unit_key());
        self.read_last = Some(primary);
        open.walking = Some(direction);
        self.was_read(len, area.len())
    }

    fn nothing_more(&mut self, direction: Direction) -> Failure {
        self.position = match direction {
            Direction::Next => Position::End,
            Direction::Previous => Position::Beginning,
        };
        Status::End.into()
    }

    pub(super) fn check_reads(&self) -> Result<(), Failure> {
        match self.mode {
            OpenMode::Input | OpenMode::InputOutput => Ok(()),
            OpenMode::Output | OpenMode::Extend => Err(Status::NotInput.into()),
        }
    }

    /// The status of a record that was read, and stands beside the position.
    pub(super) fn was_read(&mut self, len: usize, area: usize) -> Result<Read, Failure> {
        let status = if len > area {
            Status::RecordLongerThanArea
        } else if self.duplicate_status == DuplicateStatus::All && self.has_follower()? {
            Status::Duplicate
        } else {
            Status::Ok
        };
        Ok(Read { status, len })
    }

    /// Whether the next record by the key of reference has the same value.
    fn has_follower(&mut self) -> Result<bool, Failure> {
        let Some(open) = &mut self.open else {
            return Ok(false);
        };
        if !self.layout.keys[self.reference].duplicates {
            return Ok(false);
        }
        open.walking = None;
        let walk = open.walk(self.reference).map_err(engine)?;
        walk.seek(Seek::After(&self.beside.key, self.beside.birth));
        Ok(walk.step().map_err(engine)? && walk.key() == self.beside.key)
    }
}

/// Copies a record into a record area; gives the record's length.
pub(super) fn copy(record: &[u8], area: &mut [u8]) -> usize {
    let len = record.len().min(area.len());
    area[..len].copy_from_slice(&record[..len]);
    record.len()
}
