//! `immuxdb stats`: sizes and counts.

use std::sync::Arc;

use bytesize::ByteSize;
use clap::Args;
use libimmuxdb::{Chain, RunStats};
use serde::Serialize;

use crate::configuration::Resolved;
use crate::failure::Result;
use crate::moment::time_text;
use crate::opened::Opened;
use crate::output::{Column, Output};
use crate::progress::{count, counted};

/// Show sizes and counts of the chain
#[derive(Debug, Args)]
pub struct Stats {}

/// Sizes and counts of a chain, as they are printed.
#[derive(Serialize)]
pub(crate) struct ChainStatistics<'a> {
    chain: &'a str,
    height: u64,
    /// Of the newest commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    /// The newest height that is known to survive power loss.
    synced_height: u64,
    groupings: usize,
    log_bytes: u64,
    index_bytes: u64,
    /// What the entries that are in no run yet take in memory.
    newest_entries_bytes: usize,
    runs: Vec<Run>,
}

/// A file of index entries for a stretch of heights.
#[derive(Serialize)]
struct Run {
    start_height: u64,
    end_height: u64,
    bytes: u64,
    versions: u64,
    live_entries: u64,
    ended_entries: u64,
    ends: u64,
}

impl From<&RunStats> for Run {
    fn from(run: &RunStats) -> Run {
        Run {
            start_height: run.start.0,
            end_height: run.end.0,
            bytes: run.bytes,
            versions: run.versions,
            live_entries: run.live,
            ended_entries: run.past,
            ends: run.kills,
        }
    }
}

impl Stats {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let opened = Opened::to_read(resolved)?;
        let item = ChainStatistics::of(&opened.chain)?;
        if output.is_json() {
            return output.object(&item);
        }
        for (name, value) in item.lines() {
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

impl ChainStatistics<'_> {
    /// Those of this chain, now.
    pub(crate) fn of(chain: &Arc<Chain>) -> libimmuxdb::Result<ChainStatistics<'_>> {
        let newest = chain.snapshot()?;
        let stats = chain.stats();
        Ok(ChainStatistics {
            chain: chain.name(),
            height: stats.height.0,
            time: if stats.height.0 > 0 { Some(time_text(newest.time()?)) } else { None },
            synced_height: stats.synced.0,
            groupings: chain.groupings().len(),
            log_bytes: stats.log_bytes,
            index_bytes: stats.index_bytes(),
            newest_entries_bytes: stats.delta_bytes,
            runs: stats.runs.iter().map(Run::from).collect(),
        })
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let time = self.time.as_ref().map_or_else(String::new, |time| format!(", {time}"));
        let runs = counted(self.runs.len() as u64, "run");
        vec![
            ("chain", self.chain.to_owned()),
            ("height", format!("{}{time}", self.height)),
            ("synced up to", self.synced_height.to_string()),
            ("groupings", self.groupings.to_string()),
            ("log", size(self.log_bytes)),
            ("index", format!("{} in {runs}", size(self.index_bytes))),
            ("newest entries", format!("{} in memory", size(self.newest_entries_bytes as u64))),
        ]
    }
}

fn size(bytes: u64) -> String {
    ByteSize(bytes).to_string()
}
