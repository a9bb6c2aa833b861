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
    /// Plant known faults in the engine, and tell with which seed each is found
    #[cfg(feature = "planted")]
    #[arg(long)]
    planted: bool,
    /// With --seed or --planted: this fault alone
    #[cfg(feature = "planted")]
    #[arg(long, value_name = "NAME", value_parser = fault)]
    fault: Option<libimmuxdb::planted::Fault>,
}

#[cfg(feature = "planted")]
fn fault(name: &str) -> Result<libimmuxdb::planted::Fault, String> {
    let all = libimmuxdb::planted::Fault::ALL;
    let found = all.iter().find(|fault| format!("{fault:?}") == name).copied();
    found.ok_or_else(|| format!("there is no such fault; there are {all:?}"))
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[expect(clippy::print_stdout, reason = "a program prints")]
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    #[cfg(feature = "planted")]
    if arguments.planted {
        return search(&arguments);
    }
    #[cfg(feature = "planted")]
    libimmuxdb::planted::plant(arguments.fault);
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

/// Searches for planted faults, and prints a table of them.
#[cfg(feature = "planted")]
#[expect(clippy::print_stdout, reason = "a program prints")]
fn search(arguments: &Arguments) -> ExitCode {
    use immuxdb_simulator::planted::{Find, search_all};
    use libimmuxdb::planted::Fault;

    let seeds = arguments.start..arguments.start.saturating_add(arguments.seeds);
    let faults: Vec<Fault> =
        Fault::ALL.iter().copied().filter(|&fault| arguments.fault.is_none_or(|only| only == fault)).collect();
    let shown = |find: Option<&Find>| match find {
        Some(Find { seed, operations, what }) => {
            let what: String = what.chars().take(160).collect();
            format!("seed {seed}, operation {operations}: {}", what.replace('\n', " "))
        }
        None => "NOT FOUND".to_owned(),
    };
    let found = search_all(&faults, &seeds, arguments.threads, |fault, find| {
        println!("{:<28} {}", format!("{fault:?}"), shown(find));
    });
    println!("\n| fault | what is wrong | found with seed | at operation |\n|---|---|---|---|");
    for (fault, find) in &found {
        let at = find.as_ref().map_or("-".to_owned(), |find| find.operations.to_string());
        let seed = find.as_ref().map_or("none".to_owned(), |find| find.seed.to_string());
        println!("| {fault:?} | {} | {seed} | {at} |", fault.what());
    }
    let missed = found.iter().filter(|(_, find)| find.is_none()).count();
    println!("\n{} faults: {} were found, {missed} were not", found.len(), found.len() - missed);
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
