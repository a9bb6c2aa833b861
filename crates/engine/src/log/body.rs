//! Bodies: the unit key and content of one operation, with a checksum of their own.
//!
//! ```text
//! crc32c of the rest | back | kind | place | key length | content length | salt | unit key | content
//!        4              1-4    1      1-3       1-3           1-4           16
//! ```
//!
//! A position leads to a body, and everything else is found from there: `back` leads to the frame, which has the height,
//! the time and the actor. No other checksum covers a body, so that one can be overwritten without breaking the chain.

use std::ops::Range;

use super::fault::BodyFault;
use super::head::MIN_HEAD_BYTES;
use super::header::{PAGE_BYTES, array};
use crate::limits;
use crate::planted;
use crate::types::VersionKind;
use crate::varint;

/// Bytes of a salt.
pub(super) const SALT_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;
/// The most bytes of a body besides its key and content.
pub(super) const OVERHEAD_BYTES: usize = CHECKSUM_BYTES + 4 * varint::MAX_BYTES + 1 + SALT_BYTES;
/// The most bytes of a body.
pub(super) const MAX_BODY_BYTES: usize = OVERHEAD_BYTES + limits::UNIT_KEY_BYTES + limits::CONTENT_BYTES;

/// Appends what follows `back` in a body.
pub(super) fn put_rest(
    out: &mut Vec<u8>,
    kind: VersionKind,
    place: u32,
    key: &[u8],
    content: &[u8],
    salt: [u8; SALT_BYTES],
) {
    out.reserve(OVERHEAD_BYTES + key.len() + content.len());
    out.push(kind as u8);
    varint::put(out, u64::from(place));
    varint::put(out, key.len() as u64);
    varint::put(out, content.len() as u64);
    out.extend_from_slice(&salt);
    out.extend_from_slice(key);
    out.extend_from_slice(content);
}

/// Appends a body to its frame, given what follows `back`.
pub(super) fn put(frame: &mut Vec<u8>, rest: &[u8]) {
    let start = frame.len();
    frame.extend_from_slice(&[0; CHECKSUM_BYTES]);
    varint::put(frame, start as u64);
    frame.extend_from_slice(rest);
    let crc = crc32c::crc32c(&frame[start + CHECKSUM_BYTES..]);
    frame[start..start + CHECKSUM_BYTES].copy_from_slice(&crc.to_le_bytes());
}

/// Bytes of a body that stands `back` bytes into its frame and has `rest` bytes after that number.
pub(super) fn len(back: usize, rest: usize) -> usize {
    CHECKSUM_BYTES + varint::len(back as u64) + rest
}

/// Where the parts of a body are in its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub back: u64,
    pub kind: VersionKind,
    pub place: u32,
    pub key: Range<usize>,
    pub content: Range<usize>,
}

impl Parts {
    /// Reads the lengths of the body at the front of `bytes`. They are bounded, and not yet covered by the checksum.
    pub fn parse(bytes: &[u8]) -> Result<Parts, BodyFault> {
        let field = BodyFault::Field;
        let mut rest = bytes.get(CHECKSUM_BYTES..).ok_or(BodyFault::Cut { need: CHECKSUM_BYTES, have: bytes.len() })?;
        let back = varint::get(&mut rest)
            .filter(|back| (MIN_HEAD_BYTES as u64..limits::FRAME_BYTES as u64).contains(back))
            .ok_or(field("way back to the frame"))?;
        let (&kind, after) = rest.split_first().ok_or(field("kind"))?;
        rest = after;
        let kind = VersionKind::from_byte(kind).ok_or(field("kind"))?;
        let place = varint::get_u32(&mut rest)
            .filter(|place| (*place as usize) < limits::OPERATIONS_PER_COMMIT)
            .ok_or(field("place"))?;
        let key_bytes = varint::get(&mut rest)
            .filter(|len| *len <= limits::UNIT_KEY_BYTES as u64)
            .ok_or(field("key length"))? as usize;
        let content_bytes = varint::get(&mut rest)
            .filter(|len| *len <= limits::CONTENT_BYTES as u64)
            .filter(|len| kind != VersionKind::Deleted || *len == 0)
            .ok_or(field("content length"))? as usize;
        let key = bytes.len() - rest.len() + SALT_BYTES;
        let content = key + key_bytes;
        Ok(Parts { back, kind, place, key: key..content, content: content..content + content_bytes })
    }

    /// Bytes of the body.
    pub fn len(&self) -> usize {
        self.content.end
    }

    /// The salt of the body at the front of `bytes`.
    pub fn salt<'b>(&self, bytes: &'b [u8]) -> &'b [u8; SALT_BYTES] {
        let Some(salt) = bytes[..self.key.start].last_chunk() else {
            unreachable!("a salt stands before the key");
        };
        salt
    }

    /// Checks the body at the front of `bytes`.
    pub fn check(&self, bytes: &[u8]) -> Result<(), BodyFault> {
        let body = bytes.get(..self.len()).ok_or(BodyFault::Cut { need: self.len(), have: bytes.len() })?;
        if crc32c::crc32c(&body[CHECKSUM_BYTES..]) != u32::from_le_bytes(array(body, 0))
            && !planted::is(planted::Fault::BodyChecksumDropped)
        {
            return Err(BodyFault::Checksum);
        }
        Ok(())
    }
}

/// A body whose checksum is right, in the log's map or copied.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    bytes: Bytes<'a>,
    parts: Parts,
    offset: u64,
}

#[derive(Debug)]
enum Bytes<'a> {
    Mapped(&'a [u8]),
    Copied(Vec<u8>),
}

impl<'a> Body<'a> {
    /// The body at the front of `bytes`, which stand at `offset` of the log.
    pub(super) fn mapped(bytes: &'a [u8], offset: u64) -> Result<Body<'a>, BodyFault> {
        let parts = Body::check(bytes, offset)?;
        Ok(Body { bytes: Bytes::Mapped(&bytes[..parts.len()]), parts, offset })
    }

    pub(super) fn copied(mut bytes: Vec<u8>, offset: u64) -> Result<Body<'a>, BodyFault> {
        let parts = Body::check(&bytes, offset)?;
        bytes.truncate(parts.len());
        Ok(Body { bytes: Bytes::Copied(bytes), parts, offset })
    }

    fn check(bytes: &[u8], offset: u64) -> Result<Parts, BodyFault> {
        let parts = Parts::parse(bytes)?;
        parts.check(bytes)?;
        if offset.checked_sub(parts.back).is_none_or(|o| o < PAGE_BYTES) {
            return Err(BodyFault::Field("way back to the frame"));
        }
        Ok(parts)
    }

    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(bytes) => bytes,
            Bytes::Copied(bytes) => bytes,
        }
    }

    /// The unit key.
    pub fn key(&self) -> &[u8] {
        &self.bytes()[self.parts.key.clone()]
    }

    /// The content; of a deletion, nothing.
    pub fn content(&self) -> &[u8] {
        &self.bytes()[self.parts.content.clone()]
    }

    /// What the version is.
    pub fn kind(&self) -> VersionKind {
        self.parts.kind
    }

    /// Where the frame begins, for [`Log::frame_meta`](super::Log::frame_meta).
    pub fn frame_offset(&self) -> u64 {
        self.offset - self.parts.back
    }
}
