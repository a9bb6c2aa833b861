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

use libimmuxdb::Durability;

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
