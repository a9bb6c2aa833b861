//! `immuxdb chains`: the chains of a store.

use clap::Args;
use immuxdb_client::wire::ChainItem;

use crate::configuration::Resolved;
use crate::door;
use crate::failure::Result;
use crate::output::{Column, Output, printable_text};

/// List the chains of the store
#[derive(Debug, Args)]
pub struct Chains {}

impl Chains {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let mut list = output.list(vec![Column::text("chain")]);
        for chain in door::chains(resolved)? {
            let item = ChainItem { chain };
            list.item(&item, || vec![printable_text(&item.chain)])?;
        }
        list.end()
    }
}
