//! Through a server, all rows in one request.

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::curve::Curve;
use immuxdb_benches::data::Rows;
use immuxdb_benches::place::Place;
use immuxdb_benches::server::Server;
use immuxdb_client::{BulkItem, BulkOptions};

use super::scan;

pub(crate) fn run(bench: &mut Bench, rows: &Rows, indexes: &[&str]) -> Result<Curve> {
    let place = Place::new(bench.options.store.as_deref())?;
    let server = Server::start(place.path(), &bench.options)?;
    let client = server.client()?;
    for field in indexes {
        client.create_index("census90", field, &format!("json:{field}"))?;
    }
    let before = server.usage()?.cpu;
    let mut phase = bench.phase("bulk", "insert", rows.len())?;
    let mut curve = Curve::start();
    let mut lost = None;
    // A row counts when the client takes it: the network and the server are then some pieces of 64 KiB behind.
    let items = rows.iter().map(|(key, object)| {
        curve.done();
        lost = lost.take().or(phase.done(1).err());
        BulkItem::json(key, object)
    });
    let answer = client.bulk("census90", items, BulkOptions::default())?;
    phase.finish()?;
    if let Some(error) = lost {
        return Err(error);
    }
    ensure!(answer.written == rows.len() as u64 && answer.created == answer.written, "{answer:?}");
    bench.figure("bulk: CPU time, server", (server.usage()?.cpu - before).as_secs_f64(), "s")?;
    bench.figure("bulk: peak memory, server, with mapped files", server.usage()?.peak as f64 / 1e6, "MB")?;
    scan::all(bench, &server, &client, rows.len())?;
    server.stop()?;
    bench.sizes(place.path())?;
    Ok(curve)
}
