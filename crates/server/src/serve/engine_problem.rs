//! The engine's errors as answers.

use libimmuxdb::Error;

use super::problem::{Code, Problem};

/// The code of an error, and what to do about it.
fn code_and_help(error: &Error) -> (Code, &'static str) {
    match error {
        Error::TooLarge { .. } => (Code::TooLarge, "make it smaller; the limits are listed in the README"),
        Error::Invalid(_) => (Code::Invalid, ""),
        Error::InvalidJson(_) => (
            Code::InvalidJson,
            "correct it, or send other bytes as they are with Content-Type: application/octet-stream",
        ),
        Error::UnitExists { .. } => (Code::UnitExists, "leave out If-None-Match to write a new version of it"),
        Error::DuplicateKey { .. } => {
            (Code::DuplicateKey, "give it another value, or look for the unit that has this one with ?index=&value=")
        }
        Error::HeightMismatch { .. } => (Code::HeightMismatch, "read it again, and decide anew"),
        Error::UnitMissing => (Code::UnitMissing, "GET /GROUPING lists the units there are"),
        Error::GroupingMissing(_) => (Code::GroupingMissing, "GET /.groupings lists the groupings there are"),
        Error::IndexMissing { .. } => (Code::IndexMissing, "GET /GROUPING/.indexes lists the indexes there are"),
        Error::IndexExists { .. } => (Code::IndexExists, "choose another name, or drop it first with DELETE"),
        Error::HeightUnknown { .. } => (Code::HeightUnknown, "GET /.stats shows the chain's newest height"),
        Error::Held { .. } => (Code::ChainHeld, "wait until the other process has ended, and try again"),
        Error::ReadOnly(_) => (
            Code::ReadOnly,
            "what can be read can still be read; restore the chain from a copy, and restart the server, to write again",
        ),
        Error::NoSpace { .. } => (Code::NoSpace, "make space and try again; what was committed is safe"),
        Error::Poisoned(_) => (Code::Poisoned, "find out what is wrong with the disk, and restart the server"),
        Error::Damaged { .. } => (Code::Damaged, "the server's log says more; other units can still be read"),
        Error::Format { .. } => (Code::UnknownFormat, ""),
        Error::Io { .. } => (Code::IoError, "the server's log says more"),
        _ => (Code::Internal, "this is a fault of the server"),
    }
}

impl Problem {
    /// The code of an engine's error.
    pub(crate) fn code_of(error: &Error) -> Code {
        code_and_help(error).0
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let (code, help) = code_and_help(&error);
        if matches!(code, Code::Damaged | Code::IoError | Code::Internal | Code::Poisoned | Code::UnknownFormat) {
            tracing::error!(code = code.text(), "{error}");
        }
        let problem = Problem::new(code, error.to_string());
        let problem = if help.is_empty() { problem } else { problem.help(help) };
        match error {
            Error::TooLarge { limit, .. } => problem.with("limit", limit),
            Error::UnitExists { height } if height != libimmuxdb::Height::MAX => problem.with("height", height.0),
            Error::DuplicateKey { index } => problem.with("index", index),
            Error::HeightMismatch { expected, actual } => {
                let actual = actual.filter(|height| *height != libimmuxdb::Height::MAX).map(|height| height.0);
                problem.with("expected", expected.0).with("actual", actual)
            }
            Error::HeightUnknown { newest, .. } => problem.with("newest", newest.0),
            Error::GroupingMissing(grouping) => problem.with("grouping", grouping),
            Error::IndexMissing { grouping, index } | Error::IndexExists { grouping, index } => {
                problem.with("grouping", grouping).with("index", index)
            }
            _ => problem,
        }
    }
}
