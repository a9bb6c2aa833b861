//! What can go wrong between a client and its server.

use std::io;
use std::time::Duration;

use crate::wire;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused, and says why: see [`Error::code`].
    #[error("{}", .0.message)]
    Server(Box<ServerError>),

    /// The server's address is not one that a client can use.
    #[error("{address:?} is no address of a server: {what}; it looks like http://127.0.0.1:1991")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        what: &'static str,
    },

    /// Nobody answers at the server's address. Nothing was sent.
    #[error("no connection to {server}: {source}")]
    Connect {
        /// Host and port.
        server: String,
        /// What the operating system says.
        source: io::Error,
    },

    /// The connection broke while a request was under way. Whether a write happened is not known; reading tells.
    #[error("the connection to {server} broke: {source}")]
    Broken {
        /// Host and port.
        server: String,
        /// What happened to it.
        source: hyper::Error,
    },

    /// No answer came in time (see [`crate::Builder::timeout`]). Whether a write happened is not known; reading tells.
    #[error("no answer from {server} for {waited:?}")]
    TimedOut {
        /// Host and port.
        server: String,
        /// How long it was waited for.
        waited: Duration,
    },

    /// A list ended without its end line: the server stopped, or something in between cut it off. What came is right, but not all.
    #[error("the answer was cut off: it has no end line")]
    CutOff,

    /// The answer is none of an ImmuxDB server, or of one that speaks another version of the protocol.
    #[error("{server} does not answer as an ImmuxDB server of wire version {}: {what}", wire::VERSION)]
    Protocol {
        /// Host and port.
        server: String,
        /// What was expected and found.
        what: String,
    },

    /// A request that cannot be; nothing was sent.
    #[error("{0}")]
    Invalid(String),

    /// What the server has proven does not hold, or is not what was asked for: the server, or whoever can write its files, has
    /// rewritten history, or is broken.
    #[error("the proof of {server} does not hold: {why}")]
    Unproven {
        /// Host and port.
        server: String,
        /// What is wrong with it.
        why: String,
    },

    /// A value can't be written as JSON, or the content is not what the type expects.
    #[error("the value does not fit: {0}")]
    Value(#[from] serde_json::Error),
}

/// What a server says when it refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerError {
    /// The status of the answer; 200 where a list broke off with an error.
    pub status: u16,
    /// The code, the message, what to do, and further fields.
    pub failure: wire::Failure,
    /// After a bulk write that ended before its time: how far it came. The lines that it counts are written.
    pub bulk: Option<wire::BulkAnswer>,
}

impl std::ops::Deref for ServerError {
    type Target = wire::Failure;

    fn deref(&self) -> &wire::Failure {
        &self.failure
    }
}

/// The client's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The server's stable code, such as `height_mismatch`; `None` where it was not the server that refused.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.server().map(|error| error.failure.code.as_str())
    }

    /// What the server said, where it was the server that refused.
    #[must_use]
    pub fn server(&self) -> Option<&ServerError> {
        match self {
            Error::Server(error) => Some(error),
            _ => None,
        }
    }

    /// What to do about it, where there is something to say beyond the message.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        match self {
            Error::Server(error) => error.failure.help.as_deref(),
            Error::Connect { .. } => Some("start it with `immuxdb serve`, or check host and port"),
            Error::TimedOut { .. } => Some("is the server overloaded? a longer time can be set"),
            Error::CutOff => Some("ask again, from the last unit that came"),
            _ => None,
        }
    }

    pub(crate) fn refused(status: u16, failure: wire::Failure) -> Error {
        Error::Server(Box::new(ServerError { status, failure, bulk: None }))
    }
}
