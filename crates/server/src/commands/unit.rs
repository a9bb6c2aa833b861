//! Naming one unit, and saying what was done to it.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use data_encoding::HEXLOWER_PERMISSIVE;
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::output::{KeyFields, Output, shown_key};

/// The arguments that name a unit.
#[derive(Debug, Args)]
pub(super) struct UnitName {
    /// The grouping
    pub(super) grouping: String,
    /// The unit's key
    #[arg(allow_negative_numbers = true)]
    key: OsString,
    /// The key is written in hexadecimal digits, such as 00ff
    #[arg(long)]
    hex: bool,
}

impl UnitName {
    /// The unit's key.
    pub(super) fn key(&self) -> Result<Vec<u8>> {
        key_bytes(&self.key, self.hex)
    }
}

/// The bytes of a key in an argument.
pub(super) fn key_bytes(argument: &OsStr, hex: bool) -> Result<Vec<u8>> {
    if !hex {
        return Ok(argument.as_bytes().to_vec());
    }
    HEXLOWER_PERMISSIVE.decode(argument.as_bytes()).map_err(|_| {
        Failure::usage(format!("the key {} is not hexadecimal", argument.display()))
            .help("with --hex, write two digits for each byte, such as 00ff")
    })
}

/// Says that a unit has a new version, which `sentence` does for people.
pub(super) fn say_written(
    output: &mut Output,
    grouping: &str,
    key: &[u8],
    height: u64,
    sentence: impl Display,
) -> Result<()> {
    #[derive(Serialize)]
    struct Written<'a> {
        grouping: &'a str,
        #[serde(flatten)]
        key: KeyFields<'a>,
        height: u64,
    }
    output.say(&Written { grouping, key: KeyFields::new(key), height }, sentence)
}

/// There is no such unit (at that height).
pub(super) fn no_unit(grouping: &str, key: &[u8], at: Option<u64>) -> Failure {
    let at = at.map_or_else(String::new, |height| format!(" at height {height}"));
    Failure::not_found(format!("there is no unit {} in {grouping}{at}", shown_key(key)))
        .help("`immuxdb history` shows whether there was one; `immuxdb scan` lists those there are")
}
