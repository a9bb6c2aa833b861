//! The operating system's files without the wait for the device: scripts end processes, and pull no plug.

use std::io;
use std::path::Path;
use std::sync::Arc;

use libimmuxdb::storage::disk::Disk;
use libimmuxdb::storage::{File, Mapping, OpenMode, Storage};

/// A disk that says at once that everything is synced.
#[derive(Default)]
pub struct Hasty(Disk);

impl Storage for Hasty {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(HastyFile(self.0.open(path, mode)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.0.list(directory)
    }

    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        self.0.create_dir(directory)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.0.exists(path)
    }
}

struct HastyFile(Arc<dyn File>);

impl File for HastyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, byte: u64) -> io::Result<bool> {
        self.0.try_lock(byte)
    }

    fn is_locked(&self, byte: u64) -> io::Result<bool> {
        self.0.is_locked(byte)
    }

    fn map(&self, offset: u64, len: usize, growing: bool) -> io::Result<Option<Mapping>> {
        self.0.map(offset, len, growing)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.0.identity()
    }
}
