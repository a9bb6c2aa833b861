//! `immuxdb history`: all versions of a unit.

use clap::Args;
use serde::Serialize;

use super::unit::{UnitName, no_unit};
use crate::configuration::Resolved;
use crate::failure::Result;
use crate::moment::time_text;
use crate::opened::Opened;
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
    size: usize,
    #[serde(flatten)]
    content: ContentFields,
}

impl History {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let key = self.unit.key()?;
        let name = &self.unit.grouping;
        let opened = Opened::to_read(resolved)?;
        let mut versions = opened.grouping(name)?.inspect(&key)?.peekable();
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
                height: version.height.0,
                time: time_text(version.time),
                kind: kind_name(version.kind),
                size: version.content.len(),
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
