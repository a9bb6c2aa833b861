//! A queue in an index: units wait as NEW, a worker takes the first of them, makes it DONE, and so on until none is left.
//!
//! The worker always reads at the front of the NEW entries, where each step leaves a dead one behind. An index that walks over its dead entries gets
//! slower with each step (the last tenth then costs many times the first).

#![allow(missing_docs, reason = "a program")]

use anyhow::{Context, Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::options::{NoMore, Options};
use immuxdb_benches::place::Place;
use libimmuxdb::{Content, Scan};

const UNITS: usize = 1_000_000;

fn main() -> Result<()> {
    let (options, NoMore {}) =
        Options::parse("A queue: units go from NEW to DONE one by one, each found as the first NEW of an index");
    let mut bench = Bench::start("queue", options)?;
    let count = bench.rows(UNITS);
    bench.note(&format!("{count} units, an index on their state"))?;
    let place = Place::new(bench.options.store.as_deref())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let queue = store.grouping("queue")?;
    engine::index_field(&queue, "state")?;
    let mut phase = bench.phase("insert as NEW", "insert", count)?;
    for number in 0..count {
        queue.insert(&key(number), Content::json(&content(number, "NEW")))?;
        phase.done(1)?;
    }
    phase.finish()?;
    drop(queue);
    bench.once("drain and close", "drain and close", || store.drain_and_close())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let queue = store.grouping("queue")?;
    let new = engine::field_key("state", "\"NEW\"")?;
    let mut latencies = Latencies::with_capacity(count);
    let mut phase = bench.phase("take the first NEW, make it DONE", "take", count)?;
    for number in 0..count {
        let unit = latencies.time(|| -> Result<_> {
            let unit = engine::first(&queue, "state", &new)?.context("no unit is NEW")?;
            queue.put(&unit.key, Content::json(&content(number, "DONE")))?;
            Ok(unit)
        })?;
        ensure!(unit.key == key(number), "unit {number} was not the first");
        phase.done(1)?;
    }
    phase.finish_with(Some(latencies))?;
    ensure!(engine::first(&queue, "state", &new)?.is_none(), "a unit is left");
    let mut phase = bench.reading("count the DONE", "count", count)?;
    let done = queue.count(Scan::index("state"))?;
    ensure!(done == count as u64, "{done} units are DONE");
    phase.done(count)?;
    phase.finish()?;

    drop(queue);
    bench.once("drain and close afterwards", "drain and close", || store.drain_and_close())?;
    bench.sizes(place.path())?;
    bench.finish()
}

fn key(number: usize) -> [u8; 8] {
    (number as u64).to_be_bytes()
}

fn content(number: usize, state: &str) -> String {
    format!("{{\"job\":{number},\"state\":\"{state}\",\"task\":\"send the statement of account\"}}")
}
