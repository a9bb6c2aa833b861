//! Reading a log that may be damaged anywhere, and going on behind each damage.
//!
//! Recovery stops at the first bad frame, since all it wants to know is where the log ends. Whoever verifies or repairs a
//! log wants to know everything, so this reader tells apart how much is lost:
//!
//! | what is wrong | what is lost | where reading goes on |
//! |---|---|---|
//! | a body | that operation | the next body: the head has all lengths, and its own checksum |
//! | height, time or chain value | nothing of the frame; what it should follow is missing or other | the next frame |
//! | a head, or its lengths | the frame, and all up to the next offset at which a head is whole | there |
//! | nothing whole follows | the rest: damage, or an append that did not come to its end | nowhere |
//!
//! A head at a wrong place never passes, since its checksum is seeded with its offset. So a search through bytes of any
//! kind finds the next frame and nothing that only looks like one. A part of the file that the device refuses to give is
//! taken for zeroes, 4 KiB at a time, and said.

use std::path::Path;
use std::sync::Arc;

use super::LogPoint;
use super::fault::Fault;
use super::frame::Frame;
use super::head::{Envelope, FIXED_BYTES, FrameHead, MIN_HEAD_BYTES, lengths};
use super::header::{LogHeader, PAGE_BYTES};
use super::local::{Access, LocalLog};
use super::recovery::may_begin_frame;
use crate::error::{Error, Result};
use crate::storage::{File, OpenMode, Storage};
use crate::sync::atomic::Ordering;
use crate::types::{Height, Timestamp};

/// Bytes that are read at a time. A longer frame makes the buffer grow to its length.
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes that are given up together when the device does not give them.
const SECTOR_BYTES: usize = 4096;

/// What comes next in a log.
pub(crate) enum Examined<'a> {
    /// A frame whose head is whole.
    Frame {
        /// The frame; only [`Frame::checked_operations`] may be asked for its operations.
        frame: Frame<'a>,
        /// Height, time or chain value: it does not follow the frame before.
        unfit: Option<Fault>,
    },
    /// Bytes that are no frame.
    Gap(Gap),
    /// The limit, exactly after a frame.
    End,
}

/// A part of a log that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The end of what was read before.
    pub from: LogPoint,
    /// Where reading goes on; the end of the log if it does not.
    pub to: u64,
    /// The heights of the commits that were in it, as far as the next frame tells: from the one after `from.height` to this.
    pub last_lost: Option<Height>,
    /// What is wrong with its first bytes.
    pub what: String,
}

/// Reads a log from its beginning to a limit, whatever is in it.
pub(crate) struct Examiner {
    file: Arc<dyn File>,
    envelope: Envelope,
    at: LogPoint,
    limit: u64,
    buffer: Vec<u8>,
    /// The file offset of the buffer's first byte.
    buffer_offset: u64,
    /// Parts that the device did not give, since they were last taken: offset and what it said.
    unreadable: Vec<(u64, String)>,
}

impl LocalLog {
    /// Opens a log whose header is damaged, for [`LocalLog::examine`]: log id and generation are known from elsewhere.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn open_without_header(
        storage: &Arc<dyn Storage>,
        path: &Path,
        log_id: [u8; 16],
        generation: u16,
    ) -> Result<LocalLog> {
        let file = storage.open(path, OpenMode::Read).map_err(|error| Error::io(path, error))?;
        let header = LogHeader { generation, ..LogHeader::new(log_id, Timestamp(0)) };
        let (path, writer) = (path.to_owned(), super::Writer::default());
        Ok(LocalLog::with(Arc::clone(storage), path, file, header, None, Access::Read, writer))
    }

    /// Reads all of the log up to the offset `limit`, or to the end of the file where that comes first, however damaged it
    /// is. Bodies up to there can be read from now on. For readers: the log is not followed any more.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io): not even the file's length can be known.
    pub fn examine(&self, limit: u64) -> Result<Examiner> {
        let limit = limit.min(self.file.len().map_err(|error| self.io(error))?).max(PAGE_BYTES);
        self.written.store(limit, Ordering::Release);
        Ok(Examiner {
            file: Arc::clone(&self.file),
            envelope: self.envelope,
            at: self.header.base(),
            limit,
            buffer: Vec::new(),
            buffer_offset: PAGE_BYTES,
            unreadable: Vec::new(),
        })
    }

    /// What the newest status slot calls synced: height, offset and chain value; `None` without a valid slot.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn synced_by_slot(&self) -> Result<Option<LogPoint>> {
        let status = super::status::Status::read(&*self.file, self.header.log_id).map_err(|error| self.io(error))?;
        Ok(status.map(|status| LogPoint {
            height: status.synced_height,
            offset: status.synced_offset,
            chain: status.synced_chain,
            ..LogPoint::default()
        }))
    }

    /// Whether somebody holds the writer's lock.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn has_writer(&self) -> Result<bool> {
        self.file.is_locked(super::header::WRITER_LOCK).map_err(|error| self.io(error))
    }

    /// The file's length.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn file_bytes(&self) -> Result<u64> {
        self.file.len().map_err(|error| self.io(error))
    }
}

impl Examiner {
    /// The point after the last frame that was given out.
    pub fn at(&self) -> LogPoint {
        self.at
    }

    /// Where reading ends.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The parts that the device did not give since this was last asked.
    pub fn take_unreadable(&mut self) -> Vec<(u64, String)> {
        std::mem::take(&mut self.unreadable)
    }

    /// What comes next. What cannot be read is a gap.
    pub fn step(&mut self) -> Examined<'_> {
        if self.at.offset >= self.limit {
            return Examined::End;
        }
        let whole = match self.load_frame() {
            Ok(bytes) => self.parse(bytes).err(),
            Err(fault) => Some(fault),
        };
        if let Some(fault) = whole {
            return Examined::Gap(self.skip(&fault));
        }
        let before = self.at;
        let (start, envelope) = (self.start(), self.envelope);
        let bytes = &self.buffer[start..];
        match Frame::examine(bytes, envelope, &before) {
            Ok((frame, unfit)) => {
                self.at = frame.end();
                Examined::Frame { frame, unfit }
            }
            Err(fault) => unreachable!("the frame was parsed before: {fault}"),
        }
    }

    /// Makes the buffer hold the frame at the current point; gives its length.
    fn load_frame(&mut self) -> Result<usize, Fault> {
        let left = self.limit - self.at.offset;
        self.fill(MIN_HEAD_BYTES);
        let (frame_bytes, _) = lengths(&self.buffer[self.start()..])?;
        let have = if u64::from(frame_bytes) <= left { self.fill(frame_bytes as usize) as u64 } else { left };
        if have < u64::from(frame_bytes) {
            return Err(Fault::Cut { need: u64::from(frame_bytes), have });
        }
        Ok(frame_bytes as usize)
    }

    /// Whether the head of the frame, which the buffer holds, is whole.
    fn parse(&self, frame_bytes: usize) -> Result<(), Fault> {
        let start = self.start();
        FrameHead::parse(&self.buffer[start..start + frame_bytes], &self.envelope, self.at.offset).map(|_| ())
    }

    /// Goes on to the next whole head.
    fn skip(&mut self, fault: &Fault) -> Gap {
        let from = self.at;
        let mut gap = Gap { from, to: self.limit, last_lost: None, what: fault.to_string() };
        let mut offset = from.offset + 1;
        while offset + MIN_HEAD_BYTES as u64 <= self.limit {
            self.at.offset = offset;
            let have = self.fill(CHUNK_BYTES);
            let Some(last) = (have as u64).min(self.limit - offset).checked_sub(MIN_HEAD_BYTES as u64) else {
                break;
            };
            for step in 0..=last {
                let candidate = offset + step;
                let start = (candidate - self.buffer_offset) as usize;
                let bytes = &self.buffer[start..];
                if bytes.len() < FIXED_BYTES || !may_begin_frame(bytes, &from, self.limit - candidate) {
                    continue;
                }
                self.at.offset = candidate;
                if let Some(before) = self.head_here(&from) {
                    gap.to = candidate;
                    gap.last_lost = Some(before.height);
                    self.at = before;
                    return gap;
                }
                // Looking for the whole head may have moved the buffer.
                self.at.offset = offset;
                self.fill(CHUNK_BYTES);
            }
            offset += last + 1;
        }
        self.at = LogPoint { offset: self.limit, ..from };
        gap
    }

    /// The point before the head at the current offset, if there is a whole one.
    fn head_here(&mut self, from: &LogPoint) -> Option<LogPoint> {
        let (_, head_bytes) = lengths(&self.buffer[self.start()..]).ok()?;
        self.fill(head_bytes as usize);
        let head = FrameHead::parse(&self.buffer[self.start()..], &self.envelope, self.at.offset).ok()?;
        let height = if head.is_commit() { Height(head.height.0 - 1) } else { head.height };
        Some(LogPoint { height, offset: self.at.offset, chain: head.chain, time: from.time })
    }

    fn start(&self) -> usize {
        (self.at.offset - self.buffer_offset) as usize
    }

    /// Makes the buffer hold `need` bytes from the current offset on, unless the log ends before; gives what it holds.
    fn fill(&mut self, need: usize) -> usize {
        let wanted = (need as u64).min(self.limit.saturating_sub(self.at.offset)) as usize;
        let inside =
            self.at.offset >= self.buffer_offset && self.at.offset - self.buffer_offset <= self.buffer.len() as u64;
        if inside && self.buffer.len() - self.start() >= wanted {
            return self.buffer.len() - self.start();
        }
        if inside {
            let start = self.start();
            self.buffer.drain(..start);
        } else {
            self.buffer.clear();
        }
        self.buffer_offset = self.at.offset;
        let have = self.buffer.len();
        let length = (need.max(CHUNK_BYTES) as u64).min(self.limit - self.at.offset) as usize;
        self.buffer.resize(length, 0);
        let read = self.read(have, self.at.offset + have as u64);
        self.buffer.truncate(have + read);
        if need <= CHUNK_BYTES {
            self.buffer.shrink_to(2 * CHUNK_BYTES);
        }
        self.buffer.len()
    }

    /// Reads into the buffer from `from` on; what the device does not give stays zero.
    fn read(&mut self, from: usize, offset: u64) -> usize {
        let buffer = &mut self.buffer[from..];
        if let Ok(read) = self.file.read_at(buffer, offset) {
            return read;
        }
        buffer.fill(0);
        let length = buffer.len();
        for (nth, sector) in buffer.chunks_mut(SECTOR_BYTES).enumerate() {
            let at = offset + (nth * SECTOR_BYTES) as u64;
            match self.file.read_at(sector, at) {
                Ok(read) if read < sector.len() => return nth * SECTOR_BYTES + read,
                Ok(_) => {}
                Err(error) => {
                    sector.fill(0);
                    self.unreadable.push((at, error.to_string()));
                }
            }
        }
        length
    }
}
