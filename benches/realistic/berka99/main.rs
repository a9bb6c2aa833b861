//! The Czech bank: eight tables into eight groupings, by their first column as unit key, with an index on each field that leads to another table or is
//! a date. Then everything is read by key and by each index.
//!
//! `--door` chooses the way: the library in this process, a server with a request a row, or a server with one bulk request a table.

#![allow(missing_docs, reason = "a program")]

mod embedded;
mod remote;

use std::process::ExitCode;

use anyhow::Result;
use immuxdb_benches::bench::Bench;
use immuxdb_benches::data::berka99::Berka99;
use immuxdb_benches::options::Options;
use immuxdb_benches::server;

#[derive(clap::Args)]
struct More {
    /// How the store is reached
    #[arg(long, value_enum, default_value = "embedded")]
    door: Door,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Door {
    /// The library, in this process
    Embedded,
    /// A server, one request a row
    Http,
    /// A server, one request a table
    Bulk,
}

fn main() -> Result<ExitCode> {
    if let Some(code) = server::serve_if_asked() {
        return Ok(code);
    }
    let (options, more) =
        Options::parse::<More>("berka99: a bank's eight tables with their indexes (--rows bounds the longest, trans)");
    let mut bench = Bench::start("berka99", options)?;
    let set = Berka99::load(bench.options.data.as_deref(), bench.options.rows)?;
    bench.note(&set.source)?;
    match more.door {
        Door::Embedded => embedded::run(&mut bench, &set)?,
        Door::Http => remote::run(&mut bench, &set, remote::Writing::OneByOne)?,
        Door::Bulk => remote::run(&mut bench, &set, remote::Writing::Bulk)?,
    }
    bench.finish()?;
    Ok(ExitCode::SUCCESS)
}
