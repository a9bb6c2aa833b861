//! `immuxdb file verify`: is a file whole, and is its index what it says?

use std::path::PathBuf;

use clap::Args;
use immuxdb_isam::{IndexedFile, Maker};

use crate::chosen::ChosenChain;
use crate::commands::verify::Verification;
use crate::configuration::Resolved;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::counted;

/// Read all of a file and its index, and compare them
///
/// Works while programs have the file open. Ends with exit code 1 when something is wrong.
#[derive(Debug, Args)]
pub struct Verify {
    /// The file
    file: PathBuf,
    #[command(flatten)]
    how: Verification,
}

impl Verify {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let name = self.file.display().to_string();
        match Maker::of(&self.file) {
            Ok(Maker::ImmuxDb) => (),
            // It says what is wrong with the name or the file.
            _ => {
                IndexedFile::open(&self.file)?;
            }
        }
        let chosen = ChosenChain { name: name.clone(), log: self.file.clone() };
        let found = self.how.verify(&[chosen], resolved, output)?;
        if found.faults == 0 {
            // Its layout must be one, too.
            IndexedFile::open(&self.file)?;
            return Ok(());
        }
        output.flush()?;
        Err(Failure::new(format!("{} found in {name}", counted(found.faults, "fault"))).help(match found.in_log {
            true => {
                "put back a copy of the file; `immuxdb file dump` writes out the records that stand before the damage"
            }
            false => "nothing is lost: `immuxdb file rebuild` makes the index anew, when no program has the file open",
        }))
    }
}
