//! OPEN OUTPUT of a file that is there: it starts anew.
//!
//! The new file is another inode, renamed into place: whoever has the old one open goes on reading what it was. It keeps
//! mode, group and (where this process may give files away) owner. Where that cannot be, because nothing may be made in the
//! directory, the old file is emptied by a commit.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use libimmuxdb::{Chain, Durability, Error, StoreOptions};

use super::create::write_layout;
use super::hold::{Hold, Holding};
use crate::layout::Layout;

/// What came of it.
pub(crate) struct Replaced {
    /// The new file, held.
    pub(crate) hold: Hold,
    /// What an operator should know.
    pub(crate) warning: Option<String>,
}

/// Puts an empty file with this layout in the place of the one at `path`, which the caller holds alone.
pub(crate) fn replace(path: &Path, layout: &Layout, options: &StoreOptions) -> Result<Replaced, Error> {
    let beside = name_beside(path);
    let replaced = make(path, &beside, layout, options);
    if replaced.is_err() {
        // It may not even have come to be.
        let _ = fs::remove_file(&beside);
    }
    let replaced = replaced?;
    remove_index(path);
    Ok(replaced)
}

fn make(path: &Path, beside: &Path, layout: &Layout, options: &StoreOptions) -> Result<Replaced, Error> {
    let io = |error: io::Error| Error::io(beside, error);
    let hold = Hold::create(beside).map_err(io)?;
    if !hold.take(Holding::Alone).map_err(io)? {
        let taken = io::Error::new(io::ErrorKind::ResourceBusy, "another program holds the new file");
        return Err(io(taken));
    }
    let warning = inherit(beside, path).map_err(io)?;
    let chain = Chain::open_file(beside, options)?;
    write_layout(&chain, layout)?;
    chain.close()?;
    drop(chain);
    fs::rename(beside, path).map_err(io)?;
    if options.durability == Durability::Sync {
        options.storage.sync_dir(path.parent().unwrap_or(Path::new(""))).map_err(io)?;
    }
    Ok(Replaced { hold, warning })
}

/// A name that no other process uses: `.NAME.new-PID-NUMBER`.
fn name_beside(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".new-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

/// Gives a new file mode, group and owner of an old one; says if the owner stays another.
fn inherit(new: &Path, old: &Path) -> io::Result<Option<String>> {
    let (old, own) = (fs::metadata(old)?, fs::metadata(new)?);
    let mut warning = None;
    if old.gid() != own.gid() && chown(new, None, Some(old.gid())).is_err() {
        warning = Some(format!("the new file's group is {}, the old one's was {}", own.gid(), old.gid()));
    }
    if old.uid() != own.uid() && chown(new, Some(old.uid()), None).is_err() {
        warning = Some(format!("the new file's owner is {}, the old one's was {}", own.uid(), old.uid()));
    }
    fs::set_permissions(new, fs::Permissions::from_mode(old.mode() & 0o7777))?;
    Ok(warning)
}

/// Removes what was derived from a file that is gone. What stays behind does not fit the new file and is ignored.
pub(crate) fn remove_index(path: &Path) {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".idx");
    let directory = path.with_file_name(name);
    let Ok(entries) = fs::read_dir(&directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("run-") || name.starts_with("manifest") {
            let _ = fs::remove_file(entry.path());
        }
    }
    // Only if it is empty: what is in there besides is not ours.
    let _ = fs::remove_dir(&directory);
}
