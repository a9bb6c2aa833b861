//! `immuxdb revert`: a new version whose content is that of an earlier height.

use clap::Args;

use super::unit::{UnitName, no_unit, say_written};
use crate::configuration::Resolved;
use crate::door::{self, Missing};
use crate::failure::Result;
use crate::moment::Moment;
use crate::output::{Output, shown_key};

/// Give a unit the content that it had at an earlier height
///
/// This is a new version; those between stay. If there was no such unit at that height, it is deleted.
#[derive(Debug, Args)]
pub struct Revert {
    #[command(flatten)]
    unit: UnitName,
    /// The height, or a time (RFC 3339)
    #[arg(long, value_name = "HEIGHT|TIME")]
    to: Moment,
}

impl Revert {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let key = self.unit.key()?;
        let name = &self.unit.grouping;
        let door = door::to_write(resolved, Missing::Refuse, resolved.durability())?;
        door.expect_grouping(name)?;
        let (height, to) = door.revert(name, &key, self.to)?.ok_or_else(|| no_unit(name, &key, None))?;
        door.close()?;
        let sentence =
            format_args!("{} in {name} is again as it was at height {to}; this is height {height}", shown_key(&key));
        say_written(output, name, &key, height, sentence)
    }
}
