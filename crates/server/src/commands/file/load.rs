//! `immuxdb file load`: records from standard input or a file into an indexed file.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use immuxdb_isam::{
    Access, Connector, Failure as FileFailure, IndexedFile, Layout, Maker, OpenMode, OpenRequest, Replacement, RunUnit,
    Settings, Status,
};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::file::format::{Format, Records};
use crate::file::keys;
use crate::output::{Output, note};
use crate::progress::counted;

/// Load records into a file, which it makes if it is missing
#[derive(Debug, Args)]
#[command(after_help = keys::HELP)]
pub struct Load {
    /// The file
    file: PathBuf,
    /// Where the records are; - is standard input
    #[arg(default_value = "-")]
    input: PathBuf,
    /// The keys of a new file, such as 1:10,11:12:dup
    #[arg(long, short, value_name = "KEYS")]
    keys: Option<String>,
    /// The length of a new file's records, such as 120, or 20-120 where they have lengths of their own
    #[arg(long, short = 'l', value_name = "BYTES")]
    record_length: Option<String>,
    /// How records are written: bytes, lines, or JSON as `immuxdb file dump` writes it [default: fixed; ndjson where records
    /// have lengths of their own]
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Add to the records of a file that is there
    #[arg(long, conflicts_with = "replace")]
    add: bool,
    /// Instead of the records of a file that is there: once all are loaded they go, and their history
    #[arg(long)]
    replace: bool,
}

#[derive(Serialize)]
struct Loaded<'a> {
    file: &'a str,
    records: u64,
    duplicates: u64,
}

impl Load {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        let there = self.there()?;
        let layout = self.layout(there.as_ref())?;
        let format = match self.format {
            Some(format) => format,
            None if layout.variable => Format::Ndjson,
            None => Format::Fixed,
        };
        let input = input(&self.input)?;
        let settings = Settings::from_environment()?;
        // With history kept nothing is lost by starting anew; otherwise the old records stay until the new ones are there.
        let replacement = (there.is_some() && self.replace && !settings.keep_history)
            .then(|| Replacement::of(&self.file, &layout, &settings))
            .transpose()?;
        let (path, mode) = match &replacement {
            Some(replacement) => (replacement.path(), OpenMode::InputOutput),
            None if self.add && there.is_some() => (self.file.as_path(), OpenMode::InputOutput),
            None => (self.file.as_path(), OpenMode::Output),
        };
        let request =
            OpenRequest { path, mode, access: Access::Random, optional: false, layout: &layout, settings: &settings };
        let (mut connector, _) = RunUnit::global().open(&request)?;
        if let Some(warning) = connector.warning().or(replacement.as_ref().and_then(Replacement::warning)) {
            note(warning);
        }
        let mut records = Records::new(input, format, &layout);
        let (done, problem) = write_all(&mut records, &mut connector);
        connector.close()?;
        let is_instead = replacement.is_some();
        if let Some(replacement) = replacement
            && problem.is_none()
        {
            replacement.put_in_place()?;
        }
        let name = self.file.display().to_string();
        match problem {
            None => output.say(
                &Loaded { file: &name, records: done.records, duplicates: done.duplicates },
                format_args!("loaded {} into {name}", counted(done.records, "record")),
            ),
            Some(problem) => {
                let before = counted(done.records, "record");
                let what = format!("record {} of the input: {}", records.count(), problem.what);
                Err(Failure::new(what).help(if is_instead {
                    format!("{name} is as it was; correct the input, and load it again")
                } else if self.add {
                    format!("{name} got the {before} before it; correct the input, and add the others")
                } else {
                    format!("{name} has the {before} before it; correct the input, and load it with --replace")
                }))
            }
        }
    }

    /// The layout of a file that is there.
    fn there(&self) -> Result<Option<Layout>> {
        let path = &self.file;
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(metadata) if metadata.len() == 0 => return Ok(None),
            _ => (),
        }
        let file = IndexedFile::open(path)?;
        if !self.add && !self.replace {
            return Err(Failure::new(format!("{} is there already", path.display()))
                .help("--add adds to its records; --replace starts it anew"));
        }
        Ok(Some(file.layout().clone()))
    }

    /// The layout that the arguments ask for, or that the file has.
    fn layout(&self, there: Option<&Layout>) -> Result<Layout> {
        let wrong = |what: String| {
            Failure::usage(what).help("`immuxdb file load --help` shows how keys and lengths are written")
        };
        let keys = match (&self.keys, there) {
            (Some(text), _) => keys::parse(text).map_err(wrong)?,
            (None, Some(layout)) => layout.keys.clone(),
            (None, None) => {
                return Err(wrong(format!("{} is new: its keys must be given with --keys", self.file.display())));
            }
        };
        let (min_record, max_record, variable) = match (&self.record_length, there) {
            (Some(text), _) => lengths(text).ok_or_else(|| wrong(format!("{text:?} is no record length")))?,
            (None, Some(layout)) => (layout.min_record, layout.max_record, layout.variable),
            (None, None) => {
                let what = format!(
                    "{} is new: the length of its records must be given with --record-length",
                    self.file.display()
                );
                return Err(wrong(what));
            }
        };
        Ok(Layout { keys, min_record, max_record, variable })
    }
}

/// `120` or `20-120`.
fn lengths(text: &str) -> Option<(u32, u32, bool)> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0);
    match text.split_once('-') {
        None => number(text).map(|length| (length, length, false)),
        Some((min, max)) => {
            let (min, max) = (number(min)?, number(max)?);
            (min <= max).then_some((min, max, true))
        }
    }
}

fn input(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let cannot = |error: io::Error| Failure::not_found(format!("{} can't be read: {error}", path.display()));
    // A Berkeley DB file is no list of records, however long it is.
    if let Ok(maker @ (Maker::ImmuxDb | Maker::BerkeleyDb(_) | Maker::Vbisam | Maker::CIsam)) = Maker::of(path) {
        return Err(Failure::new(format!("{} is {maker}: its records do not stand one after another", path.display()))
            .help("write them out first, with `immuxdb file dump` or the program that made it"));
    }
    Ok(Box::new(BufReader::with_capacity(64 << 10, File::open(path).map_err(cannot)?)))
}

#[derive(Default)]
struct Done {
    records: u64,
    /// Records with a value of an alternate key that another one had.
    duplicates: u64,
}

/// Why a load ended before its end.
struct Problem {
    what: String,
}

impl From<FileFailure> for Problem {
    fn from(failure: FileFailure) -> Problem {
        let what = failure.message.unwrap_or_else(|| failure.status.text().to_owned());
        Problem { what: format!("{what} (status {})", failure.status) }
    }
}

fn write_all<R: BufRead>(records: &mut Records<R>, connector: &mut Connector) -> (Done, Option<Problem>) {
    let mut done = Done::default();
    let mut record = Vec::new();
    loop {
        match records.next(&mut record) {
            Ok(true) => (),
            Ok(false) => return (done, None),
            Err(what) => return (done, Some(Problem { what })),
        }
        match connector.write(&record) {
            Ok(status) => {
                done.records += 1;
                done.duplicates += u64::from(status == Status::Duplicate);
            }
            Err(failure) => return (done, Some(failure.into())),
        }
    }
}
