//! US Census 1990: one grouping of rows with 69 integer columns, about 1 KB of JSON each.
//!
//! Inserts all rows, gets them, inserts them again (each unit gets a second version), gets them again: the first ImmuxDB's benchmark. Then come what
//! its goals are about: gets in random order, each timed.

#![allow(missing_docs, reason = "a program")]

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::data::Rows;
use immuxdb_benches::data::census90::Census90;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::options::Options;
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use libimmuxdb::{Content, Grouping, Scan};

/// A field with few values, one with two, and one with many equal ones: each is a list of duplicates that grows with the table.
const INDEXES: [&str; 3] = ["dAge", "iSex", "dPOB"];

const ROWS: usize = 100_000;

#[derive(clap::Args)]
struct More {
    /// How many indexes the grouping has: dAge, iSex, dPOB
    #[arg(long, default_value_t = 0, value_name = "0..3", value_parser = clap::value_parser!(u8).range(0..=3))]
    indexes: u8,
}

fn main() -> Result<()> {
    let (options, more) = Options::parse::<More>("US Census 1990: insert, get, insert again, get again");
    let indexes = &INDEXES[..usize::from(more.indexes)];
    let mut bench = Bench::start("census90", options)?;
    let set = Census90::load(bench.options.data.as_deref(), bench.rows(ROWS))?;
    bench.note(&set.source)?;
    let rows = &set.rows;

    let place = Place::new(bench.options.store.as_deref())?;
    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let census = store.grouping("census90")?;
    for field in indexes {
        engine::index_field(&census, field)?;
    }
    bench.note(&format!("{} rows, indexes: {indexes:?}", rows.len()))?;

    let mut phase = bench.phase("insert", "insert", rows.len())?;
    for (key, object) in rows.iter() {
        census.insert(key, Content::json(object))?;
        phase.done(1)?;
    }
    phase.finish()?;
    get_all(&mut bench, "get", &census, rows)?;

    let mut phase = bench.phase("insert again", "insert again", rows.len())?;
    for (key, object) in rows.iter() {
        census.put(key, Content::json(object))?;
        phase.done(1)?;
    }
    phase.finish()?;
    get_all(&mut bench, "get again", &census, rows)?;

    drop(census);
    bench.once("drain and close", "drain and close", || store.drain_and_close())?;
    bench.sizes(place.path())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let census = store.grouping("census90")?;
    get_random(&mut bench, &census, rows)?;
    for field in indexes {
        let mut phase = bench.reading(&format!("count by {field}"), "count", rows.len())?;
        let count = census.count(Scan::index(*field))?;
        phase.done(count as usize)?;
        phase.finish()?;
        ensure!(count == rows.len() as u64, "{field} has {count} entries");
    }
    bench.finish()
}

fn get_all(bench: &mut Bench, name: &str, census: &Grouping, rows: &Rows) -> Result<()> {
    let mut phase = bench.reading(name, "get", rows.len())?;
    for (key, object) in rows.iter() {
        let unit = census.get(key)?;
        ensure!(unit.is_some_and(|unit| unit.content == object), "a row is gone");
        phase.done(1)?;
    }
    phase.finish()?;
    Ok(())
}

fn get_random(bench: &mut Bench, census: &Grouping, rows: &Rows) -> Result<()> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    Random::new(2).shuffle(&mut order);
    let mut latencies = Latencies::with_capacity(rows.len());
    let mut phase = bench.reading("get in random order", "get", rows.len())?;
    for number in order {
        let (key, object) = rows.get(number);
        let unit = latencies.time(|| census.get(key))?;
        ensure!(unit.is_some_and(|unit| unit.content == object), "a row is gone");
        phase.done(1)?;
    }
    phase.finish_with(Some(latencies))?;
    Ok(())
}
