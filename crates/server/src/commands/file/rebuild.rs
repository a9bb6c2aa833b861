//! `immuxdb file rebuild`: makes the derived part of a file anew.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::Args;
use immuxdb_isam::IndexedFile;
use serde::Serialize;

use crate::failure::Result;
use crate::output::Output;
use crate::progress::counted;

/// Make the index of a file (FILE.idx) anew from the file itself
///
/// It holds nothing that is not in the file, so a lost or damaged one costs nothing but this. No program may have the file open.
#[derive(Debug, Args)]
pub struct Rebuild {
    /// The file
    file: PathBuf,
}

#[derive(Serialize)]
struct Rebuilt<'a> {
    file: &'a str,
    runs: usize,
    index_bytes: u64,
}

impl Rebuild {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        IndexedFile::rebuild(&self.file)?;
        let stats = super::open(&self.file)?.chain().stats();
        let name = self.file.display().to_string();
        let item = Rebuilt { file: &name, runs: stats.runs.len(), index_bytes: stats.index_bytes() };
        let sentence = match item.runs {
            0 => format!("{name} is small: it needs no index beside it"),
            runs => {
                format!("the index of {name} is new: {} in {}", ByteSize(item.index_bytes), counted(runs as u64, "run"))
            }
        };
        output.say(&item, sentence)
    }
}
