//! The section directory: one record of fixed size for each section, sorted by [`SectionId`], read in place.

use super::file::{HEADER, get_u32, get_u64, put_u64};
use super::{SectionId, SectionKind, filter};
use crate::types::{GroupingId, IndexId};

/// Bytes of a record.
pub(super) const RECORD: usize = 128;
/// Bytes of a block's place in the block index: the prefix of its first key, and the rest.
pub(super) const INDEX_PREFIX: usize = 8;
/// The part of it beside the prefix.
pub(super) const INDEX_DETAIL: usize = 32;

/// Where a section is and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectionRecord {
    pub(super) id: SectionId,
    pub(super) entries: u64,
    pub(super) distinct_keys: u64,
    pub(super) lowest_height: u64,
    pub(super) highest_height: u64,
    pub(super) blocks_at: u64,
    pub(super) index_at: u64,
    pub(super) index_len: u64,
    pub(super) blocks: u64,
    pub(super) blocks_before: u64,
    pub(super) filter_at: u64,
    pub(super) filter_lines: u64,
    pub(super) pages_before: u64,
    /// The bytes that all keys of the section have in common.
    pub(super) common: u32,
    pub(super) index_crc: u32,
}

impl SectionRecord {
    pub(super) fn encode(&self) -> [u8; RECORD] {
        let mut out = [0; RECORD];
        out[0..4].copy_from_slice(&self.id.grouping.0.to_le_bytes());
        out[4..8].copy_from_slice(&self.id.index.0.to_le_bytes());
        out[8] = self.id.kind as u8;
        let fields = [
            self.entries,
            self.distinct_keys,
            self.lowest_height,
            self.highest_height,
            self.blocks_at,
            self.index_at,
            self.index_len,
            self.blocks,
            self.blocks_before,
            self.filter_at,
            self.filter_lines,
            self.pages_before,
        ];
        for (number, field) in fields.into_iter().enumerate() {
            put_u64(&mut out, 16 + 8 * number, field);
        }
        out[112..116].copy_from_slice(&self.common.to_le_bytes());
        out[116..120].copy_from_slice(&self.index_crc.to_le_bytes());
        out
    }

    /// Reads a record of [`RECORD`] bytes; `None` when its kind is unknown.
    pub(super) fn decode(record: &[u8]) -> Option<SectionRecord> {
        let field = |number: usize| get_u64(record, 16 + 8 * number);
        Some(SectionRecord {
            id: record_id(record)?,
            entries: field(0),
            distinct_keys: field(1),
            lowest_height: field(2),
            highest_height: field(3),
            blocks_at: field(4),
            index_at: field(5),
            index_len: field(6),
            blocks: field(7),
            blocks_before: field(8),
            filter_at: field(9),
            filter_lines: field(10),
            pages_before: field(11),
            common: get_u32(record, 112),
            index_crc: get_u32(record, 116),
        })
    }

    pub(super) fn filter_pages(&self) -> u64 {
        filter_pages(self.filter_lines)
    }

    /// Whether all parts lie where they may, in a file whose directory is at `directory_at`.
    pub(super) fn fits(&self, directory_at: u64) -> bool {
        let index_min = self
            .blocks
            .checked_mul((INDEX_PREFIX + INDEX_DETAIL) as u64)
            .and_then(|len| len.checked_add(u64::from(self.common)));
        let filter_len =
            self.filter_lines.checked_mul(filter::LINE as u64).and_then(|len| len.checked_add(4 * self.filter_pages()));
        let index_end = self.index_at.checked_add(self.index_len);
        let filter_end = filter_len.and_then(|len| self.filter_at.checked_add(len));
        let (Some(index_min), Some(index_end), Some(filter_end)) = (index_min, index_end, filter_end) else {
            return false;
        };
        self.id.is_valid()
            && self.entries >= 1
            && self.blocks >= 1
            && self.blocks_at >= HEADER as u64
            && self.blocks_at < self.index_at
            && self.index_len >= index_min
            && self.filter_lines <= u64::from(u32::MAX)
            && index_end <= directory_at
            && (self.filter_lines == 0 || self.filter_at >= index_end && filter_end <= directory_at)
    }
}

/// The pages of a filter.
pub(super) fn filter_pages(lines: u64) -> u64 {
    lines.div_ceil((filter::PAGE / filter::LINE) as u64)
}

/// The id in a record of [`RECORD`] bytes.
#[inline]
pub(super) fn record_id(record: &[u8]) -> Option<SectionId> {
    Some(SectionId {
        grouping: GroupingId(get_u32(record, 0)),
        index: IndexId(get_u32(record, 4)),
        kind: SectionKind::from_byte(record[8])?,
    })
}
