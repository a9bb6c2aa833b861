//! What to do about what indexed files report.

use immuxdb_isam::{Failure as FileFailure, Status};

use super::{Exit, Failure};

impl From<FileFailure> for Failure {
    fn from(failure: FileFailure) -> Failure {
        let exit = match failure.status {
            Status::FileMissing | Status::Missing => Exit::NotFound,
            _ => Exit::Failed,
        };
        let what = failure.message.unwrap_or_else(|| failure.status.text().to_owned());
        let help = match failure.status {
            Status::FileHeld => "`immuxdb file info` shows which process has it open; wait until that has ended",
            Status::NoSpace => "make space and try again; what was written is safe",
            Status::NoPermission => "check who may read and write the file and its directory",
            _ => return Failure { exit, what, help: None },
        };
        Failure { exit, what, help: Some(help.to_owned()) }
    }
}
