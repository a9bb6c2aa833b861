//! A section of a run: its filter and its block index.
//!
//! The block index is three arrays, so that a binary search over them touches few cache lines:
//!
//! ```text
//! common bytes of all keys | prefix of each block's first key (8 bytes, after the common ones, big-endian order)
//!                          | detail of each block (32 bytes: offset, birth, entries, where its stem is)
//!                          | stems: the first keys after the common bytes, up to 64 bytes of key
//! ```
//!
//! The search runs over the prefixes alone; only blocks with the same prefix as the target (many duplicates of one key)
//! are told apart by stem and birth, and only keys that are alike in their first 64 bytes by the block itself.

use std::cmp::Ordering;

use super::block::{BlockParts, FirstKey};
use super::directory::{INDEX_DETAIL, INDEX_PREFIX, SectionRecord};
use super::file::{get_u32, get_u64};
use super::{Run, SectionId, filter};
use crate::error::{Error, Result};
use crate::planted;
use crate::prefetch;
use crate::types::{Birth, Height};

/// The bytes of a block's first key that the block index keeps.
pub(super) const STEM: usize = 64;

/// A section of a run.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    run: &'a Run,
    number: usize,
    record: &'a SectionRecord,
}

/// A block and an interval in it: where to begin decoding.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) block: u64,
    pub(super) parts: BlockParts,
    pub(super) interval: usize,
}

/// The index's bytes, taken apart.
struct Index<'a> {
    common: &'a [u8],
    prefixes: &'a [u8],
    details: &'a [u8],
    stems: &'a [u8],
}

impl<'a> Section<'a> {
    pub(super) fn new(run: &'a Run, number: usize, record: &'a SectionRecord) -> Section<'a> {
        Section { run, number, record }
    }

    pub(super) fn run(&self) -> &'a Run {
        self.run
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn record(&self) -> &'a SectionRecord {
        self.record
    }

    /// Which section it is.
    #[must_use]
    pub fn id(&self) -> SectionId {
        self.record.id
    }

    /// The greatest height of a birth or an end in it.
    #[must_use]
    pub fn highest_height(&self) -> Height {
        Height(self.record.highest_height)
    }

    /// Fetches the cache line that [`Section::may_contain`] will want.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        if self.record.filter_lines != 0 {
            let line = filter::line_of(hash, self.record.filter_lines) as usize;
            let at = self.record.filter_at as usize + line * filter::LINE;
            prefetch::line(&self.run.file()[at..]);
        }
    }

    /// Whether a key with this [hash](super::key_hash) may be here; `false` is certain, `true` is wrong for about 1.3 %
    /// of the absent keys. Kills and past entries have no filter, and the answer is `true`.
    ///
    /// A damaged page of the filter lets every key through: that costs time and hides nothing.
    #[inline]
    #[must_use]
    pub fn may_contain(&self, hash: u64) -> bool {
        if self.record.filter_lines == 0 {
            return true;
        }
        if planted::is(planted::Fault::FilterSaysNo) && hash.is_multiple_of(16) {
            return false;
        }
        let line = filter::line_of(hash, self.record.filter_lines) as usize;
        if !self.page_passes(line / (filter::PAGE / filter::LINE)) {
            return true;
        }
        let at = self.record.filter_at as usize + line * filter::LINE;
        match self.run.file()[at..].first_chunk() {
            Some(line) => filter::test(line, hash),
            None => true,
        }
    }

    /// Whether a page of the filter fits its checksum.
    #[inline]
    pub(super) fn page_passes(&self, page: usize) -> bool {
        let number = self.record.pages_before as usize + page;
        self.run.pages_checked.passes(number, || self.check_page(page))
    }

    #[cold]
    fn check_page(&self, page: usize) -> bool {
        let file = self.run.file();
        let lines_len = self.record.filter_lines as usize * filter::LINE;
        let filter_at = self.record.filter_at as usize;
        let from = page * filter::PAGE;
        let to = lines_len.min(from + filter::PAGE);
        let at = filter_at + from;
        let crc = crc32c::crc32c_append(self.run.crc_seed(at), &file[at..filter_at + to]);
        get_u32(file, filter_at + lines_len + 4 * page) == crc
    }

    /// The bytes that all keys have in common, or the first of them.
    pub(super) fn common(&self) -> Result<&'a [u8]> {
        Ok(self.index()?.common)
    }

    fn index(&self) -> Result<Index<'a>> {
        let at = self.record.index_at as usize;
        let bytes = &self.run.file()[at..at + self.record.index_len as usize];
        let passes = self
            .run
            .indexes_checked
            .passes(self.number, || crc32c::crc32c_append(self.run.crc_seed(at), bytes) == self.record.index_crc);
        if !passes {
            return Err(self.run.damaged(at, "a block index does not fit its checksum"));
        }
        // `SectionRecord::fits` has seen that these parts fit.
        let blocks = self.record.blocks as usize;
        let (common, rest) = bytes.split_at(self.record.common as usize);
        let (prefixes, rest) = rest.split_at(INDEX_PREFIX * blocks);
        let (details, stems) = rest.split_at(INDEX_DETAIL * blocks);
        Ok(Index { common, prefixes, details, stems })
    }

    /// Block `number`, checked.
    pub(super) fn block(&self, number: u64) -> Result<BlockParts> {
        self.block_of(&self.index()?, number as usize)
    }

    fn block_of(&self, index: &Index<'_>, number: usize) -> Result<BlockParts> {
        let (start, end) = index.block(number, self.record.index_at);
        let file = self.run.file();
        let inside = self.record.blocks_at <= start && start < end && end <= self.record.index_at;
        let (start, end) = (start as usize, end as usize);
        if inside {
            // Its trailer and restart points.
            prefetch::all(&file[end.saturating_sub(256).max(start)..end]);
        }
        let number = self.record.blocks_before as usize + number;
        let passes = inside
            && self.run.blocks_checked.passes(number, || {
                end - start > 4 && {
                    let crc = crc32c::crc32c_append(self.run.crc_seed(start), &file[start..end - 4]);
                    get_u32(file, end - 4) == crc || planted::is(planted::Fault::BlockChecksumDropped)
                }
            });
        if !passes {
            return Err(self.run.damaged(start, "a block does not fit its checksum"));
        }
        BlockParts::parse(file, start, end).ok_or_else(|| self.run.damaged(start, "a block's parts do not add up"))
    }

    /// Where the first entry that is not below (key, birth) is: in this interval, or at the beginning of the next.
    pub(super) fn find(&self, key: &[u8], birth: Birth) -> Result<Place> {
        let index = self.index()?;
        let block = self.find_block(&index, key, birth)?.saturating_sub(1);
        let parts = self.block_of(&index, block)?;
        let Some(first_key) = index.first_key(block) else {
            return Err(self.index_is_wrong());
        };
        // The last interval whose first entry is below.
        let file = self.run.file();
        let kind = self.record.id.kind;
        let (mut low, mut high) = parts.candidates(kind, file, first_key, key, birth);
        while low < high {
            let middle = low.midpoint(high);
            if self.restart(&parts, middle, key, birth)? == Ordering::Less {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let interval = low.saturating_sub(1);
        if let Some((start, end)) = parts.interval(file, interval) {
            prefetch::all(&file[start..end]);
        }
        Ok(Place { block: block as u64, parts, interval })
    }

    fn restart(&self, parts: &BlockParts, interval: usize, key: &[u8], birth: Birth) -> Result<Ordering> {
        let kind = self.record.id.kind;
        match parts.restart(kind, self.run.file(), interval) {
            Some(first) => Ok(kind.compare(first, (key, birth))),
            None => Err(self.run.damaged(parts.start(), "a restart point of a block is wrong")),
        }
    }

    /// The number of blocks whose first entry is below (key, birth).
    fn find_block(&self, index: &Index<'_>, key: &[u8], birth: Birth) -> Result<usize> {
        let blocks = self.record.blocks as usize;
        let Some(rest) = key.strip_prefix(index.common) else {
            let below = index.common < key;
            return Ok(if below { blocks } else { 0 });
        };
        let prefix = prefix_of(rest);
        let mut low = index.partition(0, |first| first < prefix);
        if low == blocks || index.prefix(low) != prefix {
            return Ok(low);
        }
        let mut high = index.partition(low, |first| first <= prefix);
        while low < high {
            let middle = low.midpoint(high);
            if self.compare_first(index, middle, rest, key, birth)? == Ordering::Less {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Compares the first entry of a block, whose prefix is the target's.
    fn compare_first(
        &self,
        index: &Index<'_>,
        block: usize,
        rest: &[u8],
        key: &[u8],
        birth: Birth,
    ) -> Result<Ordering> {
        let Some(first) = index.first_key(block) else {
            return Err(self.index_is_wrong());
        };
        let stem = first.stem;
        let by_stem = stem.cmp(&rest[..rest.len().min(stem.len())]);
        if by_stem != Ordering::Equal {
            return Ok(by_stem);
        }
        if first.is_cut() {
            return self.restart(&self.block_of(index, block)?, 0, key, birth);
        }
        // The first key is the stem, and a beginning of the target.
        let kind = self.record.id.kind;
        Ok(stem.len().cmp(&rest.len()).then_with(|| kind.compare_births(index.birth(block), birth)))
    }

    #[cold]
    fn index_is_wrong(&self) -> Error {
        let at = self.record.index_at as usize;
        self.run.damaged(at, "a block index does not add up")
    }
}

impl<'a> Index<'a> {
    /// The first block from `low` on whose prefix is not below. Without branches, which nothing could predict.
    #[inline]
    fn partition(&self, low: usize, below: impl Fn(u64) -> bool) -> usize {
        let mut base = low;
        let mut size = self.prefixes.len() / INDEX_PREFIX - low;
        while size > 1 {
            let half = size / 2;
            let middle = base + half;
            base = std::hint::select_unpredictable(below(self.prefix(middle)), middle, base);
            size -= half;
        }
        base + usize::from(size == 1 && below(self.prefix(base)))
    }

    #[inline]
    fn prefix(&self, block: usize) -> u64 {
        get_u64(self.prefixes, INDEX_PREFIX * block)
    }

    /// Where a block begins and ends.
    #[inline]
    fn block(&self, block: usize, index_at: u64) -> (u64, u64) {
        let next = INDEX_DETAIL * (block + 1);
        let start = get_u64(self.details, INDEX_DETAIL * block);
        if next < self.details.len() { (start, get_u64(self.details, next)) } else { (start, index_at) }
    }

    fn birth(&self, block: usize) -> Birth {
        let at = INDEX_DETAIL * block;
        let height = Height(get_u64(self.details, at + 8));
        Birth::new(height, get_u32(self.details, at + 16))
    }

    #[inline]
    fn first_key(&self, block: usize) -> Option<FirstKey<'a>> {
        let from = get_u64(self.details, INDEX_DETAIL * block + 24) as usize;
        let next = INDEX_DETAIL * (block + 1);
        let to = if next < self.details.len() { get_u64(self.details, next + 24) as usize } else { self.stems.len() };
        Some(FirstKey { common: self.common, stem: self.stems.get(from..to)? })
    }
}

/// The first eight bytes as a number that orders like them; short keys are filled up with zeroes.
#[inline]
pub(super) fn prefix_of(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(first)
        }
    }
}
