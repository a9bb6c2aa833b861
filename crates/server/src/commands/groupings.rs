//! `immuxdb groupings`: the groupings of a chain.

use clap::Args;
use immuxdb_client::wire::GroupingItem;

use crate::configuration::Resolved;
use crate::door;
use crate::failure::Result;
use crate::output::{Column, Output, printable_text};

/// List the groupings of the chain
#[derive(Debug, Args)]
pub struct Groupings {
    /// Also count the units of each, which reads all their keys
    #[arg(long)]
    count: bool,
}

impl Groupings {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let door = door::to_read(resolved)?;
        let mut columns = vec![Column::text("grouping"), Column::number("indexes")];
        if self.count {
            columns.push(Column::number("units"));
        }
        let mut list = output.list(columns);
        for grouping in door.grouping_names()? {
            let (units, indexes) = door.grouping_counts(&grouping, self.count)?;
            let item = GroupingItem { grouping, indexes, units };
            list.item(&item, || {
                let units = item.units.map(|units| units.to_string());
                [printable_text(&item.grouping), item.indexes.to_string()].into_iter().chain(units).collect()
            })?;
        }
        list.end()
    }
}
