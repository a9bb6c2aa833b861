//! The error of this crate: a file status, and for people what was wrong.

use std::fmt;

use crate::status::Status;

/// An operation that did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    /// What the program gets to see.
    pub status: Status,
    /// What was wrong and what to do, for whoever runs the program; `None` where the status says it all, as in the
    /// normal course of a program (end of file, no such key).
    pub message: Option<String>,
}

impl Failure {
    /// A failure with a message.
    pub fn new(status: Status, message: impl Into<String>) -> Failure {
        Failure { status, message: Some(message.into()) }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        Failure { status, message: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.message.as_deref().unwrap_or_else(|| self.status.text());
        write!(f, "status {}: {text}", self.status)
    }
}
