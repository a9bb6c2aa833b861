//! WRITE, REWRITE and DELETE.

use libimmuxdb::{Content, Durability, WriteOptions};

use super::Connector;
use crate::failure::Failure;
use crate::file::engine;
use crate::request::{Access, OpenMode};
use crate::settings::{DuplicateStatus, Settings};
use crate::status::Status;

/// How records are committed.
pub(super) fn options(settings: &Settings) -> WriteOptions {
    let level = if settings.sync { Durability::Sync } else { Durability::Process };
    let options = WriteOptions::durability(level);
    match settings.duplicate_status {
        DuplicateStatus::None => options,
        DuplicateStatus::Write | DuplicateStatus::All => options.report_duplicates(),
    }
}

impl Connector {
    /// WRITE: a new record.
    ///
    /// # Errors
    /// [`Status::DuplicateKey`], [`Status::Sequence`], [`Status::RecordLength`], [`Status::NotOutput`],
    /// [`Status::NoSpace`], [`Status::IoError`]. Nothing was changed then.
    pub fn write(&mut self, record: &[u8]) -> Result<Status, Failure> {
        self.begin_operation();
        match (self.mode, self.access) {
            (OpenMode::Output | OpenMode::Extend, _) | (OpenMode::InputOutput, Access::Random | Access::Dynamic) => {}
            _ => return Err(Status::NotOutput.into()),
        }
        self.check_length(record)?;
        self.take_primary(record)?;
        let ascending = self.access == Access::Sequential;
        if ascending && self.written_last.as_ref().is_some_and(|last| *last >= self.value) {
            return Err(Status::Sequence.into());
        }
        let Some(open) = &mut self.open else {
            return Err(Status::NotOutput.into());
        };
        open.renew().map_err(engine)?;
        let committed = open.records.insert(&self.value, Content::raw(record)).map_err(engine)?;
        if ascending {
            self.written_last.get_or_insert_default().clone_from(&self.value);
        }
        Ok(if committed.duplicates { Status::Duplicate } else { Status::Ok })
    }

    /// REWRITE: in sequential access of the record that was read last, otherwise of the one with the primary key.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NoCurrentRecord`], [`Status::Sequence`], [`Status::DuplicateKey`],
    /// [`Status::RecordLength`], [`Status::NotInputOutput`], [`Status::NoSpace`], [`Status::IoError`]. Nothing was
    /// changed then.
    pub fn rewrite(&mut self, record: &[u8]) -> Result<Status, Failure> {
        let read_last = self.read_last.take();
        self.check_updates()?;
        if self.access == Access::Sequential && read_last.is_none() {
            return Err(Status::NoCurrentRecord.into());
        }
        self.check_length(record)?;
        self.take_primary(record)?;
        if self.access == Access::Sequential && read_last.is_some_and(|last| last != self.value) {
            return Err(Status::Sequence.into());
        }
        let Some(open) = &mut self.open else {
            return Err(Status::Missing.into());
        };
        open.renew().map_err(engine)?;
        let committed = open.records.replace(&self.value, Content::raw(record)).map_err(engine)?;
        Ok(if committed.duplicates { Status::Duplicate } else { Status::Ok })
    }

    /// DELETE: in sequential access of the record that was read last, otherwise of the one with the primary key in `area`.
    ///
    /// # Errors
    /// [`Status::Missing`], [`Status::NoCurrentRecord`], [`Status::NotInputOutput`], [`Status::NoSpace`],
    /// [`Status::IoError`]. Nothing was changed then.
    pub fn delete(&mut self, area: &[u8]) -> Result<Status, Failure> {
        let read_last = self.read_last.take();
        self.check_updates()?;
        match (self.access, read_last) {
            (Access::Sequential, None) => return Err(Status::NoCurrentRecord.into()),
            (Access::Sequential, Some(last)) => self.value = last,
            (Access::Random | Access::Dynamic, _) => self.take_value(0, area)?,
        }
        let Some(open) = &mut self.open else {
            return Err(Status::Missing.into());
        };
        open.renew().map_err(engine)?;
        open.records.delete(&self.value).map_err(engine)?;
        Ok(Status::Ok)
    }

    fn check_updates(&self) -> Result<(), Failure> {
        if self.mode == OpenMode::InputOutput { Ok(()) } else { Err(Status::NotInputOutput.into()) }
    }

    /// The record's length must be one of the file, and one that the program declares.
    fn check_length(&self, record: &[u8]) -> Result<(), Failure> {
        let file = self.open.as_ref().map_or(&self.layout, |open| &open.file.layout);
        let shortest = file.min_record.max(self.layout.min_record) as usize;
        let longest = file.max_record.min(self.layout.max_record) as usize;
        if (shortest..=longest).contains(&record.len()) {
            return Ok(());
        }
        let what = format!("the record has {} bytes; the file takes {shortest} to {longest}", record.len());
        Err(Failure::new(Status::RecordLength, what))
    }

    fn take_primary(&mut self, record: &[u8]) -> Result<(), Failure> {
        self.take_value(0, record).map_err(|failure| Failure { status: Status::RecordLength, ..failure })
    }
}
