//! `immuxdb groupings`: the groupings of a chain.

use clap::Args;
use libimmuxdb::Scan;
use serde::Serialize;

use crate::configuration::Resolved;
use crate::failure::Result;
use crate::opened::Opened;
use crate::output::{Column, Output, printable_text};

/// List the groupings of the chain
#[derive(Debug, Args)]
pub struct Groupings {
    /// Also count the units of each, which reads all their keys
    #[arg(long)]
    count: bool,
}

#[derive(Serialize)]
struct Item<'a> {
    grouping: &'a str,
    indexes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<u64>,
}

impl Groupings {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let opened = Opened::to_read(resolved)?;
        let mut columns = vec![Column::text("grouping"), Column::number("indexes")];
        if self.count {
            columns.push(Column::number("units"));
        }
        let mut list = output.list(columns);
        for info in opened.chain.groupings() {
            let grouping = opened.chain.grouping(&info.name)?;
            let item = Item {
                grouping: &info.name,
                indexes: grouping.indexes().len(),
                units: self.count.then(|| grouping.count(Scan::units())).transpose()?,
            };
            list.item(&item, || {
                let units = item.units.map(|units| units.to_string());
                [printable_text(item.grouping), item.indexes.to_string()].into_iter().chain(units).collect()
            })?;
        }
        list.end()
    }
}
