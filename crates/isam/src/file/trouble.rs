//! From what goes wrong below to what a program gets to see.

use std::io;
use std::path::Path;

use libimmuxdb::Error;

use super::replace::index_directory;
use crate::failure::Failure;
use crate::request::OpenMode;
use crate::status::Status;

/// What the operating system says when a file is opened.
pub(crate) fn at_open(path: &Path, mode: OpenMode, error: &io::Error) -> Failure {
    let status = match error.kind() {
        // OUTPUT makes the file, so what is missing is its directory.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if mode == OpenMode::Output => Status::IoError,
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Status::FileMissing,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Status::NoPermission,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => Status::NoSpace,
        io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => Status::BadName,
        _ => Status::IoError,
    };
    Failure::new(status, format!("{}: {error}", path.display()))
}

/// What the engine says when it opens a file.
pub(crate) fn engine_at_open(path: &Path, mode: OpenMode, error: Error) -> Failure {
    match error {
        Error::Held { .. } => Failure::new(Status::FileHeld, error.to_string()),
        // What is in the way may be the directory beside the file; else it is the file, under whatever name.
        Error::Io { path: place, source } if belongs_to_index(&place, path) => at_open(&place, mode, &source),
        Error::Io { source, .. } => at_open(path, mode, &source),
        error => engine(error),
    }
}

/// Whether a path is the `.idx` directory of a file, or in it.
fn belongs_to_index(place: &Path, file: &Path) -> bool {
    let index = index_directory(file);
    place.ancestors().take(2).any(|ancestor| ancestor == index)
}

/// What the engine says to an operation.
pub(crate) fn engine(error: Error) -> Failure {
    let status = match &error {
        Error::UnitExists { .. } | Error::DuplicateKey { .. } => return Status::DuplicateKey.into(),
        Error::UnitMissing => return Status::Missing.into(),
        Error::TooLarge { .. } => Status::RecordLength,
        Error::NoSpace { .. } => Status::NoSpace,
        _ => Status::IoError,
    };
    Failure::new(status, error.to_string())
}
