//! US Census 1990: one grouping of rows with 69 integer columns, about 1 KB of JSON each.
//!
//! | `--door` | what happens |
//! |---|---|
//! | `embedded` | in this process: inserts all rows, gets them, inserts them again (each unit gets a second version), gets them again, as the first ImmuxDB's benchmark did; then gets in random order, each timed |
//! | `http` | through a server, one connection, a request a row: inserts, gets in random order; then commits that survive power loss, by one client and by many, beside a bare `fdatasync`; then one scan of everything |
//! | `bulk` | through a server, all rows in one request; then one scan of everything |
//!
//! Several doors, with commas between, are run one after the other, each on a store of its own; `--compare FILE.svg` draws their costs per insert beside
//! those that the first ImmuxDB published.

#![allow(missing_docs, reason = "a program")]

mod bulk;
mod embedded;
mod http;
mod scan;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use immuxdb_benches::bench::Bench;
use immuxdb_benches::data::census90::Census90;
use immuxdb_benches::options::Options;
use immuxdb_benches::place::from_where_the_user_is;
use immuxdb_benches::plot::{self, Series};
use immuxdb_benches::{published, server};

/// A field with few values, one with two, and one with many equal ones: each is a list of duplicates that grows with the table.
const INDEXES: [&str; 3] = ["dAge", "iSex", "dPOB"];

const ROWS: usize = 100_000;

#[derive(clap::Args)]
struct More {
    /// How many indexes the grouping has: dAge, iSex, dPOB
    #[arg(long, default_value_t = 0, value_name = "0..3", value_parser = clap::value_parser!(u8).range(0..=3))]
    indexes: u8,

    /// How the store is reached; several with commas between
    #[arg(long, value_enum, value_delimiter = ',', default_value = "embedded")]
    door: Vec<Door>,

    /// Draw the costs per insert of these doors beside those that the first ImmuxDB published
    #[arg(long, value_name = "FILE.svg")]
    compare: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Door {
    /// The library, in this process
    Embedded,
    /// A server, one request a row
    Http,
    /// A server, all rows in one request
    Bulk,
}

fn main() -> Result<ExitCode> {
    if let Some(code) = server::serve_if_asked() {
        return Ok(code);
    }
    let (options, more) = Options::parse::<More>("US Census 1990: insert, get, insert again, get again");
    let indexes = &INDEXES[..usize::from(more.indexes)];
    let mut bench = Bench::start("census90", options)?;
    let set = Census90::load(bench.options.data.as_deref(), bench.rows(ROWS))?;
    bench.note(&set.source)?;

    let mut series = vec![Series::new("the first ImmuxDB, HTTP, as published", &published::census90())];
    for door in more.door {
        let name = match door {
            Door::Embedded => "embedded",
            Door::Http => "HTTP, one connection",
            Door::Bulk => "HTTP, bulk",
        };
        bench.note(&format!("{name}: {} rows, indexes: {indexes:?}", set.rows.len()))?;
        let curve = match door {
            Door::Embedded => embedded::run(&mut bench, &set.rows, indexes)?,
            Door::Http => http::run(&mut bench, &set.rows, indexes)?,
            Door::Bulk => bulk::run(&mut bench, &set.rows, indexes)?,
        };
        series.push(Series::new(name, curve.points()));
    }
    if let Some(path) = more.compare {
        let path = from_where_the_user_is(&path, true);
        plot::compare(&path, "census90: cost per insert, then and now", &series)?;
        bench.note(&format!("wrote the comparison to {}", path.display()))?;
    }
    bench.finish()?;
    Ok(ExitCode::SUCCESS)
}
