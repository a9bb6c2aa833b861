//! A directory in memory, for tests.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::run::Run;
use crate::storage::{File, Mapping, OpenMode, Storage};
use crate::sync::Mutex;

type Bytes = Arc<Mutex<Vec<u8>>>;

#[derive(Default)]
pub(crate) struct Memory(Mutex<BTreeMap<PathBuf, Bytes>>);

impl Memory {
    #[cfg(test)]
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        let files = self.0.lock();
        files[Path::new(path)].lock().clone()
    }

    #[cfg(test)]
    pub(crate) fn run(&self, path: &str) -> Arc<Run> {
        open(self.bytes(path)).unwrap()
    }
}

/// Opens a run that consists of these bytes.
pub(crate) fn open(bytes: Vec<u8>) -> crate::Result<Arc<Run>> {
    Run::open(Arc::new(MemoryFile(Arc::new(Mutex::new(bytes)))), "run-1")
}

/// A file that consists of these bytes.
pub(crate) fn file(bytes: Vec<u8>) -> Arc<dyn File> {
    Arc::new(MemoryFile(Arc::new(Mutex::new(bytes))))
}

/// A run of a few versions and entries.
#[cfg(test)]
pub(crate) fn sample() -> Vec<u8> {
    use crate::run::{RunMeta, RunWriter, SectionId};
    use crate::types::{Birth, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};

    let storage = Memory::default();
    let meta = RunMeta {
        log_id: [7; 16],
        generation: 0,
        start: Height(1),
        end: Height(60),
        end_offset: 9_000,
        end_chain: 5,
        end_time: Timestamp(3),
    };
    let mut writer = RunWriter::create(&storage, Path::new("run-1"), meta).unwrap();
    writer.begin_section(SectionId::versions(GroupingId(1))).unwrap();
    let birth = |number: u8| Birth::new(Height(u64::from(number) + 1), 0);
    let position = |number: u8| Position::new(0, 4_096 + u64::from(number));
    for number in 0..50 {
        let births = [(IndexId(1), Birth::new(Height(1), 0))];
        let key = [b'k', number];
        writer.push_version(&key, birth(number), VersionKind::Json, position(number), &births).unwrap();
    }
    writer.begin_section(SectionId::live(GroupingId(1), IndexId(1))).unwrap();
    for number in 0..50 {
        writer.push_live(&[number / 8], birth(number), &[b'k', number], birth(number), position(number)).unwrap();
    }
    writer.finish().unwrap();
    storage.bytes("run-1")
}

struct MemoryFile(Bytes);

impl Storage for Memory {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut files = self.0.lock();
        let bytes = match (files.get(path), mode) {
            (Some(_), OpenMode::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(bytes), _) => Arc::clone(bytes),
            (None, OpenMode::CreateNew) => {
                let bytes = Bytes::default();
                files.insert(path.to_owned(), Arc::clone(&bytes));
                bytes
            }
            (None, _) => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(Arc::new(MemoryFile(bytes)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.0.lock();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = self.0.lock().remove(path);
        removed.map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.0.lock().contains_key(path))
    }
}

impl File for MemoryFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.lock();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn write_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
        let mut bytes = self.0.lock();
        let end = offset as usize + new.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(new);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, _: u64) -> io::Result<bool> {
        Ok(true)
    }

    fn is_locked(&self, _: u64) -> io::Result<bool> {
        Ok(false)
    }

    fn map(&self, _: u64, _: usize, _: bool) -> io::Result<Option<Mapping>> {
        Ok(None)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        Ok((0, 0))
    }
}
