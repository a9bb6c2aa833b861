//! Removing a file, for DELETE FILE.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use immuxdb_isam::{Failure, Status};

/// How each file of ours begins.
const MAGIC: &[u8] = b"IMMUXLOG";

/// Whether a file of ours is at the path.
pub fn is_ours(path: &Path) -> bool {
    let mut begin = [0u8; MAGIC.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == MAGIC
}

/// Removes the file and what was derived from it. Programs that have it open keep what they have.
///
/// # Errors
/// [`Status::FileMissing`], [`Status::NoPermission`], [`Status::IoError`].
pub fn remove(path: &Path) -> Result<Status, Failure> {
    let failed = |path: &Path, error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Failure::from(Status::FileMissing),
        ErrorKind::PermissionDenied => {
            Failure::new(Status::NoPermission, format!("cannot remove {}: {error}", path.display()))
        }
        _ => Failure::new(Status::IoError, format!("cannot remove {}: {error}", path.display())),
    };
    std::fs::remove_file(path).map_err(|error| failed(path, error))?;
    let derived = derived(path);
    if derived.is_dir() {
        std::fs::remove_dir_all(&derived).map_err(|error| failed(&derived, error))?;
    }
    Ok(Status::Ok)
}

/// `NAME.idx` for `NAME`.
fn derived(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".idx");
    PathBuf::from(name)
}
