//! A directory in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::run::Run;
use crate::storage::{File, Mapping, OpenMode, Storage};

type Bytes = Arc<Mutex<Vec<u8>>>;

#[derive(Default)]
pub(super) struct Memory(Mutex<BTreeMap<PathBuf, Bytes>>);

impl Memory {
    pub(super) fn bytes(&self, path: &str) -> Vec<u8> {
        let files = self.0.lock().unwrap();
        files[Path::new(path)].lock().unwrap().clone()
    }

    pub(super) fn run(&self, path: &str) -> Arc<Run> {
        open(self.bytes(path)).unwrap()
    }
}

/// Opens a run that consists of these bytes.
pub(super) fn open(bytes: Vec<u8>) -> crate::Result<Arc<Run>> {
    Run::open(Arc::new(MemoryFile(Arc::new(Mutex::new(bytes)))), "run-1")
}

struct MemoryFile(Bytes);

impl Storage for Memory {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut files = self.0.lock().unwrap();
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
        let mut files = self.0.lock().unwrap();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = self.0.lock().unwrap().remove(path);
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
        Ok(self.0.lock().unwrap().contains_key(path))
    }
}

impl File for MemoryFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.lock().unwrap();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn write_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap();
        let end = offset as usize + new.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(new);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap().resize(len as usize, 0);
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
