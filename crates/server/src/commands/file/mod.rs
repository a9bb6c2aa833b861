//! `immuxdb file`: the indexed files of COBOL programs, without a program.

mod dump;
mod history;
mod info;
mod load;
mod rebuild;
mod verify;

use std::path::Path;

use clap::Subcommand;
use immuxdb_isam::IndexedFile;

use crate::configuration::Resolved;
use crate::failure::Result;
use crate::output::{Output, note};

/// Look at, copy, check and mend the indexed files of COBOL programs
#[derive(Debug, Subcommand)]
pub enum File {
    Info(info::Info),
    Dump(dump::Dump),
    Load(load::Load),
    Verify(verify::Verify),
    Rebuild(rebuild::Rebuild),
    History(history::History),
}

impl File {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        match self {
            File::Info(info) => info.run(output),
            File::Dump(dump) => dump.run(output),
            File::Load(load) => load.run(output),
            File::Verify(verify) => verify.run(resolved, output),
            File::Rebuild(rebuild) => rebuild.run(output),
            File::History(history) => history.run(output),
        }
    }
}

/// Opens a file to look at it, and says what a user should know.
fn open(path: &Path) -> Result<IndexedFile> {
    let file = IndexedFile::open(path)?;
    let recovery = file.chain().recovery();
    if recovery.ignored_runs > 0 {
        let directory = path.display();
        note(format_args!("the index in {directory}.idx does not fit the file; `immuxdb file rebuild` makes it anew"));
    }
    if let Some(damage) = &recovery.damage {
        note(format_args!("{} is damaged; this is what is there before the damage: {damage}", path.display()));
    }
    Ok(file)
}
