//! Opening a log: the lock, the first page, and whether what was derived from a log belongs to it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::LogPoint;
use super::head::{FrameHead, lengths};
use super::header::{HEADER_BYTES, LogHeader, PAGE_BYTES, WRITER_LOCK};
use super::local::{Access, LocalLog};
use super::status::{Status, Writer};
use crate::error::{Error, Result};
use crate::options::Syncing;
use crate::planted;
use crate::storage::{File, OpenMode, Storage};
use crate::types::{Height, Timestamp};

/// How often a log may be replaced under our hands before we give up.
const ATTEMPTS: usize = 16;

/// What a writer brings along.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// Who opens the log.
    pub writer: Writer,
    /// A random number, for the open record.
    pub nonce: [u8; 16],
    /// A random name for the log, in case it has to be made.
    pub log_id: [u8; 16],
    /// The clock's time.
    pub now: Timestamp,
    /// Whether something derived from the log is there: so the log was there, and is not made anew.
    pub was_there: bool,
    /// When to sync what opening and closing write.
    pub syncing: Syncing,
}

impl LocalLog {
    /// Opens a log for writing, and takes its lock; makes it if it is missing. [`LocalLog::recover`] comes next.
    ///
    /// # Errors
    /// [`Error::Held`], [`Error::Format`], [`Error::Damaged`] (the header), [`Error::Io`], [`Error::NoSpace`].
    pub fn open_writer(storage: &Arc<dyn Storage>, path: &Path, opening: &Opening) -> Result<LocalLog> {
        let io = |error| Error::io(path, error);
        let (lock, file) = lock(&**storage, path)?;
        let page = read_page(&*file).map_err(io)?;
        let len = file.len().map_err(io)?;
        if opening.was_there && len < PAGE_BYTES {
            return Err(Error::Damaged {
                path: path.to_owned(),
                offset: len,
                what: "the log ends in its first page, but an index of it is there; put the log back, or remove the \
                       index too to begin anew"
                    .to_owned(),
            });
        }
        if LogHeader::is_unfinished(&page, len) {
            make(&*file, opening).map_err(io)?;
        }
        let always = opening.syncing == Syncing::Always;
        let header = LogHeader::decode(path, &read_page(&*file).map_err(io)?)?;
        if len <= PAGE_BYTES && always {
            // Whoever made the file may have been stopped before these, or have seen its sync fail: then another sync
            // says something only of what is written once more.
            file.set_len(PAGE_BYTES).map_err(io)?;
            let found = Status::read(&*file, header.log_id).map_err(io)?;
            if found.is_none_or(|status| status.synced_offset <= PAGE_BYTES) {
                let page = read_page(&*file).map_err(io)?;
                file.write_at(&page[..HEADER_BYTES], 0).map_err(io)?;
                Status::new(1, header.base(), opening.writer, true).write(&*file, header.log_id).map_err(io)?;
                file.sync_data().map_err(io)?;
            }
            if !planted::is(planted::Fault::DirectoryNotSynced) {
                storage.sync_dir(directory(path)).map_err(io)?;
            }
        }
        if !header.writable() {
            return Err(Error::Format {
                path: path.to_owned(),
                what: "the log uses features that this engine cannot write; open it read-only, or use a newer engine"
                    .to_owned(),
            });
        }
        let found = Status::read(&*file, header.log_id).map_err(io)?;
        let mut log =
            LocalLog::with(Arc::clone(storage), path.to_owned(), file, header, found, Access::Recover, opening.writer);
        log.syncing_at_close = opening.syncing;
        *log.lock.lock() = Some(lock);
        log.owed.lock().name = len <= PAGE_BYTES && !always;
        Ok(log)
    }

    /// Opens a log for reading. It takes no lock and writes nothing; [`LocalLog::follow`] comes next.
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Damaged`] (the header), [`Error::Io`].
    pub fn open_reader(storage: &Arc<dyn Storage>, path: &Path) -> Result<LocalLog> {
        let io = |error| Error::io(path, error);
        let file = storage.open(path, OpenMode::Read).map_err(io)?;
        let header = LogHeader::decode(path, &read_page(&*file).map_err(io)?)?;
        let found = Status::read(&*file, header.log_id).map_err(io)?;
        Ok(LocalLog::with(Arc::clone(storage), path.to_owned(), file, header, found, Access::Read, Writer::default()))
    }

    /// Refuses to go on when the path leads to another file than the one that is open, or to none: what would be written
    /// beside it would be at the wrong place.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn check_place(&self) -> Result<()> {
        let there = match self.storage.open(&self.path, OpenMode::Read) {
            Ok(there) => Some(there.identity().map_err(|error| self.io(error))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(self.io(error)),
        };
        if there != Some(self.file.identity().map_err(|error| self.io(error))?) {
            let moved = "the log is not at this place any more: it was renamed, removed or replaced";
            return Err(self.io(io::Error::new(io::ErrorKind::NotFound, moved)));
        }
        Ok(())
    }

    /// Whether the history of this log leads through `point`, as far as the log can tell: a status slot or the next
    /// frame confirms it. What is derived up to a point that does not fit belongs to another history.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn fits(&self, point: &LogPoint) -> Result<bool> {
        let same = |height: Height, offset: u64, chain: u64| {
            (height, offset, chain) == (point.height, point.offset, point.chain)
        };
        if planted::is(planted::Fault::StaleIndexTrusted) {
            return Ok(true);
        }
        let base = self.header.base();
        if point.offset <= base.offset {
            return Ok(same(base.height, base.offset, base.chain));
        }
        let len = self.file.len().map_err(|error| self.io(error))?;
        if point.offset > len {
            return Ok(false);
        }
        let status = Status::read(&*self.file, self.header.log_id);
        if let Some(status) = status.map_err(|error| self.io(error))?
            && status.synced_offset == point.offset
        {
            return Ok(same(status.synced_height, status.synced_offset, status.synced_chain));
        }
        let head = read_head(self, point.offset, len).map_err(|error| self.io(error))?;
        let head = FrameHead::parse(&head, &self.envelope, point.offset);
        Ok(head.is_ok_and(|head| head.follows(point).is_ok()))
    }
}

/// The bytes of the head at `offset`, or fewer where the file ends or no head begins.
pub(super) fn read_head(log: &LocalLog, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let left = len.saturating_sub(offset);
    let mut bytes = vec![0; left.min(512) as usize];
    let read = log.file.read_at(&mut bytes, offset)?;
    bytes.truncate(read);
    if let Ok((_, head)) = lengths(&bytes)
        && head as usize > bytes.len()
        && u64::from(head) <= left
    {
        bytes.resize(head as usize, 0);
        let read = log.file.read_at(&mut bytes, offset)?;
        bytes.truncate(read);
    }
    Ok(bytes)
}

pub(super) fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn read_page(file: &dyn File) -> io::Result<Vec<u8>> {
    let mut page = vec![0; PAGE_BYTES as usize];
    let read = file.read_at(&mut page, 0)?;
    page.truncate(read);
    Ok(page)
}

/// Opens the file, making it if it is missing, and takes the writer's lock.
fn lock(storage: &dyn Storage, path: &Path) -> Result<(Arc<dyn File>, Arc<dyn File>)> {
    let io = |error| Error::io(path, error);
    for _ in 0..ATTEMPTS {
        let file = match storage.open(path, OpenMode::Write) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => match storage.open(path, OpenMode::CreateNew) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(io(error)),
            },
            Err(error) => return Err(io(error)),
        };
        if !file.try_lock(WRITER_LOCK).map_err(io)? && !planted::is(planted::Fault::LockIgnored) {
            return Err(Error::Held { path: path.to_owned(), holder: holder(&*file, path) });
        }
        // The path may lead elsewhere by now: the file was replaced or removed between opening and locking.
        match storage.open(path, OpenMode::Write) {
            Ok(there) if there.identity().map_err(io)? == file.identity().map_err(io)? => {
                return Ok((file, there));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
    }
    Err(io(io::Error::other("the log was replaced again and again while it was being opened")))
}

/// Who holds the lock, in words, as far as the status slot knows.
fn holder(file: &dyn File, path: &Path) -> Option<String> {
    let header = LogHeader::decode(path, &read_page(file).ok()?).ok()?;
    let status = Status::read(file, header.log_id).ok()??;
    if status.closed {
        return None; // the slot is of the holder before
    }
    Some(format!("process {}", status.writer.pid))
}

/// Writes the first page. Where everything is synced, the header is safe before any frame is written.
fn make(file: &dyn File, opening: &Opening) -> io::Result<()> {
    let header = LogHeader::new(opening.log_id, opening.now);
    let bytes = header.encode();
    let mut page = vec![0; PAGE_BYTES as usize];
    page[..bytes.len()].copy_from_slice(&bytes);
    file.write_at(&page, 0)?;
    Status::new(1, header.base(), opening.writer, true).write(file, header.log_id)?;
    match opening.syncing {
        Syncing::Always => file.sync_data(),
        Syncing::OnDemand => Ok(()),
    }
}
