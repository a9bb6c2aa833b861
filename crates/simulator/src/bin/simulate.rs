//! Tells random histories of a store on a disk that fails, and compares them with the model.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use immuxdb_simulator::campaign;
use immuxdb_simulator::driver::{self, Trace};

/// Tell random histories of a store on a disk that fails, and compare them with a model.
///
/// A history follows from its seed: at least 1,000 operations and 50 crashes. A seed that fails is printed with the
/// command that tells it again, with every step and every call of the disk.
#[derive(Parser)]
#[command(name = "simulate", version)]
struct Arguments {
    /// How many seeds to run
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "seed")]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 0, conflicts_with = "seed")]
    start: u64,
    /// Seeds to run at the same time
    #[arg(long, value_name = "N", default_value_t = default_threads())]
    threads: usize,
    /// Run this one seed, and print all that happens
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// With --seed: print nothing but the outcome
    #[arg(long, requires = "seed")]
    quiet: bool,
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[expect(clippy::print_stdout, reason = "a program prints")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(seed) = arguments.seed {
        let trace: Option<Trace> = (!arguments.quiet).then(|| Arc::new(|line: &str| println!("{line}")) as Trace);
        return match driver::run(seed, trace) {
            Ok(coverage) => {
                println!("{coverage}seed {seed} went as it must");
                ExitCode::SUCCESS
            }
            Err(failure) => {
                println!("{failure}");
                ExitCode::FAILURE
            }
        };
    }
    let seeds = arguments.start..arguments.start.saturating_add(arguments.seeds);
    let result = campaign::run(seeds, arguments.threads, |failure| println!("{failure}"));
    println!("{}", result.coverage);
    println!("{} seeds: {} went as they must, {} failed", arguments.seeds, result.passed, result.failures.len());
    if result.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
