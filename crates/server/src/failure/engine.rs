//! What to do about the engine's errors.

use std::io::ErrorKind;

use libimmuxdb::Error;

use super::{Exit, Failure};

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let exit = match &error {
            Error::UnitMissing | Error::GroupingMissing(_) | Error::IndexMissing { .. } => Exit::NotFound,
            _ => Exit::Failed,
        };
        Failure { exit, help: help(&error), what: error.to_string() }
    }
}

const DAMAGED: &str = "`immuxdb verify` shows all that is damaged; put back a backup with `immuxdb restore`, or save what is \
                       whole into a new store with `immuxdb repair`";

fn help(error: &Error) -> Option<String> {
    let help = match error {
        Error::InvalidJson(_) => "write a text as '\"text\"', or keep the bytes as they are with --raw",
        Error::UnitExists { .. } => "leave out --insert to write a new version of it",
        Error::DuplicateKey { .. } => {
            "give it another value, or look for the unit that has this one with `immuxdb scan --index`"
        }
        Error::HeightMismatch { .. } => "read it again with `immuxdb get --json`, and decide anew",
        Error::UnitMissing => "`immuxdb scan` lists the units there are",
        Error::GroupingMissing(_) => "`immuxdb groupings` lists the groupings there are",
        Error::IndexMissing { .. } => "`immuxdb index list` lists the indexes there are",
        Error::IndexExists { .. } => "choose another name, or drop it first with `immuxdb index drop`",
        Error::HeightUnknown { .. } => {
            "`immuxdb stats` shows the chain's height, `immuxdb history` the heights of a unit"
        }
        Error::Held { .. } => "wait until the other process has ended; reading works meanwhile",
        Error::NoSpace { .. } => "make space and try again; what was committed is safe",
        Error::Damaged { path, .. } if path.parent().is_some_and(|parent| parent.ends_with("log.idx")) => {
            "nothing is lost: remove the directory log.idx while nobody writes, and it is made again from the log"
        }
        Error::Damaged { .. } => DAMAGED,
        Error::ReadOnly(why) if why.contains(" is damaged at offset ") => DAMAGED,
        Error::Io { source, .. }
            if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
        {
            "check who may write there, or choose another directory with --data-root"
        }
        _ => return None,
    };
    Some(help.to_owned())
}
