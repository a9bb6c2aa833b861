//! Where a path leads.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::trouble::at_open;
use crate::failure::Failure;
use crate::request::OpenMode;
use crate::status::Status;

/// Device and inode: what tells a file from every other.
pub(crate) type Identity = (u64, u64);

/// Symbolic links that are followed at most.
const MOST_LINKS: usize = 40;

/// Where a path leads, symbolic links followed: so the `.idx` directory is beside the file itself, and a file that is
/// replaced leaves the link in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(PathBuf);

/// What is at a place.
pub(crate) enum There {
    Nothing,
    File { identity: Identity, len: u64 },
}

impl Place {
    /// The place of a path.
    pub(crate) fn of(path: &Path, mode: OpenMode) -> Result<Place, Failure> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.is_empty() {
            return Err(Failure::new(Status::BadName, "the file has no name"));
        }
        if bytes.contains(&0) {
            return Err(Failure::new(Status::BadName, format!("{path:?} has a zero byte in it")));
        }
        // A program may change its directory while the file is open.
        let mut place = std::path::absolute(path).map_err(|error| at_open(path, mode, &error))?;
        for _ in 0..MOST_LINKS {
            match fs::read_link(&place) {
                Ok(target) if target.is_absolute() => place = target,
                Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
                // It is no link, or not there.
                Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => {
                    return Ok(Place(place));
                }
                Err(error) => return Err(at_open(path, mode, &error)),
            }
        }
        Err(Failure::new(Status::IoError, format!("{} leads through too many symbolic links", path.display())))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What is there now.
    pub(crate) fn look(&self, mode: OpenMode) -> Result<There, Failure> {
        let metadata = match fs::metadata(&self.0) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(There::Nothing),
            Err(error) => return Err(at_open(&self.0, mode, &error)),
        };
        let is = |what: &str| Err(Failure::new(Status::IoError, format!("{} is {what}", self.0.display())));
        if metadata.is_dir() {
            return is("a directory, not an indexed file");
        }
        if !metadata.is_file() {
            return is("a device, pipe or socket, not an indexed file");
        }
        Ok(There::File { identity: (metadata.dev(), metadata.ino()), len: metadata.len() })
    }
}
