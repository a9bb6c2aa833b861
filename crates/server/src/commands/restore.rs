//! `immuxdb restore`: a backup becomes a store again.

use std::path::{Path, PathBuf};

use clap::Args;
use libimmuxdb::backup::{BackupOptions, RestoreSummary, Until, restore};
use serde::Serialize;

use crate::chosen::{ChosenChain, chains_of, check_is_free};
use crate::configuration::Resolved;
use crate::failure::{Failure, Result};
use crate::moment::{Moment, time_text};
use crate::output::Output;
use crate::progress::Stages;

/// Make a store of a backup, up to the end or to a moment
#[derive(Debug, Args)]
#[command(long_about = "Make a store of a backup, up to the end or to a moment

Each frame is checked as it is copied, each part against its hash in the backup, and what was written is read back. The
restored log has the bytes of the original. Indexes are made again when it is first opened to write.

BACKUP can be a store, too. Without --chain, all chains are restored.")]
pub struct Restore {
    /// The backup: a directory, or a single log
    #[arg(value_name = "BACKUP", value_hint = clap::ValueHint::AnyPath)]
    backup: PathBuf,

    /// The new store, or the new log; nothing may be there
    #[arg(value_name = "NEW", value_hint = clap::ValueHint::AnyPath)]
    new: PathBuf,

    /// Stop at this height, or at the newest commit that is not later than this time
    #[arg(long, value_name = "HEIGHT|TIME")]
    at: Option<Moment>,
}

#[derive(Serialize)]
struct Item<'a> {
    chain: &'a str,
    height: u64,
    time: String,
    bytes: u64,
    backup_height: u64,
}

impl Restore {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let until = match self.at {
            None => Until::Newest,
            Some(Moment::Height(height)) => Until::Height(height),
            Some(Moment::Time(time)) => Until::Time(time),
        };
        if self.backup.is_file() {
            let chain = ChosenChain { name: self.backup.display().to_string(), log: self.backup };
            return restore_chain(&chain, &self.new, until, output);
        }
        if !self.backup.is_dir() {
            return Err(Failure::not_found(format!("there is no backup at {}", self.backup.display())));
        }
        check_is_free(&self.new)?;
        let chosen = chains_of(&self.backup, resolved)?;
        if chosen.len() > 1 && matches!(until, Until::Height(_)) {
            return Err(Failure::usage("each chain has its own heights, and there are several chains")
                .help("name one with --chain, or a time for all of them"));
        }
        for chain in chosen {
            restore_chain(&chain, &self.new.join(&chain.name).join("log"), until, output)?;
        }
        Ok(())
    }
}

fn restore_chain(chain: &ChosenChain, new: &Path, until: Until, output: &mut Output) -> Result<()> {
    let stages = Stages::new(&chain.name);
    let restored = restore(&chain.log, new, until, &BackupOptions::default(), &mut |progress| {
        stages.show(progress.stage, progress.done, progress.total);
    });
    stages.end();
    say(output, &chain.name, new, &restored?)
}

fn say(output: &mut Output, chain: &str, new: &Path, summary: &RestoreSummary) -> Result<()> {
    let item = Item {
        chain,
        height: summary.height.0,
        time: time_text(summary.time),
        bytes: summary.bytes,
        backup_height: summary.newest.0,
    };
    output.say(
        &item,
        format_args!(
            "chain {chain}: restored into {} up to height {} ({}), {}; checked, and read back",
            new.display(),
            summary.height,
            time_text(summary.time),
            bytesize::ByteSize(summary.bytes),
        ),
    )
}
