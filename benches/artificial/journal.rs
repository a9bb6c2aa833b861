//! One unit with very many versions: a counter, a balance, a device's last state. Its newest version, a version in the past and its whole history must
//! not cost more because there are many.

#![allow(missing_docs, reason = "a program")]

use anyhow::{Context, Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::options::{NoMore, Options};
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use libimmuxdb::{Content, Height};

const VERSIONS: usize = 1_000_000;
const READS: usize = 200_000;
const UNIT: &[u8] = b"counter";

fn main() -> Result<()> {
    let (options, NoMore {}) = Options::parse("One unit with many versions: put, read at random heights, inspect");
    let mut bench = Bench::start("journal", options)?;
    let count = bench.rows(VERSIONS) as u64;
    bench.note(&format!("{count} versions of one unit"))?;
    let place = Place::new(bench.options.store.as_deref())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let journal = store.grouping("journal")?;
    // The height of the first version; one more for each that follows.
    let mut first = 0;
    let mut phase = bench.phase("put", "put", count as usize)?;
    for number in 1..=count {
        let height = journal.put(UNIT, Content::json(&content(number)))?.height.0;
        if number == 1 {
            first = height;
        }
        ensure!(height == first + number - 1, "heights go up by one");
        phase.done(1)?;
    }
    phase.finish()?;
    drop(journal);
    bench.once("drain and close", "drain and close", || store.drain_and_close())?;
    bench.sizes(place.path())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let journal = store.grouping("journal")?;
    let mut latencies = Latencies::with_capacity(READS);
    let mut phase = bench.reading("get the newest", "get", READS)?;
    for _ in 0..READS {
        let unit = latencies.time(|| journal.get(UNIT))?.context("the unit is gone")?;
        ensure!(unit.content == content(count).as_bytes(), "not the newest version");
        phase.done(1)?;
    }
    phase.finish_with(Some(latencies))?;

    let mut random = Random::new(1);
    let mut latencies = Latencies::with_capacity(READS);
    let mut phase = bench.reading("get at a random height", "get", READS)?;
    for _ in 0..READS {
        let number = random.between(1, count);
        let height = Height(first + number - 1);
        let unit =
            latencies.time(|| store.chain.snapshot_at(height)?.get("journal", UNIT))?.context("the unit is gone")?;
        ensure!(unit.content == content(number).as_bytes(), "not the version of height {height}");
        phase.done(1)?;
    }
    phase.finish_with(Some(latencies))?;

    let mut phase = bench.reading("inspect", "inspect", count as usize)?;
    let mut number = count;
    for version in journal.inspect(UNIT)? {
        let version = version?;
        ensure!(version.height.0 == first + number - 1, "a version is missing");
        ensure!(version.content == content(number).as_bytes(), "a version has another content");
        number -= 1;
        phase.done(1)?;
    }
    phase.finish()?;
    ensure!(number == 0, "{number} versions are missing");
    bench.finish()
}

fn content(number: u64) -> String {
    format!("{{\"balance\":{number},\"currency\":\"CZK\",\"note\":\"one version of very many\"}}")
}
