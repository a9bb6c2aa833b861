//! How long opening takes: after a clean close, and after `kill -9` in the middle of writing.
//!
//! A child process (this program again) writes and is killed, so that what is measured is what a crash leaves: a log with a tail that no run covers.

#![allow(missing_docs, reason = "a program")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::engine;
use immuxdb_benches::options::Options;
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use immuxdb_benches::records::{ALTERNATES, RECORD, Values, index_name, key, range};
use libimmuxdb::{Content, Grouping, Scan};

const UNITS: usize = 1_000_000;
/// How often each kind of opening is measured.
const ROUNDS: usize = 5;

#[derive(clap::Args)]
struct More {
    /// How many indexes the grouping has
    #[arg(long, default_value_t = 3, value_name = "0..13", value_parser = clap::value_parser!(u8).range(0..=13))]
    indexes: u8,

    /// The child that is killed: writes to this store until then, beginning with this record
    #[arg(long, hide = true, num_args = 2, value_names = ["ROOT", "FROM"])]
    write: Option<Vec<PathBuf>>,
}

fn main() -> Result<()> {
    let (options, more) = Options::parse::<More>("Opening a store after a clean close and after kill -9");
    let indexes = usize::from(more.indexes);
    if let Some([root, from]) = more.write.as_deref() {
        let from = from.to_string_lossy().parse()?;
        return write_until_killed(root, from, &options);
    }
    let mut bench = Bench::start("open", options)?;
    let count = bench.rows(UNITS) as u64;
    bench.note(&format!("{count} units of {RECORD} bytes, {indexes} indexes; each opening is followed by a get and by the first unit of an index"))?;
    let place = Place::new(bench.options.store.as_deref())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let records = store.grouping("records")?;
    for alternate in 0..indexes.min(ALTERNATES) {
        let bytes = range(alternate);
        engine::index_bytes(&records, &index_name(alternate), bytes.start as u32..bytes.end as u32)?;
    }
    let mut phase = bench.phase("insert", "insert", count as usize)?;
    for number in 0..count {
        insert(&records, number)?;
        phase.done(1)?;
    }
    phase.finish()?;
    drop(records);
    bench.once("close", "close", || store.close())?;

    for round in 1..=ROUNDS {
        open(&mut bench, place.path(), &format!("open after a clean close, {round}"), count, indexes)?;
    }
    let mut written = count;
    let mut random = Random::new(9);
    for round in 1..=ROUNDS {
        // What a child has acknowledged must be there; one record more may be.
        let acknowledged = kill_a_writer(place.path(), written, random.between(WRITTEN / 2, WRITTEN), &bench.options)?;
        bench.note(&format!("a writer was killed after {} more inserts", acknowledged - written))?;
        let found = open(&mut bench, place.path(), &format!("open after kill -9, {round}"), acknowledged, indexes)?;
        ensure!(found >= acknowledged, "{found} of {acknowledged} units survived");
        written = found;
    }
    bench.finish()
}

fn insert(records: &Grouping, number: u64) -> Result<()> {
    let mut record = [0; RECORD];
    Values::Unique.write(number, &mut record);
    records.insert(&key(number), Content::raw(&record))?;
    Ok(())
}

/// Opens and reads, timed; then says how many units there are.
fn open(bench: &mut Bench, root: &Path, name: &str, expected: u64, indexes: usize) -> Result<u64> {
    let options = engine::store_options(&bench.options);
    let (store, records) = bench.once(name, "open", || -> Result<_> {
        let store = engine::open(root, options)?;
        let records = store.grouping("records")?;
        let unit = records.get(&key(expected - 1))?;
        ensure!(unit.is_some(), "the last unit is gone");
        if indexes > 0 {
            let value = Values::Unique.alternate(expected - 1, 0);
            let unit = engine::first(&records, &index_name(0), &value)?;
            ensure!(unit.is_some(), "the last unit is not in its index");
        }
        Ok((store, records))
    })?;
    let count = records.count(Scan::units())?;
    drop(records);
    store.close()?;
    Ok(count)
}

/// Starts a child that writes, kills it when it has written much, and says up to where it had been told that its writes were done.
fn kill_a_writer(root: &Path, from: u64, count: u64, options: &Options) -> Result<u64> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--write").arg(root).arg(from.to_string());
    if let Some(mebibytes) = options.memory_limit {
        command.arg("--memory-limit").arg(mebibytes.to_string());
    }
    let mut child = Killed(command.stdout(Stdio::piped()).spawn()?);
    let output = child.0.stdout.take().context("the child has no output")?;
    let mut acknowledged = from;
    for line in BufReader::new(output).lines() {
        acknowledged = line?.parse()?;
        if acknowledged >= from + count {
            break;
        }
    }
    // Kill with SIGKILL: the child gets no chance to write anything more.
    drop(child);
    ensure!(acknowledged > from, "the child wrote nothing");
    Ok(acknowledged)
}

/// The most inserts before a child is killed: far more than a store leaves to be replayed.
const WRITTEN: u64 = 300_000;

/// A child that is killed when this is dropped, on the way of an error too.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may be gone already, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_until_killed(root: &Path, from: u64, options: &Options) -> Result<()> {
    let store = engine::open(root, engine::store_options(options))?;
    let records = store.grouping("records")?;
    let mut output = std::io::stdout().lock();
    // A bound, so that a child without a parent ends by itself.
    for number in from..from + 10 * WRITTEN {
        insert(&records, number)?;
        if number % 1000 == 0 {
            writeln!(output, "{}", number + 1)?;
            output.flush()?;
        }
    }
    Ok(())
}
