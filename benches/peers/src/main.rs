//! The 13-index load on ImmuxDB, LMDB and SQLite, interleaved in one run.
//!
//! Each round loads and reads each engine, one after another, in an order that changes from round to round, so that what the machine does meanwhile falls
//! on all of them. Each gives the same promises: a commit a record, visible and safe from the death of the process when the insert returns; the unit key
//! checked to be new; duplicates of alternate keys noticed and kept in the order of writing. What comes back is checked to the byte. README.md has the
//! settings.

mod engine;
mod immuxdb;
mod lmdb;
mod report;
mod sqlite;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::measure;
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use immuxdb_benches::records::{ALTERNATES, RECORD, ScanCheck, Values, key, range};

use crate::engine::{Engine, Inserted, Table};
use crate::report::{Measured, Report};

/// The 13-index load on ImmuxDB, LMDB and SQLite: times, ratios, checked results
#[derive(Parser)]
pub struct Arguments {
    /// How many records to load
    #[arg(long, default_value_t = 99_999, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,

    /// How often each engine is loaded and read; the medians are compared
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// How many different values each alternate key has [default: all three, one after another]
    #[arg(long, value_enum)]
    values: Option<Values>,

    /// Only engines whose names contain this, in any case
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,

    /// How many reads of each kind are timed
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    reads: usize,

    /// Print JSON, one object a line, instead of text
    #[arg(long)]
    json: bool,

    /// A new or empty directory for the stores [default: a temporary one beside the program]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// The alternate key that is scanned.
const SCANNED: usize = 6;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let place = Place::new(arguments.store.as_deref())?;
    let engines: Vec<Box<dyn Engine>> =
        vec![Box::new(immuxdb::ImmuxDb), Box::new(lmdb::Lmdb), Box::new(sqlite::Sqlite)];
    let only = arguments.only.to_lowercase();
    let engines: Vec<_> = engines.into_iter().filter(|engine| engine.name().to_lowercase().contains(&only)).collect();
    ensure!(!engines.is_empty(), "no engine has {only:?} in its name");
    let distributions = arguments.values.map_or_else(|| Values::ALL.to_vec(), |values| vec![values]);

    let mut report = Report::new(arguments.json);
    for values in distributions {
        let names: Vec<_> = engines.iter().map(|engine| engine.name()).collect();
        report.begin(values, arguments.rows, &names);
        for round in 0..arguments.rounds {
            for turn in 0..engines.len() {
                let engine = &engines[(turn + round as usize) % engines.len()];
                let root = place.path().join(engine.name());
                fs::create_dir_all(&root)?;
                let measured = measure(engine.as_ref(), &root, values, &arguments)
                    .with_context(|| format!("{} with {} values", engine.name(), values.name()))?;
                report.add(engine.name(), round + 1, measured)?;
                fs::remove_dir_all(&root)?;
            }
        }
        report.end();
    }
    Ok(())
}

fn measure(engine: &dyn Engine, root: &Path, values: Values, arguments: &Arguments) -> Result<Measured> {
    let mut measured = Measured::default();
    let (start, cpu) = (Instant::now(), measure::cpu_time());
    engine.open(root, &mut |table| load(table, values, arguments.rows))?;
    measured.load_s = start.elapsed().as_secs_f64();
    measured.load_cpu_s = measure::cpu_time().saturating_sub(cpu).as_secs_f64();
    let sizes = measure::sizes(root)?;
    measured.disk_mb = (sizes.log + sizes.index) as f64 / 1e6;
    engine.open(root, &mut |table| read(table, values, arguments, &mut measured))?;
    Ok(measured)
}

fn load(table: &mut dyn Table, values: Values, rows: u64) -> Result<()> {
    let mut record = [0; RECORD];
    let mut duplicates = 0;
    for number in 0..rows {
        values.write(number, &mut record);
        match table.insert(&key(number), &record)? {
            Inserted::New => {}
            Inserted::Duplicate => duplicates += 1,
            Inserted::Refused => anyhow::bail!("new unit key {number} was refused"),
        }
    }
    let expected = values.duplicates(rows);
    ensure!(duplicates == expected, "{duplicates} duplicates were noticed, not {expected}");
    let again = table.insert(&key(rows / 2), &record)?;
    ensure!(again == Inserted::Refused, "a unit key was taken twice");
    Ok(())
}

fn read(table: &mut dyn Table, values: Values, arguments: &Arguments, measured: &mut Measured) -> Result<()> {
    let rows = arguments.rows;
    let mut random = Random::new(1);
    let mut expected = [0; RECORD];
    let mut found = Vec::with_capacity(RECORD);

    let mut latencies = Latencies::with_capacity(arguments.reads);
    for _ in 0..arguments.reads {
        let number = random.below(rows);
        let key = key(number);
        let is_there = latencies.time(|| table.get(&key, &mut found))?;
        values.write(number, &mut expected);
        ensure!(is_there && found == expected, "record {number} came back wrong");
    }
    measured.get_us = latencies.percentiles().map_or(0.0, |p| p.p50_us);

    let mut latencies = Latencies::with_capacity(arguments.reads);
    for _ in 0..arguments.reads {
        let alternate = random.below(ALTERNATES as u64) as usize;
        let value = values.alternate(random.below(rows), alternate);
        let is_there = latencies.time(|| table.first(alternate, &value, &mut found))?;
        ensure!(is_there && found[range(alternate)] == value, "an alternate key leads astray");
    }
    measured.seek_us = latencies.percentiles().map_or(0.0, |p| p.p50_us);

    for backward in [false, true] {
        let mut check = ScanCheck::new(values, SCANNED, backward);
        let start = Instant::now();
        table.scan(SCANNED, backward, &mut |record| check.next(record))?;
        let per_record = start.elapsed().as_secs_f64() * 1e6 / rows as f64;
        if backward {
            measured.backward_us = per_record;
        } else {
            measured.forward_us = per_record;
        }
        check.finish(rows);
    }
    Ok(())
}
