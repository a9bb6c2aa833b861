//! Sorting more than fits into memory.
//!
//! Records are collected in a portion. A full portion is sorted and written to a file; when there are 16 files of one
//! level, they are merged into one of the next. So memory is a portion, or while merging a buffer for each of at most
//! 16 files a level; each record is written once for each level, and three levels hold a thousand portions.
//!
//! The files are removed as soon as they are open: whatever ends the process, nothing is left of them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::storage::{File, OpenMode, Storage};

/// Files of one level that are merged together.
const FAN_IN: usize = 16;
/// Bytes that are read or written at a time.
const BUFFER_BYTES: usize = 64 << 10;
/// Two lengths stand before each record.
const LENGTHS: usize = 8;

/// Collects records and gives them back in the order of their keys' bytes.
pub(super) struct Sorter<'a> {
    scratch: &'a Scratch,
    budget: usize,
    bytes: Vec<u8>,
    spans: Vec<Span>,
    /// Sorted files, by level.
    levels: Vec<Vec<Spilled>>,
}

/// Where files may be made that nobody else needs.
pub(super) struct Scratch {
    storage: Arc<dyn Storage>,
    directory: PathBuf,
    prefix: String,
    next: std::sync::atomic::AtomicU64,
}

#[derive(Clone, Copy)]
struct Span {
    start: usize,
    key: u32,
    value: u32,
}

/// A sorted file.
struct Spilled {
    file: Arc<dyn File>,
    path: PathBuf,
    length: u64,
}

impl Scratch {
    /// Files of names that begin with `prefix`.
    pub(super) fn new(storage: Arc<dyn Storage>, directory: PathBuf, prefix: String) -> Scratch {
        Scratch { storage, directory, prefix, next: std::sync::atomic::AtomicU64::new(0) }
    }

    fn create(&self) -> Result<(PathBuf, Arc<dyn File>)> {
        let number = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = self.directory.join(format!("{}-{number}", self.prefix));
        let made = self.storage.open(&path, OpenMode::CreateNew).and_then(|file| {
            self.storage.remove(&path)?;
            Ok(file)
        });
        match made {
            Ok(file) => Ok((path, file)),
            Err(error) => Err(Error::io(path, error)),
        }
    }
}

impl<'a> Sorter<'a> {
    /// A sorter that holds at most about `budget` bytes in memory.
    pub(super) fn new(scratch: &'a Scratch, budget: usize) -> Sorter<'a> {
        Sorter { scratch, budget, bytes: Vec::new(), spans: Vec::new(), levels: Vec::new() }
    }

    /// Takes a record.
    ///
    /// # Errors
    /// The scratch directory cannot be written.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let held = self.bytes.len() + self.spans.len() * size_of::<Span>();
        if held + key.len() + value.len() > self.budget && !self.spans.is_empty() {
            self.spill()?;
        }
        self.spans.push(Span { start: self.bytes.len(), key: key.len() as u32, value: value.len() as u32 });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.spans.sort_unstable_by(|a, b| a.key_of(bytes).cmp(b.key_of(bytes)));
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut writer = Writer::new(self.scratch)?;
        for span in &self.spans {
            writer.push(span.key_of(&self.bytes), span.value_of(&self.bytes))?;
        }
        let mut spilled = writer.finish()?;
        self.bytes.clear();
        self.spans.clear();
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(spilled);
            if self.levels[level].len() < FAN_IN {
                break;
            }
            let full = std::mem::take(&mut self.levels[level]);
            let mut merged = Sorted::of_files(full)?;
            let mut writer = Writer::new(self.scratch)?;
            while let Some((key, value)) = merged.record() {
                writer.push(key, value)?;
                merged.advance()?;
            }
            spilled = writer.finish()?;
        }
        Ok(())
    }

    /// All records in order.
    ///
    /// # Errors
    /// The scratch files cannot be written or read.
    pub(super) fn sorted(mut self) -> Result<Sorted> {
        if self.levels.is_empty() {
            self.sort();
            let portion = Portion { bytes: self.bytes, spans: self.spans, at: 0 };
            return Ok(Sorted { sources: vec![Source::Memory(portion)], heap: vec![0] }.begun());
        }
        if !self.spans.is_empty() {
            self.spill()?;
        }
        let files = self.levels.into_iter().flatten().collect();
        Sorted::of_files(files)
    }
}

impl Span {
    fn key_of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..][..self.key as usize]
    }

    fn value_of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start + self.key as usize..][..self.value as usize]
    }
}

struct Writer {
    spilled: Spilled,
    buffer: Vec<u8>,
}

impl Writer {
    fn new(scratch: &Scratch) -> Result<Writer> {
        let (path, file) = scratch.create()?;
        Ok(Writer { spilled: Spilled { file, path, length: 0 }, buffer: Vec::with_capacity(BUFFER_BYTES) })
    }

    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(&(key.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(value.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(key);
        self.buffer.extend_from_slice(value);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let Spilled { file, path, length } = &mut self.spilled;
        file.write_at(&self.buffer, *length).map_err(|error| Error::io(path.as_path(), error))?;
        *length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Spilled> {
        self.flush()?;
        Ok(self.spilled)
    }
}

/// Records in order.
pub(super) struct Sorted {
    sources: Vec<Source>,
    /// The sources that have a record, the one with the least key on top.
    heap: Vec<usize>,
}

enum Source {
    Memory(Portion),
    File(Reader),
}

struct Portion {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    at: usize,
}

struct Reader {
    spilled: Spilled,
    /// How much of the file is in the buffer or was.
    read: u64,
    buffer: Vec<u8>,
    /// Where in the buffer the current record begins.
    at: usize,
}

impl Reader {
    /// Makes the buffer hold `need` bytes from `at` on; `false` at the end of the file.
    fn fill(&mut self, need: usize) -> Result<bool> {
        if self.buffer.len() - self.at >= need {
            return Ok(true);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        let left = self.spilled.length - self.read;
        let wanted = (need.max(BUFFER_BYTES) - have).min(left as usize);
        self.buffer.resize(have + wanted, 0);
        let read = self.spilled.file.read_at(&mut self.buffer[have..], self.read);
        let read = read.map_err(|error| Error::io(self.spilled.path.as_path(), error))?;
        self.read += read as u64;
        self.buffer.truncate(have + read);
        Ok(self.buffer.len() >= need)
    }

    fn lengths(&self) -> Option<(usize, usize)> {
        let number = |at: usize| {
            let bytes: [u8; 4] = *self.buffer.get(self.at + at..)?.first_chunk()?;
            Some(u32::from_le_bytes(bytes) as usize)
        };
        Some((number(0)?, number(4)?))
    }

    /// Makes the buffer hold the whole record at `at`; `false` at the end.
    fn load(&mut self) -> Result<bool> {
        if !self.fill(LENGTHS)? {
            return Ok(false);
        }
        let (key, value) = self.lengths().unwrap_or_default();
        self.fill(LENGTHS + key + value)
    }

    fn record(&self) -> Option<(&[u8], &[u8])> {
        let (key, value) = self.lengths()?;
        let bytes = self.buffer.get(self.at + LENGTHS..)?.get(..key + value)?;
        Some(bytes.split_at(key))
    }
}

impl Source {
    fn record(&self) -> Option<(&[u8], &[u8])> {
        match self {
            Source::Memory(portion) => {
                let span = portion.spans.get(portion.at)?;
                Some((span.key_of(&portion.bytes), span.value_of(&portion.bytes)))
            }
            Source::File(reader) => reader.record(),
        }
    }

    /// Moves on; `false` at the end.
    fn advance(&mut self) -> Result<bool> {
        match self {
            Source::Memory(portion) => {
                portion.at += 1;
                Ok(portion.at < portion.spans.len())
            }
            Source::File(reader) => {
                let (key, value) = reader.lengths().unwrap_or_default();
                reader.at += LENGTHS + key + value;
                reader.load()
            }
        }
    }
}

impl Sorted {
    fn of_files(files: Vec<Spilled>) -> Result<Sorted> {
        let mut sorted = Sorted { sources: Vec::new(), heap: Vec::new() };
        for spilled in files {
            let mut reader = Reader { spilled, read: 0, buffer: Vec::new(), at: 0 };
            if reader.load()? {
                sorted.heap.push(sorted.sources.len());
                sorted.sources.push(Source::File(reader));
            }
        }
        Ok(sorted.begun())
    }

    fn begun(mut self) -> Sorted {
        self.heap.retain(|source| self.sources[*source].record().is_some());
        for at in (0..self.heap.len() / 2).rev() {
            self.sink(at);
        }
        self
    }

    /// The next record: key and value. `None` at the end.
    pub(super) fn record(&self) -> Option<(&[u8], &[u8])> {
        self.sources[*self.heap.first()?].record()
    }

    /// Steps over it.
    ///
    /// # Errors
    /// A scratch file cannot be read.
    pub(super) fn advance(&mut self) -> Result<()> {
        if let Some(&top) = self.heap.first() {
            if !self.sources[top].advance()? {
                self.heap.swap_remove(0);
            }
            self.sink(0);
        }
        Ok(())
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.key_at(child) < self.key_at(least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn key_at(&self, at: usize) -> Option<&[u8]> {
        self.sources[self.heap[at]].record().map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::disk::Disk;

    #[test]
    fn many_portions_come_back_in_order_and_leave_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(Disk::shared(), directory.path().to_owned(), "sort".to_owned());
        for (records, budget) in [(0_u32, 100), (5, 10_000), (20_000, 2_000)] {
            let mut sorter = Sorter::new(&scratch, budget);
            for n in 0..records {
                let key = n.wrapping_mul(2_654_435_761).to_be_bytes();
                sorter.push(&key[..1 + (n % 4) as usize], &n.to_be_bytes().repeat((n % 40) as usize)).unwrap();
            }
            assert!(sorter.levels.len() >= if records > 100 { 2 } else { 0 });
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
            let mut sorted = sorter.sorted().unwrap();
            let (mut last, mut count) = (Vec::new(), 0);
            while let Some((key, value)) = sorted.record() {
                assert!(last.as_slice() <= key);
                assert!(value.chunks(4).all(|chunk| chunk == &value[..4]));
                last = key.to_vec();
                count += 1;
                sorted.advance().unwrap();
            }
            assert_eq!(count, records);
        }
    }
}
