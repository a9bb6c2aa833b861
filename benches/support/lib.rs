//! What the benchmarks share: a command line, a clock, a report, and rows to load.
//!
//! A benchmark is a small program (`harness = false`) that loads one store and measures what it does with it. All of them speak alike:
//!
//! | module | gives a benchmark |
//! |---|---|
//! | [`options`] | the command line that all benchmarks have |
//! | [`bench`] | phases: the lines "took 12ms to insert 1000 items, average 0.012ms per item", JSON lines, the points of the plot |
//! | [`measure`] | CPU time, anonymous memory, sizes on disk |
//! | [`latency`] | exact percentiles of single operations |
//! | [`plot`], [`profile`] | pictures: cost per item against items so far; a flamegraph |
//! | [`place`] | a directory for the store, on a disk, removed afterwards |
//! | [`data`] | rows: real ones where they are, else a stand-in that says so |
//! | [`records`] | the 13-index record of the artificial loads |
//! | [`engine`] | short forms for the engine's options and index definitions |
//! | [`server`] | `immuxdb serve` in a process of its own |
//! | [`curve`], [`published`] | the cost per item on a logarithmic axis; what the first ImmuxDB published |
//! | [`random`] | seeded numbers that stay the same for ever |
//! | [`cobol`] | a generated COBOL program, the compilers, and how one phase of it is run |
//!
//! Two rules keep the figures honest. All figures of one load come from one store, which is closed, reopened, and read as it is: nothing is merged
//! for the benchmark's sake. And work in the background is waited for and counted, in wall and in CPU time.

#![allow(clippy::print_stdout, reason = "a benchmark's product is what it prints")]

pub mod bench;
#[path = "../cobol/mod.rs"]
pub mod cobol;
pub mod curve;
pub mod data;
pub mod engine;
pub mod latency;
pub mod measure;
pub mod options;
pub mod place;
pub mod plot;
pub mod profile;
pub mod published;
pub mod random;
pub mod records;
pub mod server;
