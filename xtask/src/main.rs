//! The chores of this repository: each builds what it needs with the right options, and runs it.
//!
//! ```text
//! cargo xtask simulate --seeds 1000       random histories on a disk that fails
//! cargo xtask simulate --seed 42          one of them, with each step and each call of the disk
//! cargo xtask simulate --planted          known faults in the engine, and the seeds that find them
//! cargo xtask processes --rounds 1000     writers and readers that are killed, on real files
//! cargo xtask fuzz --seconds 60           bytes that nobody has thought of, into every decoder
//! ```

use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

/// The chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Tell random histories of a store on a disk that fails, and compare them with a model
    #[command(disable_help_flag = true)]
    Simulate {
        /// Options of the simulator; `--help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Let a writer and eight readers share a store, and kill any of them, again and again
    Processes {
        /// How often somebody is killed
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        rounds: u64,
    },
    /// Feed random bytes to all decoders
    Fuzz {
        /// Seconds for each target
        #[arg(long, value_name = "S", default_value_t = 60)]
        seconds: u64,
        /// One target alone
        #[arg(long, value_name = "NAME")]
        target: Option<String>,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().chore {
        Chore::Simulate { options } => simulate(&options),
        Chore::Processes { rounds } => processes(rounds),
        Chore::Fuzz { seconds, target } => fuzz(seconds, target.as_deref()),
    }
}

/// The simulator, with optimization. Faults can be planted only in an engine that was built for it.
fn simulate(options: &[String]) -> ExitCode {
    let plants = options.iter().any(|option| ["--planted", "--fault"].contains(&option.as_str()));
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "immuxdb_simulator", "--bin", "simulate"]);
    if plants {
        command.args(["--features", "planted"]);
    }
    run(command.arg("--").args(options))
}

fn processes(rounds: u64) -> ExitCode {
    let mut command = cargo();
    command.args([
        "test",
        "--package",
        "immuxdb",
        "--test",
        "hazards",
        "--",
        "--exact",
        "storm::of_kills",
        "--nocapture",
    ]);
    run(command.env("IMMUXDB_HAZARD_ROUNDS", rounds.to_string()))
}

fn fuzz(seconds: u64, target: Option<&str>) -> ExitCode {
    let targets = match target {
        Some(target) => vec![target],
        None => TARGETS.to_vec(),
    };
    for target in targets {
        let mut command = cargo();
        // A sanitizer needs a nightly compiler. What the decoders promise is plain: no panic, and no endless loop.
        command.args(["fuzz", "run", "--sanitizer", "none", target, "--"]);
        command.arg(format!("-max_total_time={seconds}")).env("RUSTC_BOOTSTRAP", "1");
        if run(&mut command) == ExitCode::FAILURE {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The targets in `fuzz/fuzz_targets`.
const TARGETS: [&str; 6] = ["log", "run", "manifest", "catalog", "index_key", "json"];

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
}

#[expect(clippy::print_stderr, reason = "a program prints")]
fn run(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{command:?} cannot be run: {error}");
            ExitCode::FAILURE
        }
    }
}
