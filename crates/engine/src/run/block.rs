//! Blocks: about 4 KiB of entries, each stored as its difference from the one before.
//!
//! ```text
//! entry  := flags | key | birth | fields of the kind
//! key    := nothing when equal to the key before;
//!           else shared varint | [length of the rest varint] | rest
//! birth  := height delta varint | [place varint]
//! ```
//!
//! | flag | bit | means |
//! |---|---|---|
//! | `SAME_KEY` | 0 | the key is the one before; the height delta is then plain, in the section's direction |
//! | `KEY_LENGTH` | 1 | the key is as long as the one before, so the length of the rest is left out |
//! | `UNIT_LENGTH` | 2 | the same for the unit key |
//! | `VERSION_IS_BIRTH` | 3 | the version's height and place are the birth's |
//! | `PLACE` | 4 | the birth's place is not 0, and follows |
//! | `BIRTHS` | 5 | births that differ from the version's own follow |
//! | kind | 6-7 | [`VersionKind`] of a version |
//!
//! Every 16th entry is a *restart*: it is stored as if nothing came before it, so that decoding can begin there.

use super::SectionKind;
use crate::limits::INDEX_KEY_BYTES;
use crate::types::{Birth, Height, IndexId, Position, VersionKind};
use crate::varint;

/// Entries from one restart point to the next.
pub(super) const INTERVAL: usize = 16;
/// A block is closed when its entries have so many bytes.
pub(super) const BLOCK_BYTES: usize = 4096;
/// The count of restart points and the CRC.
const TRAILER: usize = 8;

const SAME_KEY: u8 = 1;
const KEY_LENGTH: u8 = 1 << 1;
const UNIT_LENGTH: u8 = 1 << 2;
const VERSION_IS_BIRTH: u8 = 1 << 3;
const PLACE: u8 = 1 << 4;
const BIRTHS: u8 = 1 << 5;
const KIND_SHIFT: u8 = 6;

/// One event, as it is written and read. What a section's kind does not have is zero or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key: the unit key of a version, else the index key.
    pub key: &'a [u8],
    /// The birth; of a version, its own height and place.
    pub birth: Birth,
    /// Live, Past: the unit.
    pub unit: &'a [u8],
    /// Live, Past: the version that the hint leads to.
    pub version: Birth,
    /// Versions, Live, Past: where the version's body is.
    pub position: Position,
    /// Kills, Past: the height at which the entry ended.
    pub end: Height,
    /// Versions: what the version is.
    pub kind: VersionKind,
    /// Versions: the births that differ from the version's own.
    pub births: Births<'a>,
}

/// The births of a version's index entries where they differ from the version's own height and place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Births<'a> {
    bytes: &'a [u8],
    version: Height,
}

impl<'a> Births<'a> {
    /// Births in their stored form, after a check that it is well formed.
    pub(super) fn check(bytes: &'a [u8], version: Height) -> Option<Births<'a>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            decode_birth(&mut rest, version)?;
        }
        Some(Births { bytes, version })
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn encoded(&self) -> &'a [u8] {
        self.bytes
    }

    /// Stored births, checked before.
    pub(super) fn checked(bytes: &'a [u8], version: Height) -> Births<'a> {
        Births { bytes, version }
    }
}

impl Iterator for Births<'_> {
    type Item = (IndexId, Birth);

    fn next(&mut self) -> Option<(IndexId, Birth)> {
        decode_birth(&mut self.bytes, self.version)
    }
}

/// Stores births; heights are stored as distances back from the version's.
pub(super) fn encode_births(out: &mut Vec<u8>, births: impl IntoIterator<Item = (IndexId, Birth)>, version: Height) {
    for (index, birth) in births {
        varint::put(out, u64::from(index.0));
        varint::put(out, version.0.wrapping_sub(birth.height.0));
        varint::put(out, u64::from(birth.place));
    }
}

fn decode_birth(bytes: &mut &[u8], version: Height) -> Option<(IndexId, Birth)> {
    let index = varint::get_u32(bytes)?;
    let height = version.0.wrapping_sub(varint::get(bytes)?);
    let place = varint::get_u32(bytes)?;
    Some((IndexId(index), Birth::new(Height(height), place)))
}

/// What the next entry is stored as the difference from.
#[derive(Clone, Copy, Default)]
pub(super) struct Previous {
    pub(super) key_len: usize,
    pub(super) unit_len: usize,
    birth: Birth,
    position: u64,
}

#[inline]
fn zigzag(delta: u64) -> u64 {
    (delta << 1) ^ ((delta as i64 >> 63) as u64)
}

#[inline]
fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// The number of bytes that two keys have in common at their beginnings.
#[inline]
pub(super) fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut shared = 0;
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let x = u64::from_le_bytes(first_8(x));
        let y = u64::from_le_bytes(first_8(y));
        if x != y {
            return shared + ((x ^ y).trailing_zeros() / 8) as usize;
        }
        shared += 8;
    }
    let rest = a[shared..].iter().zip(&b[shared..]);
    shared + rest.take_while(|(x, y)| x == y).count()
}

#[inline]
fn first_8(bytes: &[u8]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&bytes[..8]);
    out
}

/// Collects the entries of one block.
pub(super) struct BlockBuilder {
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    entries: u32,
    previous: Previous,
    previous_unit: Vec<u8>,
}

impl BlockBuilder {
    pub(super) fn new() -> BlockBuilder {
        BlockBuilder {
            bytes: Vec::with_capacity(2 * BLOCK_BYTES),
            restarts: Vec::new(),
            entries: 0,
            previous: Previous::default(),
            previous_unit: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= BLOCK_BYTES
    }

    pub(super) fn entries(&self) -> u32 {
        self.entries
    }

    /// Adds an entry whose key shares `shared` bytes with the key of the one before.
    pub(super) fn push(&mut self, kind: SectionKind, entry: &Entry<'_>, mut shared: usize) {
        let out = &mut self.bytes;
        if (self.entries as usize).is_multiple_of(INTERVAL) {
            self.restarts.push(out.len() as u32);
            self.previous = Previous::default();
            self.previous_unit.clear();
            shared = 0;
        }
        let previous = self.previous;
        let flags_at = out.len();
        let mut flags = 0;
        out.push(0);

        let key = entry.key;
        if shared == key.len() && shared == previous.key_len {
            flags |= SAME_KEY;
            let (from, to) = (previous.birth.height.0, entry.birth.height.0);
            varint::put(
                out,
                match kind {
                    SectionKind::Versions => from.wrapping_sub(to),
                    _ => to.wrapping_sub(from),
                },
            );
        } else {
            varint::put(out, shared as u64);
            if key.len() == previous.key_len {
                flags |= KEY_LENGTH;
            } else {
                varint::put(out, (key.len() - shared) as u64);
            }
            out.extend_from_slice(&key[shared..]);
            let delta = entry.birth.height.0.wrapping_sub(previous.birth.height.0);
            varint::put(out, zigzag(delta));
        }
        if entry.birth.place != 0 {
            flags |= PLACE;
            varint::put(out, u64::from(entry.birth.place));
        }

        if matches!(kind, SectionKind::Live | SectionKind::Past) {
            if entry.version == entry.birth {
                flags |= VERSION_IS_BIRTH;
            } else {
                let delta = entry.version.height.0.wrapping_sub(entry.birth.height.0);
                varint::put(out, delta);
                varint::put(out, u64::from(entry.version.place));
            }
            let shared = shared_prefix(&self.previous_unit, entry.unit);
            varint::put(out, shared as u64);
            if entry.unit.len() == self.previous_unit.len() {
                flags |= UNIT_LENGTH;
            } else {
                varint::put(out, (entry.unit.len() - shared) as u64);
            }
            out.extend_from_slice(&entry.unit[shared..]);
            self.previous_unit.truncate(shared);
            self.previous_unit.extend_from_slice(&entry.unit[shared..]);
        }
        if kind != SectionKind::Kills {
            let delta = entry.position.to_bits().wrapping_sub(previous.position);
            varint::put(out, zigzag(delta));
        }
        if matches!(kind, SectionKind::Kills | SectionKind::Past) {
            varint::put(out, entry.end.0.wrapping_sub(entry.birth.height.0));
        }
        if kind == SectionKind::Versions {
            flags |= (entry.kind as u8) << KIND_SHIFT;
            let births = entry.births.encoded();
            if !births.is_empty() {
                flags |= BIRTHS;
                varint::put(out, births.len() as u64);
                out.extend_from_slice(births);
            }
        }

        out[flags_at] = flags;
        self.entries += 1;
        self.previous = Previous {
            key_len: key.len(),
            unit_len: entry.unit.len(),
            birth: entry.birth,
            position: entry.position.to_bits(),
        };
    }

    /// Appends the block to `out` and begins the next one.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>, crc_seed: u32) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        for restart in &self.restarts {
            out.extend_from_slice(&restart.to_le_bytes());
        }
        out.extend_from_slice(&(self.restarts.len() as u32).to_le_bytes());
        let crc = crc32c::crc32c_append(crc_seed, &out[start..]);
        out.extend_from_slice(&crc.to_le_bytes());
        self.bytes.clear();
        self.bytes.shrink_to(16 * BLOCK_BYTES);
        self.restarts.clear();
        self.entries = 0;
    }
}

/// A block's parts, as offsets in the file.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockParts {
    entries_at: usize,
    entries_end: usize,
    restarts: usize,
}

impl BlockParts {
    /// Takes apart the block at `start .. end` of `file`; `None` when its parts do not fit.
    pub(super) fn parse(file: &[u8], start: usize, end: usize) -> Option<BlockParts> {
        let len = end.checked_sub(start)?;
        let count_at = end.checked_sub(TRAILER).filter(|_| len > TRAILER)?;
        let restarts = u32_at(file, count_at)? as usize;
        let table = restarts.checked_mul(4)?;
        if restarts == 0 || table >= len - TRAILER {
            return None;
        }
        Some(BlockParts { entries_at: start, entries_end: count_at - table, restarts })
    }

    pub(super) fn restarts(&self) -> usize {
        self.restarts
    }

    pub(super) fn start(&self) -> usize {
        self.entries_at
    }

    /// The bytes from restart point `interval` to the next one.
    #[inline]
    pub(super) fn interval(&self, file: &[u8], interval: usize) -> Option<(usize, usize)> {
        let at = self.entries_end + 4 * interval;
        let start = self.entries_at + u32_at(file, at)? as usize;
        let end = if interval + 1 < self.restarts {
            self.entries_at + u32_at(file, at + 4)? as usize
        } else {
            self.entries_end
        };
        (start < end && end <= self.entries_end).then_some((start, end))
    }

    /// The key and birth at restart point `interval`.
    #[inline]
    pub(super) fn restart<'a>(&self, kind: SectionKind, file: &'a [u8], interval: usize) -> Option<(&'a [u8], Birth)> {
        let (start, end) = self.interval(file, interval)?;
        let mut input = &file[start..end];
        let head = decode_head(kind, &mut input, &Previous::default())?;
        Some((head.key_rest, head.birth))
    }
}

#[inline]
fn u32_at(file: &[u8], at: usize) -> Option<u32> {
    let bytes = file.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

/// The first fields of an entry: enough to compare it.
pub(super) struct Head<'a> {
    flags: u8,
    pub(super) key_shared: usize,
    pub(super) key_rest: &'a [u8],
    pub(super) birth: Birth,
}

impl Head<'_> {
    /// Whether the key is the one before.
    #[inline]
    pub(super) fn same_key(&self) -> bool {
        self.flags & SAME_KEY != 0
    }
}

/// The fields that follow the head.
pub(super) struct Tail<'a> {
    pub(super) unit_shared: usize,
    pub(super) unit_rest: &'a [u8],
    pub(super) version: Birth,
    pub(super) position: Position,
    pub(super) end: Height,
    pub(super) kind: VersionKind,
    pub(super) births: &'a [u8],
}

#[inline]
fn take<'a>(input: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(taken)
}

/// Decodes the beginning of an entry.
#[inline]
pub(super) fn decode_head<'a>(kind: SectionKind, input: &mut &'a [u8], previous: &Previous) -> Option<Head<'a>> {
    let (&flags, rest) = input.split_first()?;
    *input = rest;
    let (key_shared, key_rest, height);
    if flags & SAME_KEY != 0 {
        (key_shared, key_rest) = (previous.key_len, &[][..]);
        let delta = varint::get(input)?;
        height = match kind {
            SectionKind::Versions => previous.birth.height.0.wrapping_sub(delta),
            _ => previous.birth.height.0.wrapping_add(delta),
        };
    } else {
        key_shared = varint::get(input)? as usize;
        if key_shared > previous.key_len {
            return None;
        }
        let rest = if flags & KEY_LENGTH != 0 { previous.key_len - key_shared } else { varint::get(input)? as usize };
        key_rest = take(input, rest)?;
        if key_shared + rest > INDEX_KEY_BYTES {
            return None;
        }
        let delta = unzigzag(varint::get(input)?);
        height = previous.birth.height.0.wrapping_add(delta);
    }
    let place = if flags & PLACE != 0 { varint::get_u32(input)? } else { 0 };
    Some(Head { flags, key_shared, key_rest, birth: Birth::new(Height(height), place) })
}

/// Decodes the rest of an entry, and makes it the previous one.
#[inline]
pub(super) fn decode_tail<'a>(
    kind: SectionKind,
    input: &mut &'a [u8],
    previous: &mut Previous,
    head: &Head<'a>,
) -> Option<Tail<'a>> {
    let flags = head.flags;
    let mut tail = Tail {
        unit_shared: 0,
        unit_rest: &[],
        version: head.birth,
        position: Position::default(),
        end: Height::ZERO,
        kind: VersionKind::Deleted,
        births: &[],
    };
    if matches!(kind, SectionKind::Live | SectionKind::Past) {
        if flags & VERSION_IS_BIRTH == 0 {
            let height = head.birth.height.0.wrapping_add(varint::get(input)?);
            tail.version = Birth::new(Height(height), varint::get_u32(input)?);
        }
        tail.unit_shared = varint::get(input)? as usize;
        if tail.unit_shared > previous.unit_len {
            return None;
        }
        let rest =
            if flags & UNIT_LENGTH != 0 { previous.unit_len - tail.unit_shared } else { varint::get(input)? as usize };
        tail.unit_rest = take(input, rest)?;
        previous.unit_len = tail.unit_shared + rest;
        if previous.unit_len > INDEX_KEY_BYTES {
            return None;
        }
    }
    if kind != SectionKind::Kills {
        let delta = unzigzag(varint::get(input)?);
        previous.position = previous.position.wrapping_add(delta);
        tail.position = Position::from_bits(previous.position);
    }
    if matches!(kind, SectionKind::Kills | SectionKind::Past) {
        tail.end = Height(head.birth.height.0.wrapping_add(varint::get(input)?));
    }
    if kind == SectionKind::Versions {
        tail.kind = VersionKind::from_byte(flags >> KIND_SHIFT)?;
        if flags & BIRTHS != 0 {
            let len = varint::get(input)? as usize;
            tail.births = take(input, len)?;
            Births::check(tail.births, head.birth.height)?;
        }
    }
    previous.key_len = head.key_shared + head.key_rest.len();
    previous.birth = head.birth;
    Some(tail)
}
