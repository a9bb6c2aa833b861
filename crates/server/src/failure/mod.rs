//! Why a command ended without doing what was asked: one line of what was wrong, one of what to do, and an exit code.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | done (also when the reader of the output went away) |
//! | 1 | something failed |
//! | 2 | the command or a setting is wrong; nothing was tried |
//! | 3 | there is no such unit, grouping, index, chain or store |
//! | 130 | stopped by Ctrl-C |

mod engine;
mod isam;

use std::fmt;
use std::io;
use std::process::ExitCode;

/// How a command ends when it does not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Whoever read the output went away. Nothing is wrong, and nobody is there to be told.
    OutputClosed,
    /// Something failed.
    Failed,
    /// The command or a setting is wrong.
    Usage,
    /// There is no such unit, grouping, index, chain or store.
    NotFound,
    /// The user stopped it.
    Interrupted,
}

impl Exit {
    /// The exit code of the process.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Exit::OutputClosed => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command ended without doing what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// What was wrong, in one line.
    pub what: String,
    /// What to do about it, in one line.
    pub help: Option<String>,
}

/// What commands return.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Something failed.
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { exit: Exit::Failed, what: what.into(), help: None }
    }

    /// The command or a setting is wrong.
    pub fn usage(what: impl Into<String>) -> Failure {
        Failure { exit: Exit::Usage, ..Failure::new(what) }
    }

    /// Something that was named is not there.
    pub fn not_found(what: impl Into<String>) -> Failure {
        Failure { exit: Exit::NotFound, ..Failure::new(what) }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Failure {
        self.help = Some(help.into());
        self
    }

    /// What to do about an error of writing to standard output.
    #[must_use]
    pub fn output(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure { exit: Exit::OutputClosed, ..Failure::new("the output was closed") },
            _ => Failure::new(format!("the output can't be written: {error}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        match &self.help {
            Some(help) => write!(f, "\n help: {help}"),
            None => Ok(()),
        }
    }
}

/// The name among `names` that `wrong` was most likely meant to be.
#[must_use]
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this, names are only alike by accident ("jaro" runs from 0 to 1).
    const ALIKE: f64 = 0.8;
    let wrong = wrong.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wrong, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name() {
        let names = ["data_root", "durability", "memory_limit"];
        assert_eq!(nearest("durabilty", names), Some("durability"));
        assert_eq!(nearest("dataroot", names), Some("data_root"));
        assert_eq!(nearest("DATA_ROOT", names), Some("data_root"));
        assert_eq!(nearest("colour", names), None);
    }

    #[test]
    fn two_lines() {
        let failure = Failure::new("the tank is empty").help("fill it up");
        assert_eq!(failure.to_string(), "error: the tank is empty\n help: fill it up");
    }
}
