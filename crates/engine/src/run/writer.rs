//! Writing a run: one pass, in order, with bounded memory.
//!
//! Blocks go to the file through one buffer. What is kept until a section ends is the block index (some 100 bytes for
//! each block of 4 KiB) and, for the filter, eight bytes for each different key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::block::{self, BlockBuilder};
use super::directory::{self, SectionRecord};
use super::entry::encode_births;
use super::file::{self, Footer};
use super::marks::{self, MARK_DISTANCE, Mark};
use super::number::shared_prefix;
use super::section::{STEM, prefix_of};
use super::{Births, Entry, RunCounts, RunMeta, SectionId, SectionKind, filter, key_hash, reader};
use crate::error::{Error, Result};
use crate::limits::INDEX_KEY_BYTES;
use crate::planted;
use crate::storage::{File, OpenMode, Storage};
use crate::types::{Birth, Height, IndexId, Position, VersionKind};

const BUFFER: usize = 256 << 10;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Which part of which log the run was made from.
    pub meta: RunMeta,
    /// How many entries of each kind it has.
    pub counts: RunCounts,
    /// The file's size.
    pub bytes: u64,
}

/// Writes a run: marks first, then the sections in ascending order of their ids, each one's entries in its order.
///
/// Order and kinds are asserted: a run out of order could not be read.
pub struct RunWriter {
    out: Output,
    meta: RunMeta,
    crc_seed: u32,
    marks: u64,
    marks_crc: u32,
    last_mark: Option<Mark>,
    directory: Vec<u8>,
    blocks: u64,
    filter_pages: u64,
    counts: RunCounts,
    last_section: Option<SectionId>,
    section: Option<SectionWriter>,
}

impl RunWriter {
    /// Creates the file, which must not be there.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoSpace`]; the caller removes what was written.
    pub fn create(storage: &dyn Storage, path: &Path, meta: RunMeta) -> Result<RunWriter> {
        let file = storage.open(path, OpenMode::CreateNew).map_err(|source| Error::io(path, source))?;
        let header = file::encode_header(&meta);
        let crc_seed = crc32c::crc32c(&header[..72]);
        let mut out = Output {
            file,
            path: path.to_owned(),
            buffer: Vec::with_capacity(BUFFER + 4 * block::BLOCK_BYTES),
            written: 0,
        };
        out.buffer.extend_from_slice(&header);
        Ok(RunWriter {
            out,
            meta,
            crc_seed,
            marks: 0,
            marks_crc: crc_seed,
            last_mark: None,
            directory: Vec::new(),
            blocks: 0,
            filter_pages: 0,
            counts: RunCounts::default(),
            last_section: None,
            section: None,
        })
    }

    /// Which part of which log the run is made from.
    #[must_use]
    pub fn meta(&self) -> &RunMeta {
        &self.meta
    }

    /// Adds a height mark. Marks come before the first section, in ascending order; one that is less than 64 KiB of
    /// log after the one before is left out.
    ///
    /// # Errors
    /// As for all that writes: [`Error::Io`], [`Error::NoSpace`]. The caller removes what was written.
    pub fn push_mark(&mut self, mark: Mark) -> Result<()> {
        assert!(self.last_section.is_none(), "a mark after a section");
        if let Some(last) = self.last_mark {
            assert!(last.height < mark.height, "marks out of order");
            if mark.end_offset < last.end_offset.saturating_add(MARK_DISTANCE) {
                return Ok(());
            }
        }
        let bytes = marks::encode(&mark);
        self.marks_crc = crc32c::crc32c_append(self.marks_crc, &bytes);
        self.marks += 1;
        self.last_mark = Some(mark);
        self.out.buffer.extend_from_slice(&bytes);
        self.out.write_when_full()
    }

    /// Begins a section, whose id must be above that of the one before. If nothing is pushed, it will not exist.
    ///
    /// # Errors
    /// As [`RunWriter::push_mark`].
    pub fn begin_section(&mut self, id: SectionId) -> Result<()> {
        assert!(id.is_valid(), "{id:?} cannot be");
        assert!(self.last_section < Some(id), "sections out of order");
        self.end_section()?;
        self.last_section = Some(id);
        self.section = Some(SectionWriter::new(id, self.out.offset()));
        Ok(())
    }

    /// Adds a version of a unit. Those of a unit come newest first.
    ///
    /// # Errors
    /// As [`RunWriter::push_mark`].
    pub fn push_version(
        &mut self,
        unit_key: &[u8],
        version: Birth,
        kind: VersionKind,
        position: Position,
        births: &[(IndexId, Birth)],
    ) -> Result<()> {
        let mut encoded = Vec::new();
        encode_births(&mut encoded, births.iter().copied(), version.height);
        self.push(
            SectionKind::Versions,
            &Entry {
                key: unit_key,
                birth: version,
                unit: &[],
                version,
                position,
                end: Height::ZERO,
                kind,
                births: Births::checked(&encoded, version.height),
            },
        )
    }

    /// Adds an entry that has not ended. `version` and `position` are those of the unit's version as of the run's end.
    ///
    /// # Errors
    /// As [`RunWriter::push_mark`].
    pub fn push_live(
        &mut self,
        key: &[u8],
        birth: Birth,
        unit_key: &[u8],
        version: Birth,
        position: Position,
    ) -> Result<()> {
        let entry = index_entry(key, birth, unit_key, version, position, Height::ZERO);
        self.push(SectionKind::Live, &entry)
    }

    /// Adds the end of an entry that was born in an older run.
    ///
    /// # Errors
    /// As [`RunWriter::push_mark`].
    pub fn push_kill(&mut self, key: &[u8], birth: Birth, end: Height) -> Result<()> {
        let entry = index_entry(key, birth, &[], birth, Position::default(), end);
        self.push(SectionKind::Kills, &entry)
    }

    /// Adds an entry with its end. `version` and `position` are those of a version of the unit that had the key.
    ///
    /// # Errors
    /// As [`RunWriter::push_mark`].
    pub fn push_past(
        &mut self,
        key: &[u8],
        birth: Birth,
        end: Height,
        unit_key: &[u8],
        version: Birth,
        position: Position,
    ) -> Result<()> {
        let entry = index_entry(key, birth, unit_key, version, position, end);
        self.push(SectionKind::Past, &entry)
    }

    fn push(&mut self, kind: SectionKind, entry: &Entry<'_>) -> Result<()> {
        let in_order = self.try_push(kind, entry)?;
        assert!(in_order, "an entry out of order");
        Ok(())
    }

    /// Adds an entry; `false` when it is not above the one before.
    #[inline]
    pub(super) fn try_push(&mut self, kind: SectionKind, entry: &Entry<'_>) -> Result<bool> {
        let Some(section) = &mut self.section else {
            panic!("an entry outside of a section");
        };
        assert_eq!(section.id.kind, kind, "an entry in a section of another kind");
        section.push(entry, &mut self.out, self.crc_seed)
    }

    fn end_section(&mut self) -> Result<()> {
        let Some(section) = self.section.take() else {
            return Ok(());
        };
        if section.entries == 0 {
            return Ok(());
        }
        *match section.id.kind {
            SectionKind::Versions => &mut self.counts.versions,
            SectionKind::Live => &mut self.counts.live,
            SectionKind::Kills => &mut self.counts.kills,
            SectionKind::Past => &mut self.counts.past,
        } += section.entries;
        let mut record = section.finish(&mut self.out, self.crc_seed)?;
        record.blocks_before = self.blocks;
        record.pages_before = self.filter_pages;
        self.blocks += record.blocks;
        self.filter_pages += record.filter_pages();
        self.directory.extend_from_slice(&record.encode());
        Ok(())
    }

    /// Writes the rest and syncs the file. The directory is synced by the caller.
    ///
    /// # Errors
    /// As [`RunWriter::push_mark`].
    pub fn finish(mut self) -> Result<RunSummary> {
        self.end_section()?;
        let directory_at = self.out.offset();
        let footer = Footer {
            marks: self.marks,
            marks_crc: self.marks_crc,
            directory_at,
            sections: (self.directory.len() / directory::RECORD) as u64,
            directory_crc: crc32c::crc32c_append(self.crc_seed, &self.directory),
            blocks: self.blocks,
            filter_pages: self.filter_pages,
            counts: self.counts,
        };
        self.out.write(&self.directory)?;
        self.out.write(&footer.encode(self.crc_seed))?;
        self.out.write_buffer()?;
        if !planted::is(planted::Fault::RunNotSynced) {
            let sync = self.out.file.sync_data();
            sync.map_err(|source| Error::io(&self.out.path, source))?;
        }
        Ok(RunSummary { meta: self.meta, counts: self.counts, bytes: self.out.offset() })
    }
}

fn index_entry<'a>(
    key: &'a [u8],
    birth: Birth,
    unit: &'a [u8],
    version: Birth,
    position: Position,
    end: Height,
) -> Entry<'a> {
    Entry { key, birth, unit, version, position, end, kind: VersionKind::Deleted, births: Births::default() }
}

/// The file, behind a buffer.
struct Output {
    file: Arc<dyn File>,
    path: PathBuf,
    buffer: Vec<u8>,
    written: u64,
}

impl Output {
    /// Where the next byte will be.
    fn offset(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        for part in bytes.chunks(BUFFER) {
            self.buffer.extend_from_slice(part);
            self.write_when_full()?;
        }
        Ok(())
    }

    fn write_when_full(&mut self) -> Result<()> {
        if self.buffer.len() >= BUFFER {
            self.write_buffer()?;
        }
        Ok(())
    }

    fn write_buffer(&mut self) -> Result<()> {
        self.file.write_at(&self.buffer, self.written).map_err(|source| Error::io(&self.path, source))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        self.buffer.shrink_to(2 * BUFFER);
        Ok(())
    }
}

/// The first entry of a block, for the block index.
struct BlockHead {
    offset: u64,
    birth: Birth,
    entries: u32,
    /// Where its stem ends in the stems.
    stem_end: usize,
}

struct SectionWriter {
    id: SectionId,
    blocks_at: u64,
    builder: BlockBuilder,
    heads: Vec<BlockHead>,
    /// The first bytes of each block's first key.
    stems: Vec<u8>,
    hashes: Vec<u64>,
    entries: u64,
    distinct_keys: u64,
    lowest_height: u64,
    highest_height: u64,
    previous_key: Vec<u8>,
    previous_birth: Birth,
}

impl SectionWriter {
    fn new(id: SectionId, blocks_at: u64) -> SectionWriter {
        SectionWriter {
            id,
            blocks_at,
            builder: BlockBuilder::new(),
            heads: Vec::new(),
            stems: Vec::new(),
            hashes: Vec::new(),
            entries: 0,
            distinct_keys: 0,
            lowest_height: u64::MAX,
            highest_height: 0,
            previous_key: Vec::new(),
            previous_birth: Birth::MIN,
        }
    }

    #[inline]
    fn push(&mut self, entry: &Entry<'_>, out: &mut Output, crc_seed: u32) -> Result<bool> {
        let kind = self.id.kind;
        let key = entry.key;
        assert!(key.len() <= INDEX_KEY_BYTES && entry.unit.len() <= INDEX_KEY_BYTES, "a key is over its limit");
        let shared = shared_prefix(&self.previous_key, key);
        let same = shared == key.len() && shared == self.previous_key.len();
        if self.entries > 0 {
            let above = if same {
                kind.compare_births(self.previous_birth, entry.birth).is_lt()
            } else {
                self.previous_key.get(shared) < key.get(shared)
            };
            if !above {
                return Ok(false);
            }
        }
        if !same || self.entries == 0 {
            self.distinct_keys += 1;
            if kind.has_filter() {
                self.hashes.push(key_hash(key));
            }
            self.previous_key.truncate(shared);
            self.previous_key.extend_from_slice(&key[shared..]);
        }
        self.previous_birth = entry.birth;
        self.entries += 1;
        self.lowest_height = self.lowest_height.min(entry.birth.height.0);
        self.highest_height = self.highest_height.max(entry.birth.height.0).max(entry.end.0);

        if self.builder.is_empty() {
            self.stems.extend_from_slice(&key[..key.len().min(STEM)]);
            self.heads.push(BlockHead {
                offset: out.offset(),
                birth: entry.birth,
                entries: 0,
                stem_end: self.stems.len(),
            });
        }
        self.builder.push(kind, entry, shared);
        if self.builder.is_full() {
            self.end_block(out, crc_seed)?;
        }
        Ok(true)
    }

    fn end_block(&mut self, out: &mut Output, crc_seed: u32) -> Result<()> {
        let Some(head) = self.heads.last_mut() else {
            unreachable!("a block has a first entry");
        };
        head.entries = self.builder.entries();
        let seed = reader::crc_seed(crc_seed, head.offset);
        self.builder.finish(self.id.kind, &mut out.buffer, seed);
        out.write_when_full()
    }

    /// Writes the last block, the block index and the filter.
    fn finish(mut self, out: &mut Output, crc_seed: u32) -> Result<SectionRecord> {
        if !self.builder.is_empty() {
            self.end_block(out, crc_seed)?;
        }
        // What the first and the last key have in common, all between them have too.
        let first_len = self.heads.first().map_or(0, |head| head.stem_end);
        let common = shared_prefix(&self.stems[..first_len], &self.previous_key);
        let common = common.min(STEM - 8);

        let index_at = out.offset();
        let index = self.encode_index(common);
        let index_crc = crc32c::crc32c_append(reader::crc_seed(crc_seed, index_at), &index);
        out.write(&index)?;

        let mut record = SectionRecord {
            id: self.id,
            entries: self.entries,
            distinct_keys: self.distinct_keys,
            lowest_height: self.lowest_height,
            highest_height: self.highest_height,
            blocks_at: self.blocks_at,
            index_at,
            index_len: index.len() as u64,
            blocks: self.heads.len() as u64,
            blocks_before: 0,
            filter_at: 0,
            filter_lines: 0,
            pages_before: 0,
            common: common as u32,
            index_crc,
        };
        if self.id.kind.has_filter() {
            let lines = filter::build(&self.hashes);
            // Lines of the filter are lines of the cache.
            let padding = out.offset().next_multiple_of(filter::LINE as u64) - out.offset();
            out.write(&[0; filter::LINE][..padding as usize])?;
            record.filter_at = out.offset();
            record.filter_lines = (lines.len() / filter::LINE) as u64;
            out.write(&lines)?;
            let pages = lines.chunks(filter::PAGE).enumerate();
            for (number, page) in pages {
                let at = record.filter_at + (number * filter::PAGE) as u64;
                let crc = crc32c::crc32c_append(reader::crc_seed(crc_seed, at), page);
                out.write(&crc.to_le_bytes())?;
            }
        }
        Ok(record)
    }

    fn encode_index(&self, common: usize) -> Vec<u8> {
        let mut index = Vec::with_capacity(48 * self.heads.len() + self.stems.len());
        let stems = || {
            let mut start = 0;
            self.heads.iter().map(move |head| {
                let stem = &self.stems[start..head.stem_end];
                start = head.stem_end;
                &stem[common..]
            })
        };
        index.extend_from_slice(&self.stems[..common]);
        for stem in stems() {
            index.extend_from_slice(&prefix_of(stem).to_le_bytes());
        }
        let mut stem_at = 0u64;
        for (head, stem) in self.heads.iter().zip(stems()) {
            index.extend_from_slice(&head.offset.to_le_bytes());
            index.extend_from_slice(&head.birth.height.0.to_le_bytes());
            index.extend_from_slice(&head.birth.place.to_le_bytes());
            index.extend_from_slice(&head.entries.to_le_bytes());
            index.extend_from_slice(&stem_at.to_le_bytes());
            stem_at += stem.len() as u64;
        }
        for stem in stems() {
            index.extend_from_slice(stem);
        }
        index
    }
}
