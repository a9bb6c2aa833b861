//! Cursors: moving over a section's entries, forward and backward.
//!
//! A cursor decodes up to one interval (16 entries, from one restart point to the next) into buffers that it reuses:
//! a step in either direction within the interval is then an addition, and no step allocates.

use std::cmp::Ordering;
use std::sync::Arc;

use super::block::{self, BlockParts, INTERVAL, Previous};
use super::directory::SectionRecord;
use super::{Births, Entry, Run, Section, SectionId, SectionKind};
use crate::error::Result;
use crate::types::{Birth, Height, Position, VersionKind};

/// A place in a section of a run, which it keeps open.
///
/// A new cursor stands nowhere ([`valid`](Cursor::valid) is `false`); so does one that was moved beyond an end, until it
/// is moved by a seek. The accessors panic then.
pub struct Cursor {
    run: Arc<Run>,
    /// The number of the section in the run.
    number: usize,
    record: SectionRecord,
    block: u64,
    parts: BlockParts,
    interval: usize,
    decoded: Decoded,
    /// The entry in `decoded` at which the cursor stands, when it is valid.
    at: usize,
    valid: bool,
}

/// An entry whose keys are in the buffers of [`Decoded`].
#[derive(Clone, Copy)]
struct Slot {
    key: (u32, u32),
    unit: (u32, u32),
    /// In the file, beginning with the block.
    births: (u32, u32),
    birth: Birth,
    version: Birth,
    position: Position,
    end: Height,
    kind: VersionKind,
}

impl Slot {
    fn empty() -> Slot {
        Slot {
            key: (0, 0),
            unit: (0, 0),
            births: (0, 0),
            birth: Birth::MIN,
            version: Birth::MIN,
            position: Position::default(),
            end: Height::ZERO,
            kind: VersionKind::Deleted,
        }
    }
}

/// The decoded entries of an interval.
struct Decoded {
    slots: Box<[Slot; INTERVAL]>,
    filled: usize,
    keys: Arena,
    units: Arena,
    previous: Previous,
    /// The bytes in the file that are still to be decoded.
    next: usize,
    end: usize,
}

impl Decoded {
    fn begin(&mut self, (start, end): (usize, usize)) {
        self.filled = 0;
        self.keys.clear();
        self.units.clear();
        self.previous = Previous::default();
        (self.next, self.end) = (start, end);
    }

    fn is_whole(&self) -> bool {
        self.next == self.end
    }

    /// Decodes on until all are decoded, or an entry of which `until` holds.
    #[inline]
    fn decode(
        &mut self,
        kind: SectionKind,
        file: &[u8],
        block: usize,
        until: impl Fn(&[u8], Birth) -> bool,
    ) -> Option<bool> {
        let mut input = file.get(self.next..self.end)?;
        let mut last = match self.filled {
            0 => Slot::empty(),
            filled => self.slots[filled - 1],
        };
        while !input.is_empty() {
            let head = block::decode_head(kind, &mut input, &self.previous)?;
            if !head.same_key() {
                let from = last.key.0 as usize;
                last.key = self.keys.append(from, head.key_shared, head.key_rest, head.wide);
            }
            let tail = block::decode_tail(kind, &mut input, &mut self.previous, &head)?;
            if matches!(kind, SectionKind::Live | SectionKind::Past) {
                let from = last.unit.0 as usize;
                last.unit = self.units.append(from, tail.unit_shared, tail.unit_rest, tail.wide);
            }
            last.birth = head.birth;
            last.version = tail.version;
            last.position = tail.position;
            last.end = tail.end;
            last.kind = tail.kind;
            let births_end = self.end - input.len() - block;
            last.births = ((births_end - tail.births.len()) as u32, births_end as u32);
            *self.slots.get_mut(self.filled)? = last;
            self.filled += 1;
            let (from, to) = (last.key.0 as usize, last.key.1 as usize);
            if until(&self.keys[from..to], last.birth) {
                self.next = self.end - input.len();
                return Some(true);
            }
        }
        self.next = self.end;
        Some(false)
    }
}

/// A buffer that keys are put into, one after another.
#[derive(Default)]
struct Arena {
    bytes: Vec<u8>,
    used: usize,
}

impl Arena {
    /// Short copies are made in one piece of so many bytes, with what lies behind: that is faster than an exact one.
    const PIECE: usize = 32;

    fn clear(&mut self) {
        self.used = 0;
    }

    /// Puts down `shared` bytes that are here at `from`, and then `rest`, with which `wide` begins.
    #[inline(always)]
    fn append(&mut self, from: usize, shared: usize, rest: &[u8], wide: &[u8]) -> (u32, u32) {
        let start = self.used;
        let middle = start + shared;
        let end = middle + rest.len();
        if self.bytes.len() < end + 2 * Self::PIECE {
            self.bytes.resize(2 * (end + 2 * Self::PIECE), 0);
        }
        let bytes = &mut self.bytes[..];
        match bytes[from..].first_chunk::<{ Self::PIECE }>() {
            Some(&piece) if shared <= Self::PIECE => {
                bytes[start..start + Self::PIECE].copy_from_slice(&piece);
            }
            _ => bytes.copy_within(from..from + shared, start),
        }
        match wide.first_chunk::<{ Self::PIECE }>() {
            Some(piece) if rest.len() <= Self::PIECE => {
                bytes[middle..middle + Self::PIECE].copy_from_slice(piece);
            }
            _ => bytes[middle..end].copy_from_slice(rest),
        }
        self.used = end;
        (start as u32, end as u32)
    }
}

impl std::ops::Deref for Arena {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Cursor {
    pub(super) fn new(run: Arc<Run>, section: &Section<'_>) -> Cursor {
        Cursor {
            number: section.number(),
            record: *section.record(),
            block: 0,
            parts: BlockParts::default(),
            interval: 0,
            decoded: Decoded {
                slots: Box::new([Slot::empty(); INTERVAL]),
                filled: 0,
                keys: Arena::default(),
                units: Arena::default(),
                previous: Previous::default(),
                next: 0,
                end: 0,
            },
            at: 0,
            valid: false,
            run,
        }
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// The section.
    #[must_use]
    pub fn id(&self) -> SectionId {
        self.record.id
    }

    /// Whether the cursor stands at an entry.
    #[inline]
    #[must_use]
    pub fn valid(&self) -> bool {
        self.valid
    }

    /// Moves to the first entry that is not below (key, birth) in the section's order.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], as for all moves; the cursor then stands nowhere.
    pub fn seek(&mut self, key: &[u8], birth: Birth) -> Result<()> {
        self.valid = false;
        let section = self.section();
        let place = section.find(key, birth)?;
        (self.block, self.parts) = (place.block, place.parts);
        self.begin(place.interval)?;
        let kind = self.record.id.kind;
        if self.decode(|k, b| kind.compare((k, b), (key, birth)) != Ordering::Less)? {
            self.at = self.decoded.filled - 1;
            self.valid = true;
            Ok(())
        } else {
            self.next_interval()
        }
    }

    /// Moves to the last entry that is below (key, birth) in the section's order.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn seek_before(&mut self, key: &[u8], birth: Birth) -> Result<()> {
        self.seek(key, birth)?;
        if self.valid { self.prev() } else { self.seek_last() }
    }

    /// Moves to the first entry.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn seek_first(&mut self) -> Result<()> {
        self.valid = false;
        self.load_block(0)?;
        self.load_interval(0)?;
        self.at = 0;
        self.valid = true;
        Ok(())
    }

    /// Moves to the last entry.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn seek_last(&mut self) -> Result<()> {
        self.valid = false;
        self.load_block(self.record.blocks - 1)?;
        self.load_interval(self.parts.restarts() - 1)?;
        self.at = self.decoded.filled - 1;
        self.valid = true;
        Ok(())
    }

    /// Moves to the entry after this one; beyond the last, the cursor stands nowhere. From nowhere it does not move.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    #[inline]
    pub fn next(&mut self) -> Result<()> {
        if self.valid && self.at + 1 < self.decoded.filled {
            self.at += 1;
            return Ok(());
        }
        self.next_decoded()
    }

    fn next_decoded(&mut self) -> Result<()> {
        if !self.valid {
            return Ok(());
        }
        if self.decoded.is_whole() {
            return self.next_interval();
        }
        self.valid = false;
        self.decode(|_, _| false)?;
        self.at += 1;
        self.valid = true;
        Ok(())
    }

    /// Moves to the entry before this one; before the first, the cursor stands nowhere. From nowhere it does not move.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    #[inline]
    pub fn prev(&mut self) -> Result<()> {
        if self.valid && self.at > 0 {
            self.at -= 1;
            return Ok(());
        }
        self.previous_interval()
    }

    fn previous_interval(&mut self) -> Result<()> {
        if !self.valid {
            return Ok(());
        }
        self.valid = false;
        let interval = match (self.interval.checked_sub(1), self.block.checked_sub(1)) {
            (Some(interval), _) => interval,
            (None, Some(block)) => {
                self.load_block(block)?;
                self.parts.restarts() - 1
            }
            (None, None) => return Ok(()),
        };
        self.load_interval(interval)?;
        self.at = self.decoded.filled - 1;
        self.valid = true;
        Ok(())
    }

    fn next_interval(&mut self) -> Result<()> {
        self.valid = false;
        let mut interval = self.interval + 1;
        if interval == self.parts.restarts() {
            if self.block + 1 == self.record.blocks {
                return Ok(());
            }
            self.load_block(self.block + 1)?;
            interval = 0;
        }
        self.load_interval(interval)?;
        self.at = 0;
        self.valid = true;
        Ok(())
    }

    fn section(&self) -> Section<'_> {
        Section::new(&self.run, self.number, &self.record)
    }

    fn load_block(&mut self, block: u64) -> Result<()> {
        self.parts = self.section().block(block)?;
        self.block = block;
        Ok(())
    }

    fn load_interval(&mut self, interval: usize) -> Result<()> {
        self.begin(interval)?;
        self.decode(|_, _| false)?;
        Ok(())
    }

    fn begin(&mut self, interval: usize) -> Result<()> {
        self.interval = interval;
        match self.parts.interval(self.run.file(), interval) {
            Some(range) => {
                self.decoded.begin(range);
                Ok(())
            }
            None => Err(self.wrong()),
        }
    }

    #[inline]
    fn decode(&mut self, until: impl Fn(&[u8], Birth) -> bool) -> Result<bool> {
        let block = self.parts.start();
        let file = self.run.file();
        let decoded = &mut self.decoded;
        // The kind as a constant in each arm: the decoder is compiled for each.
        let found = match self.record.id.kind {
            SectionKind::Versions => decoded.decode(SectionKind::Versions, file, block, until),
            SectionKind::Live => decoded.decode(SectionKind::Live, file, block, until),
            SectionKind::Kills => decoded.decode(SectionKind::Kills, file, block, until),
            SectionKind::Past => decoded.decode(SectionKind::Past, file, block, until),
        };
        found.ok_or_else(|| self.wrong())
    }

    #[cold]
    fn wrong(&self) -> crate::Error {
        self.run.damaged(self.parts.start(), "a block's entries cannot be decoded")
    }

    #[inline]
    fn slot(&self) -> &Slot {
        assert!(self.valid, "a cursor that stands nowhere was read");
        &self.decoded.slots[self.at]
    }

    /// The key: of a version the unit key, else the index key.
    #[inline]
    #[must_use]
    pub fn key(&self) -> &[u8] {
        let (from, to) = self.slot().key;
        &self.decoded.keys[from as usize..to as usize]
    }

    /// The birth; of a version, its own height and place.
    #[inline]
    #[must_use]
    pub fn birth(&self) -> Birth {
        self.slot().birth
    }

    /// The unit: of a version its key, of live and past entries the stored one, of kills empty.
    #[inline]
    #[must_use]
    pub fn unit_key(&self) -> &[u8] {
        if self.record.id.kind == SectionKind::Versions {
            return self.key();
        }
        let (from, to) = self.slot().unit;
        &self.decoded.units[from as usize..to as usize]
    }

    /// The version that the hint leads to: its height, place in the commit, and position. Not for kills.
    #[inline]
    #[must_use]
    pub fn version(&self) -> (Height, u32, Position) {
        let slot = self.slot();
        (slot.version.height, slot.version.place, slot.position)
    }

    /// The height at which the entry ended. For kills and past entries.
    #[inline]
    #[must_use]
    pub fn end(&self) -> Height {
        self.slot().end
    }

    /// What the version is. For versions.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> VersionKind {
        self.slot().kind
    }

    /// The births that differ from the version's own height and place. For versions.
    #[inline]
    #[must_use]
    pub fn births(&self) -> Births<'_> {
        let slot = self.slot();
        let block = self.parts.start();
        let (from, to) = (slot.births.0 as usize, slot.births.1 as usize);
        Births::checked(&self.run.file()[block + from..block + to], slot.birth.height)
    }

    /// Where in the file the block begins in which the cursor stands.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.parts.start() as u64
    }

    /// All of the entry.
    #[inline]
    #[must_use]
    pub fn entry(&self) -> Entry<'_> {
        let slot = self.slot();
        let (from, to) = slot.unit;
        Entry {
            key: self.key(),
            birth: slot.birth,
            unit: &self.decoded.units[from as usize..to as usize],
            version: slot.version,
            position: slot.position,
            end: slot.end,
            kind: slot.kind,
            births: if self.record.id.kind == SectionKind::Versions { self.births() } else { Births::default() },
        }
    }
}
