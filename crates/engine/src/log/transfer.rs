//! A copy of a log that is a prefix of it, byte for byte but for the status slots: what a backup holds, and what a restore
//! makes.
//!
//! A copy is no chain that somebody writes to: it has no open record of its own, and its frames are checked where they are
//! read. Its slot says that it is closed and synced up to its end, so that whoever opens it notices a byte that is
//! missing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::frame::Frame;
use super::head::{FrameHead, chain_after};
use super::header::{HEADER_BYTES, LogHeader, PAGE_BYTES, WRITER_LOCK};
use super::local::LocalLog;
use super::opening::read_head;
use super::reader::{FrameReader, Step};
use super::status::{Status, Writer};
use super::{Envelope, LogPoint};
use crate::error::{Error, Result};
use crate::storage::{File, OpenMode, Storage};

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 1 << 20;

impl LocalLog {
    /// Reads whole frames from `from` on, up to the offset `limit` or the end of the file, and gives them away until `take`
    /// says `false`. Gives the point up to which they were taken, and where the last one begins. What is not whole is the
    /// end for now, unless it was synced.
    ///
    /// # Errors
    /// What `take` gives; [`Error::Damaged`] below what was synced, or below `limit` where one is given; [`Error::Io`].
    pub fn transfer(
        &self,
        from: LogPoint,
        limit: Option<u64>,
        take: &mut dyn FnMut(&Frame<'_>) -> Result<bool>,
    ) -> Result<(LogPoint, Option<u64>)> {
        let synced = Status::read(&*self.file, self.header.log_id).map_err(|error| self.io(error))?;
        let whole_to = limit.unwrap_or_else(|| synced.map_or(PAGE_BYTES, |status| status.synced_offset));
        let len = self.file.len().map_err(|error| self.io(error))?;
        let end = limit.map_or(len, |limit| limit.min(len));
        let mut reader = FrameReader::new(Arc::clone(&self.file), self.path.clone(), self.envelope, from, end);
        let (mut taken, mut last) = (from, None);
        let what = loop {
            match reader.step()? {
                Step::Frame(frame) => {
                    if !take(&frame)? {
                        return Ok((taken, last));
                    }
                    (taken, last) = (frame.end(), Some(frame.offset()));
                }
                Step::End => break "the file ends here".to_owned(),
                Step::Broken(fault) => break fault.to_string(),
            }
        };
        if taken.offset < whole_to {
            return Err(self.damaged(taken.offset, what));
        }
        Ok((taken, last))
    }

    /// The chain value after the frame that begins at `offset`, if a frame does; and where the file ends.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn chain_after_frame(&self, offset: u64) -> Result<(Option<u64>, u64)> {
        let len = self.file.len().map_err(|error| self.io(error))?;
        if offset < PAGE_BYTES {
            return Ok((Some(self.header.base_chain), len));
        }
        let head = read_head(self, offset, len).map_err(|error| self.io(error))?;
        let parsed = FrameHead::parse(&head, &self.envelope, offset).ok();
        Ok((parsed.map(|head| chain_after(head.bytes)), len))
    }

    /// Makes what was read survive power loss, as a reader who passes it on must.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync_as_reader(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.io(error))
    }
}

/// A copy of a log, being written.
pub(crate) struct LogCopy {
    file: Arc<dyn File>,
    path: PathBuf,
    header: LogHeader,
    /// Where the buffer belongs.
    at: u64,
    buffer: Vec<u8>,
}

impl LogCopy {
    /// Begins a copy of the log with this header, in a file that is not there yet.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoSpace`]; [`Error::Held`].
    pub fn create(storage: &dyn Storage, path: &Path, header: LogHeader) -> Result<LogCopy> {
        let file = storage.open(path, OpenMode::CreateNew).map_err(|error| Error::io(path, error))?;
        let mut page = vec![0; PAGE_BYTES as usize];
        page[..HEADER_BYTES].copy_from_slice(&header.encode());
        file.write_at(&page, 0).map_err(|error| Error::io(path, error))?;
        LogCopy::locked(file, path, header, PAGE_BYTES)
    }

    /// Removes what an interrupted run left of a copy, if there is something.
    ///
    /// # Errors
    /// [`Error::Held`]: the run goes on; [`Error::Io`].
    pub fn discard(storage: &dyn Storage, path: &Path) -> Result<()> {
        let io = |error| Error::io(path, error);
        let file = match storage.open(path, OpenMode::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(io)?,
        };
        if !file.try_lock(WRITER_LOCK).map_err(io)? {
            return Err(Error::Held { path: path.to_owned(), holder: None });
        }
        storage.remove(path).map_err(io)
    }

    /// Goes on with a copy at `offset`; what is behind it is written over.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Held`].
    pub fn open(storage: &dyn Storage, path: &Path, header: LogHeader, offset: u64) -> Result<LogCopy> {
        let file = storage.open(path, OpenMode::Write).map_err(|error| Error::io(path, error))?;
        LogCopy::locked(file, path, header, offset)
    }

    fn locked(file: Arc<dyn File>, path: &Path, header: LogHeader, at: u64) -> Result<LogCopy> {
        if !file.try_lock(WRITER_LOCK).map_err(|error| Error::io(path, error))? {
            return Err(Error::Held { path: path.to_owned(), holder: None });
        }
        Ok(LogCopy { file, path: path.to_owned(), header, at, buffer: Vec::with_capacity(BUFFER_BYTES) })
    }

    /// Adds the bytes of a frame.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoSpace`].
    pub fn push(&mut self, frame: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(frame);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_at(&self.buffer, self.at).map_err(|error| Error::io(&self.path, error))?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_BYTES);
        Ok(())
    }

    /// Writes what is left, cuts what may be behind it, and syncs.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoSpace`].
    pub fn finish(&mut self) -> Result<()> {
        self.flush()?;
        let synced = self.file.set_len(self.at).and_then(|()| self.file.sync_data());
        synced.map_err(|error| Error::io(&self.path, error))
    }

    /// Says in a status slot that the copy is whole up to `end`, and syncs.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_slot(&self, end: LogPoint) -> Result<()> {
        let io = |error| Error::io(&self.path, error);
        let before = Status::read(&*self.file, self.header.log_id).map_err(io)?;
        let sequence = before.map_or(0, |status| status.sequence) + 1;
        let status = Status::new(sequence, end, Writer::default(), true);
        status.write(&*self.file, self.header.log_id).and_then(|()| self.file.sync_data()).map_err(io)
    }

    /// Reads the frames' bytes back, piece by piece.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn read_back(&self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut chunk = vec![0; BUFFER_BYTES];
        let mut offset = PAGE_BYTES;
        loop {
            let read = self.file.read_at(&mut chunk, offset).map_err(|error| Error::io(&self.path, error))?;
            if read == 0 {
                return Ok(());
            }
            take(&chunk[..read]);
            offset += read as u64;
        }
    }

    /// The frames that are in the file from `from` on, whole ones only, until `look` says `false`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn frames_behind(&self, from: LogPoint, look: &mut dyn FnMut(&Frame<'_>) -> Result<bool>) -> Result<()> {
        let len = self.file.len().map_err(|error| Error::io(&self.path, error))?;
        let envelope = Envelope::new(&self.header);
        let mut reader = FrameReader::new(Arc::clone(&self.file), self.path.clone(), envelope, from, len);
        while let Step::Frame(frame) = reader.step()? {
            if !look(&frame)? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::disk::Disk;
    use crate::types::Timestamp;

    #[test]
    fn what_another_run_is_writing_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, path) = (Disk::shared(), folder.path().join("log.copying"));
        LogCopy::discard(&*disk, &path).unwrap();
        let copy = LogCopy::create(&*disk, &path, LogHeader::new([3; 16], Timestamp(1))).unwrap();
        assert!(matches!(LogCopy::discard(&*disk, &path), Err(Error::Held { .. })));
        assert!(path.exists());
        drop(copy);
        LogCopy::discard(&*disk, &path).unwrap();
        assert!(!path.exists());
    }
}
