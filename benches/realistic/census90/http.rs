//! Through a server, one request a row.

use std::fs::File;
use std::io::Write as _;
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::curve::Curve;
use immuxdb_benches::data::Rows;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::place::Place;
use immuxdb_benches::random::Random;
use immuxdb_benches::server::Server;
use immuxdb_client::blocking::Client;
use immuxdb_client::{Condition, Content, Durability};

use super::scan;

/// Rows at either end of the load whose costs are compared.
const END: usize = 50_000;
/// Gets in random order.
const GETS: usize = 100_000;
/// Commits that survive power loss, by one client; each of many makes a tenth.
const SYNCS: usize = 2_000;
/// Clients that write at once.
const CLIENTS: usize = 32;

pub(crate) fn run(bench: &mut Bench, rows: &Rows, indexes: &[&str]) -> Result<Curve> {
    let place = Place::new(bench.options.store.as_deref())?;
    let store = place.path().join("store");
    let server = Server::start(&store, &bench.options)?;
    let client = server.client()?;
    for field in indexes {
        client.create_index("census90", field, &format!("json:{field}"))?;
    }

    // The two ends are timed apart from the whole, which the phase's percentiles are of.
    let end = END.min(rows.len() / 2);
    let (mut all, mut first, mut last) =
        (Latencies::with_capacity(rows.len()), Latencies::default(), Latencies::default());
    let before = server.usage()?.cpu;
    let mut phase = bench.phase("insert", "insert", rows.len())?;
    let mut curve = Curve::start();
    for (number, (key, object)) in rows.iter().enumerate() {
        let begin = Instant::now();
        client.insert("census90", key, Content::json(object))?;
        let took = begin.elapsed();
        all.push(took);
        if number < end {
            first.push(took);
        } else if number >= rows.len() - end {
            last.push(took);
        }
        curve.done();
        phase.done(1)?;
    }
    phase.finish_with(Some(all))?;
    if let (Some(first), Some(last)) = (first.percentiles(), last.percentiles()) {
        bench.figure(&format!("median of the first {end} inserts"), first.p50_us, "µs")?;
        bench.figure(&format!("median of the last {end} inserts"), last.p50_us, "µs")?;
        bench.figure("their ratio", last.p50_us / first.p50_us, "times")?;
    }

    bench.figure("insert: CPU time, server", (server.usage()?.cpu - before).as_secs_f64(), "s")?;

    get_random(bench, &client, rows)?;
    syncs(bench, &server, &place, rows)?;
    scan::all(bench, &server, &client, rows.len())?;
    let usage = server.usage()?;
    bench.figure("peak memory of the server, with mapped files", usage.peak as f64 / 1e6, "MB")?;
    bench.figure("open descriptors of the server at the end", usage.descriptors as f64, "")?;
    drop(client);
    server.stop()?;
    bench.sizes(&store)?;
    Ok(curve)
}

fn get_random(bench: &mut Bench, client: &Client, rows: &Rows) -> Result<()> {
    let gets = GETS.min(rows.len());
    let mut random = Random::new(2);
    let mut latencies = Latencies::with_capacity(gets);
    let mut phase = bench.reading("get in random order", "get", gets)?;
    for _ in 0..gets {
        let (key, object) = rows.get(random.below(rows.len() as u64) as usize);
        let unit = latencies.time(|| client.get("census90", key))?;
        ensure!(unit.is_some_and(|unit| unit.content == object), "a row is gone");
        phase.done(1)?;
    }
    phase.finish_with(Some(latencies))?;
    Ok(())
}

/// Commits that survive power loss, beside a bare write and `fdatasync` of as many bytes.
fn syncs(bench: &mut Bench, server: &Server, place: &Place, rows: &Rows) -> Result<()> {
    let syncs = SYNCS.min(rows.len());
    let mut file = File::create(place.path().join("bare"))?;
    let mut latencies = Latencies::with_capacity(syncs);
    let mut phase = bench.reading("bare write and fdatasync", "sync", syncs)?;
    for number in 0..syncs {
        let (_, object) = rows.get(number);
        latencies.time(|| -> Result<()> {
            file.write_all(object)?;
            Ok(file.sync_data()?)
        })?;
        phase.done(1)?;
    }
    let bare = phase.finish_with(Some(latencies))?;

    let client = server.client()?;
    let mut latencies = Latencies::with_capacity(syncs);
    let mut phase = bench.reading("put at level sync, one client", "put", syncs)?;
    put(&client, rows, 0, syncs, &mut latencies, || phase.done(1))?;
    let one = phase.finish_with(Some(latencies))?;

    let each = (syncs / 10).max(1);
    let clients = (0..CLIENTS).map(|_| server.client()).collect::<immuxdb_client::Result<Vec<_>>>()?;
    let mut phase = bench.reading(&format!("put at level sync, {CLIENTS} clients"), "put", CLIENTS * each)?;
    let all = thread::scope(|scope| -> Result<Latencies> {
        let threads: Vec<_> = clients
            .iter()
            .zip(0..)
            .map(|(client, number)| {
                scope.spawn(move || -> Result<Latencies> {
                    let mut latencies = Latencies::with_capacity(each);
                    put(client, rows, number * each, each, &mut latencies, || Ok(()))?;
                    Ok(latencies)
                })
            })
            .collect();
        let mut all = Latencies::default();
        for thread in threads {
            all.append(thread.join().map_err(|_| anyhow!("a client died"))??);
        }
        Ok(all)
    })?;
    phase.done(CLIENTS * each)?;
    let many = phase.finish_with(Some(all))?;

    let median = |outcome: &immuxdb_benches::bench::Outcome| outcome.percentiles.map_or(0.0, |p| p.p50_us);
    bench.figure("one client at level sync: beyond the bare fdatasync, median", median(&one) - median(&bare), "µs")?;
    bench.figure(&format!("{CLIENTS} clients: times the rate of one"), one.average_us / many.average_us, "times")
}

fn put(
    client: &Client,
    rows: &Rows,
    from: usize,
    count: usize,
    latencies: &mut Latencies,
    mut done: impl FnMut() -> Result<()>,
) -> Result<()> {
    for number in from..from + count {
        let (key, object) = rows.get(number % rows.len());
        let content = Content::json(object);
        latencies.time(|| client.put_with("census90", key, content, Condition::Any, Some(Durability::Sync)))?;
        done()?;
    }
    Ok(())
}
