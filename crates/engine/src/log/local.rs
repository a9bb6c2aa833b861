//! The log in a local file: appending, syncing and reading. How it is opened and recovered is in `recovery`.
//!
//! ```text
//!  0        4096                       synced            written          end
//!  | header | frames on the device ... | in page cache ... | in memory ... |
//! ```
//!
//! * `end` moves with each append; what lies between `written` and `end` are `Buffered` commits, at most 1 MiB.
//! * `written` is what the operating system holds; readers touch mapped bytes below it only.
//! * `synced` is what an fdatasync has confirmed.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::body::{Body, Parts};
use super::builder::FrameBuilder;
use super::fault::{BodyFault, Fault};
use super::head::{Envelope, FrameHead, FrameMeta};
use super::header::{LogHeader, PAGE_BYTES};
use super::opening::{Opening, directory};
use super::reader::FrameReader;
use super::status::{Status, Writer};
use super::turn::SyncTurn;
use super::windows::Windows;
use super::{Appended, Log, LogPoint};
use crate::error::{Error, Result};
use crate::options::Syncing;
use crate::planted;
use crate::storage::{File, Storage};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::types::{Durability, Height, Position, Timestamp};

/// Bytes of `Buffered` commits that are held in memory at most.
pub(super) const BUFFER_BYTES: usize = 1 << 20;
/// Bytes that are read for a body or head whose length is not yet known, where nothing is mapped.
const GUESS_BYTES: usize = 1024;
/// The fewest bytes that are read for a body whose length is guessed by those before.
const LEAST_GUESS: usize = 128;

/// A log in a file. Any number of threads read while one appends.
pub(crate) struct LocalLog {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) path: PathBuf,
    pub(super) file: Arc<dyn File>,
    /// Holds the writer's lock, apart from `file`, so that reading goes on when the lock is given back.
    pub(super) lock: Mutex<Option<Arc<dyn File>>>,
    pub(super) header: LogHeader,
    pub(super) envelope: Envelope,
    /// The status slot that was found when the log was opened.
    pub(super) found: Option<Status>,
    pub(super) tail: Mutex<Tail>,
    pub(super) written: AtomicU64,
    pub(super) synced: Mutex<LogPoint>,
    pub(super) durable: AtomicU64,
    turn: SyncTurn,
    pub(super) status: Mutex<StatusWriter>,
    /// When closing syncs.
    pub(super) syncing_at_close: Syncing,
    /// What a body may take, by those that were read before.
    body_guess: AtomicUsize,
    /// What the first sync has to do besides.
    pub(super) owed: Mutex<Owed>,
    poison: OnceLock<String>,
    windows: Windows,
}

/// What opening a log left to the first sync, with [`Syncing::OnDemand`].
#[derive(Debug, Default)]
pub(super) struct Owed {
    /// Offsets of bytes that must be written once more, see `recovery`.
    pub rewrite: Option<Range<u64>>,
    /// The file may be new: its name is to be synced, too.
    pub name: bool,
}

/// The end of the log.
pub(super) struct Tail {
    pub access: Access,
    pub end: LogPoint,
    /// An opening whose record comes before the next frame, with [`Syncing::OnDemand`].
    pub unrecorded: Option<Opening>,
    /// Frames that are not yet written: those before `end`.
    buffer: Vec<u8>,
}

/// What may be done with the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reading: this handle holds no lock.
    Read,
    /// Nothing but recovery yet.
    Recover,
    /// Appending.
    Write,
    /// Reading: this says why.
    Stopped(String),
}

/// Who writes status slots, and the number of the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StatusWriter {
    pub sequence: u64,
    pub writer: Writer,
}

impl LocalLog {
    pub(super) fn with(
        storage: Arc<dyn Storage>,
        path: PathBuf,
        file: Arc<dyn File>,
        header: LogHeader,
        found: Option<Status>,
        access: Access,
        writer: Writer,
    ) -> LocalLog {
        let base = header.base();
        LocalLog {
            storage,
            path,
            file,
            lock: Mutex::new(None),
            header,
            envelope: Envelope::new(&header),
            found,
            tail: Mutex::new(Tail { access, end: base, unrecorded: None, buffer: Vec::new() }),
            written: AtomicU64::new(base.offset),
            synced: Mutex::new(base),
            durable: AtomicU64::new(base.height.0),
            turn: SyncTurn::default(),
            status: Mutex::new(StatusWriter { sequence: found.map_or(0, |s| s.sequence), writer }),
            syncing_at_close: Syncing::Always,
            body_guess: AtomicUsize::new(GUESS_BYTES),
            owed: Mutex::default(),
            poison: OnceLock::new(),
            windows: Windows::new(),
        }
    }

    /// What the log's header says.
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    pub(super) fn damaged(&self, offset: u64, what: impl ToString) -> Error {
        Error::Damaged { path: self.path.clone(), offset, what: what.to_string() }
    }

    pub(super) fn io(&self, error: io::Error) -> Error {
        Error::io(&self.path, error)
    }

    /// Hands what is in memory to the operating system.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn write_buffered(&self) -> Result<()> {
        self.flush(&mut self.tail.lock())
    }

    /// Where the written part ends. Frames before it can be read without a write.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// The frames from a point up to the end of the written part.
    pub fn written_frames(&self, from: LogPoint) -> FrameReader {
        FrameReader::new(Arc::clone(&self.file), self.path.clone(), self.envelope, from, self.written())
    }

    /// The point after the commit at `height`, whose frame ends at `offset`: a mark that was taken from this log.
    ///
    /// # Errors
    /// [`Error::Damaged`] when no frame begins there and the log goes on; [`Error::Io`].
    pub fn point_after(&self, height: Height, offset: u64, time: Timestamp) -> Result<LogPoint> {
        self.flush(&mut self.tail.lock())?;
        let end = self.written.load(Ordering::Acquire);
        let newest = self.newest();
        if offset >= newest.offset {
            return Ok(newest);
        }
        let bytes = self.copy(offset, end, GUESS_BYTES)?;
        let parsed = match FrameHead::parse(&bytes, &self.envelope, offset) {
            Err(Fault::Cut { need, .. }) if need <= end - offset => {
                let bytes = self.copy(offset, end, need as usize)?;
                FrameHead::parse(&bytes, &self.envelope, offset).map(|head| head.chain)
            }
            parsed => parsed.map(|head| head.chain),
        };
        let chain = parsed.map_err(|fault| self.damaged(offset, fault))?;
        Ok(LogPoint { height, offset, chain, time })
    }

    /// Writes a status slot, which says what is synced and who holds the log.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] without the writer's lock; otherwise as [`Log::append`].
    pub fn write_status(&self) -> Result<()> {
        self.writable(&self.tail.lock().access)?;
        self.write_slot(false)
    }

    pub(super) fn write_slot(&self, closed: bool) -> Result<()> {
        let mut status = self.status.lock();
        let mut synced = *self.synced.lock();
        if planted::is(planted::Fault::StatusBeforeSync) {
            synced = self.newest();
        }
        status.sequence += 1;
        Status::new(status.sequence, synced, status.writer, closed)
            .write(&*self.file, self.header.log_id)
            .map_err(|error| self.failed(error))
    }

    /// Syncs all of the log, open records too, and a status slot that says so, for what is to depend on it: a manifest. Its
    /// runs may end where the log does, which only the slot tells then.
    ///
    /// # Errors
    /// As [`Log::sync`].
    pub fn checkpoint(&self) -> Result<LogPoint> {
        self.writable(&self.tail.lock().access)?;
        let synced = self.sync_everything()?;
        self.write_status()?;
        self.file.sync_data().map_err(|error| self.poisoned(error))?;
        Ok(synced)
    }

    /// Syncs all of the log, unless that was to be done [on demand](Syncing::OnDemand), and marks it as closed. Nothing can
    /// be appended after that; the lock goes with the log.
    ///
    /// # Errors
    /// As [`Log::sync`]. Without the writer's lock there is nothing to do.
    pub fn close(&self) -> Result<()> {
        if self.writable(&self.tail.lock().access).is_err() {
            return self.check_poison();
        }
        match self.syncing_at_close {
            Syncing::Always => {
                self.sync_everything()?;
                self.write_slot(true)?;
                self.file.sync_data().map_err(|error| self.poisoned(error))?;
            }
            Syncing::OnDemand => {
                self.flush(&mut self.tail.lock())?;
                self.write_slot(true)?;
            }
        }
        self.tail.lock().access = Access::Stopped("it was closed".to_owned());
        self.lock.lock().take();
        Ok(())
    }

    fn writable(&self, access: &Access) -> Result<()> {
        self.check_poison()?;
        match access {
            Access::Write => Ok(()),
            Access::Read => Err(Error::ReadOnly("it was opened for reading".to_owned())),
            Access::Recover => Err(Error::ReadOnly("it is not yet recovered".to_owned())),
            Access::Stopped(why) => Err(Error::ReadOnly(why.clone())),
        }
    }

    /// The failure after which nothing more is written.
    pub(crate) fn poison(&self) -> Option<String> {
        self.poison.get().cloned()
    }

    fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            Some(why) => Err(Error::Poisoned(why.clone())),
            None => Ok(()),
        }
    }

    /// Stops all writing, unless the device is merely full.
    fn failed(&self, error: io::Error) -> Error {
        if is_full(&error) {
            return self.io(error);
        }
        self.poisoned(error)
    }

    fn poisoned(&self, error: io::Error) -> Error {
        if planted::is(planted::Fault::FailedSyncForgotten) {
            return self.io(error);
        }
        // The first failure is the one that tells what happened.
        let _ = self.poison.set(error.to_string());
        self.io(error)
    }

    /// Writes `bytes` where the written part ends. On a full device the file is cut back to that place.
    fn write_out(&self, bytes: &[u8]) -> Result<()> {
        let at = self.written.load(Ordering::Relaxed);
        match self.file.write_at(bytes, at) {
            Ok(()) => {
                self.written.store(at + bytes.len() as u64, Ordering::Release);
                Ok(())
            }
            Err(error) if is_full(&error) => {
                if planted::is(planted::Fault::HalfWriteKept)
                    && let Ok(len) = self.file.len()
                {
                    self.written.store(len, Ordering::Release);
                    return Err(self.io(error));
                }
                if let Err(cut) = self.file.set_len(at) {
                    return Err(self.poisoned(cut));
                }
                Err(self.io(error))
            }
            Err(error) => Err(self.poisoned(error)),
        }
    }

    fn flush(&self, tail: &mut Tail) -> Result<()> {
        if tail.buffer.is_empty() {
            return Ok(());
        }
        self.check_poison()?;
        self.write_out(&tail.buffer)?;
        tail.buffer.clear();
        Ok(())
    }

    /// Appends a frame that ends at `end`.
    pub(super) fn append_frame(
        &self,
        tail: &mut Tail,
        frame: &[u8],
        end: LogPoint,
        durability: Durability,
    ) -> Result<()> {
        if end.offset > Position::MAX_OFFSET {
            return Err(Error::Invalid("the log is at its largest size".to_owned()));
        }
        let buffered = durability == Durability::Buffered;
        if buffered && tail.buffer.len() + frame.len() <= BUFFER_BYTES {
            tail.buffer.extend_from_slice(frame);
        } else {
            self.flush(tail)?;
            self.write_out(frame)?;
        }
        tail.end = end;
        Ok(())
    }

    /// Syncs to the very end, open records too.
    pub(super) fn sync_everything(&self) -> Result<LogPoint> {
        self.sync_unless(|| Ok(false))
    }

    /// Syncs for all who wait, or lets another do it until `done`.
    fn sync_unless(&self, done: impl FnMut() -> Result<bool>) -> Result<LogPoint> {
        let led = self.turn.lead_unless(done, || self.sync_now())?;
        Ok(led.unwrap_or_else(|| *self.synced.lock()))
    }

    fn sync_now(&self) -> Result<LogPoint> {
        self.check_poison()?;
        let point = {
            let mut tail = self.tail.lock();
            self.flush(&mut tail)?;
            tail.end
        };
        if self.synced.lock().offset == point.offset {
            return Ok(point);
        }
        let owed = std::mem::take(&mut *self.owed.lock());
        if let Some(range) = owed.rewrite {
            self.rewrite(range.start, range.end).map_err(|error| self.poisoned(error))?;
        }
        if !planted::is(planted::Fault::LogNotSynced) {
            self.file.sync_data().map_err(|error| self.poisoned(error))?;
        }
        if owed.name {
            self.storage.sync_dir(directory(&self.path)).map_err(|error| self.poisoned(error))?;
        }
        self.set_synced(point);
        Ok(point)
    }

    pub(super) fn set_synced(&self, point: LogPoint) {
        *self.synced.lock() = point;
        self.durable.store(point.height.0, Ordering::Release);
    }

    /// Copies `guess` bytes from `offset` on, or fewer where the log ends before.
    fn copy(&self, offset: u64, end: u64, guess: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (guess as u64).min(end - offset) as usize];
        let read = self.file.read_at(&mut bytes, offset);
        bytes.truncate(read.map_err(|error| self.io(error))?);
        Ok(bytes)
    }

    /// A body that is still in memory; `None` when it was written meanwhile.
    fn read_unwritten(&self, offset: u64) -> Result<Option<Body<'_>>> {
        let tail = self.tail.lock();
        let Some(bytes) = self.unwritten(&tail, offset)? else {
            return Ok(None);
        };
        let parts = Parts::parse(bytes).map_err(|fault| self.damaged(offset, fault))?;
        let bytes = bytes[..bytes.len().min(parts.len())].to_vec();
        drop(tail);
        Body::copied(bytes, offset).map(Some).map_err(|fault| self.damaged(offset, fault))
    }

    fn unwritten<'a>(&self, tail: &'a Tail, offset: u64) -> Result<Option<&'a [u8]>> {
        let written = self.written.load(Ordering::Relaxed);
        if offset < written {
            return Ok(None);
        }
        tail.buffer
            .get((offset - written) as usize..)
            .filter(|bytes| !bytes.is_empty())
            .map(Some)
            .ok_or_else(|| self.damaged(offset, "the log ends before this offset"))
    }

    /// A body, copied. Bodies of one log are mostly alike, and bytes beyond them are read for nothing.
    fn copy_body(&self, offset: u64, end: u64) -> Result<Body<'_>> {
        let fault = |fault: BodyFault| self.damaged(offset, fault);
        let guess = self.body_guess.load(Ordering::Relaxed);
        let mut bytes = self.copy(offset, end, guess)?;
        let need = Parts::parse(&bytes).map_err(fault)?.len();
        if need > bytes.len() {
            bytes = self.copy(offset, end, need)?;
        }
        let next = if need > guess { need } else { guess - (guess - need) / 16 };
        let next = next.clamp(LEAST_GUESS, GUESS_BYTES);
        if next != guess {
            self.body_guess.store(next, Ordering::Relaxed);
        }
        bytes.truncate(need);
        Body::copied(bytes, offset).map_err(fault)
    }

    /// What the head at `offset` says; `bytes` are some bytes from there on, fetched anew by `more` if they don't do.
    fn meta_of(&self, offset: u64, bytes: &[u8], end: u64) -> Result<FrameMeta> {
        let fault = |fault: Fault| self.damaged(offset, fault);
        match FrameHead::parse(bytes, &self.envelope, offset) {
            Ok(head) => Ok(head.meta()),
            Err(Fault::Cut { need, .. }) if need <= end - offset => {
                let bytes = self.copy(offset, end, need as usize)?;
                let head = FrameHead::parse(&bytes, &self.envelope, offset).map_err(fault)?;
                Ok(head.meta())
            }
            Err(error) => Err(fault(error)),
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

impl Log for LocalLog {
    fn newest(&self) -> LogPoint {
        self.tail.lock().end
    }

    fn durable_height(&self) -> Height {
        Height(self.durable.load(Ordering::Acquire))
    }

    fn append(&self, frame: &mut FrameBuilder) -> Result<Appended> {
        let mut tail = self.tail.lock();
        self.writable(&tail.access)?;
        if frame.height() != tail.end.height.next() {
            return Ok(Appended::Conflict { newest: tail.end.height });
        }
        if let Some(opening) = tail.unrecorded {
            self.append_open_record(&mut tail, &opening)?;
            tail.unrecorded = None;
        }
        let end = frame.seal(self.envelope, &tail.end, self.durable_height());
        self.append_frame(&mut tail, frame.bytes(), end, frame.durability())?;
        Ok(Appended::At(end))
    }

    fn sync(&self, through: Height) -> Result<LogPoint> {
        if self.durable_height() >= through {
            return Ok(*self.synced.lock());
        }
        self.sync_unless(|| {
            if self.durable_height() >= through {
                return Ok(true);
            }
            self.writable(&self.tail.lock().access)?;
            Ok(false)
        })
    }

    fn read_body(&self, position: Position) -> Result<Body<'_>> {
        let offset = position.offset();
        if position != self.envelope.position(offset) || offset < PAGE_BYTES {
            return Err(self.damaged(offset, "no body of this log has this position"));
        }
        let mut end = self.written.load(Ordering::Acquire);
        if offset >= end {
            if let Some(body) = self.read_unwritten(offset)? {
                return Ok(body);
            }
            end = self.written.load(Ordering::Acquire);
        }
        let bytes = self.windows.bytes(&*self.file, offset, end);
        match bytes.map_err(|error| self.io(error))? {
            Some(bytes) => Body::mapped(bytes, offset).map_err(|fault| self.damaged(offset, fault)),
            None => self.copy_body(offset, end),
        }
    }

    fn frame_meta(&self, offset: u64) -> Result<FrameMeta> {
        if offset < PAGE_BYTES {
            return Err(self.damaged(offset, "no frame begins here"));
        }
        let mut end = self.written.load(Ordering::Acquire);
        if offset >= end {
            let tail = self.tail.lock();
            if let Some(bytes) = self.unwritten(&tail, offset)? {
                // In memory the frame is whole, so nothing more would be found in the file.
                return self.meta_of(offset, bytes, offset);
            }
            end = self.written.load(Ordering::Acquire);
        }
        let bytes = self.windows.bytes(&*self.file, offset, end);
        match bytes.map_err(|error| self.io(error))? {
            Some(bytes) => self.meta_of(offset, bytes, end),
            None => {
                let bytes = self.copy(offset, end, GUESS_BYTES)?;
                self.meta_of(offset, &bytes, end)
            }
        }
    }

    fn frames(&self, from: LogPoint) -> Result<FrameReader> {
        self.flush(&mut self.tail.lock())?;
        Ok(self.written_frames(from))
    }
}
