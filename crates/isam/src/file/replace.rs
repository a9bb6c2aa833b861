//! OPEN OUTPUT of a file that is there: it starts anew.
//!
//! The new file is another inode, renamed into place: whoever has the old one open goes on reading what it was. It keeps
//! mode, group and (where this process may give files away) owner. Where that cannot be, because nothing may be made in the
//! directory or the old index may not be removed, the old file is emptied by a commit.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
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

/// Puts an empty file with this layout in the place of the one at `path`, which the caller holds alone. So nobody else does
/// the same now, and new files that are there already were left behind by processes that were killed.
pub(crate) fn replace(path: &Path, layout: &Layout, options: &StoreOptions) -> Result<Replaced, Error> {
    remove_left_behind(path);
    // Before the file itself: without an index it is whole, and if there is one that may not be removed, nothing is lost.
    remove_index(path)?;
    let beside = name_beside(path);
    let replaced = make(path, &beside, layout, options);
    if replaced.is_err() {
        // It may not even have come to be.
        let _ = fs::remove_file(&beside);
    }
    replaced
}

fn make(path: &Path, beside: &Path, layout: &Layout, options: &StoreOptions) -> Result<Replaced, Error> {
    let io = |error: io::Error| Error::io(beside, error);
    let made = make_beside(path, beside, layout, options)?;
    fs::rename(beside, path).map_err(io)?;
    if options.durability == Durability::Sync {
        options.storage.sync_dir(path.parent().unwrap_or(Path::new(""))).map_err(io)?;
    }
    Ok(made)
}

/// Makes an empty file `beside` that has what the one at `path` has: mode, group, owner.
pub(crate) fn make_beside(
    path: &Path,
    beside: &Path,
    layout: &Layout,
    options: &StoreOptions,
) -> Result<Replaced, Error> {
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
    Ok(Replaced { hold, warning })
}

/// A name that no other process uses: `.NAME.new-PID-NUMBER`.
pub(crate) fn name_beside(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut name = beginning_beside(path);
    name.push(format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

/// What the names of all new files begin with.
fn beginning_beside(path: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".new-");
    name
}

/// Removes new files that never came into their place, and their indexes. Whatever keeps it from it is no reason to make no
/// other.
pub(crate) fn remove_left_behind(path: &Path) {
    let beginning = beginning_beside(path);
    let is_left_behind = |name: &OsStr| {
        let numbers = name.as_bytes().strip_prefix(beginning.as_bytes());
        let numbers = numbers.map(|numbers| numbers.strip_suffix(b".idx").unwrap_or(numbers));
        numbers.is_some_and(|numbers| numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'))
    };
    let Ok(entries) = fs::read_dir(path.parent().unwrap_or(Path::new("/"))) else { return };
    for entry in entries.flatten().filter(|entry| is_left_behind(&entry.file_name())) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = remove_index(&entry.path().with_extension(""));
        } else {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Gives a new file mode, group and owner of the one at `path`; says if owner or group stay others.
fn inherit(new: &Path, path: &Path) -> io::Result<Option<String>> {
    let (old, own) = (fs::metadata(path)?, fs::metadata(new)?);
    let mut stay = Vec::new();
    if old.gid() != own.gid() && chown(new, None, Some(old.gid())).is_err() {
        stay.push(format!("group is {}, which was {}", own.gid(), old.gid()));
    }
    if old.uid() != own.uid() && chown(new, Some(old.uid()), None).is_err() {
        stay.push(format!("owner is {}, who was {}", own.uid(), old.uid()));
    }
    fs::set_permissions(new, fs::Permissions::from_mode(old.mode() & 0o7777))?;
    Ok((!stay.is_empty()).then(|| format!("{}: now the file's {}", path.display(), stay.join("; its "))))
}

/// The directory of what is derived from a file.
pub(crate) fn index_directory(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".idx");
    path.with_file_name(name)
}

/// Removes what was derived from a file, which is going to be another one or to be derived anew.
pub(crate) fn remove_index(path: &Path) -> Result<(), Error> {
    let directory = index_directory(path);
    let Ok(entries) = fs::read_dir(&directory) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("run-") || name.starts_with("manifest") {
            fs::remove_file(entry.path()).map_err(|error| Error::io(entry.path(), error))?;
        }
    }
    // Only if it is empty: what is in there besides is not ours.
    let _ = fs::remove_dir(&directory);
    Ok(())
}
