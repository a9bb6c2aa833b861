//! What to do about the engine's errors, whether they come from it or over the wire.

use std::io::ErrorKind;

use libimmuxdb::Error;

use super::{Exit, Failure};

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = code(&error);
        let help = match &error {
            Error::Damaged { path, .. } if path.parent().is_some_and(|parent| parent.ends_with("log.idx")) => Some(
                "nothing is lost: remove the directory log.idx while nobody writes, and it is made again from the log",
            ),
            Error::Io { source, .. }
                if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
            {
                Some("check who may write there, or choose another directory with --data-root")
            }
            _ => help(code),
        };
        Failure { exit: exit(code), help: help.map(str::to_owned), what: error.to_string() }
    }
}

const DAMAGED: &str = "`immuxdb verify` shows all that is damaged; put back a backup with `immuxdb restore`, or save what is \
                       whole into a new store with `immuxdb repair`";

impl From<immuxdb_client::Error> for Failure {
    fn from(error: immuxdb_client::Error) -> Failure {
        match error.server() {
            Some(refused) => Failure::from_server(&refused.code, refused.message.clone(), refused.help.clone()),
            None => Failure { help: error.help().map(str::to_owned), ..Failure::new(error.to_string()) },
        }
    }
}

impl Failure {
    /// A failure that a server told of, with the words of this command line for what to do about it.
    #[must_use]
    pub fn from_server(code: &str, message: String, its_help: Option<String>) -> Failure {
        Failure { exit: exit(code), help: help(code).map(str::to_owned).or(its_help), what: message }
    }
}

/// The code that the error has on the wire.
fn code(error: &Error) -> &'static str {
    match error {
        Error::InvalidJson(_) => "invalid_json",
        Error::UnitExists { .. } => "unit_exists",
        Error::DuplicateKey { .. } => "duplicate_key",
        Error::HeightMismatch { .. } => "height_mismatch",
        Error::UnitMissing => "unit_missing",
        Error::GroupingMissing(_) => "grouping_missing",
        Error::IndexMissing { .. } => "index_missing",
        Error::IndexExists { .. } => "index_exists",
        Error::HeightUnknown { .. } => "height_unknown",
        Error::Held { .. } => "chain_held",
        Error::NoSpace { .. } => "no_space",
        Error::Damaged { .. } => "damaged",
        Error::ReadOnly(why) if why.contains(" is damaged at offset ") => "damaged",
        _ => "",
    }
}

fn exit(code: &str) -> Exit {
    match code {
        "unit_missing" | "grouping_missing" | "index_missing" | "chain_missing" => Exit::NotFound,
        _ => Exit::Failed,
    }
}

fn help(code: &str) -> Option<&'static str> {
    Some(match code {
        "invalid_json" => "write a text as '\"text\"', or keep the bytes as they are with --raw",
        "unit_exists" => "leave out --insert to write a new version of it",
        "duplicate_key" => "give it another value, or look for the unit that has this one with `immuxdb scan --index`",
        "height_mismatch" => "read it again with `immuxdb get --json`, and decide anew",
        "unit_missing" => "`immuxdb scan` lists the units there are",
        "grouping_missing" => "`immuxdb groupings` lists the groupings there are",
        "index_missing" => "`immuxdb index list` lists the indexes there are",
        "index_exists" => "choose another name, or drop it first with `immuxdb index drop`",
        "height_unknown" => "`immuxdb stats` shows the chain's height, `immuxdb history` the heights of a unit",
        "chain_held" => "wait until the other process has ended; reading works meanwhile",
        "no_space" => "make space and try again; what was committed is safe",
        "damaged" => DAMAGED,
        "unauthorized" => "set the server's token: `token` in the configuration file, or IMMUXDB_TOKEN",
        _ => return None,
    })
}
