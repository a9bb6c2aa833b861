//! Through a server, by one client.

use anyhow::{Result, ensure};
use immuxdb_benches::bench::{Bench, number};
use immuxdb_benches::data::berka99::Berka99;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::place::Place;
use immuxdb_benches::published;
use immuxdb_benches::random::Random;
use immuxdb_benches::server::Server;
use immuxdb_client::{BulkItem, BulkOptions, Content, Scan};

/// Gets in random order.
const GETS: usize = 100_000;

/// How tables are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// A request a row.
    OneByOne,
    /// A request a table.
    Bulk,
}

pub(crate) fn run(bench: &mut Bench, set: &Berka99, writing: Writing) -> Result<()> {
    let place = Place::new(bench.options.store.as_deref())?;
    let server = Server::start(place.path(), &bench.options)?;
    let client = server.client()?;
    for table in &set.tables {
        for field in table.indexes {
            client.create_index(table.name, field, &format!("json:{field}"))?;
        }
    }
    for table in &set.tables {
        bench.note(&format!("{}: {} rows, indexes: {:?}", table.name, table.rows.len(), table.indexes))?;
        let mut phase = bench.phase(table.name, "insert", table.rows.len())?;
        match writing {
            Writing::OneByOne => {
                let mut latencies = Latencies::with_capacity(table.rows.len());
                for (key, object) in table.rows.iter() {
                    latencies.time(|| client.insert(table.name, key, Content::json(object)))?;
                    phase.done(1)?;
                }
                phase.finish_with(Some(latencies))?;
            }
            Writing::Bulk => {
                let items = table.rows.iter().map(|(key, object)| BulkItem::json(key, object));
                let answer = client.bulk(table.name, items, BulkOptions::default())?;
                ensure!(answer.created == table.rows.len() as u64, "{answer:?}");
                phase.done(table.rows.len())?;
                phase.finish()?;
            }
        }
    }
    let costs: Vec<f64> = bench.outcomes().iter().map(|outcome| outcome.average_us / 1e3).collect();
    let [then_first, then_last] = published::BERKA99;
    if let [first, .., last] = costs.as_slice() {
        bench.note(&format!(
            "per insert of the first and the last table: {} and {} ms; the first ImmuxDB, as published: {then_first} and {then_last} ms",
            number(*first),
            number(*last)
        ))?;
    }
    let seconds: f64 = bench.outcomes().iter().map(|outcome| outcome.seconds).sum();
    bench.figure("whole load: wall", seconds, "s")?;
    bench.figure("whole load: rate", set.rows() as f64 / seconds, "rows a second")?;

    let gets = GETS.min(set.rows());
    let mut random = Random::new(9);
    let mut latencies = Latencies::with_capacity(gets);
    let mut phase = bench.reading("get in random order", "get", gets)?;
    for _ in 0..gets {
        let table = &set.tables[random.below(set.tables.len() as u64) as usize];
        let (key, object) = table.rows.get(random.below(table.rows.len() as u64) as usize);
        let unit = latencies.time(|| client.get(table.name, key))?;
        ensure!(unit.is_some_and(|unit| unit.content == object), "a row is gone");
        phase.done(1)?;
    }
    phase.finish_with(Some(latencies))?;

    for table in &set.tables {
        for field in table.indexes {
            let name = format!("scan {} by {field}", table.name);
            let mut phase = bench.reading(&name, "scan", table.rows.len())?;
            let mut count = 0;
            for unit in client.scan(table.name, &Scan::index(*field))? {
                unit?;
                count += 1;
                phase.done(1)?;
            }
            phase.finish()?;
            ensure!(count == table.rows.len(), "the scan gave {count} rows");
        }
    }
    drop(client);
    server.stop()?;
    bench.sizes(place.path())
}
