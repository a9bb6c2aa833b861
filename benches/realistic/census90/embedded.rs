//! Through the library, in this process.

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::curve::Curve;
use immuxdb_benches::data::Rows;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use libimmuxdb::{Content, Grouping, Scan};

pub(crate) fn run(bench: &mut Bench, rows: &Rows, indexes: &[&str]) -> Result<Curve> {
    let place = Place::new(bench.options.store.as_deref())?;
    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let census = store.grouping("census90")?;
    for field in indexes {
        engine::index_field(&census, field)?;
    }

    let mut phase = bench.phase("insert", "insert", rows.len())?;
    let mut curve = Curve::start();
    for (key, object) in rows.iter() {
        census.insert(key, Content::json(object))?;
        curve.done();
        phase.done(1)?;
    }
    phase.finish()?;
    get_all(bench, "get", &census, rows)?;

    let mut phase = bench.phase("insert again", "insert again", rows.len())?;
    for (key, object) in rows.iter() {
        census.put(key, Content::json(object))?;
        phase.done(1)?;
    }
    phase.finish()?;
    get_all(bench, "get again", &census, rows)?;

    drop(census);
    bench.once("drain and close", "drain and close", || store.drain_and_close())?;
    bench.sizes(place.path())?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let census = store.grouping("census90")?;
    get_random(bench, &census, rows)?;
    for field in indexes {
        let mut phase = bench.reading(&format!("count by {field}"), "count", rows.len())?;
        let count = census.count(Scan::index(*field))?;
        phase.done(count as usize)?;
        phase.finish()?;
        ensure!(count == rows.len() as u64, "{field} has {count} entries");
    }
    Ok(curve)
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
