//! The command line that all benchmarks have.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use libimmuxdb::Durability;

use crate::place::from_where_the_user_is;

/// What the user asked for. `--rows` has no default here: each benchmark has its own.
#[derive(Args, Clone, Debug, Default)]
pub struct Options {
    /// Folder with the real rows (`berka99/`, `census90/`); without it, a generated stand-in is loaded
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// How many rows, records or units to load
    #[arg(long, value_name = "N")]
    pub rows: Option<usize>,

    /// What a commit that has returned survives: a clean close, kill -9, or power loss
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub durability: Level,

    /// Report each N items [default: a tenth of them]
    #[arg(long, value_name = "N")]
    pub report_period: Option<usize>,

    /// Print JSON, one object a line, instead of text
    #[arg(long)]
    pub json: bool,

    /// Append the JSON lines to this file as well
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,

    /// Draw the cost per item against the items so far
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,

    /// With --plot: a logarithmic axis for the cost
    #[arg(long, requires = "plot")]
    pub plot_log: bool,

    /// Take a flamegraph of the measured phases, in-process and without root
    #[arg(long, value_name = "FILE.svg")]
    pub profile: Option<PathBuf>,

    /// With --profile: only the first phase whose name contains this
    #[arg(long, requires = "profile", value_name = "TEXT")]
    pub profile_phase: Option<String>,

    /// Keep the store in this directory [default: a temporary one beside the program, removed afterwards]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,

    /// Make the hashes for proofs in the background; loads that know of it wait for the newest root at the end
    #[arg(long)]
    pub hashes: bool,

    /// The engine's memory limit in MiB [default: the engine's own]
    #[arg(long, value_name = "MIB")]
    pub memory_limit: Option<usize>,

    /// `cargo bench` adds this to every command line.
    #[arg(long, hide = true)]
    bench: bool,
}

/// [`Durability`] on the command line.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Survives a clean close
    Buffered,
    /// Survives the death of the process
    #[default]
    Process,
    /// Survives power loss
    Sync,
}

impl From<Level> for Durability {
    fn from(level: Level) -> Durability {
        match level {
            Level::Buffered => Durability::Buffered,
            Level::Process => Durability::Process,
            Level::Sync => Durability::Sync,
        }
    }
}

/// For a benchmark without options of its own.
#[derive(Args, Clone, Debug, Default)]
pub struct NoMore {}

#[derive(Parser)]
struct CommandLine<More: Args> {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    more: More,
}

impl Options {
    /// Reads the command line, or explains it and ends the program. `about` is the first line of `--help`.
    #[must_use]
    pub fn parse<More: Args>(about: &'static str) -> (Options, More) {
        let command = <CommandLine<More> as clap::CommandFactory>::command().about(about);
        let matches = command.get_matches();
        match <CommandLine<More> as clap::FromArgMatches>::from_arg_matches(&matches) {
            Ok(CommandLine { mut options, more }) => {
                options.resolve_paths();
                (options, more)
            }
            Err(error) => error.exit(),
        }
    }

    fn resolve_paths(&mut self) {
        let under_cargo_bench = self.bench;
        for path in [&mut self.data, &mut self.results, &mut self.plot, &mut self.profile, &mut self.store]
            .into_iter()
            .flatten()
        {
            *path = from_where_the_user_is(path, under_cargo_bench);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        let line = ["bench"].iter().chain(arguments);
        CommandLine::<NoMore>::try_parse_from(line).map(|c| c.options)
    }

    #[test]
    fn what_cargo_adds_is_tolerated() {
        let options = parse(&["--rows", "5", "--durability", "sync", "--bench"]).unwrap();
        assert_eq!(options.rows, Some(5));
        assert_eq!(Durability::from(options.durability), Durability::Sync);
        assert_eq!(parse(&[]).unwrap().durability, Level::Process);
    }

    #[test]
    fn a_logarithmic_axis_wants_a_plot() {
        assert!(parse(&["--plot-log"]).is_err());
        assert!(parse(&["--plot", "x.svg", "--plot-log"]).is_ok());
    }
}
