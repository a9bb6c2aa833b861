//! `immuxdb put`: a new version of a unit.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use libimmuxdb::limits;

use super::unit::{UnitName, say_written};
use crate::configuration::Resolved;
use crate::door::{self, Condition, Content, Missing};
use crate::failure::{Failure, Result};
use crate::output::{Output, shown_key};

/// Write a unit
///
/// The content is the argument, or a file, or standard input. It is JSON and kept byte for byte (but for line ends after it, where
/// it comes from a file or standard input), or a raw record with --raw.
#[derive(Debug, Args)]
pub struct Put {
    #[command(flatten)]
    unit: UnitName,
    /// The content; without it and --file, standard input
    #[arg(allow_negative_numbers = true, conflicts_with = "file")]
    content: Option<OsString>,
    /// Take the content from a file; `-` is standard input
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Keep the bytes as they are: a raw record, not JSON
    #[arg(long)]
    raw: bool,
    /// Fail if the unit exists
    #[arg(long, conflicts_with = "if_height")]
    insert: bool,
    /// Fail unless the unit is at this height
    #[arg(long, value_name = "HEIGHT")]
    if_height: Option<u64>,
}

impl Put {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let key = self.unit.key()?;
        let name = &self.unit.grouping;
        let bytes = self.content()?;
        let content = match self.raw {
            true => Content::Raw(&bytes),
            false => Content::Json(&bytes),
        };
        let condition = match self.if_height {
            Some(height) => Condition::At(height),
            None if self.insert => Condition::Absent,
            None => Condition::Any,
        };
        let door = door::to_write(resolved, Missing::Create, resolved.durability())?;
        let height = door.put(name, &key, content, condition)?;
        door.close()?;
        let sentence = format_args!("wrote {} in {name}, at height {height}", shown_key(&key));
        say_written(output, name, &key, height, sentence)
    }

    fn content(&self) -> Result<Vec<u8>> {
        if let Some(content) = &self.content {
            return Ok(content.as_bytes().to_vec());
        }
        let mut bytes = match &self.file {
            Some(path) if path != Path::new("-") => std::fs::File::open(path)
                .and_then(read)
                .map_err(|error| Failure::new(format!("{} can't be read: {error}", path.display())))?,
            None if io::stdin().is_terminal() => {
                return Err(Failure::usage("there is no content")
                    .help("give it after the key, or name a file with --file, or pipe it into this command"));
            }
            _ => read(io::stdin().lock())
                .map_err(|error| Failure::new(format!("standard input can't be read: {error}")))?,
        };
        if !self.raw {
            let end = bytes.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
            bytes.truncate(end);
        }
        Ok(bytes)
    }
}

/// Reads all, but not much more than a content may have: the engine then says that it is too large.
fn read(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limits::CONTENT_BYTES as u64 + 16).read_to_end(&mut bytes)?;
    Ok(bytes)
}
