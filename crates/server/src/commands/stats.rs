//! `immuxdb stats`: sizes and counts.

use clap::Args;

use crate::configuration::Resolved;
use crate::failure::Result;
use crate::opened::Opened;
use crate::output::Output;

/// Show sizes and counts of the chain
#[derive(Debug, Args)]
pub struct Stats {}

impl Stats {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let opened = Opened::to_read(resolved)?;
        output.line(opened.chain.height())
    }
}
