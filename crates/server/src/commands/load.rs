//! `immuxdb load`: the rows of a file become units.
//!
//! Rows are committed in batches. All rows before a wrong one are in the store when the command ends, none after it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use libimmuxdb::Durability;
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::index::{DEFINITION_HELP, NamedIndex};
use crate::configuration::{Resolved, durability_name};
use crate::door::{self, Door, Missing, RowFault};
use crate::failure::{Exit, Failure, Result};
use crate::load::{CsvOptions, CsvRows, Format, Input, JsonArrayRows, NdjsonRows, Problem, Progress, Row, Rows};
use crate::output::Output;
use crate::progress::{self, counted};

/// A batch is committed when its contents have this many bytes, also when it has few rows.
const BATCH_BYTES: usize = 8 << 20;

/// Load the rows of a file into a grouping
///
/// Each row becomes a unit: a CSV row an object with the header's names, a JSON object is kept byte for byte. A row whose key is
/// there already becomes a new version of that unit.
#[derive(Debug, Args)]
#[command(after_help = DEFINITION_HELP)]
pub struct Load {
    /// The file; `-` is standard input
    #[arg(value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// The grouping
    #[arg(long, short)]
    grouping: String,
    /// The column with the unit's key, or for JSON the field, such as id or person.id [default: the first one]
    #[arg(long, short, value_name = "COLUMN")]
    key: Option<String>,
    /// What separates the values of a CSV file: one character, or `tab` [default: a comma; for .tsv a tab]
    #[arg(long, short, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// The file's format [default: by its name, else by its first character]
    #[arg(long, short)]
    format: Option<Format>,
    /// Keep all values of a CSV file as text. Without this, a value is a number where printing the number gives the same text:
    /// 12 and 0.5, but not 007, 1.50, 1e5 or an empty value
    #[arg(long)]
    text: bool,
    /// An index to make before loading, unless it is there; may be repeated
    #[arg(long, short, value_name = "NAME=DEFINITION")]
    index: Vec<NamedIndex>,
    /// How many rows are committed together
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => Err("expected one character, such as ';', or tab".to_owned()),
    }
}

impl Load {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let name = match self.file.to_str() {
            Some("-") => "standard input".to_owned(),
            _ => self.file.display().to_string(),
        };
        let mut input =
            Input::open(&self.file).map_err(|error| Failure::new(format!("{name} can't be read: {error}")))?;
        let length = input.length();
        let progress = input.progress();
        stop_on_signals(&progress)?;
        let format = match self.format {
            Some(format) => format,
            None => {
                let first =
                    input.first_byte().map_err(|error| Failure::new(format!("{name} can't be read: {error}")))?;
                Format::guess(&name, first)
            }
        };
        let mut rows = self.rows(input, format).map_err(|problem| failure(&name, problem))?;

        let durability = resolved.durability().unwrap_or(Durability::Buffered);
        let begin = Instant::now();
        let door = door::to_write(resolved, Missing::Create, Some(durability))?;
        for index in &self.index {
            make_index(&*door, &self.grouping, index)?;
        }
        let mut loading = Loading::new(&*door, &self.grouping, self.batch as usize);
        let bar = progress::of_bytes(length);
        let end = loading.all(&mut *rows, &progress, |rows| {
            bar.set_position(progress.bytes());
            bar.set_message(counted(rows, "row"));
        });
        bar.finish_and_clear();
        let (done, height) = (loading.done, door.height()?);
        drop(loading);
        door.close()?;
        let took = begin.elapsed();

        let loaded = Loaded {
            file: &name,
            grouping: &self.grouping,
            rows: done.rows,
            inserted: done.inserted,
            new_versions: done.rows - done.inserted,
            commits: done.commits,
            height,
            durability: durability_name(durability),
            seconds: took.as_secs_f64(),
            milliseconds_per_row: per_row(took, done.rows),
        };
        if done.rows > 0 || matches!(end, End::All) || output.is_json() {
            loaded.print(output)?;
        }
        match end {
            End::All => Ok(()),
            End::Stopped => Err(Failure {
                exit: Exit::Interrupted,
                ..Failure::new(format!("stopped; what is in the store: {}", up_to(&name, &done)))
            }
            .help("load it again to go on: rows that are there become new versions")),
            End::Wrong(problem) => {
                let mut failure = failure(&name, problem);
                let before = format!("what is in the store: {}", up_to(&name, &done));
                failure.help = Some(match failure.help {
                    Some(help) => format!("{help} ({before})"),
                    None => before,
                });
                Err(failure)
            }
            End::Failed(failure) => Err(failure),
        }
    }

    fn rows(&self, input: Input, format: Format) -> Result<Box<dyn Rows>, Problem> {
        Ok(match format {
            Format::Csv => {
                let is_tsv = self.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
                Box::new(CsvRows::new(
                    input,
                    &CsvOptions {
                        delimiter: self.delimiter.or(is_tsv.then_some(b'\t')),
                        key: self.key.clone(),
                        text: self.text,
                    },
                )?)
            }
            Format::Ndjson => Box::new(NdjsonRows::new(input, self.key.as_deref())),
            Format::Json => Box::new(JsonArrayRows::new(input, self.key.as_deref())),
        })
    }
}

/// The first signal makes the input end, the second one the process.
fn stop_on_signals(progress: &Progress) -> Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Interrupted.code().into(), progress.stop_flag())
            .and_then(|_| signal_hook::flag::register(signal, progress.stop_flag()))
            .map_err(|error| Failure::new(format!("signals can't be handled: {error}")))?;
    }
    Ok(())
}

fn make_index(door: &dyn Door, grouping: &str, index: &NamedIndex) -> Result<()> {
    let definition = index.definition.to_string();
    let there = door.indexes(grouping)?.into_iter().find(|item| item.index == index.name);
    if there.is_some_and(|item| item.definition == definition) {
        return Ok(());
    }
    door.create_index(grouping, &index.name, &index.definition).map(|_| ())
}

fn failure(file: &str, problem: Problem) -> Failure {
    let separator = if problem.line.is_some() { "," } else { ":" };
    let failure = Failure::new(format!("{file}{separator} {problem}"));
    match problem.help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

fn up_to(file: &str, done: &Done) -> String {
    match done.rows {
        0 => format!("nothing of {file}"),
        rows => format!("{}, up to line {} of {file}", counted(rows, "row"), done.line),
    }
}

fn per_row(took: Duration, rows: u64) -> Option<f64> {
    (rows > 0).then(|| took.as_secs_f64() * 1000.0 / rows as f64)
}

/// What is committed.
#[derive(Clone, Copy, Default)]
struct Done {
    rows: u64,
    /// Rows whose key was not there.
    inserted: u64,
    commits: u64,
    /// The line on which the last row begins.
    line: u64,
}

/// Why a load ended.
enum End {
    All,
    Stopped,
    Wrong(Problem),
    Failed(Failure),
}

/// A load that goes on.
struct Loading<'d> {
    door: &'d dyn Door,
    grouping: &'d str,
    batch_rows: usize,
    batch: Vec<Row>,
    batch_keys: HashSet<Vec<u8>>,
    batch_bytes: usize,
    done: Done,
}

impl<'d> Loading<'d> {
    fn new(door: &'d dyn Door, grouping: &'d str, batch_rows: usize) -> Loading<'d> {
        Loading {
            door,
            grouping,
            batch_rows,
            batch: Vec::new(),
            batch_keys: HashSet::new(),
            batch_bytes: 0,
            done: Done::default(),
        }
    }

    /// Loads all rows; `report` is told how many after each batch.
    fn all(&mut self, rows: &mut dyn Rows, progress: &Progress, mut report: impl FnMut(u64)) -> End {
        let end = loop {
            let mut row = Row::default();
            match rows.next(&mut row) {
                _ if progress.stopped() => break End::Stopped,
                Ok(false) => break End::All,
                Err(problem) => break End::Wrong(problem),
                Ok(true) => (),
            }
            // Within a commit a unit has one version: another one needs another commit.
            if self.batch_keys.contains(&row.key)
                || self.batch.len() == self.batch_rows
                || self.batch_bytes + row.content.len() > BATCH_BYTES
            {
                if let Err(end) = self.commit() {
                    return end;
                }
                report(self.done.rows);
            }
            self.batch_bytes += row.content.len();
            self.batch_keys.insert(row.key.clone());
            self.batch.push(row);
        };
        match self.commit() {
            Ok(()) => end,
            Err(end) => end,
        }
    }

    fn commit(&mut self) -> Result<(), End> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_keys.clear();
        self.batch_bytes = 0;
        let written = self.door.write_rows(self.grouping, &batch);
        let (before, after) = batch.split_at(written.rows);
        self.done.rows += before.len() as u64;
        self.done.inserted += written.inserted;
        self.done.commits += written.commits;
        if let Some(last) = before.last() {
            self.done.line = last.line;
        }
        match (written.fault, after.first()) {
            (None, _) => Ok(()),
            (Some(RowFault::Row(what)), Some(row)) => Err(End::Wrong(Problem::on_line(row.line, what))),
            (Some(RowFault::Row(what)), None) => Err(End::Failed(Failure::new(what))),
            (Some(RowFault::Other(failure)), _) => Err(End::Failed(failure)),
        }
    }
}

#[derive(Serialize)]
struct Loaded<'a> {
    file: &'a str,
    grouping: &'a str,
    rows: u64,
    inserted: u64,
    new_versions: u64,
    commits: u64,
    height: u64,
    durability: &'static str,
    seconds: f64,
    /// None without rows.
    milliseconds_per_row: Option<f64>,
}

impl Loaded<'_> {
    fn print(&self, output: &mut Output) -> Result<()> {
        if output.is_json() {
            return output.object(self);
        }
        output.line(format_args!(
            "loaded {} of {} into {}: {}, {}; the chain is at height {}",
            counted(self.rows, "row"),
            self.file,
            self.grouping,
            counted(self.inserted, "new unit"),
            counted(self.new_versions, "new version"),
            self.height,
        ))?;
        let Some(average) = self.milliseconds_per_row else {
            return Ok(());
        };
        output.line(format_args!(
            "took {} to load {}, average {average:.4}ms per item (durability {})",
            Took(self.seconds),
            counted(self.rows, "item"),
            self.durability,
        ))
    }
}

/// Seconds, for people: "12ms", "3.4s".
struct Took(f64);

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            seconds if seconds < 1.0 => write!(f, "{:.0}ms", seconds * 1000.0),
            seconds => write!(f, "{seconds:.1}s"),
        }
    }
}
