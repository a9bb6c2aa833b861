//! `immuxdb file info`: what a file is.

use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::Args;
use immuxdb_isam::{Failure as FileFailure, Holder, IndexedFile, Layout, Maker, Status, holders};
use libimmuxdb::{Height, Scan};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::file::keys;
use crate::moment::time_text;
use crate::output::Output;
use crate::progress::{count, counted};

/// Show a file's keys, records, sizes, and who has it open
///
/// For a file of another maker (Berkeley DB, VBISAM, Micro Focus …), its name. It works while programs have the file open.
#[derive(Debug, Args)]
pub struct Info {
    /// The file
    file: PathBuf,
}

#[derive(Serialize)]
struct Item {
    file: String,
    maker: String,
    held_by: Vec<Holder>,
    #[serde(flatten)]
    indexed: Option<Indexed>,
}

/// What there is to say of a file of ours.
#[derive(Serialize)]
struct Indexed {
    /// As `immuxdb file load --keys` takes them.
    keys: String,
    min_record: u32,
    max_record: u32,
    variable: bool,
    records: u64,
    live_bytes: u64,
    /// WRITE, REWRITE and DELETE since the file was made.
    versions: u64,
    /// About so many bytes are those of records that were replaced or deleted.
    superseded_bytes: u64,
    bytes: u64,
    index_bytes: u64,
    runs: usize,
    height: u64,
    changed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<String>,
    #[serde(skip)]
    key_lines: Vec<String>,
}

impl Info {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        let path = &self.file;
        let maker = Maker::of(path).map_err(|error| cannot_read(path, &error))?;
        let indexed = match maker {
            Maker::ImmuxDb => Some(Indexed::of(&super::open(path)?)?),
            _ => None,
        };
        let item = Item { file: path.display().to_string(), maker: maker.to_string(), held_by: holders(path), indexed };
        if output.is_json() {
            return output.object(&item);
        }
        for (name, value) in item.lines() {
            output.line(format_args!("{name:14}{value}"))?;
        }
        Ok(())
    }
}

/// The failure of a file that can't even be looked at.
fn cannot_read(path: &Path, error: &std::io::Error) -> Failure {
    let status = match error.kind() {
        std::io::ErrorKind::NotFound => Status::FileMissing,
        std::io::ErrorKind::PermissionDenied => Status::NoPermission,
        // A directory has no beginning; no help would fit.
        _ => return Failure::new(format!("{}: {error}", path.display())),
    };
    FileFailure::new(status, format!("{}: {}", path.display(), status.text())).into()
}

impl Indexed {
    fn of(file: &IndexedFile) -> Result<Indexed> {
        let (layout, chain) = (file.layout(), file.chain());
        let (mut records, mut live_bytes) = (0, 0);
        for record in file.grouping().scan(Scan::units())? {
            records += 1;
            live_bytes += record?.content.len() as u64;
        }
        let stats = chain.stats();
        let setup = height_of_layout(file)?;
        let versions = stats.height.0.saturating_sub(setup.0);
        // Each version takes about the same room, with what a commit needs around it.
        let superseded = versions.saturating_sub(records);
        let superseded_bytes = u128::from(stats.log_bytes) * u128::from(superseded) / u128::from(versions.max(1));
        Ok(Indexed {
            keys: layout.keys.iter().map(keys::text).collect::<Vec<_>>().join(","),
            min_record: layout.min_record,
            max_record: layout.max_record,
            variable: layout.variable,
            records,
            live_bytes,
            versions,
            superseded_bytes: u64::try_from(superseded_bytes).unwrap_or(u64::MAX),
            bytes: stats.log_bytes,
            index_bytes: stats.index_bytes(),
            runs: stats.runs.len(),
            height: stats.height.0,
            changed: time_text(chain.time_of(stats.height)?),
            damage: chain.recovery().damage.clone(),
            key_lines: key_lines(layout),
        })
    }
}

/// The height at which the file was made: what came later are its records.
fn height_of_layout(file: &IndexedFile) -> Result<Height> {
    let layout = file.chain().grouping("file")?.get(b"layout")?;
    Ok(layout.map_or(Height::ZERO, |unit| unit.height))
}

fn key_lines(layout: &Layout) -> Vec<String> {
    layout.keys.iter().map(ToString::to_string).collect()
}

impl Item {
    fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![("file".to_owned(), format!("{}, {}", self.file, self.maker))];
        if let Some(indexed) = &self.indexed {
            lines.extend(indexed.lines());
        }
        match self.held_by.as_slice() {
            [] => lines.push(("open in".to_owned(), "no process that can be seen".to_owned())),
            all => lines.extend(all.iter().map(|one| ("open in".to_owned(), one.to_string()))),
        }
        lines
    }
}

impl Indexed {
    fn lines(&self) -> Vec<(String, String)> {
        let lengths = match self.variable {
            true => format!("{} to {} bytes", self.min_record, self.max_record),
            false => format!("{} bytes", self.max_record),
        };
        let mut lines = vec![("records".to_owned(), format!("{} of {lengths}", count(self.records)))];
        for (number, key) in self.key_lines.iter().enumerate() {
            let name = if number == 0 { "record key".to_owned() } else { format!("key {number}") };
            lines.push((name, key.clone()));
        }
        let superseded = self.versions.saturating_sub(self.records);
        let index = match self.runs {
            0 => "none: a file of this size needs none".to_owned(),
            runs => format!("{} in {}", ByteSize(self.index_bytes), counted(runs as u64, "run")),
        };
        let mut more = vec![
            ("size", format!("{}, index {index}", ByteSize(self.bytes))),
            ("live", format!("{} of records", ByteSize(self.live_bytes))),
            (
                "superseded",
                match superseded {
                    0 => "nothing".to_owned(),
                    _ => {
                        format!("about {} in {}", ByteSize(self.superseded_bytes), counted(superseded, "older version"))
                    }
                },
            ),
            ("versions", count(self.versions)),
            ("changed", format!("{}, at height {}", self.changed, self.height)),
        ];
        if let Some(damage) = &self.damage {
            more.push(("damage", damage.clone()));
        }
        lines.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        lines
    }
}
