//! One scan of everything, as NDJSON, and what both sides take meanwhile.

use anyhow::{Result, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::measure::MemoryWatch;
use immuxdb_benches::server::Server;
use immuxdb_client::Scan;
use immuxdb_client::blocking::Client;

pub(crate) fn all(bench: &mut Bench, server: &Server, client: &Client, rows: usize) -> Result<()> {
    let before = (immuxdb_benches::server::own_usage()?, server.usage()?);
    let watch = MemoryWatch::start();
    let mut most = before.1.memory;
    let mut phase = bench.reading("scan", "scan", rows)?;
    let mut units = client.scan("census90", &Scan::units())?;
    let mut count = 0;
    while let Some(unit) = units.next().transpose()? {
        ensure!(!unit.content.is_empty(), "a unit has no content");
        count += 1;
        if count % (rows / 100).max(1) == 0 {
            most = most.max(server.usage()?.memory);
        }
        phase.done(1)?;
    }
    let outcome = phase.finish()?;
    ensure!(count == rows, "the scan gave {count} units");
    let bytes = units.bytes() as f64;
    bench.figure("scan: rate", bytes / 1e6 / outcome.seconds, "MB/s")?;
    bench.figure("scan: bytes of the list", bytes / 1e6, "MB")?;
    bench.figure("scan: CPU time, server", (server.usage()?.cpu - before.1.cpu).as_secs_f64(), "s")?;
    let grown = |now: u64, before: u64| now.saturating_sub(before) as f64 / 1e6;
    bench.figure(
        "scan: peak memory, client",
        grown(watch.peak().unwrap_or(0), before.0.memory),
        "MB more than before",
    )?;
    bench.figure("scan: peak memory, server", grown(most, before.1.memory), "MB more than before")
}
