//! Commits that survive power loss: what the device's `fdatasync` costs by itself, one writer, and many writers that share it.
//!
//! The goals are stated against the bare loop, which writes as many bytes as a commit does to a file beside the store: one `fdatasync` and 20 µs a
//! commit for one writer, and at least 5 times that rate for 32.

#![allow(missing_docs, reason = "a program")]

use std::fs::File;
use std::io::Write as _;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use immuxdb_benches::bench::Bench;
use immuxdb_benches::engine;
use immuxdb_benches::latency::Latencies;
use immuxdb_benches::options::Options;
use immuxdb_benches::place::Place;
use immuxdb_benches::records::{RECORD, Values, key};
use libimmuxdb::{Content, Durability, Grouping, Scan, StoreOptions};

/// Commits of the single writer.
const COMMITS: usize = 2_000;
/// A frame's bytes around a record, about.
const OVERHEAD: usize = 64;

#[derive(clap::Args)]
struct More {
    /// How many threads write at once in the second part
    #[arg(long, default_value_t = 32, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    writers: u16,
}

fn main() -> Result<()> {
    let (options, more) =
        Options::parse::<More>("Commits that survive power loss: one writer, many writers, beside a bare fdatasync");
    let mut bench = Bench::start("sync", options)?;
    let commits = bench.rows(COMMITS);
    let writers = usize::from(more.writers);
    bench.note(&format!("{commits} commits of {RECORD} bytes at level sync by one writer, then as many by each of {writers} (--durability isn't used)"))?;
    let place = Place::new(bench.options.store.as_deref())?;

    let mut file = File::create(place.path().join("bare"))?;
    let mut latencies = Latencies::with_capacity(commits);
    let mut phase = bench.reading("bare write and fdatasync", "sync", commits)?;
    for _ in 0..commits {
        latencies.time(|| -> Result<()> {
            file.write_all(&[b'x'; RECORD + OVERHEAD])?;
            Ok(file.sync_data()?)
        })?;
        phase.done(1)?;
    }
    let bare = phase.finish_with(Some(latencies))?;

    let options = StoreOptions { durability: Durability::Sync, ..engine::store_options(&bench.options) };
    let store = engine::open(&place.path().join("store"), options)?;
    let records = store.grouping("records")?;
    let mut phase = bench.reading("one writer", "commit", commits)?;
    let mut latencies = Latencies::with_capacity(commits);
    write(&records, 0, commits, &mut latencies, |_| phase.done(1))?;
    let one = phase.finish_with(Some(latencies))?;

    let mut phase = bench.reading(&format!("{writers} writers"), "commit", commits * writers)?;
    let all = thread::scope(|scope| -> Result<Latencies> {
        let threads: Vec<_> = (1..=writers)
            .map(|writer| {
                let records = records.clone();
                scope.spawn(move || -> Result<Latencies> {
                    let mut latencies = Latencies::with_capacity(commits);
                    write(&records, writer * commits, commits, &mut latencies, |_| Ok(()))?;
                    Ok(latencies)
                })
            })
            .collect();
        let mut all = Latencies::default();
        for thread in threads {
            let latencies = thread.join().map_err(|_| anyhow!("a writer died"))?;
            all.append(latencies?);
        }
        Ok(all)
    })?;
    phase.done(commits * writers)?;
    let many = phase.finish_with(Some(all))?;

    let count = records.count(Scan::units())?;
    ensure!(count == (commits * (writers + 1)) as u64, "{count} units are there");
    bench.figure("one writer: beyond the bare fdatasync, per commit", one.average_us - bare.average_us, "µs")?;
    bench.figure(&format!("{writers} writers: times the rate of one"), one.average_us / many.average_us, "times")?;
    drop(records);
    store.close()?;
    bench.finish()
}

fn write(
    records: &Grouping,
    from: usize,
    count: usize,
    latencies: &mut Latencies,
    mut done: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    let mut record = [0; RECORD];
    for number in from..from + count {
        Values::Unique.write(number as u64, &mut record);
        let key = key(number as u64);
        latencies.time(|| records.insert(&key, Content::raw(&record)))?;
        done(number)?;
    }
    Ok(())
}
