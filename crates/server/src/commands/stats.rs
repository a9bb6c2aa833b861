//! `immuxdb stats`: sizes and counts.

use bytesize::ByteSize;
use clap::Args;
use immuxdb_client::wire::StatsItem;

use crate::configuration::Resolved;
use crate::door;
use crate::failure::Result;
use crate::output::{Column, Output};
use crate::progress::{count, counted};

/// Show sizes and counts of the chain
#[derive(Debug, Args)]
pub struct Stats {}

impl Stats {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let item = door::to_read(resolved)?.stats()?;
        if output.is_json() {
            return output.object(&item);
        }
        for (name, value) in lines(&item) {
            output.line(format_args!("{name:15}{value}"))?;
        }
        if item.runs.is_empty() {
            return Ok(());
        }
        output.line("")?;
        let columns = ["from height", "to height", "size", "versions", "live entries", "ended", "ends"];
        let mut list = output.list(columns.map(Column::number).to_vec());
        for run in &item.runs {
            list.item(run, || {
                vec![
                    run.start_height.to_string(),
                    run.end_height.to_string(),
                    size(run.bytes),
                    count(run.versions),
                    count(run.live_entries),
                    count(run.ended_entries),
                    count(run.ends),
                ]
            })?;
        }
        list.end()
    }
}

fn lines(item: &StatsItem) -> Vec<(&'static str, String)> {
    let time = item.time.as_ref().map_or_else(String::new, |time| format!(", {time}"));
    let runs = counted(item.runs.len() as u64, "run");
    vec![
        ("chain", item.chain.clone()),
        ("height", format!("{}{time}", item.height)),
        ("synced up to", item.synced_height.to_string()),
        ("groupings", item.groupings.to_string()),
        ("log", size(item.log_bytes)),
        ("index", format!("{} in {runs}", size(item.index_bytes))),
        ("newest entries", format!("{} in memory", size(item.newest_entries_bytes))),
    ]
}

fn size(bytes: u64) -> String {
    ByteSize(bytes).to_string()
}
