//! Reading frames one after another, a chunk of the file at a time.

use std::path::PathBuf;
use std::sync::Arc;

use super::LogPoint;
use super::fault::Fault;
use super::frame::Frame;
use super::head::{Envelope, lengths};
use crate::error::{Error, Result};
use crate::storage::File;

/// Bytes that are read at a time. A longer frame makes the buffer grow to its length.
const CHUNK_BYTES: usize = 1 << 20;

/// Reads frames from a point on. It holds one chunk, or one frame where that is longer.
pub(crate) struct FrameReader {
    file: Arc<dyn File>,
    path: PathBuf,
    envelope: Envelope,
    at: LogPoint,
    /// Where the log ends, as far as this reader is concerned.
    limit: u64,
    buffer: Vec<u8>,
    /// The file offset of the buffer's first byte.
    buffer_offset: u64,
}

/// What comes next in a log.
pub(super) enum Step<'a> {
    /// A frame.
    Frame(Frame<'a>),
    /// The limit, exactly after a frame.
    End,
    /// Bytes that are no frame, or only a part of one.
    Broken(Fault),
}

impl FrameReader {
    pub(super) fn new(
        file: Arc<dyn File>,
        path: PathBuf,
        envelope: Envelope,
        from: LogPoint,
        limit: u64,
    ) -> FrameReader {
        FrameReader { file, path, envelope, at: from, limit, buffer: Vec::new(), buffer_offset: from.offset }
    }

    /// The point after the last frame that was given out.
    pub fn at(&self) -> LogPoint {
        self.at
    }

    /// The next frame; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the bytes are no frame; [`Error::Io`].
    pub fn next(&mut self) -> Result<Option<Frame<'_>>> {
        let (path, offset) = (self.path.clone(), self.at.offset);
        match self.step()? {
            Step::Frame(frame) => Ok(Some(frame)),
            Step::End => Ok(None),
            Step::Broken(fault) => Err(Error::Damaged { path, offset, what: fault.to_string() }),
        }
    }

    pub(super) fn step(&mut self) -> Result<Step<'_>> {
        let left = self.limit.saturating_sub(self.at.offset);
        if left == 0 {
            return Ok(Step::End);
        }
        self.fill(8)?;
        let have = match lengths(&self.buffer[self.start()..]) {
            Ok((frame_bytes, _)) if u64::from(frame_bytes) <= left => {
                let have = self.fill(frame_bytes as usize)?;
                if have < frame_bytes as usize {
                    return Ok(Step::Broken(Fault::Cut { need: u64::from(frame_bytes), have: have as u64 }));
                }
                have
            }
            Ok((frame_bytes, _)) => {
                return Ok(Step::Broken(Fault::Cut { need: u64::from(frame_bytes), have: left }));
            }
            Err(fault) => return Ok(Step::Broken(fault)),
        };
        let start = self.start();
        match Frame::parse(&self.buffer[start..start + have], self.envelope, &self.at) {
            Ok(frame) => {
                self.at = frame.end();
                Ok(Step::Frame(frame))
            }
            Err(fault) => Ok(Step::Broken(fault)),
        }
    }

    fn start(&self) -> usize {
        (self.at.offset - self.buffer_offset) as usize
    }

    /// Makes the buffer hold `need` bytes from the current point on, unless the log ends before; gives what it holds.
    fn fill(&mut self, need: usize) -> Result<usize> {
        let start = self.start();
        let have = self.buffer.len() - start;
        if have >= need {
            return Ok(have);
        }
        self.buffer.drain(..start);
        self.buffer_offset = self.at.offset;
        let left = self.limit.saturating_sub(self.at.offset);
        let wanted = (need.max(CHUNK_BYTES) as u64).min(left) as usize;
        if wanted > have {
            self.buffer.resize(wanted, 0);
            let read = self.file.read_at(&mut self.buffer[have..], self.at.offset + have as u64);
            let read = read.map_err(|error| Error::io(&self.path, error))?;
            self.buffer.truncate(have + read);
        }
        if need <= CHUNK_BYTES {
            self.buffer.shrink_to(2 * CHUNK_BYTES);
        }
        Ok(self.buffer.len())
    }
}
