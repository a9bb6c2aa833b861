//! What an operator can set, by environment variables.

use crate::failure::Failure;
use crate::status::Status;

/// When a duplicate of an alternate key WITH DUPLICATES gives status 02.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateStatus {
    /// Never.
    None,
    /// When WRITE or REWRITE makes one.
    #[default]
    Write,
    /// Also when a READ finds a record, and the next record by the key of reference has the same value.
    All,
}

/// Settings of a run unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `IMMUX_DUPLICATE_STATUS`: `none`, `write` (the default) or `all`.
    pub duplicate_status: DuplicateStatus,
    /// `IMMUX_SYNC` or `COB_SYNC`: each WRITE, REWRITE and DELETE survives power loss, not only the end of the program.
    pub sync: bool,
    /// `IMMUX_HISTORY=keep`: OPEN OUTPUT keeps the history of the records that it takes away.
    pub keep_history: bool,
    /// `COB_KEYCHECK`: a program must declare all keys of the file.
    pub strict_keys: bool,
    /// `IMMUX_MEMORY`: the bytes of memory that each open file aims to stay below.
    pub memory_limit: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            duplicate_status: DuplicateStatus::default(),
            sync: false,
            keep_history: false,
            strict_keys: false,
            memory_limit: 512 << 20,
        }
    }
}

impl Settings {
    /// The settings of the process's environment.
    ///
    /// # Errors
    /// [`Status::IoError`] for a value that cannot be, with a message that names the variable and what it may be.
    pub fn from_environment() -> Result<Settings, Failure> {
        Settings::from_variables(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// The settings of the variables that `get` gives. An empty one counts as not set.
    ///
    /// # Errors
    /// As [`Settings::from_environment`].
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Settings, Failure> {
        let get = |name: &str| get(name).map(|value| value.trim().to_lowercase()).filter(|value| !value.is_empty());
        let mut settings = Settings::default();
        if let Some(value) = get("IMMUX_DUPLICATE_STATUS") {
            settings.duplicate_status = match value.as_str() {
                "none" => DuplicateStatus::None,
                "write" => DuplicateStatus::Write,
                "all" => DuplicateStatus::All,
                _ => return Err(unknown("IMMUX_DUPLICATE_STATUS", &value, "none, write or all")),
            };
        }
        if let Some(value) = get("IMMUX_HISTORY") {
            settings.keep_history = match value.as_str() {
                "keep" => true,
                "drop" => false,
                _ => return Err(unknown("IMMUX_HISTORY", &value, "keep or drop")),
            };
        }
        if let Some(value) = get("IMMUX_MEMORY") {
            let mebibytes = value.parse::<usize>().ok().filter(|mebibytes| (1..=1 << 20).contains(mebibytes));
            let Some(mebibytes) = mebibytes else {
                return Err(unknown("IMMUX_MEMORY", &value, "a number of MiB, from 1 to 1048576"));
            };
            settings.memory_limit = mebibytes << 20;
        }
        settings.sync = match get("IMMUX_SYNC") {
            Some(value) => {
                switch(&value).ok_or_else(|| unknown("IMMUX_SYNC", &value, "1 or 0 (on or off, true or false)"))?
            }
            None => get("COB_SYNC").is_some_and(|value| value == "p" || switch(&value) == Some(true)),
        };
        settings.strict_keys = get("COB_KEYCHECK").is_some_and(|value| switch(&value) == Some(true));
        Ok(settings)
    }
}

fn switch(value: &str) -> Option<bool> {
    match value {
        "1" | "on" | "true" | "yes" | "y" | "t" => Some(true),
        "0" | "off" | "false" | "no" | "n" | "f" => Some(false),
        _ => None,
    }
}

fn unknown(name: &str, value: &str, allowed: &str) -> Failure {
    Failure::new(Status::IoError, format!("{name} is {value:?}; it may be {allowed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Settings, Failure> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Settings::from_variables(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn variables_set_what_they_say_and_nothing_else() {
        assert_eq!(of(&[]).unwrap(), Settings::default());
        let settings = of(&[
            ("IMMUX_DUPLICATE_STATUS", "NONE"),
            ("IMMUX_HISTORY", "keep"),
            ("COB_SYNC", "true"),
            ("COB_KEYCHECK", "on"),
            ("IMMUX_MEMORY", "64"),
        ])
        .unwrap();
        let expected = Settings {
            duplicate_status: DuplicateStatus::None,
            sync: true,
            keep_history: true,
            strict_keys: true,
            memory_limit: 64 << 20,
        };
        assert_eq!(settings, expected);
        assert!(!of(&[("IMMUX_SYNC", "0"), ("COB_SYNC", "true")]).unwrap().sync);
    }

    #[test]
    fn a_value_that_cannot_be_is_named() {
        let failure = of(&[("IMMUX_DUPLICATE_STATUS", "some")]).unwrap_err();
        assert_eq!(failure.to_string(), "status 30: IMMUX_DUPLICATE_STATUS is \"some\"; it may be none, write or all");
        assert!(of(&[("IMMUX_MEMORY", "0")]).is_err());
        assert!(of(&[("IMMUX_SYNC", "maybe")]).is_err());
    }
}
