//! `immuxdb chains`: the chains of a store.

use clap::Args;
use serde::Serialize;

use crate::configuration::Resolved;
use crate::failure::Result;
use crate::opened::Opened;
use crate::output::{Column, Output, printable_text};

/// List the chains of the store
#[derive(Debug, Args)]
pub struct Chains {}

impl Chains {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        #[derive(Serialize)]
        struct Item<'a> {
            chain: &'a str,
        }
        let store = Opened::store_to_read(&resolved.configuration)?;
        let mut list = output.list(vec![Column::text("chain")]);
        for chain in store.chains()? {
            list.item(&Item { chain: &chain }, || vec![printable_text(&chain)])?;
        }
        list.end()
    }
}
