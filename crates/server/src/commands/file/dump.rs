//! `immuxdb file dump`: the records of a file, to standard output.

use std::path::PathBuf;

use clap::Args;
use immuxdb_isam::Direction;

use crate::failure::{Failure, Result};
use crate::file::format::Format;
use crate::output::{Output, note, shown_key};

/// Write the records of a file to standard output
#[derive(Debug, Args)]
#[command(long_about = "Write the records of a file to standard output

They come as they were when it began, also while a program goes on to write. `immuxdb file load` reads what it writes.

fixed   the records, one after another: what a program reads as ORGANIZATION SEQUENTIAL. Where they have lengths of their
        own, shorter ones are padded with spaces.
lines   a record a line: LINE SEQUENTIAL. Spaces at the end are cut off, unless records have lengths of their own.
ndjson  a JSON object a line: {\"key\":…,\"record\":…}, or record_base64 where a record is no UTF-8")]
pub struct Dump {
    /// The file
    file: PathBuf,
    /// How records are written [default: fixed; ndjson where records have lengths of their own, or with --json]
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// In the order of this key: 0 is the record key, 1 the first alternate key
    #[arg(long, short, default_value_t = 0, value_name = "NUMBER")]
    key: usize,
    /// From the last to the first
    #[arg(long, short)]
    reverse: bool,
}

/// Bytes that are collected before they are written.
const PORTION: usize = 64 << 10;

impl Dump {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        let file = super::open(&self.file)?;
        let layout = file.layout();
        if self.key >= layout.keys.len() {
            let last = layout.keys.len() - 1;
            return Err(Failure::usage(format!("{} has no key {}", self.file.display(), self.key))
                .help(format!("its keys are 0 to {last}; `immuxdb file info` shows them")));
        }
        let format = match self.format {
            Some(format) => format,
            None if output.is_json() || layout.variable => Format::Ndjson,
            None => Format::Fixed,
        };
        if format == Format::Fixed && layout.variable {
            note(format_args!("records shorter than {} bytes are padded with spaces", layout.max_record));
        }
        let direction = if self.reverse { Direction::Previous } else { Direction::Next };
        let mut portion = Vec::new();
        for unit in file.scan(self.key, direction)? {
            let unit = unit?;
            if let Err(what) = format.write(layout, &unit.key, &unit.content, &mut portion) {
                output.bytes(&portion)?;
                return Err(Failure::new(format!("the record {} can't be written: {what}", shown_key(&unit.key)))
                    .help("write the records with --format fixed or --format ndjson"));
            }
            if portion.len() >= PORTION {
                output.bytes(&portion)?;
                portion.clear();
            }
        }
        output.bytes(&portion)
    }
}
