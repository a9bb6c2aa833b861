//! The head of a frame: everything but the bodies.
//!
//! The head's checksum is seeded with the log, its generation and the frame's offset ([`Envelope`]), so that bytes which
//! were copied from elsewhere, or an older frame at another place, never pass for a frame. The chain value covers none of
//! that: it would be the same in a log that is no file.

use xxhash_rust::xxh3::xxh3_64;

use super::LogPoint;
use super::fault::Fault;
use super::header::{LogHeader, PAGE_BYTES, array};
use super::status::Writer;
use crate::limits;
use crate::planted;
use crate::types::{Durability, Height, Position, Timestamp};
use crate::varint;

/// Bytes of a head up to its first varint.
pub(super) const FIXED_BYTES: usize = 38;
/// The shortest head: two varints follow the fixed part.
pub(super) const MIN_HEAD_BYTES: usize = FIXED_BYTES + 2;
/// Where the part begins that the chain value covers: lengths and checksum are before it.
const CHAINED_FROM: usize = 12;

const KIND_COMMIT: u8 = 1;
const KIND_OPEN: u8 = 2;

const FLAG_DURABILITY: u8 = 0b0011;
const FLAG_ACTOR: u8 = 0b0100;
const FLAG_COMMIT_ID: u8 = 0b1000;

/// What ties frames to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    seed: u32,
    generation: u16,
}

impl Envelope {
    /// The envelope of the frames of a log.
    pub fn new(header: &LogHeader) -> Envelope {
        let seed = crc32c::crc32c(&header.log_id);
        Envelope { seed: crc32c::crc32c_append(seed, &header.generation.to_le_bytes()), generation: header.generation }
    }

    /// The position that stands for an offset of this file.
    pub fn position(&self, offset: u64) -> Position {
        Position::new(self.generation, offset)
    }

    pub(super) fn head_checksum(&self, offset: u64, head: &[u8]) -> u32 {
        let crc = crc32c::crc32c_append(self.seed, &offset.to_le_bytes());
        let crc = crc32c::crc32c_append(crc, &head[..8]);
        crc32c::crc32c_append(crc, &head[CHAINED_FROM..])
    }
}

/// The chain value after a frame. The head holds the chain value before it, so this one stands for all heads so far.
pub(super) fn chain_after(head: &[u8]) -> u64 {
    xxh3_64(&head[CHAINED_FROM..])
}

/// What opening a log for writing leaves in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenRecord {
    /// A random number: two copies of a log that are both written to never look alike again.
    pub nonce: [u8; 16],
    /// Who opened it.
    pub writer: Writer,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Operations that happened together, at a height.
    Commit,
    /// A writer opened the log.
    Open(OpenRecord),
}

/// What a frame's head says of the frame as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrameMeta {
    /// What the frame is.
    pub kind: FrameKind,
    /// The commit's height; of an open record, the height before it.
    pub height: Height,
    /// When it happened.
    pub time: Timestamp,
    /// The durability that was asked for.
    pub durability: Durability,
    /// The height that was known to be synced when the frame was written.
    pub synced: Height,
    /// The id that the committer gave.
    pub commit_id: Option<[u8; 16]>,
    /// Who made the commit.
    pub actor: Option<String>,
}

/// A head whose checksum and own fields are right. Whether the frame belongs here, [`FrameHead::follows`] tells.
#[derive(Clone, Debug)]
pub(super) struct FrameHead<'a> {
    pub bytes: &'a [u8],
    pub frame_bytes: u32,
    pub kind: FrameKind,
    pub durability: Durability,
    pub height: Height,
    pub time: Timestamp,
    pub chain: u64,
    pub count: u32,
    pub synced: Height,
    pub commit_id: Option<[u8; 16]>,
    pub actor: Option<&'a str>,
    /// The operation headers.
    pub operations: &'a [u8],
}

/// The two lengths that a frame begins with, checked against the limits and each other.
pub(super) fn lengths(bytes: &[u8]) -> Result<(u32, u32), Fault> {
    if bytes.len() < 8 {
        return Err(Fault::Cut { need: MIN_HEAD_BYTES as u64, have: bytes.len() as u64 });
    }
    let frame = u32::from_le_bytes(array(bytes, 0));
    if (frame as usize) < MIN_HEAD_BYTES || frame as usize > limits::FRAME_BYTES {
        return Err(Fault::FrameLength(frame));
    }
    let head = u32::from_le_bytes(array(bytes, 4));
    if (head as usize) < MIN_HEAD_BYTES || head > frame {
        return Err(Fault::HeadLength { head, frame });
    }
    Ok((frame, head))
}

impl<'a> FrameHead<'a> {
    /// Reads the head at the front of `bytes`, which stand at `offset` of the log.
    pub fn parse(bytes: &'a [u8], envelope: &Envelope, offset: u64) -> Result<FrameHead<'a>, Fault> {
        let (frame_bytes, head_bytes) = lengths(bytes)?;
        let have = bytes.len() as u64;
        let head = bytes.get(..head_bytes as usize).ok_or(Fault::Cut { need: u64::from(head_bytes), have })?;
        if envelope.head_checksum(offset, head) != u32::from_le_bytes(array(head, 8))
            && !planted::is(planted::Fault::HeadChecksumDropped)
        {
            return Err(Fault::HeadChecksum);
        }
        let flags = head[13];
        let durability = match flags & FLAG_DURABILITY {
            0 => Durability::Buffered,
            1 => Durability::Process,
            2 => Durability::Sync,
            _ => return Err(Fault::FrameFlags(flags)),
        };
        if flags & !(FLAG_DURABILITY | FLAG_ACTOR | FLAG_COMMIT_ID) != 0 {
            return Err(Fault::FrameFlags(flags));
        }
        let height = u64::from_le_bytes(array(head, 14));
        let mut rest = &head[FIXED_BYTES..];
        let count = varint::get_u32(&mut rest)
            .filter(|count| *count as usize <= limits::OPERATIONS_PER_COMMIT)
            .ok_or(Fault::HeadField("operation count"))?;
        let behind =
            varint::get(&mut rest).filter(|behind| *behind <= height).ok_or(Fault::HeadField("synced height"))?;
        let commit_id = if flags & FLAG_COMMIT_ID != 0 {
            let id = take(&mut rest, 16).ok_or(Fault::HeadField("commit id"))?;
            Some(array(id, 0))
        } else {
            None
        };
        let actor =
            if flags & FLAG_ACTOR != 0 { Some(take_name(&mut rest).ok_or(Fault::HeadField("actor"))?) } else { None };
        let kind = match head[12] {
            KIND_COMMIT => FrameKind::Commit,
            KIND_OPEN => {
                let record = take(&mut rest, OPEN_RECORD_BYTES)
                    .filter(|_| count == 0 && rest.is_empty() && head_bytes == frame_bytes)
                    .ok_or(Fault::HeadField("open record"))?;
                FrameKind::Open(OpenRecord {
                    nonce: array(record, 0),
                    writer: Writer {
                        boot_id: array(record, 16),
                        pid: u32::from_le_bytes(array(record, 32)),
                        started: u64::from_le_bytes(array(record, 36)),
                    },
                })
            }
            unknown => return Err(Fault::FrameKind(unknown)),
        };
        if kind == FrameKind::Commit && (height == 0 || height == u64::MAX) {
            return Err(Fault::HeadField("height"));
        }
        Ok(FrameHead {
            bytes: head,
            frame_bytes,
            kind,
            durability,
            height: Height(height),
            time: Timestamp(u64::from_le_bytes(array(head, 22))),
            chain: u64::from_le_bytes(array(head, 30)),
            count,
            synced: Height(height - behind),
            commit_id,
            actor,
            operations: rest,
        })
    }

    /// Checks that the frame is the one after `before`; gives the point after it.
    pub fn follows(&self, before: &LogPoint) -> Result<LogPoint, Fault> {
        let expected = match self.kind {
            FrameKind::Commit => before.height.next(),
            FrameKind::Open(_) => before.height,
        };
        if self.height != expected {
            return Err(Fault::Height { expected, found: self.height });
        }
        if self.chain != before.chain && !planted::is(planted::Fault::ChainValueDropped) {
            return Err(Fault::ChainValue);
        }
        if self.time < before.time {
            return Err(Fault::Time { before: before.time, found: self.time });
        }
        Ok(self.end(before.offset))
    }

    /// The point after the frame, which begins at `offset`.
    pub fn end(&self, offset: u64) -> LogPoint {
        LogPoint {
            height: self.height,
            offset: offset + u64::from(self.frame_bytes),
            chain: chain_after(self.bytes),
            time: self.time,
        }
    }

    /// Whether it is the head of a commit.
    pub fn is_commit(&self) -> bool {
        self.kind == FrameKind::Commit
    }

    pub fn meta(&self) -> FrameMeta {
        FrameMeta {
            kind: self.kind,
            height: self.height,
            time: self.time,
            durability: self.durability,
            synced: self.synced,
            commit_id: self.commit_id,
            actor: self.actor.map(str::to_owned),
        }
    }
}

const OPEN_RECORD_BYTES: usize = 44;

/// What an encoder knows of a frame before its operations.
pub(super) struct HeadFields<'a> {
    pub durability: Durability,
    pub height: Height,
    pub time: Timestamp,
    pub chain: u64,
    pub count: u32,
    pub synced: Height,
    pub commit_id: Option<[u8; 16]>,
    pub actor: Option<&'a [u8]>,
}

/// Appends a head up to its operation headers; lengths and checksum are left to [`seal_head`].
pub(super) fn begin_head(out: &mut Vec<u8>, open: bool, fields: &HeadFields<'_>) {
    let mut fixed = [0; FIXED_BYTES];
    fixed[12] = if open { KIND_OPEN } else { KIND_COMMIT };
    fixed[13] = fields.durability as u8
        | if fields.actor.is_some() { FLAG_ACTOR } else { 0 }
        | if fields.commit_id.is_some() { FLAG_COMMIT_ID } else { 0 };
    fixed[14..22].copy_from_slice(&fields.height.0.to_le_bytes());
    fixed[22..30].copy_from_slice(&fields.time.0.to_le_bytes());
    fixed[30..38].copy_from_slice(&fields.chain.to_le_bytes());
    out.extend_from_slice(&fixed);
    varint::put(out, u64::from(fields.count));
    assert!(fields.synced <= fields.height, "synced beyond the frame");
    varint::put(out, fields.height.0 - fields.synced.0);
    if let Some(id) = fields.commit_id {
        out.extend_from_slice(&id);
    }
    if let Some(actor) = fields.actor {
        varint::put(out, actor.len() as u64);
        out.extend_from_slice(actor);
    }
}

/// Sets lengths and checksum of the frame that fills `frame`; gives the chain value after it.
pub(super) fn seal_head(frame: &mut [u8], head_bytes: usize, envelope: &Envelope, offset: u64) -> u64 {
    assert!(frame.len() <= limits::FRAME_BYTES, "the frame is too long");
    assert!(offset >= PAGE_BYTES, "frames begin after the first page");
    let frame_len = frame.len() as u32;
    frame[..4].copy_from_slice(&frame_len.to_le_bytes());
    frame[4..8].copy_from_slice(&(head_bytes as u32).to_le_bytes());
    let crc = envelope.head_checksum(offset, &frame[..head_bytes]);
    frame[8..12].copy_from_slice(&crc.to_le_bytes());
    chain_after(&frame[..head_bytes])
}

/// The frame of an open record after `before`, and the point after it.
pub(super) fn open_record(
    envelope: &Envelope,
    before: &LogPoint,
    synced: Height,
    now: Timestamp,
    record: &OpenRecord,
) -> (Vec<u8>, LogPoint) {
    let time = now.max(before.time);
    let mut frame = Vec::with_capacity(MIN_HEAD_BYTES + OPEN_RECORD_BYTES);
    let fields = HeadFields {
        durability: Durability::Process,
        height: before.height,
        time,
        chain: before.chain,
        count: 0,
        synced,
        commit_id: None,
        actor: None,
    };
    begin_head(&mut frame, true, &fields);
    frame.extend_from_slice(&record.nonce);
    frame.extend_from_slice(&record.writer.boot_id);
    frame.extend_from_slice(&record.writer.pid.to_le_bytes());
    frame.extend_from_slice(&record.writer.started.to_le_bytes());
    let head_bytes = frame.len();
    let chain = seal_head(&mut frame, head_bytes, envelope, before.offset);
    let end = LogPoint { height: before.height, offset: before.offset + frame.len() as u64, chain, time };
    (frame, end)
}

/// The first `len` bytes of `rest`, which moves on.
pub(super) fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

/// A name: a length and 1 to [`limits::NAME_BYTES`] bytes of UTF-8.
pub(super) fn take_name<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let len = varint::get(rest)? as usize;
    if len == 0 || len > limits::NAME_BYTES {
        return None;
    }
    std::str::from_utf8(take(rest, len)?).ok()
}
