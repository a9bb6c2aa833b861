//! The lock between programs: any number may have a file open for input, or one may have it for itself.
//!
//! It is a lock of the open file description on a byte beyond all data, so it ends with its program, however that ends,
//! and programs that it starts do not inherit it. Threads and connectors of one program share one description, and so
//! never exclude each other.

use std::io;
use std::path::Path;
use std::sync::Arc;

use libimmuxdb::storage::disk::Disk;
use libimmuxdb::storage::{File, OpenMode as FileMode, Storage};

use super::place::Identity;
use crate::maker::{BEGINNING, Maker};

/// The byte: next to the one on which the engine keeps its writer's lock.
const BYTE: u64 = (1 << 62) + 1;

/// A file, held.
pub(crate) struct Hold {
    file: Arc<dyn File>,
    /// Whether this process may write to it.
    writable: bool,
}

/// How a file is to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// With others that read.
    Shared,
    /// Alone.
    Alone,
}

impl Hold {
    /// Opens a file that is there, without holding it yet.
    pub(crate) fn open(path: &Path) -> io::Result<Hold> {
        match Disk.open(path, FileMode::Write) {
            Ok(file) => Ok(Hold { file, writable: true }),
            Err(error) if is_denied(&error) => Ok(Hold { file: Disk.open(path, FileMode::Read)?, writable: false }),
            Err(error) => Err(error),
        }
    }

    /// Makes a file that is not there.
    pub(crate) fn create(path: &Path) -> io::Result<Hold> {
        Ok(Hold { file: Disk.open(path, FileMode::CreateNew)?, writable: true })
    }

    /// Holds the file in another way than before; `false` when another program is in the way: then nothing changes.
    pub(crate) fn take(&self, holding: Holding) -> io::Result<bool> {
        match holding {
            Holding::Shared => self.file.try_lock_shared(BYTE),
            Holding::Alone => self.file.try_lock(BYTE),
        }
    }

    pub(crate) fn writable(&self) -> bool {
        self.writable
    }

    pub(crate) fn identity(&self) -> io::Result<Identity> {
        self.file.identity()
    }

    /// Who made the file.
    pub(crate) fn maker(&self) -> io::Result<Maker> {
        let mut bytes = [0; BEGINNING];
        let read = self.file.read_at(&mut bytes, 0)?;
        Ok(Maker::of_bytes(&bytes[..read]))
    }
}

/// Whether an error says that this process may not write there.
pub(crate) fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
