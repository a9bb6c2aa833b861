//! `immuxdb backup`: a copy of the log, which grows with each run.

use std::path::PathBuf;

use clap::Args;
use libimmuxdb::backup::{BackupOptions, BackupSummary, backup};
use serde::Serialize;

use crate::chosen::{ChosenChain, chains};
use crate::configuration::Resolved;
use crate::failure::Result;
use crate::moment::time_text;
use crate::output::Output;
use crate::progress::{Stages, counted};

/// Back up the store, or add to a backup what is new
#[derive(Debug, Args)]
#[command(long_about = "Back up the store, or add to a backup what is new

The first run copies the logs, each later one what was appended since. Works while others write. Each frame is checked as
it is copied, and a backup is only added to when the log still has the same history. A backup is laid out like a store:
`immuxdb --data-root BACKUP` reads it, `immuxdb verify` verifies it, `immuxdb restore` makes a store of it. Do not
write to it.

Without --chain, all chains are backed up.")]
pub struct Backup {
    /// The directory of the backup
    #[arg(value_name = "BACKUP", value_hint = clap::ValueHint::AnyPath)]
    backup: PathBuf,

    /// Back up this log, which need not be in a store; BACKUP is a file then
    #[arg(long, value_name = "FILE", conflicts_with = "chain", value_hint = clap::ValueHint::FilePath)]
    log: Option<PathBuf>,
}

#[derive(Serialize)]
struct Item<'a> {
    chain: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_height: Option<u64>,
    height: u64,
    time: String,
    copied_bytes: u64,
    bytes: u64,
    parts: u64,
}

impl Backup {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        if let Some(log) = self.log {
            let chain = ChosenChain { name: log.display().to_string(), log };
            return back_up(&chain, &self.backup, output);
        }
        for chain in chains(resolved)? {
            back_up(&chain, &self.backup.join(&chain.name).join("log"), output)?;
        }
        Ok(())
    }
}

fn back_up(chain: &ChosenChain, copy: &std::path::Path, output: &mut Output) -> Result<()> {
    let stages = Stages::new(&chain.name);
    let backed_up = backup(&chain.log, copy, &BackupOptions::default(), &mut |progress| {
        stages.show(progress.stage, progress.done, progress.total);
    });
    stages.end();
    say(output, &chain.name, &backed_up?)
}

fn say(output: &mut Output, chain: &str, summary: &BackupSummary) -> Result<()> {
    let item = Item {
        chain,
        since_height: summary.since.map(|height| height.0),
        height: summary.height.0,
        time: time_text(summary.time),
        copied_bytes: summary.copied,
        bytes: summary.bytes,
        parts: summary.parts,
    };
    let what = match summary.since {
        None => "backed up".to_owned(),
        Some(_) if summary.copied == 0 => "nothing new".to_owned(),
        Some(since) => format!("added what is newer than height {since}"),
    };
    output.say(
        &item,
        format_args!(
            "chain {chain}: {what}; {} copied, the backup is at height {} and has {} in {}",
            bytesize::ByteSize(summary.copied),
            summary.height,
            bytesize::ByteSize(summary.bytes),
            counted(summary.parts, "part"),
        ),
    )
}
