//! A disk on which chosen files cannot grow: a full device, where the test decides what does not fit.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libimmuxdb::StoreOptions;
use libimmuxdb::storage::disk::Disk;
use libimmuxdb::storage::{File, Mapping, OpenMode, Storage};

/// Which file may have which length.
type Fits = fn(name: &str, length: u64) -> bool;

/// The disk, and the test's hand on it.
#[derive(Clone)]
pub struct Tight {
    disk: Arc<dyn Storage>,
    full: Arc<AtomicBool>,
    fits: Fits,
}

impl Tight {
    /// A disk that, once it is full, lets files grow only to lengths that fit.
    pub fn new(fits: Fits) -> Tight {
        Tight { disk: Disk::shared(), full: Arc::default(), fits }
    }

    pub fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    /// The options, with this disk.
    pub fn with(&self, options: &StoreOptions) -> StoreOptions {
        StoreOptions { storage: Arc::new(self.clone()), ..options.clone() }
    }
}

impl Storage for Tight {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Arc::new(TightFile { file: self.disk.open(path, mode)?, name, tight: self.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.disk.list(directory)
    }

    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        self.disk.create_dir(directory)
    }

    fn sync_dir(&self, directory: &Path) -> io::Result<()> {
        self.disk.sync_dir(directory)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk.exists(path)
    }
}

struct TightFile {
    file: Arc<dyn File>,
    name: String,
    tight: Tight,
}

impl File for TightFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset + bytes.len() as u64;
        let grows = end > self.file.len()?;
        if grows && self.tight.full.load(Ordering::SeqCst) && !(self.tight.fits)(&self.name, end) {
            // A device takes what it can before it is full.
            self.file.write_at(&bytes[..bytes.len() / 2], offset)?;
            return Err(io::ErrorKind::StorageFull.into());
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
        self.file.sync_data()
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
