//! `immuxdb history`: all versions of a unit.

use clap::Args;
use serde::Serialize;

use super::unit::{UnitName, no_unit};
use crate::configuration::Resolved;
use crate::door;
use crate::failure::Result;
use crate::output::{Column, ContentFields, Output, kind_name, shown_content};

/// List the versions of a unit, newest first
#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    unit: UnitName,
    /// At most this many
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Item {
    height: u64,
    time: String,
    kind: &'static str,
    size: u64,
    #[serde(flatten)]
    content: ContentFields,
}

impl History {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let key = self.unit.key()?;
        let name = &self.unit.grouping;
        let door = door::to_read(resolved)?;
        door.expect_grouping(name)?;
        // One is looked for at least: whether there is none is another question than how many are wanted.
        let mut versions = door.history(name, &key, self.limit.map(|limit| limit.max(1)))?.items.peekable();
        if versions.peek().is_none() {
            return Err(no_unit(name, &key, None));
        }
        let mut list = output.list(vec![
            Column::number("height"),
            Column::text("time"),
            Column::text("kind"),
            Column::number("size"),
            Column::text("content"),
        ]);
        for version in versions.take(self.limit.unwrap_or(usize::MAX)) {
            let version = version?;
            let item = Item {
                height: version.height,
                time: version.time,
                kind: kind_name(version.kind),
                size: version.size,
                content: ContentFields::new(version.kind, &version.content),
            };
            list.item(&item, || {
                vec![
                    item.height.to_string(),
                    item.time.clone(),
                    item.kind.to_owned(),
                    item.size.to_string(),
                    shown_content(version.kind, &version.content),
                ]
            })?;
        }
        list.end()
    }
}
