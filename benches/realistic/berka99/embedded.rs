//! Through the library, in this process.

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::data::berka99::Berka99;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use libimmuxdb::{Content, Scan};

pub(crate) fn run(bench: &mut Bench, set: &Berka99) -> Result<()> {
    let place = Place::new(bench.options.store.as_deref())?;
    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    for table in &set.tables {
        let grouping = store.grouping(table.name)?;
        for field in table.indexes {
            engine::index_field(&grouping, field)?;
        }
    }
    for table in &set.tables {
        let grouping = store.grouping(table.name)?;
        bench.note(&format!("{}: {} rows, indexes: {:?}", table.name, table.rows.len(), table.indexes))?;
        let mut phase = bench.phase(table.name, "insert", table.rows.len())?;
        for (key, object) in table.rows.iter() {
            grouping.insert(key, Content::json(object))?;
            phase.done(1)?;
        }
        phase.finish()?;
    }
    bench.once("drain and close", "drain and close", || store.drain_and_close())?;
    bench.sizes(place.path())?;

    let (seconds, cpu) = bench.outcomes().iter().fold((0.0, 0.0), |sum, o| (sum.0 + o.seconds, sum.1 + o.cpu_seconds));
    let per_insert = seconds * 1e6 / set.rows() as f64;
    bench.figure("whole load, to the end of close: wall", seconds, "s")?;
    bench.figure("whole load, to the end of close: CPU", cpu, "s")?;
    bench.figure("whole load, to the end of close: per insert", per_insert, "µs")?;

    let store = engine::open(place.path(), engine::store_options(&bench.options))?;
    let mut order: Vec<(usize, usize)> = (0..set.tables.len())
        .flat_map(|table| (0..set.tables[table].rows.len()).map(move |row| (table, row)))
        .collect();
    Random::new(9).shuffle(&mut order);
    let groupings: Vec<_> = set.tables.iter().map(|table| store.grouping(table.name)).collect::<Result<_, _>>()?;
    let mut latencies = Latencies::with_capacity(order.len());
    let mut phase = bench.reading("get in random order", "get", order.len())?;
    for (table, row) in order {
        let (key, object) = set.tables[table].rows.get(row);
        let unit = latencies.time(|| groupings[table].get(key))?;
        ensure!(unit.is_some_and(|unit| unit.content == object), "a row is gone");
        phase.done(1)?;
    }
    phase.finish_with(Some(latencies))?;

    for (table, grouping) in set.tables.iter().zip(&groupings) {
        for field in table.indexes {
            let name = format!("scan {} by {field}", table.name);
            let mut phase = bench.reading(&name, "scan", table.rows.len())?;
            let mut count = 0;
            for unit in grouping.scan(Scan::index(*field))? {
                unit?;
                count += 1;
                phase.done(1)?;
            }
            phase.finish()?;
            ensure!(count == table.rows.len(), "the scan gave {count} rows");
        }
    }
    Ok(())
}
