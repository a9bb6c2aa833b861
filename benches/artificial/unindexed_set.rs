//! The record of the 13-index load without any index: what a write and a read by key cost by themselves.

#![allow(missing_docs, reason = "a program")]

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::options::{NoMore, Options};
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use immuxdb_benches::records::{RECORD, Values, key};
use libimmuxdb::{Content, Scan};

const RECORDS: usize = 1_000_000;

fn main() -> Result<()> {
    let (options, NoMore {}) = Options::parse("Records of 250 bytes without an index: insert, get, scan by unit key");
    let mut bench = Bench::start("unindexed_set", options)?;
    let count = bench.rows(RECORDS);
    bench.note(&format!("{count} records of {RECORD} bytes, no index"))?;
    let place = Place::new(bench.options.store.as_deref())?;
    let mut record = [0; RECORD];

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let records = store.grouping("records")?;
    let mut phase = bench.phase("insert", "insert", count)?;
    for number in 0..count as u64 {
        Values::Unique.write(number, &mut record);
        records.insert(&key(number), Content::raw(&record))?;
        phase.done(1)?;
    }
    phase.finish()?;
    drop(records);
    bench.once("drain and close", "drain and close", || store.drain_and_close())?;
    bench.sizes(place.path())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let records = store.grouping("records")?;
    let mut order: Vec<u64> = (0..count as u64).collect();
    Random::new(1).shuffle(&mut order);
    for name in ["get, first time", "get, cached"] {
        let mut latencies = Latencies::with_capacity(count);
        let mut phase = bench.reading(name, "get", count)?;
        for &number in &order {
            let key = key(number);
            let unit = latencies.time(|| records.get(&key))?;
            Values::Unique.write(number, &mut record);
            ensure!(unit.is_some_and(|unit| unit.content == record), "record {number} is gone");
            phase.done(1)?;
        }
        phase.finish_with(Some(latencies))?;
    }
    for (name, backward) in [("scan forward", false), ("scan backward", true)] {
        let mut scan = Scan::units();
        if backward {
            scan = scan.backward();
        }
        let mut phase = bench.reading(name, "scan", count)?;
        let mut number = 0;
        for unit in records.scan(scan)? {
            let expected = if backward { count as u64 - 1 - number } else { number };
            ensure!(unit?.key == key(expected), "the scan is out of order at record {expected}");
            number += 1;
            phase.done(1)?;
        }
        phase.finish()?;
        ensure!(number == count as u64, "the scan gave {number} records");
    }
    bench.finish()
}
