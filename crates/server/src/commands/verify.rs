//! `immuxdb verify`: is the log whole, and is the index what the log says?

use std::path::PathBuf;

use clap::Args;
use libimmuxdb::verify::{Fault, Part, Summary, VerifyOptions, verify};
use serde::Serialize;

use crate::chosen::{ChosenChain, chains};
use crate::configuration::Resolved;
use crate::failure::{Failure, Result};
use crate::output::{Output, note};
use crate::progress::{Stages, count, counted};

/// Read all of the log and the index, and compare them
#[derive(Debug, Args)]
#[command(long_about = "Read all of the log and the index, and compare them

The log: checksums of heads and bodies, heights, times, chain values, and that each write names the version that it
replaces. The index: every entry of every run against what replaying the log gives. Works while others read and write;
what is committed after the beginning is not looked at.

Ends with exit code 1 when something is wrong. Without --chain, all chains of the store are verified.")]
pub struct Verify {
    /// Verify this log, which need not be in a store
    #[arg(long, value_name = "FILE", conflicts_with = "chain", value_hint = clap::ValueHint::FilePath)]
    log: Option<PathBuf>,

    #[command(flatten)]
    how: Verification,
}

/// How to verify.
#[derive(Debug, Args)]
pub(super) struct Verification {
    /// Leave the index out
    #[arg(long)]
    log_only: bool,

    /// Show at most this many faults of a chain; the rest is counted
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    limit: u64,

    /// The directory for what is sorted and does not fit into memory [default: the system's]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    scratch: Option<PathBuf>,
}

/// What a verification came to.
pub(super) struct Found {
    /// How many faults.
    pub(super) faults: u64,
    /// Whether some of them are in the log, or may be.
    pub(super) in_log: bool,
}

#[derive(Serialize)]
struct FaultItem<'a> {
    fault: &'a str,
    chain: &'a str,
    part: &'a str,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
}

#[derive(Serialize)]
struct Item<'a> {
    chain: &'a str,
    faults: u64,
    height: u64,
    commits: u64,
    versions: u64,
    log_bytes: u64,
    runs: u64,
    covered_height: u64,
    compared: u64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

impl Verify {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let chosen = match &self.log {
            Some(log) => vec![ChosenChain { name: log.display().to_string(), log: log.clone() }],
            None => chains(resolved)?,
        };
        let found = self.how.verify(&chosen, resolved, output)?;
        if found.faults == 0 {
            return Ok(());
        }
        output.flush()?;
        Err(Failure::new(format!("{} found", counted(found.faults, "fault"))).help(if found.in_log {
            "what is lost in the log is lost: put back a copy (`immuxdb restore`), or save what is whole with `immuxdb repair`"
        } else {
            "nothing is lost: remove the directory with the runs (.idx) while nobody writes, and it is made again from the log"
        }))
    }
}

impl Verification {
    /// Verifies the chains, one after another, and says what is found.
    pub(super) fn verify(self, chosen: &[ChosenChain], resolved: &Resolved, output: &mut Output) -> Result<Found> {
        let mut options = VerifyOptions {
            memory: resolved.configuration.memory_limit / 4,
            most_faults: self.limit,
            log_only: self.log_only,
            ..VerifyOptions::default()
        };
        if let Some(scratch) = self.scratch {
            options.scratch = scratch;
        }
        let mut faults = 0;
        let mut in_log = false;
        for chain in chosen {
            let stages = Stages::new(&chain.name);
            let mut printed = Ok(());
            let summary = verify(
                &chain.log,
                &options,
                &mut |fault| {
                    in_log |= fault.part == Part::Log;
                    let said = stages.suspend(|| say_fault(output, &chain.name, &fault).and_then(|()| output.flush()));
                    printed = std::mem::replace(&mut printed, Ok(())).and(said);
                },
                &mut |progress| stages.show(progress.stage, progress.done, progress.total),
            );
            stages.end();
            printed?;
            let summary = summary?;
            faults += summary.faults;
            in_log |= summary.faults > self.limit;
            say_summary(output, &chain.name, &summary)?;
        }
        Ok(Found { faults, in_log })
    }
}

fn say_fault(output: &mut Output, chain: &str, fault: &Fault) -> Result<()> {
    let item = FaultItem {
        fault: &fault.what,
        chain,
        part: fault.part.name(),
        file: fault.path.display().to_string(),
        offset: fault.offset,
        height: fault.height.map(|height| height.0),
    };
    output.say(&item, format_args!("fault: {fault}"))
}

fn say_summary(output: &mut Output, chain: &str, summary: &Summary) -> Result<()> {
    let item = Item {
        chain,
        faults: summary.faults,
        height: summary.height.0,
        commits: summary.commits,
        versions: summary.versions,
        log_bytes: summary.log_bytes,
        runs: summary.runs,
        covered_height: summary.covered.0,
        compared: summary.compared,
        notes: &summary.notes,
    };
    if output.is_json() {
        return output.object(&item);
    }
    for text in &summary.notes {
        note(text);
    }
    let verdict = match summary.faults {
        0 => "no fault".to_owned(),
        faults => counted(faults, "fault"),
    };
    output.line(format_args!(
        "chain {chain}: {verdict}; read {} up to height {}, {} of log, {} up to height {}; compared {} entries",
        counted(summary.commits, "commit"),
        summary.height,
        bytesize::ByteSize(summary.log_bytes),
        counted(summary.runs, "run"),
        summary.covered,
        count(summary.compared),
    ))
}
