//! `immuxdb revert`: a new version whose content is that of an earlier height.

use clap::Args;

use super::unit::{UnitName, no_unit, say_written};
use crate::configuration::Resolved;
use crate::failure::Result;
use crate::moment::Moment;
use crate::opened::Opened;
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
        Opened::store_to_read(&resolved.configuration)?;
        let opened = Opened::to_write(&resolved.configuration)?;
        let to = self.to.height(&opened.chain)?;
        let committed = match opened.grouping(name)?.revert(&key, to) {
            Err(libimmuxdb::Error::UnitMissing) => return Err(no_unit(name, &key, None)),
            result => result?,
        };
        opened.close()?;
        let height = committed.height;
        let sentence =
            format_args!("{} in {name} is again as it was at height {to}; this is height {height}", shown_key(&key));
        say_written(output, name, &key, height, sentence)
    }
}
