//! The disk, as a shop expects it.
//!
//! * The log is never mapped: a file that somebody shortens or overwrites while it is open gives an error, where a map
//!   would end the process.
//! * What comes to be in `NAME.idx` has the owner, group and mode of `NAME`, so that whoever may use the one may use the
//!   other.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use libimmuxdb::environment::System;
use libimmuxdb::storage::disk::Disk;
use libimmuxdb::storage::{File, OpenMode as FileMode, Storage, Unmapped};
use libimmuxdb::{Chain, Durability, StoreOptions, Syncing};

use super::trouble::engine_at_open;
use crate::failure::Failure;
use crate::request::OpenMode;
use crate::settings::{DuplicateStatus, Settings};
use crate::status::Status;

/// For those who open a file without a program's settings.
pub(crate) static FILE_OPTIONS: LazyLock<StoreOptions> = LazyLock::new(|| options(&Settings::default()));

/// Opens the engine of a file that is there.
pub(crate) fn open_chain(path: &Path, mode: OpenMode, options: &StoreOptions) -> Result<Arc<Chain>, Failure> {
    let chain = match mode {
        OpenMode::Input => Chain::open_file_read_only(path, options),
        OpenMode::Output | OpenMode::InputOutput | OpenMode::Extend => Chain::open_file(path, options),
    };
    let chain = chain.map_err(|error| engine_at_open(path, mode, error))?;
    // What is before the damage can be read, but a program would not notice that the rest is missing.
    match &chain.recovery().damage {
        Some(damage) => Err(Failure::new(Status::IoError, damage.clone())),
        None => Ok(chain),
    }
}

/// Programs open files again and again: replaying this much takes a few milliseconds.
const REPLAY_LIMIT: usize = 1 << 20;

/// How the engine is to open a file.
pub(crate) fn options(settings: &Settings) -> StoreOptions {
    static ENVIRONMENT: LazyLock<Arc<System>> = LazyLock::new(|| Arc::new(System::new()));
    StoreOptions {
        memory_limit: settings.memory_limit,
        durability: if settings.sync { Durability::Sync } else { Durability::Process },
        expect_duplicate_reports: settings.duplicate_status != DuplicateStatus::None,
        replay_limit: REPLAY_LIMIT,
        syncing: Syncing::OnDemand,
        storage: Arc::new(Unmapped(&ShopDisk)),
        environment: Arc::<System>::clone(&ENVIRONMENT),
        ..StoreOptions::default()
    }
}

struct ShopDisk;

/// The file beside which a path belongs: `NAME` for `NAME.idx`.
fn file_of(directory: &Path) -> Option<PathBuf> {
    let name = directory.file_name()?.to_str()?.strip_suffix(".idx")?;
    Some(directory.with_file_name(name))
}

/// Gives `path` owner and group of `model`, as far as this process may, and its mode.
fn resemble(path: &Path, model: &Path, more: impl Fn(u32) -> u32) -> io::Result<()> {
    let (model, own) = (fs::metadata(model)?, fs::metadata(path)?);
    if model.uid() != own.uid() {
        // Only a privileged process may; then the group has to do.
        let _ = chown(path, Some(model.uid()), None);
    }
    if model.gid() != own.gid() {
        let _ = chown(path, None, Some(model.gid()));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(more(model.mode() & 0o777)))
}

impl Storage for ShopDisk {
    fn open(&self, path: &Path, mode: FileMode) -> io::Result<Arc<dyn File>> {
        let file = Disk.open(path, mode)?;
        if mode == FileMode::CreateNew
            && let Some(model) = path.parent().and_then(file_of)
        {
            resemble(path, &model, |mode| mode)?;
        }
        Ok(file)
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
        Disk.create_dir(directory)?;
        match file_of(directory) {
            // Who may read may also enter.
            Some(model) => resemble(directory, &model, |mode| mode | (mode & 0o444) >> 2),
            None => Ok(()),
        }
    }

    fn sync_dir(&self, directory: &Path) -> io::Result<()> {
        Disk.sync_dir(directory)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Disk.exists(path)
    }
}
