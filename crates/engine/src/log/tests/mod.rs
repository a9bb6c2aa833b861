//! Tests of the log as a whole. The parts that stand alone are tested beside their code.

mod files;
mod frames;
mod recovering;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::recovery::Recovery;
use super::*;
use crate::options::Syncing;
use crate::storage::disk::Disk;
use crate::storage::{File, Mapping, OpenMode, Storage};
use crate::types::{Durability, GroupingId, VersionKind};

pub(super) const LOG_ID: [u8; 16] = *b"the log's own id";
pub(super) const GROUPING: GroupingId = GroupingId(1);

pub(super) fn opening(boot: u8, pid: u32) -> Opening {
    Opening {
        writer: Writer { boot_id: [boot; 16], pid, started: 1_700_000_000_123_456 },
        nonce: [pid as u8; 16],
        log_id: LOG_ID,
        now: Timestamp(1_000),
        was_there: false,
        syncing: Syncing::Always,
    }
}

pub(super) fn meta(height: u64) -> CommitMeta<'static> {
    CommitMeta {
        height: Height(height),
        now: Timestamp(1_000 + height),
        durability: Durability::Process,
        actor: None,
        commit_id: None,
    }
}

/// Opens and recovers a log for writing.
pub(super) fn open(
    storage: &Arc<dyn Storage>,
    path: &Path,
    opening: &Opening,
) -> Result<(LocalLog, Recovery, Vec<Seen>)> {
    let log = LocalLog::open_writer(storage, path, opening)?;
    let mut seen = Vec::new();
    let base = log.header().base();
    let report = log.recover(base, opening, &mut |frame| {
        seen.push(Seen::of(frame));
        Ok(())
    })?;
    Ok((log, report, seen))
}

/// Puts one record at the next height.
pub(super) fn put(log: &LocalLog, content: &[u8], durability: Durability) -> Result<Position> {
    let mut frame = FrameBuilder::new();
    let height = log.newest().height.0 + 1;
    let meta = CommitMeta { durability, ..meta(height) };
    frame.begin(&meta)?;
    let key = format!("key {height}");
    let place = frame.put(GROUPING, VersionKind::Raw, key.as_bytes(), content, [7; 16], None)?;
    assert!(matches!(log.append(&mut frame)?, Appended::At(point) if point.height.0 == height));
    Ok(frame.position(place).unwrap())
}

/// What a replay saw of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub commit: bool,
    pub height: u64,
    pub end: u64,
    pub contents: Vec<Vec<u8>>,
}

impl Seen {
    pub fn of(frame: &Frame<'_>) -> Seen {
        let contents = frame.operations().filter_map(|operation| match operation {
            Operation::Version(version) => Some(version.content.to_vec()),
            _ => None,
        });
        Seen {
            commit: frame.is_commit(),
            height: frame.height().0,
            end: frame.end().offset,
            contents: contents.collect(),
        }
    }
}

/// A folder with one log, on a disk that fails on demand.
pub(super) struct Bench {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
    pub storage: Arc<dyn Storage>,
    pub faults: Arc<Faults>,
}

impl Bench {
    pub fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let faults = Arc::new(Faults::default());
        faults.capacity.store(u64::MAX, Ordering::Relaxed);
        Bench { path: folder.path().join("log"), folder, storage: Arc::new(FaultyDisk(Arc::clone(&faults))), faults }
    }

    pub fn open(&self, opening: &Opening) -> (LocalLog, Recovery, Vec<Seen>) {
        open(&self.storage, &self.path, opening).unwrap()
    }
}

/// What a [`FaultyDisk`] does wrong.
#[derive(Default)]
pub(super) struct Faults {
    /// No file grows beyond it.
    pub capacity: AtomicU64,
    pub sync: AtomicBool,
    pub write: AtomicBool,
    pub no_maps: AtomicBool,
    pub syncs: AtomicU64,
    pub rewritten: AtomicU64,
}

struct FaultyDisk(Arc<Faults>);

struct FaultyFile {
    file: Arc<dyn File>,
    faults: Arc<Faults>,
}

impl Storage for FaultyDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(FaultyFile { file: Disk.open(path, mode)?, faults: Arc::clone(&self.0) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        Disk.list(directory)
    }

    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        Disk.create_dir(directory)
    }

    fn sync_dir(&self, directory: &Path) -> io::Result<()> {
        Disk.sync_dir(directory)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Disk.exists(path)
    }
}

impl File for FaultyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.faults.write.load(Ordering::Relaxed) {
            return Err(io::Error::other("the write failed"));
        }
        let room = self.faults.capacity.load(Ordering::Relaxed);
        let room = room.saturating_sub(offset);
        if (bytes.len() as u64) > room {
            self.file.write_at(&bytes[..room as usize], offset)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        if offset >= 4096 && offset < self.file.len()? {
            let bytes = bytes.len() as u64;
            self.faults.rewritten.fetch_add(bytes, Ordering::Relaxed);
        }
        self.file.write_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.faults.syncs.fetch_add(1, Ordering::Relaxed);
        if self.faults.sync.load(Ordering::Relaxed) {
            return Err(io::Error::other("the sync failed"));
        }
        Ok(()) // page cache is enough for these tests
    }

    fn try_lock(&self, byte: u64) -> io::Result<bool> {
        self.file.try_lock(byte)
    }

    fn is_locked(&self, byte: u64) -> io::Result<bool> {
        self.file.is_locked(byte)
    }

    fn map(&self, offset: u64, len: usize, growing: bool) -> io::Result<Option<Mapping>> {
        if self.faults.no_maps.load(Ordering::Relaxed) {
            return Ok(None);
        }
        self.file.map(offset, len, growing)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.file.identity()
    }
}
