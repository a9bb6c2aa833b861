//! `immuxdb repair`: what is whole in a damaged store, in a new one.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use libimmuxdb::repair::{Loss, RepairSummary, repair};
use serde::Serialize;

use crate::chosen::{ChosenChain, chains_of, check_is_free};
use crate::configuration::Resolved;
use crate::failure::{Failure, Result};
use crate::opened::options;
use crate::output::{KeyFields, Output, shown_key};
use crate::progress::{Stages, count, counted};

/// Save what is whole in a damaged store into a new one
#[derive(Debug, Args)]
#[command(long_about = "Save what is whole in a damaged store into a new one

Every commit that can be read is in the new store, at its height and with its time. A commit that is lost leaves its
height behind, with no operations. What is missing is listed, and written beside each new log as a file that ends in
`.lost`. The damaged store is read only, and stays as it is.

Without --chain, all chains are taken. A single log can be named in the place of a store, and then NEW is a file.")]
pub struct Repair {
    /// The damaged store, or a log
    #[arg(value_name = "DAMAGED", value_hint = clap::ValueHint::AnyPath)]
    damaged: PathBuf,

    /// The new store, or the new log; nothing may be there
    #[arg(value_name = "NEW", value_hint = clap::ValueHint::AnyPath)]
    new: PathBuf,
}

#[derive(Serialize)]
struct LossItem<'a> {
    lost: &'a str,
    chain: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_height: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<&'a str>,
    #[serde(flatten)]
    unit: Option<KeyFields<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    chain: &'a str,
    height: u64,
    whole_commits: u64,
    commits_in_part: u64,
    lost_commits: u64,
    losses: u64,
}

impl Repair {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        if self.damaged.is_file() {
            let name = self.damaged.display().to_string();
            let chain = ChosenChain { name, log: self.damaged };
            return repair_chain(&chain, &self.new, resolved, output);
        }
        if !self.damaged.is_dir() {
            return Err(Failure::not_found(format!("there is no store at {}", self.damaged.display())));
        }
        check_is_free(&self.new)?;
        for chain in chains_of(&self.damaged, resolved)? {
            let new = self.new.join(&chain.name).join("log");
            repair_chain(&chain, &new, resolved, output)?;
        }
        Ok(())
    }
}

fn repair_chain(chain: &ChosenChain, new: &Path, resolved: &Resolved, output: &mut Output) -> Result<()> {
    let stages = Stages::new(&chain.name);
    let mut list = LossFile::new(new);
    let (mut printed, mut listed) = (Ok(()), Ok(()));
    let repaired = repair(
        &chain.log,
        new,
        &options(&resolved.configuration),
        &mut |loss| {
            // The list is made also where nobody sees what is printed, and the other way round.
            if listed.is_ok() {
                listed = list.add(&chain.name, &loss);
            }
            if printed.is_ok() {
                printed = stages.suspend(|| say_loss(output, &chain.name, &loss));
            }
        },
        &mut |progress| stages.show(progress.stage, progress.done, progress.total),
    );
    stages.end();
    let summary = repaired?;
    listed?;
    let written = list.end()?;
    printed?;
    say_summary(output, &chain.name, new, &summary, written.as_deref())
}

/// The file beside the new log that lists what is missing there; made with the first loss.
struct LossFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl LossFile {
    fn new(log: &Path) -> LossFile {
        let mut name = log.file_name().unwrap_or_default().to_owned();
        name.push(".lost");
        LossFile { path: log.with_file_name(name), file: None }
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::new(format!("{}: {error}", self.path.display()))
    }

    fn add(&mut self, chain: &str, loss: &Loss) -> Result<()> {
        if self.file.is_none() {
            let file = File::create_new(&self.path).map_err(|error| self.failed(&error))?;
            self.file = Some(BufWriter::new(file));
        }
        let line = serde_json::to_string(&item_of(chain, loss)).map_err(|error| self.failed(&error.into()))?;
        match self.file.as_mut().map(|file| writeln!(file, "{line}")) {
            Some(Err(error)) => Err(self.failed(&error)),
            _ => Ok(()),
        }
    }

    fn end(mut self) -> Result<Option<PathBuf>> {
        let Some(mut file) = self.file.take() else {
            return Ok(None);
        };
        file.flush().and_then(|()| file.get_ref().sync_all()).map_err(|error| self.failed(&error))?;
        Ok(Some(self.path))
    }
}

fn item_of<'a>(chain: &'a str, loss: &'a Loss) -> LossItem<'a> {
    LossItem {
        lost: &loss.what,
        chain,
        height: loss.height.map(|height| height.0),
        last_height: loss.last_height.map(|height| height.0),
        offset: loss.offset,
        bytes: loss.bytes,
        grouping: loss.grouping.as_deref(),
        unit: loss.unit.as_deref().map(KeyFields::new),
    }
}

fn say_loss(output: &mut Output, chain: &str, loss: &Loss) -> Result<()> {
    if output.is_json() {
        return output.object(&item_of(chain, loss));
    }
    let mut place = match (loss.height, loss.last_height) {
        (Some(first), Some(last)) if first != last => format!("heights {first} to {last}"),
        (Some(height), _) => format!("height {height}"),
        (None, _) => String::new(),
    };
    let mut add = |text: String| {
        if !place.is_empty() {
            place.push_str(", ");
        }
        place.push_str(&text);
    };
    match (loss.offset, loss.bytes) {
        (Some(offset), Some(bytes)) => add(format!("{} at offset {offset}", counted(bytes, "byte"))),
        (Some(offset), None) => add(format!("offset {offset}")),
        _ => {}
    }
    if let Some(grouping) = &loss.grouping {
        add(format!("grouping {grouping:?}"));
    }
    if let Some(unit) = &loss.unit {
        add(format!("unit {}", shown_key(unit)));
    }
    let separator = if place.is_empty() { "" } else { ": " };
    output.line(format_args!("lost: {place}{separator}{}", loss.what))
}

fn say_summary(
    output: &mut Output,
    chain: &str,
    new: &Path,
    summary: &RepairSummary,
    written: Option<&Path>,
) -> Result<()> {
    let item = Item {
        chain,
        height: summary.height.0,
        whole_commits: summary.whole,
        commits_in_part: summary.partly,
        lost_commits: summary.lost,
        losses: summary.losses,
    };
    let list = written.map_or_else(
        || "nothing is missing".to_owned(),
        |path| format!("what is missing is listed in {}", path.display()),
    );
    output.say(
        &item,
        format_args!(
            "chain {chain}: {} up to height {} saved into {}, {} in part, {} lost; {list}",
            counted(summary.whole, "whole commit"),
            summary.height,
            new.display(),
            count(summary.partly),
            count(summary.lost),
        ),
    )
}
