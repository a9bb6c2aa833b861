//! `immuxdb delete`: a unit ends; its versions stay.

use clap::Args;

use super::unit::{UnitName, no_unit, say_written};
use crate::configuration::Resolved;
use crate::door::{self, Missing};
use crate::failure::Result;
use crate::output::{Output, shown_key};

/// Delete a unit
///
/// Its versions stay: `immuxdb history` lists them, `immuxdb revert` brings one back.
#[derive(Debug, Args)]
pub struct Delete {
    #[command(flatten)]
    unit: UnitName,
}

impl Delete {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let key = self.unit.key()?;
        let name = &self.unit.grouping;
        let door = door::to_write(resolved, Missing::Refuse, resolved.durability())?;
        door.expect_grouping(name)?;
        let height = door.delete(name, &key)?.ok_or_else(|| no_unit(name, &key, None))?;
        door.close()?;
        let sentence = format_args!("deleted {} in {name}, at height {height}", shown_key(&key));
        say_written(output, name, &key, height, sentence)
    }
}
