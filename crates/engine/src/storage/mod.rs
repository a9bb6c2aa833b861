//! The only door to the disk.
//!
//! Everything that the engine reads or writes goes through these two traits, so that a test can run the whole engine on
//! a disk that loses unsynced writes, tears them, reorders them, and fails at any call.
//!
//! | implementation | where | for |
//! |---|---|---|
//! | `disk::Disk` | this crate | the operating system's files |
//! | `SimulatedDisk` | `immuxdb_simulator` | crashes and faults at will |
//!
//! What the engine relies on, and a simulated disk must give:
//!
//! * after [`File::sync_data`] returns, every byte written to that file before the call survives power loss;
//! * after [`Storage::sync_dir`] returns, every creation, renaming and removal in that directory survives;
//! * [`Storage::rename`] replaces its target in one step: a reader finds the old file or the new one;
//! * a lock ends with the last handle that its open gave out, or with the process, however it ends.

pub mod disk;
mod unmapped;

use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

pub use unmapped::Unmapped;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// For reading; the file must be there.
    Read,
    /// For reading and writing; the file must be there.
    Write,
    /// For reading and writing; the file must not be there.
    CreateNew,
}

/// A directory tree.
pub trait Storage: Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists` (with [`OpenMode::CreateNew`]), or what the disk reports.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>>;

    /// Renames a file; a file that has the name `to` is replaced in one step.
    ///
    /// # Errors
    /// What the disk reports.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. Handles and maps that are open go on reading it.
    ///
    /// # Errors
    /// `NotFound`, or what the disk reports.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// The names of the files and directories in `directory`, sorted.
    ///
    /// # Errors
    /// `NotFound`, or what the disk reports.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;

    /// Creates a directory and those above it that are missing.
    ///
    /// # Errors
    /// What the disk reports.
    fn create_dir(&self, directory: &Path) -> io::Result<()>;

    /// Makes creations, renamings and removals in `directory` survive power loss.
    ///
    /// # Errors
    /// What the disk reports.
    fn sync_dir(&self, directory: &Path) -> io::Result<()>;

    /// Whether a file or directory has this path.
    ///
    /// # Errors
    /// What the disk reports.
    fn exists(&self, path: &Path) -> io::Result<bool>;
}

/// An open file.
#[expect(clippy::len_without_is_empty, reason = "nobody asks whether a file is empty, and asking costs a call")]
pub trait File: Send + Sync {
    /// Reads at `offset` until `buffer` is full or the file ends; returns the bytes read.
    ///
    /// # Errors
    /// What the disk reports.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`. After an error any part of them may have been written.
    ///
    /// # Errors
    /// `StorageFull`, or what the disk reports.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// The file's length in bytes.
    ///
    /// # Errors
    /// What the disk reports.
    fn len(&self) -> io::Result<u64>;

    /// Cuts the file, or extends it with zeroes.
    ///
    /// # Errors
    /// What the disk reports.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes every byte written so far survive power loss (`fdatasync`).
    ///
    /// # Errors
    /// What the disk reports. After an error nothing is known about the bytes written since the last success, and
    /// calling again proves nothing.
    fn sync_data(&self) -> io::Result<()>;

    /// Takes the exclusive lock on one byte of this file, which may lie beyond its end; `false` when another handle
    /// holds it. The lock ends with the handle.
    ///
    /// # Errors
    /// What the disk reports; `Unsupported` where the file system cannot lock.
    fn try_lock(&self, byte: u64) -> io::Result<bool>;

    /// Takes a shared lock on one byte: any number of handles may, while none has the exclusive one. A handle that has
    /// the exclusive lock gives it up for the shared one, and [`File::try_lock`] turns a shared one into the exclusive
    /// one if no other handle has it. `false` when another handle is in the way; then this one keeps what it had.
    ///
    /// # Errors
    /// What the disk reports; `Unsupported` where the storage has exclusive locks only. The engine itself needs none.
    fn try_lock_shared(&self, byte: u64) -> io::Result<bool> {
        let _ = byte;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether another handle holds the lock on `byte`.
    ///
    /// # Errors
    /// What the disk reports.
    fn is_locked(&self, byte: u64) -> io::Result<bool>;

    /// Bytes `offset .. offset + len` for reading without copying.
    ///
    /// The range may reach beyond the end of the file where `growing` is set: bytes that are written later appear in
    /// the map, and the caller touches none that are not yet in the file. `Ok(None)`: this storage does not map such
    /// ranges, read them with [`File::read_at`].
    ///
    /// # Errors
    /// What the disk reports.
    fn map(&self, offset: u64, len: usize, growing: bool) -> io::Result<Option<Mapping>>;

    /// A number that tells this file from every other one that exists (device and inode).
    ///
    /// # Errors
    /// What the disk reports.
    fn identity(&self) -> io::Result<(u64, u64)>;
}

/// Bytes of a file, mapped or copied.
pub struct Mapping(Box<dyn Deref<Target = [u8]> + Send + Sync>);

impl Mapping {
    /// Wraps what holds the bytes.
    pub fn new(bytes: impl Deref<Target = [u8]> + Send + Sync + 'static) -> Mapping {
        Mapping(Box::new(bytes))
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
