//! All files that a process has open.

use std::sync::OnceLock;

use crate::connector::Connector;
use crate::failure::Failure;
use crate::request::OpenRequest;
use crate::status::Status;

/// All files of a run unit: a process. Of each file there is one engine, by device and inode, which its connectors share;
/// so a run unit never locks itself out and sees its own writes. Safe to use from any thread.
#[derive(Default)]
pub struct RunUnit {}

impl RunUnit {
    /// The process's own.
    pub fn global() -> &'static RunUnit {
        static GLOBAL: OnceLock<RunUnit> = OnceLock::new();
        GLOBAL.get_or_init(RunUnit::default)
    }

    /// Opens a file: [`Status::Ok`], or [`Status::OptionalMissing`] with a connector all the same.
    ///
    /// # Errors
    /// [`Status::FileMissing`], [`Status::NoPermission`], [`Status::AttributesClash`], [`Status::FileHeld`] (at once,
    /// when another process holds the file), [`Status::BadName`], [`Status::NoSpace`], [`Status::IoError`].
    pub fn open(&self, request: &OpenRequest<'_>) -> Result<(Connector, Status), Failure> {
        Err(Failure::new(Status::IoError, format!("{} cannot be opened yet", request.path.display())))
    }

    /// Closes all files, at the end of the process. Connectors that are left give [`Status::IoError`].
    ///
    /// # Errors
    /// The first failure; all files are closed nevertheless.
    pub fn close_all(&self) -> Result<(), Failure> {
        Ok(())
    }
}
