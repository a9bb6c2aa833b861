//! The operating system's files without the wait for the device: scripts end processes, and pull no plug.

use std::io;
use std::path::Path;
use std::sync::Arc;

use libimmuxdb::storage::disk::Disk;
use libimmuxdb::storage::{File, Mapping, OpenMode, Storage};

/// What is about to happen to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Create,
    Write,
    SetLength,
    Rename,
    Remove,
}

type Watch = Arc<dyn Fn(Change) + Send + Sync>;

/// A disk that says at once that everything is synced.
#[derive(Default)]
pub struct Hasty {
    disk: Disk,
    watch: Option<Watch>,
}

impl Hasty {
    /// One that calls `watch` before each change.
    pub fn watched(watch: impl Fn(Change) + Send + Sync + 'static) -> Hasty {
        Hasty { disk: Disk, watch: Some(Arc::new(watch)) }
    }

    fn tell(&self, change: Change) {
        tell(self.watch.as_ref(), change);
    }
}

fn tell(watch: Option<&Watch>, change: Change) {
    if let Some(watch) = watch {
        watch(change);
    }
}

impl Storage for Hasty {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        if mode == OpenMode::CreateNew {
            self.tell(Change::Create);
        }
        Ok(Arc::new(HastyFile { file: self.disk.open(path, mode)?, watch: self.watch.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.tell(Change::Rename);
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.tell(Change::Remove);
        self.disk.remove(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.disk.list(directory)
    }

    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        self.tell(Change::Create);
        self.disk.create_dir(directory)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
}

struct HastyFile {
    file: Arc<dyn File>,
    watch: Option<Watch>,
}

impl File for HastyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        tell(self.watch.as_ref(), Change::Write);
        self.file.write_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        tell(self.watch.as_ref(), Change::SetLength);
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, byte: u64) -> io::Result<bool> {
        self.file.try_lock(byte)
    }

    fn is_locked(&self, byte: u64) -> io::Result<bool> {
        self.file.is_locked(byte)
    }

    fn map(&self, offset: u64, len: usize, growing: bool) -> io::Result<Option<Mapping>> {
        self.file.map(offset, len, growing)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.file.identity()
    }
}
