//! Logs that are read and never mapped.

use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::{File, Mapping, OpenMode, Storage};

/// A disk whose files are not mapped while they grow. Those are the logs, whose end somebody else may cut off, or the device
/// not give: that is then an error, where a map would end the process.
pub struct Unmapped<S = Arc<dyn Storage>>(pub S);

struct UnmappedFile(Arc<dyn File>);

impl<S: Deref<Target: Storage> + Send + Sync> Storage for Unmapped<S> {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(UnmappedFile(self.0.open(path, mode)?)))
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

    fn sync_dir(&self, directory: &Path) -> io::Result<()> {
        self.0.sync_dir(directory)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.0.exists(path)
    }
}

impl File for UnmappedFile {
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
        self.0.sync_data()
    }

    fn try_lock(&self, byte: u64) -> io::Result<bool> {
        self.0.try_lock(byte)
    }

    fn try_lock_shared(&self, byte: u64) -> io::Result<bool> {
        self.0.try_lock_shared(byte)
    }

    fn is_locked(&self, byte: u64) -> io::Result<bool> {
        self.0.is_locked(byte)
    }

    fn map(&self, offset: u64, len: usize, growing: bool) -> io::Result<Option<Mapping>> {
        if growing { Ok(None) } else { self.0.map(offset, len, growing) }
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.0.identity()
    }
}
