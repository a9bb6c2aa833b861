//! How much memory a long load takes: units with three indexes, and the peak of the process's anonymous memory, which must stay below the engine's limit.

#![allow(missing_docs, reason = "a program")]

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::engine;
use immuxdb_benches::measure::{MemoryWatch, anonymous_memory};
use immuxdb_benches::options::{NoMore, Options};
use immuxdb_benches::place::Place;
use immuxdb_benches::records::{RECORD, Values, index_name, key, range};
use libimmuxdb::{Content, Scan};

const UNITS: usize = 5_000_000;
const INDEXES: usize = 3;

fn main() -> Result<()> {
    let (options, NoMore {}) = Options::parse("Peak anonymous memory while many units with three indexes are loaded");
    let mut bench = Bench::start("memory", options)?;
    let count = bench.rows(UNITS) as u64;
    let store_options = engine::store_options(&bench.options);
    let limit = store_options.memory_limit;
    bench.note(&format!(
        "{count} units of {RECORD} bytes, {INDEXES} indexes of unique values; the limit is {} MiB",
        limit >> 20
    ))?;
    if anonymous_memory().is_none() {
        bench.note("this system doesn't tell the anonymous memory of a process, so only the load is measured")?;
    }
    let place = Place::new(bench.options.store.as_deref())?;
    let watch = MemoryWatch::start();

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let records = store.grouping("records")?;
    for alternate in 0..INDEXES {
        let bytes = range(alternate);
        engine::index_bytes(&records, &index_name(alternate), bytes.start as u32..bytes.end as u32)?;
    }
    let mut record = [0; RECORD];
    let mut phase = bench.phase("insert", "insert", count as usize)?;
    for number in 0..count {
        Values::Unique.write(number, &mut record);
        records.insert(&key(number), Content::raw(&record))?;
        phase.done(1)?;
    }
    phase.finish()?;
    report(&mut bench, "while inserting", &watch)?;
    drop(records);
    bench.once("drain and close", "drain and close", || store.drain_and_close())?;
    report(&mut bench, "to the end of close", &watch)?;
    bench.sizes(place.path())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let records = store.grouping("records")?;
    let mut phase = bench.reading("scan by an index", "scan", count as usize)?;
    let mut found = 0;
    for unit in records.scan(Scan::index(index_name(0)))? {
        unit?;
        found += 1;
        phase.done(1)?;
    }
    phase.finish()?;
    ensure!(found == count, "the scan gave {found} units");
    report(&mut bench, "to the end of a scan", &watch)?;
    if let Some(peak) = watch.peak() {
        let verdict = if peak < limit as u64 { "below" } else { "ABOVE" };
        bench.note(&format!("the peak is {verdict} the limit of {:.0} MB", limit as f64 / 1e6))?;
    }
    bench.finish()
}

fn report(bench: &mut Bench, when: &str, watch: &MemoryWatch) -> Result<()> {
    let Some(peak) = watch.peak() else {
        return Ok(());
    };
    bench.figure(&format!("peak anonymous memory {when}"), peak as f64 / 1e6, "MB")
}
