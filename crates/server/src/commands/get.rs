//! `immuxdb get`: the content of a unit, now or in the past.

use clap::Args;
use libimmuxdb::VersionKind;
use serde::Serialize;

use super::unit::{UnitName, no_unit};
use crate::configuration::Resolved;
use crate::door;
use crate::failure::Result;
use crate::moment::Moment;
use crate::output::{ContentFields, KeyFields, Output, kind_name, printable_bytes, printable_json};

/// Print the content of a unit
///
/// JSON is printed as it is, a raw record as text with escapes such as \x00.
#[derive(Debug, Args)]
pub struct Get {
    #[command(flatten)]
    unit: UnitName,
    /// As it was at this height or time (RFC 3339)
    #[arg(long, value_name = "HEIGHT|TIME")]
    at: Option<Moment>,
    /// Print the content's bytes as they are, and nothing else
    #[arg(long, conflicts_with = "json")]
    bytes: bool,
}

impl Get {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let key = self.unit.key()?;
        let name = &self.unit.grouping;
        let door = door::to_read(resolved)?;
        door.expect_grouping(name)?;
        let found = door.get(name, &key, self.at)?;
        let unit = found.unit.ok_or_else(|| no_unit(name, &key, self.at.map(|_| found.height)))?;
        if self.bytes {
            return output.bytes(&unit.content);
        }

        #[derive(Serialize)]
        struct Item<'a> {
            #[serde(flatten)]
            key: KeyFields<'a>,
            height: u64,
            kind: &'static str,
            #[serde(flatten)]
            content: ContentFields,
        }
        if output.is_json() {
            let item = Item {
                key: KeyFields::new(&key),
                height: unit.height,
                kind: kind_name(unit.kind),
                content: ContentFields::new(unit.kind, &unit.content),
            };
            return output.object(&item);
        }
        match (unit.kind, std::str::from_utf8(&unit.content)) {
            (VersionKind::Json, Ok(text)) => text.lines().try_for_each(|line| output.line(printable_json(line))),
            _ => output.line(printable_bytes(&unit.content)),
        }
    }
}
