//! The settings, and where each of them comes from.
//!
//! There are four layers; what a later one says wins:
//!
//! | layer | where | how `data_root` is written there |
//! |---|---|---|
//! | 1 defaults | [`ImmuxDBConfiguration::get_default`] | |
//! | 2 one TOML file | the first of: `--config FILE` (or `IMMUXDB_CONFIG`); `./immuxdb.toml`; `$XDG_CONFIG_HOME/immuxdb/config.toml` (`~/.config/…` where that is not set) | `data_root = "data"` |
//! | 3 environment | variables that begin with `IMMUXDB_` | `IMMUXDB_DATA_ROOT=data` |
//! | 4 flags | the command line | `--data-root data` |
//!
//! Every layer is checked as a whole, also where a later one overrides it: an unknown name or a wrong value is an error that says
//! where it stands, and what was expected. A relative path in a file is relative to the folder of that file; in a variable or flag
//! it is relative to the working directory.

mod layers;
mod setting;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use libimmuxdb::{Durability, limits};

pub use layers::{Flags, Surroundings, resolve};
pub use setting::{SETTINGS, Setting, durability_name};

/// What the user can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImmuxDBConfiguration {
    /// The directory of the store.
    pub data_root: PathBuf,
    /// The server that commands work through, such as `http://127.0.0.1:1991`; `None` to work on the files of `data_root`.
    pub server: Option<String>,
    /// The chain that commands work on.
    pub chain: String,
    /// How far a commit has gone when it returns.
    pub durability: Durability,
    /// How much memory the engine may use, in bytes.
    pub memory_limit: usize,
    /// The address and port at which the server listens.
    pub listen: String,
    /// The token that requests to the server must have.
    pub token: Option<String>,
    /// The largest body of a request that is read as a whole, in bytes.
    pub max_body: usize,
    /// How many connections the server takes, and how many requests at once.
    pub max_connections: usize,
    /// How much memory large bodies and answers may take together, in bytes.
    pub request_memory: usize,
    /// How long the head of a request may take.
    pub header_timeout: Duration,
    /// How long a body may make no progress.
    pub body_timeout: Duration,
    /// How long a connection may be idle.
    pub idle_timeout: Duration,
    /// How long a client may read nothing of its answer.
    pub write_timeout: Duration,
    /// How long a server that is being stopped waits for requests to end.
    pub stop_timeout: Duration,
    /// How the server's log is written.
    pub log_format: LogFormat,
    /// What the server logs: a level and all above.
    pub log_level: String,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl ImmuxDBConfiguration {
    /// What is in force where nothing else is said.
    #[must_use]
    pub fn get_default() -> ImmuxDBConfiguration {
        ImmuxDBConfiguration {
            data_root: PathBuf::from("./immuxdb-data"),
            server: None,
            chain: "default".to_owned(),
            durability: Durability::Sync,
            memory_limit: 512 << 20,
            listen: "127.0.0.1:1991".to_owned(),
            token: None,
            max_body: limits::CONTENT_BYTES,
            max_connections: 1024,
            request_memory: 256 << 20,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            write_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(30),
            log_format: LogFormat::Text,
            log_level: "info".to_owned(),
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything else.
    Default,
    /// A configuration file.
    File(PathBuf),
    /// A variable of the environment, by name.
    Variable(String),
    /// A flag of the command line, by name.
    Flag(String),
}

impl Origin {
    /// The layer, as one word.
    #[must_use]
    pub fn layer(&self) -> &'static str {
        match self {
            Origin::Default => "default",
            Origin::File(_) => "file",
            Origin::Variable(_) => "environment",
            Origin::Flag(_) => "flag",
        }
    }

    /// The file, variable or flag.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        match self {
            Origin::Default => None,
            Origin::File(path) => Some(path.display().to_string()),
            Origin::Variable(name) | Origin::Flag(name) => Some(name.clone()),
        }
    }

    /// The folder that a relative path from here is relative to; `None` for the working directory.
    fn folder(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => path.parent().filter(|folder| !folder.as_os_str().is_empty()),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place() {
            None => f.write_str("default"),
            Some(place) => write!(f, "{} {place}", self.layer()),
        }
    }
}

/// The settings in force, and where each value comes from.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The settings.
    pub configuration: ImmuxDBConfiguration,
    origins: BTreeMap<&'static str, Origin>,
}

impl Resolved {
    /// Where the value of the setting `key` comes from.
    #[must_use]
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// The durability that the user has set; `None` where nobody said anything.
    #[must_use]
    pub fn durability(&self) -> Option<Durability> {
        (*self.origin("durability") != Origin::Default).then_some(self.configuration.durability)
    }
}
