//! An open run: a mapped file, and bits that remember which parts of it were checked.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checked::Checked;
use super::directory::{RECORD, SectionRecord};
use super::file::{self, FOOTER, Footer, HEADER, HeaderError};
use super::marks::{MARK, Marks};
use super::{Cursor, RunCounts, RunMeta, RunSummary, Section, SectionId};
use crate::error::{Error, Result};
use crate::storage::{File, Mapping};
use crate::sync::atomic::{AtomicBool, Ordering};

/// An open run. Any number of threads may read it.
pub struct Run {
    path: PathBuf,
    bytes: Mapping,
    meta: RunMeta,
    footer: Footer,
    /// The directory: small, and asked on each write.
    sections: Vec<SectionRecord>,
    crc_seed: u32,
    pub(super) blocks_checked: Checked,
    pub(super) pages_checked: Checked,
    pub(super) indexes_checked: Checked,
    marks_checked: Checked,
    /// Whether a part was read that is not what was written.
    damaged: AtomicBool,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("path", &self.path)
            .field("meta", &self.meta)
            .field("counts", &self.footer.counts)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Opens a run: maps the file, and checks its header, footer and directory.
    ///
    /// # Errors
    /// [`Error::Damaged`] when these are not what was written, [`Error::Format`] when the file is no run or of a newer
    /// format, [`Error::Io`].
    pub fn open(file: Arc<dyn File>, path: impl Into<PathBuf>) -> Result<Arc<Run>> {
        let path = path.into();
        let bytes = map(&*file, &path)?;
        let damaged = |offset: usize, what: &str| Error::Damaged {
            path: path.clone(),
            offset: offset as u64,
            what: what.to_owned(),
        };
        let (Some(header), Some(footer), true) =
            (bytes.first_chunk::<HEADER>(), bytes.last_chunk::<FOOTER>(), bytes.len() >= HEADER + FOOTER)
        else {
            return Err(damaged(0, "the run is cut short"));
        };
        let (meta, crc_seed) = file::decode_header(header).map_err(|error| match error {
            HeaderError::Format(what) => Error::Format { path: path.clone(), what },
            HeaderError::Damaged => damaged(0, "the run's header does not fit its checksum"),
        })?;
        let footer_at = bytes.len() - FOOTER;
        let Some(footer) = Footer::decode(footer, crc_seed) else {
            return Err(damaged(footer_at, "the run's footer does not fit its checksum"));
        };
        let Some(directory) = directory_of(&bytes, &footer) else {
            return Err(damaged(footer_at, "the run's parts do not add up"));
        };
        let directory_at = footer.directory_at as usize;
        if crc32c::crc32c_append(crc_seed, directory) != footer.directory_crc {
            return Err(damaged(directory_at, "the run's directory does not fit its checksum"));
        }
        let Some(sections) = sections_of(directory, &footer) else {
            return Err(damaged(directory_at, "a section lies outside of the run, or out of order"));
        };
        Ok(Arc::new(Run {
            meta,
            sections,
            crc_seed,
            blocks_checked: Checked::new(footer.blocks as usize),
            pages_checked: Checked::new(footer.filter_pages as usize),
            indexes_checked: Checked::new(footer.sections as usize),
            marks_checked: Checked::new(1),
            damaged: AtomicBool::new(false),
            footer,
            path,
            bytes,
        }))
    }

    /// Which part of which log this run was made from.
    #[must_use]
    pub fn meta(&self) -> &RunMeta {
        &self.meta
    }

    /// Meta, counts and size.
    #[must_use]
    pub fn summary(&self) -> RunSummary {
        RunSummary { meta: *self.meta(), counts: *self.counts(), bytes: self.bytes() }
    }

    /// How many entries of each kind there are.
    #[must_use]
    pub fn counts(&self) -> &RunCounts {
        &self.footer.counts
    }

    /// The file's size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The section with this id; `None` when it has no entries.
    #[must_use]
    pub fn section(&self, id: SectionId) -> Option<Section<'_>> {
        let number = self.sections.binary_search_by_key(&id, |section| section.id).ok()?;
        Some(self.section_number(number))
    }

    /// All sections, in the order of their ids.
    pub fn sections(&self) -> impl Iterator<Item = Section<'_>> {
        (0..self.sections.len()).map(|number| self.section_number(number))
    }

    /// A cursor over a section of this run. It stands nowhere until it is moved.
    #[must_use]
    pub fn cursor(self: &Arc<Self>, section: Section<'_>) -> Cursor {
        assert!(std::ptr::eq(section.run(), &raw const **self), "a section of another run");
        Cursor::new(Arc::clone(self), &section)
    }

    /// The run's marks.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn marks(&self) -> Result<Marks<'_>> {
        let marks = &self.bytes[HEADER..][..self.footer.marks as usize * MARK];
        let passes =
            self.marks_checked.passes(0, || crc32c::crc32c_append(self.crc_seed, marks) == self.footer.marks_crc);
        if !passes {
            return Err(self.damaged(HEADER, "the run's marks do not fit their checksum"));
        }
        Ok(Marks(marks))
    }

    fn section_number(&self, number: usize) -> Section<'_> {
        Section::new(self, number, &self.sections[number])
    }

    /// Where the marks end.
    pub(super) fn marks_end(&self) -> u64 {
        (HEADER + self.footer.marks as usize * MARK) as u64
    }

    /// Where the directory begins.
    pub(super) fn directory_at(&self) -> u64 {
        self.footer.directory_at
    }

    /// The whole file.
    #[inline]
    pub(super) fn file(&self) -> &[u8] {
        &self.bytes
    }

    /// The seed of a CRC: parts of another run, or from another place, do not pass.
    #[inline]
    pub(super) fn crc_seed(&self, offset: usize) -> u32 {
        crc_seed(self.crc_seed, offset as u64)
    }

    /// Whether damage was met: the run is to be made again.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    #[cold]
    pub(super) fn damaged(&self, offset: usize, what: impl Into<String>) -> Error {
        self.damaged.store(true, Ordering::Relaxed);
        Error::Damaged { path: self.path.clone(), offset: offset as u64, what: what.into() }
    }
}

/// The seed of the CRC of what is at `offset`.
#[inline]
pub(super) fn crc_seed(header_crc: u32, offset: u64) -> u32 {
    header_crc ^ offset as u32 ^ (offset >> 32) as u32
}

fn map(file: &dyn File, path: &Path) -> Result<Mapping> {
    let len = file.len().map_err(|source| Error::io(path, source))?;
    let len = usize::try_from(len).map_err(|_| Error::Format {
        path: path.to_owned(),
        what: format!("{len} bytes are more than this machine can map"),
    })?;
    let mapped = file.map(0, len, false).map_err(|source| Error::io(path, source))?;
    if let Some(mapping) = mapped {
        return Ok(mapping);
    }
    let mut bytes = vec![0; len];
    let read = file.read_at(&mut bytes, 0).map_err(|source| Error::io(path, source))?;
    bytes.truncate(read);
    Ok(Mapping::new(bytes))
}

/// The directory, if header, marks, directory and footer fill the file as the footer says.
fn directory_of<'a>(bytes: &'a [u8], footer: &Footer) -> Option<&'a [u8]> {
    let marks_end = footer.marks.checked_mul(MARK as u64)?.checked_add(HEADER as u64)?;
    let directory_len = footer.sections.checked_mul(RECORD as u64)?;
    let directory_end = footer.directory_at.checked_add(directory_len)?;
    if footer.directory_at < marks_end || directory_end != (bytes.len() - FOOTER) as u64 {
        return None;
    }
    // Each block has at least its trailer, each page of a filter at least a line: so the bits stay few.
    let most = bytes.len() as u64 / 8;
    if footer.blocks > most || footer.filter_pages > most {
        return None;
    }
    Some(&bytes[footer.directory_at as usize..directory_end as usize])
}

/// The records of a directory, if they add up to the run that the footer tells of.
fn sections_of(directory: &[u8], footer: &Footer) -> Option<Vec<SectionRecord>> {
    let (mut blocks, mut pages) = (0, 0);
    let mut sections: Vec<SectionRecord> = Vec::with_capacity(directory.len() / RECORD);
    for record in directory.chunks_exact(RECORD) {
        let section = SectionRecord::decode(record)?;
        let in_order = sections.last().is_none_or(|before| before.id < section.id);
        let in_place = section.blocks_before == blocks && section.pages_before == pages;
        if !section.fits(footer.directory_at) || !in_order || !in_place {
            return None;
        }
        blocks += section.blocks;
        pages += section.filter_pages();
        sections.push(section);
    }
    (blocks == footer.blocks && pages == footer.filter_pages).then_some(sections)
}
