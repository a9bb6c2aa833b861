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
//! Every 16th entry is a *restart*: it is stored as if nothing came before it, so that decoding can begin there. The end
//! of a block says where they are, and gives a *rank* of each: a number that orders like the entries, so that a search
//! need not visit them. In a block with several keys the rank is the eight bytes of the key after those that all keys of
//! the block have in common; in a block with only one key it is the birth's height (of versions, its complement).
//!
//! ```text
//! entries | offset of each restart u32 | rank of each restart u64 | restarts u32 | common bytes u32 | CRC32C
//! ```

use std::cmp::Ordering;

use super::SectionKind;
use super::entry::{Births, Entry};
use super::file::{get_u32, get_u64};
use super::number::{number, number_u32, put_number, shared_prefix, unzigzag, zigzag};
use super::section::{STEM, prefix_of};
use crate::limits::INDEX_KEY_BYTES;
use crate::types::{Birth, Height, Position, VersionKind};

/// Entries from one restart point to the next.
pub(super) const INTERVAL: usize = 16;
/// A block is closed when its entries have so many bytes.
pub(super) const BLOCK_BYTES: usize = 4096;
/// The count of restart points, the common bytes of the keys, and the CRC.
const TRAILER: usize = 12;
/// Offset and rank of a restart point.
const RESTART: usize = 12;
/// Instead of the common bytes: the block has only one key.
const ONE_KEY: u32 = u32::MAX;
/// Common bytes beyond these are not used: readers compare them with the beginning of the key in the block index.
const COMMON_MAX: usize = STEM - 8;

const SAME_KEY: u8 = 1;
const KEY_LENGTH: u8 = 1 << 1;
const UNIT_LENGTH: u8 = 1 << 2;
const VERSION_IS_BIRTH: u8 = 1 << 3;
const PLACE: u8 = 1 << 4;
const BIRTHS: u8 = 1 << 5;
const KIND_SHIFT: u8 = 6;

/// What the next entry is stored as the difference from.
#[derive(Clone, Copy, Default)]
pub(super) struct Previous {
    pub(super) key_len: usize,
    pub(super) unit_len: usize,
    birth: Birth,
    position: u64,
}

/// Collects the entries of one block.
pub(super) struct BlockBuilder {
    bytes: Vec<u8>,
    restarts: Vec<Restart>,
    entries: u32,
    previous: Previous,
    previous_unit: Vec<u8>,
    /// The beginning of the first key.
    first_key: Vec<u8>,
    one_key: bool,
    /// What the first key has in common with those at the restart points.
    common: usize,
}

/// A restart point while its block is built.
struct Restart {
    offset: u32,
    birth: Birth,
    /// The key's beginning, filled up with zeroes.
    key: [u8; STEM],
}

impl BlockBuilder {
    pub(super) fn new() -> BlockBuilder {
        BlockBuilder {
            bytes: Vec::with_capacity(2 * BLOCK_BYTES),
            restarts: Vec::new(),
            entries: 0,
            previous: Previous::default(),
            previous_unit: Vec::new(),
            first_key: Vec::new(),
            one_key: true,
            common: 0,
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
        if self.entries == 0 {
            self.first_key.clear();
            let stem = &entry.key[..entry.key.len().min(STEM)];
            self.first_key.extend_from_slice(stem);
            self.one_key = true;
            self.common = COMMON_MAX.min(stem.len());
        } else {
            let same = shared == entry.key.len() && shared == self.previous.key_len;
            self.one_key &= same;
        }
        if (self.entries as usize).is_multiple_of(INTERVAL) {
            self.restart(entry);
            shared = 0;
        }
        let out = &mut self.bytes;
        let previous = self.previous;
        let flags_at = out.len();
        let mut flags = 0;
        out.push(0);

        let key = entry.key;
        if shared == key.len() && shared == previous.key_len {
            flags |= SAME_KEY;
            let (from, to) = (previous.birth.height.0, entry.birth.height.0);
            put_number(
                out,
                match kind {
                    SectionKind::Versions => from.wrapping_sub(to),
                    _ => to.wrapping_sub(from),
                },
            );
        } else {
            put_number(out, shared as u64);
            if key.len() == previous.key_len {
                flags |= KEY_LENGTH;
            } else {
                put_number(out, (key.len() - shared) as u64);
            }
            out.extend_from_slice(&key[shared..]);
            let delta = entry.birth.height.0.wrapping_sub(previous.birth.height.0);
            put_number(out, zigzag(delta));
        }
        if entry.birth.place != 0 {
            flags |= PLACE;
            put_number(out, u64::from(entry.birth.place));
        }

        if matches!(kind, SectionKind::Live | SectionKind::Past) {
            if entry.version == entry.birth {
                flags |= VERSION_IS_BIRTH;
            } else {
                let delta = entry.version.height.0.wrapping_sub(entry.birth.height.0);
                put_number(out, delta);
                put_number(out, u64::from(entry.version.place));
            }
            let shared = shared_prefix(&self.previous_unit, entry.unit);
            put_number(out, shared as u64);
            if entry.unit.len() == self.previous_unit.len() {
                flags |= UNIT_LENGTH;
            } else {
                put_number(out, (entry.unit.len() - shared) as u64);
            }
            out.extend_from_slice(&entry.unit[shared..]);
            self.previous_unit.truncate(shared);
            self.previous_unit.extend_from_slice(&entry.unit[shared..]);
        }
        if kind != SectionKind::Kills {
            let delta = entry.position.to_bits().wrapping_sub(previous.position);
            put_number(out, zigzag(delta));
        }
        if matches!(kind, SectionKind::Kills | SectionKind::Past) {
            put_number(out, entry.end.0.wrapping_sub(entry.birth.height.0));
        }
        if kind == SectionKind::Versions {
            flags |= (entry.kind as u8) << KIND_SHIFT;
            let births = entry.births.encoded();
            if !births.is_empty() {
                flags |= BIRTHS;
                put_number(out, births.len() as u64);
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

    fn restart(&mut self, entry: &Entry<'_>) {
        let len = entry.key.len().min(STEM);
        let mut key = [0; STEM];
        key[..len].copy_from_slice(&entry.key[..len]);
        self.restarts.push(Restart { offset: self.bytes.len() as u32, birth: entry.birth, key });
        let shared = shared_prefix(&self.first_key, &entry.key[..len]);
        self.common = self.common.min(shared);
        self.previous = Previous::default();
        self.previous_unit.clear();
    }

    /// Appends the block to `out` and begins the next one.
    pub(super) fn finish(&mut self, kind: SectionKind, out: &mut Vec<u8>, crc_seed: u32) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        for restart in &self.restarts {
            out.extend_from_slice(&restart.offset.to_le_bytes());
        }
        for restart in &self.restarts {
            let rank =
                if self.one_key { birth_rank(kind, restart.birth) } else { prefix_of(&restart.key[self.common..]) };
            out.extend_from_slice(&rank.to_le_bytes());
        }
        let common = if self.one_key { ONE_KEY } else { self.common as u32 };
        out.extend_from_slice(&(self.restarts.len() as u32).to_le_bytes());
        out.extend_from_slice(&common.to_le_bytes());
        let crc = crc32c::crc32c_append(crc_seed, &out[start..]);
        out.extend_from_slice(&crc.to_le_bytes());
        self.bytes.clear();
        self.bytes.shrink_to(16 * BLOCK_BYTES);
        self.restarts.clear();
        self.entries = 0;
    }
}

/// The rank of an entry in a block with only one key.
fn birth_rank(kind: SectionKind, birth: Birth) -> u64 {
    match kind {
        SectionKind::Versions => !birth.height.0,
        _ => birth.height.0,
    }
}

/// A block's parts, as offsets in the file.
#[derive(Clone, Copy, Default)]
pub(super) struct BlockParts {
    entries_at: usize,
    entries_end: usize,
    restarts: usize,
    common: u32,
}

impl BlockParts {
    /// Takes apart the block at `start .. end` of `file`; `None` when its parts do not fit.
    pub(super) fn parse(file: &[u8], start: usize, end: usize) -> Option<BlockParts> {
        let block = file.get(start..end)?;
        let restarts_end = block.len().checked_sub(TRAILER)?;
        let restarts = get_u32(block, restarts_end) as usize;
        let table = restarts.checked_mul(RESTART)?;
        let common = get_u32(block, restarts_end + 4);
        if restarts == 0 || table >= restarts_end || (common != ONE_KEY && common as usize > COMMON_MAX) {
            return None;
        }
        Some(BlockParts { entries_at: start, entries_end: start + restarts_end - table, restarts, common })
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
        let start = self.entries_at + get_u32(file, at) as usize;
        let end = if interval + 1 < self.restarts {
            self.entries_at + get_u32(file, at + 4) as usize
        } else {
            self.entries_end
        };
        (start < end && end <= self.entries_end).then_some((start, end))
    }

    /// The restart points that may not be told from (key, birth) by their ranks; all before them are below it, and all
    /// after them above. `first_key` is the beginning of the block's first key, up to [`STEM`] bytes.
    #[inline]
    pub(super) fn candidates(
        &self,
        kind: SectionKind,
        file: &[u8],
        first_key: FirstKey<'_>,
        key: &[u8],
        birth: Birth,
    ) -> (usize, usize) {
        let rank = if self.common == ONE_KEY {
            match first_key.compare_whole(key) {
                Some(Ordering::Less) => return (self.restarts, self.restarts),
                Some(Ordering::Equal) => birth_rank(kind, birth),
                Some(Ordering::Greater) => return (0, 0),
                None => return (0, self.restarts),
            }
        } else {
            let common = self.common as usize;
            match first_key.compare_beginning(key, common) {
                Some(Ordering::Less) => return (self.restarts, self.restarts),
                Some(Ordering::Equal) => prefix_of(&key[common..]),
                Some(Ordering::Greater) => return (0, 0),
                None => return (0, self.restarts),
            }
        };
        let ranks_at = self.entries_end + 4 * self.restarts;
        let ranks = &file[ranks_at..ranks_at + 8 * self.restarts];
        // Ranks are few, and compared faster than a search can jump.
        let (mut below, mut equal) = (0, 0);
        for other in ranks.chunks_exact(8) {
            let other = get_u64(other, 0);
            below += usize::from(other < rank);
            equal += usize::from(other == rank);
        }
        (below, below + equal)
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

/// The beginning of a block's first key, as the block index has it, in two parts.
#[derive(Clone, Copy)]
pub(super) struct FirstKey<'a> {
    /// What all keys of the section have in common.
    pub(super) common: &'a [u8],
    /// What follows, up to [`STEM`] bytes of key.
    pub(super) stem: &'a [u8],
}

impl FirstKey<'_> {
    /// Whether there may be more of the key.
    #[inline]
    pub(super) fn is_cut(&self) -> bool {
        self.common.len() + self.stem.len() >= STEM
    }

    /// The order of its first `len` bytes and the target's; `None` when there are not so many, which no writer does.
    #[inline]
    fn compare_beginning(&self, key: &[u8], len: usize) -> Option<Ordering> {
        let rest = len.saturating_sub(self.common.len());
        let stem = self.stem.get(..rest)?;
        let common = &self.common[..self.common.len().min(len)];
        let (start, rest) = key.split_at(key.len().min(common.len()));
        Some(common.cmp(start).then_with(|| stem.cmp(&rest[..rest.len().min(stem.len())])))
    }

    /// The order of the key and the target; `None` when only more of the key could tell.
    #[inline]
    fn compare_whole(&self, key: &[u8]) -> Option<Ordering> {
        let (start, rest) = key.split_at(key.len().min(self.common.len()));
        let by_beginning = self.common.cmp(start).then_with(|| {
            let rest = &rest[..rest.len().min(self.stem.len())];
            self.stem.cmp(rest)
        });
        match by_beginning {
            Ordering::Equal if self.is_cut() => None,
            Ordering::Equal => Some((self.common.len() + self.stem.len()).cmp(&key.len())),
            other => Some(other),
        }
    }
}

/// The first fields of an entry: enough to compare it.
pub(super) struct Head<'a> {
    flags: u8,
    pub(super) key_shared: usize,
    pub(super) key_rest: &'a [u8],
    /// The rest of the key, and what follows it.
    pub(super) wide: &'a [u8],
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
    /// The rest of the unit key, and what follows it.
    pub(super) wide: &'a [u8],
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
#[inline(always)]
pub(super) fn decode_head<'a>(kind: SectionKind, input: &mut &'a [u8], previous: &Previous) -> Option<Head<'a>> {
    let (&flags, rest) = input.split_first()?;
    *input = rest;
    let (key_shared, key_rest, height);
    let mut wide = &[][..];
    if flags & SAME_KEY != 0 {
        (key_shared, key_rest) = (previous.key_len, &[][..]);
        let delta = number(input)?;
        height = match kind {
            SectionKind::Versions => previous.birth.height.0.wrapping_sub(delta),
            _ => previous.birth.height.0.wrapping_add(delta),
        };
    } else {
        key_shared = number(input)? as usize;
        if key_shared > previous.key_len {
            return None;
        }
        let rest = if flags & KEY_LENGTH != 0 { previous.key_len - key_shared } else { number(input)? as usize };
        wide = *input;
        key_rest = take(input, rest)?;
        if key_shared + rest > INDEX_KEY_BYTES {
            return None;
        }
        let delta = unzigzag(number(input)?);
        height = previous.birth.height.0.wrapping_add(delta);
    }
    let place = if flags & PLACE != 0 { number_u32(input)? } else { 0 };
    Some(Head { flags, key_shared, key_rest, wide, birth: Birth::new(Height(height), place) })
}

/// Decodes the rest of an entry, and makes it the previous one.
#[inline(always)]
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
        wide: &[],
        version: head.birth,
        position: Position::default(),
        end: Height::ZERO,
        kind: VersionKind::Deleted,
        births: &[],
    };
    if matches!(kind, SectionKind::Live | SectionKind::Past) {
        if flags & VERSION_IS_BIRTH == 0 {
            let height = head.birth.height.0.wrapping_add(number(input)?);
            tail.version = Birth::new(Height(height), number_u32(input)?);
        }
        tail.unit_shared = number(input)? as usize;
        if tail.unit_shared > previous.unit_len {
            return None;
        }
        let rest =
            if flags & UNIT_LENGTH != 0 { previous.unit_len - tail.unit_shared } else { number(input)? as usize };
        tail.wide = *input;
        tail.unit_rest = take(input, rest)?;
        previous.unit_len = tail.unit_shared + rest;
        if previous.unit_len > INDEX_KEY_BYTES {
            return None;
        }
    }
    if kind != SectionKind::Kills {
        let delta = unzigzag(number(input)?);
        previous.position = previous.position.wrapping_add(delta);
        tail.position = Position::from_bits(previous.position);
    }
    if matches!(kind, SectionKind::Kills | SectionKind::Past) {
        tail.end = Height(head.birth.height.0.wrapping_add(number(input)?));
    }
    if kind == SectionKind::Versions {
        tail.kind = VersionKind::from_byte(flags >> KIND_SHIFT)?;
        if flags & BIRTHS != 0 {
            let len = number(input)? as usize;
            tail.births = take(input, len)?;
            Births::check(tail.births, head.birth.height)?;
        }
    }
    previous.key_len = head.key_shared + head.key_rest.len();
    previous.birth = head.birth;
    Some(tail)
}
