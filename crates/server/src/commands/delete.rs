//! `immuxdb delete`: a unit ends; its versions stay.

use clap::Args;

use super::unit::{UnitName, no_unit, say_written};
use crate::configuration::Resolved;
use crate::failure::Result;
use crate::opened::Opened;
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
        // So that a wrong name makes no store.
        Opened::store_to_read(&resolved.configuration)?;
        let opened = Opened::to_write(&resolved.configuration)?;
        let committed = match opened.grouping(name)?.delete(&key) {
            Err(libimmuxdb::Error::UnitMissing) => return Err(no_unit(name, &key, None)),
            result => result?,
        };
        opened.close()?;
        let height = committed.height;
        let sentence = format_args!("deleted {} in {name}, at height {height}", shown_key(&key));
        say_written(output, name, &key, height, sentence)
    }
}
