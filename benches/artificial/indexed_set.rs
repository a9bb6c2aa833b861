//! The 13-index load: records of 250 bytes with 13 alternate keys WITH DUPLICATES, which is what COBOL programs slow down on.
//!
//! One visible commit a record, at the level of `--durability` (`process` unless said otherwise), unit keys checked to be new, and each record's
//! duplicates noticed. Then the store is closed, reopened and read as it is: by key, by alternate key, in both directions; at last it's written and read
//! in turns.

#![allow(missing_docs, reason = "a program")]

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::measure::MemoryWatch;
use immuxdb_benches::options::Options;
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use immuxdb_benches::records::{ALTERNATES, RECORD, ScanCheck, Values, index_name, key, number, range};
use libimmuxdb::{Content, Error, Grouping, Scan, WriteOptions};

const RECORDS: usize = 99_999;
/// Random reads of each kind, and writes with a read each.
const READS: usize = 200_000;
/// The alternate key that is scanned and sought.
const SCANNED: usize = 6;

#[derive(clap::Args)]
struct More {
    /// How many different values each alternate key has [default: all three loads, one after another]
    #[arg(long, value_enum)]
    values: Option<Values>,

    /// Read by alternate keys in the middle of the load as well, before merging has caught up
    #[arg(long)]
    midway: bool,
}

fn main() -> Result<()> {
    let (options, more) = Options::parse::<More>("The 13-index load: records of 250 bytes, 13 indexes with duplicates");
    let mut bench = Bench::start("indexed_set", options)?;
    let loads = more.values.map_or_else(|| Values::ALL.to_vec(), |values| vec![values]);
    let place = Place::new(bench.options.store.as_deref())?;
    for values in loads {
        Load {
            values,
            records: bench.rows(RECORDS) as u64,
            midway: more.midway,
            root: place.path().join(values.name()),
        }
        .run(&mut bench)?;
    }
    bench.finish()
}

struct Load {
    values: Values,
    records: u64,
    midway: bool,
    root: std::path::PathBuf,
}

impl Load {
    fn run(&self, bench: &mut Bench) -> Result<()> {
        let name = self.values.name();
        bench.note(&format!(
            "{name}: {} records of {RECORD} bytes, {ALTERNATES} indexes with duplicates, values: {name}",
            self.records
        ))?;
        self.load(bench)?;

        let store = engine::open(&self.root, engine::store_options(&bench.options))?;
        let records = store.grouping("records")?;
        self.get(bench, &records)?;
        self.seek(bench, &records, &format!("{name}: seek and read by an alternate key"), self.records)?;
        self.scan(bench, &records, false)?;
        self.scan(bench, &records, true)?;
        self.write_and_read(bench, &records)?;
        drop(records);
        store.close()?;
        Ok(())
    }

    fn load(&self, bench: &mut Bench) -> Result<()> {
        let name = self.values.name();
        let memory = MemoryWatch::start();
        let store = engine::open(&self.root, engine::store_options(&bench.options))?;
        let records = store.grouping("records")?;
        for alternate in 0..ALTERNATES {
            let bytes = range(alternate);
            engine::index_bytes(&records, &index_name(alternate), bytes.start as u32..bytes.end as u32)?;
        }
        let half = self.records / 2;
        let duplicates = if self.midway {
            let first = self.insert(bench, &records, 0..half)?;
            let name = format!("{name}: seek and read in the middle of the load");
            self.seek(bench, &records, &name, half)?;
            first + self.insert(bench, &records, half..self.records)?
        } else {
            self.insert(bench, &records, 0..self.records)?
        };
        ensure!(duplicates == self.values.duplicates(self.records), "{duplicates} duplicates were reported");
        let refused = records.insert(&key(0), Content::raw(b"another"));
        ensure!(matches!(refused, Err(Error::UnitExists { .. })), "a unit key was taken twice");
        let inserted = bench.outcomes().last().map_or(0.0, |outcome| outcome.seconds);

        drop(records);
        let mut rooted = 0.0;
        if bench.options.hashes {
            bench.once(&format!("{name}: wait for the root"), "root", || store.chain.root(store.chain.height()))?;
            rooted = bench.outcomes().last().map_or(0.0, |outcome| outcome.seconds);
        }
        let closing = format!("{name}: drain and close");
        bench.once(&closing, "drain and close", || store.drain_and_close())?;
        let closed = bench.outcomes().last().map_or(0.0, |outcome| outcome.seconds);
        if !self.midway {
            let whole = inserted + rooted + closed;
            bench.figure(&format!("{name}: load, to the end of close"), whole, "s")?;
        }
        if let Some(peak) = memory.peak() {
            bench.figure(&format!("{name}: peak anonymous memory"), peak as f64 / 1e6, "MB")?;
        }
        bench.sizes(&self.root)
    }

    /// Inserts records, and says how many were reported as duplicates.
    fn insert(&self, bench: &mut Bench, records: &Grouping, numbers: std::ops::Range<u64>) -> Result<u64> {
        let records = records.with(WriteOptions::default().report_duplicates());
        let mut record = [0; RECORD];
        let mut duplicates = 0;
        let name = format!("{}: insert", self.values.name());
        let mut phase = bench.phase(&name, "insert", (numbers.end - numbers.start) as usize)?;
        for number in numbers {
            self.values.write(number, &mut record);
            let committed = records.insert(&key(number), Content::raw(&record))?;
            duplicates += u64::from(committed.duplicates);
            phase.done(1)?;
        }
        phase.finish()?;
        Ok(duplicates)
    }

    fn get(&self, bench: &mut Bench, records: &Grouping) -> Result<()> {
        let name = format!("{}: get by key", self.values.name());
        let mut random = Random::new(1);
        let mut record = [0; RECORD];
        let mut latencies = Latencies::with_capacity(READS);
        let mut phase = bench.reading(&name, "get", READS)?;
        for _ in 0..READS {
            let number = random.below(self.records);
            let key = key(number);
            let unit = latencies.time(|| records.get(&key))?;
            self.values.write(number, &mut record);
            ensure!(unit.is_some_and(|unit| unit.content == record), "record {number} is gone");
            phase.done(1)?;
        }
        phase.finish_with(Some(latencies))?;
        Ok(())
    }

    /// Seeks the first record with a value that is there, and reads it.
    fn seek(&self, bench: &mut Bench, records: &Grouping, name: &str, written: u64) -> Result<()> {
        let mut random = Random::new(2);
        let mut latencies = Latencies::with_capacity(READS);
        let mut phase = bench.reading(name, "seek and read", READS)?;
        for _ in 0..READS {
            let alternate = random.below(ALTERNATES as u64) as usize;
            let index = index_name(alternate);
            let value = self.values.alternate(random.below(written), alternate);
            let unit = latencies.time(|| engine::first(records, &index, &value))?;
            let found = unit.is_some_and(|unit| unit.content[range(alternate)] == value);
            ensure!(found, "the wrong record was found");
            phase.done(1)?;
        }
        phase.finish_with(Some(latencies))?;
        Ok(())
    }

    fn scan(&self, bench: &mut Bench, records: &Grouping, backward: bool) -> Result<()> {
        let direction = if backward { "backward" } else { "forward" };
        let name = format!("{}: scan {direction} by an alternate key", self.values.name());
        let mut check = ScanCheck::new(self.values, SCANNED, backward);
        let mut scan = Scan::index(index_name(SCANNED));
        if backward {
            scan = scan.backward();
        }
        let mut phase = bench.reading(&name, "scan", self.records as usize)?;
        for unit in records.scan(scan)? {
            check.next(&unit?.content);
            phase.done(1)?;
        }
        phase.finish()?;
        check.finish(self.records);
        Ok(())
    }

    /// Writes a new record, reads it by an alternate key, in turns.
    fn write_and_read(&self, bench: &mut Bench, records: &Grouping) -> Result<()> {
        let name = format!("{}: write one, read it by an alternate key", self.values.name());
        let pairs = READS.min(self.records as usize);
        let mut record = [0; RECORD];
        let mut latencies = Latencies::with_capacity(pairs);
        let index = index_name(SCANNED);
        let mut phase = bench.phase(&name, "write and read", pairs)?;
        for written in self.records..self.records + pairs as u64 {
            self.values.write(written, &mut record);
            let unit = latencies.time(|| -> Result<_> {
                records.insert(&key(written), Content::raw(&record))?;
                let value = self.values.alternate(written, SCANNED);
                Ok(engine::last(records, &index, &value)?)
            })?;
            let found = unit.is_some_and(|unit| number(&unit.key) == Some(written));
            ensure!(found, "the new record is not the last of its duplicates");
            phase.done(1)?;
        }
        phase.finish_with(Some(latencies))?;
        Ok(())
    }
}
