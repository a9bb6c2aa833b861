//! A disk in memory: each call of it is a place at which another thread may go on.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use immuxdb_interleavings::Timestamp;
use immuxdb_interleavings::environment::{Environment, ProcessIdentity};
use immuxdb_interleavings::storage::{File, Mapping, OpenMode, Storage};
use shuttle::sync::Mutex;

#[derive(Default)]
pub struct Memory(Mutex<BTreeMap<PathBuf, Arc<Bytes>>>);

pub struct Bytes {
    number: u64,
    bytes: Mutex<Vec<u8>>,
}

impl Storage for Memory {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut files = self.0.lock().unwrap();
        let number = files.len() as u64 + 1;
        match (files.get(path), mode) {
            (Some(_), OpenMode::CreateNew) => Err(io::ErrorKind::AlreadyExists.into()),
            (Some(file), _) => Ok(Arc::clone(file) as Arc<dyn File>),
            (None, OpenMode::CreateNew) => {
                let file = Arc::new(Bytes { number, bytes: Mutex::default() });
                files.insert(path.to_owned(), Arc::clone(&file));
                Ok(file)
            }
            (None, _) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.0.lock().unwrap();
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.lock().unwrap().remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let files = self.0.lock().unwrap();
        let below = files.keys().filter_map(|path| path.strip_prefix(directory).ok()?.iter().next());
        let mut names: Vec<_> = below.map(|name| name.to_string_lossy().into_owned()).collect();
        names.dedup();
        Ok(names)
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.0.lock().unwrap().keys().any(|file| file.starts_with(path)))
    }
}

impl File for Bytes {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.bytes.lock().unwrap();
        let there = bytes.get(offset as usize..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }

    fn write_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
        let mut bytes = self.bytes.lock().unwrap();
        let end = offset as usize + new.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(new);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes.lock().unwrap().resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        shuttle::thread::yield_now();
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
        Ok((0, self.number))
    }
}

/// A world in which nothing happens by chance.
pub struct Still;

impl Environment for Still {
    fn now(&self) -> Timestamp {
        Timestamp(1)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    fn boot_id(&self) -> [u8; 16] {
        [1; 16]
    }

    fn process(&self) -> ProcessIdentity {
        ProcessIdentity { id: 1, started: Timestamp(1) }
    }
}
