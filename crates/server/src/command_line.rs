//! The arguments of `immuxdb`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser};

use crate::commands::Command;
use crate::configuration::{Flags, Surroundings, resolve};
use crate::failure::{Exit, Failure, Result};
use crate::output::Output;

/// An immutable record database: every write is a new version at a height, and any height can be read again.
#[derive(Debug, Parser)]
#[command(name = "immuxdb", version, max_term_width = 120)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage or setting, 3 not found.")]
pub struct CommandLine {
    #[command(flatten)]
    settings: SettingArguments,

    /// Print JSON, one object a line
    #[arg(long, global = true, help_heading = "Output")]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

/// Flags that are settings. Their values are checked with those of the other layers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings (`immuxdb config` shows those in force)")]
struct SettingArguments {
    /// The TOML file with settings [default: ./immuxdb.toml or ~/.config/immuxdb/config.toml, where there is one]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The directory of the store [default: ./immuxdb-data]
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    data_root: Option<String>,

    /// Work through the server at this URL, such as http://127.0.0.1:1991, instead of on files
    #[arg(long, global = true, value_name = "URL", value_hint = clap::ValueHint::Url)]
    server: Option<String>,

    /// The chain to work on [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    chain: Option<String>,

    /// What a commit that has returned survives: a clean close, kill -9, or power loss [default: sync; for load, buffered]
    #[arg(long, global = true, value_name = "LEVEL", value_parser = PossibleValuesParser::new(["buffered", "process", "sync"]))]
    durability: Option<String>,

    /// How much memory the engine may use, such as 512MiB [default: 512MiB]
    #[arg(long, global = true, value_name = "SIZE")]
    memory_limit: Option<String>,
}

impl SettingArguments {
    fn flags(self) -> Flags {
        let settings = [
            ("data_root", self.data_root),
            ("server", self.server),
            ("chain", self.chain),
            ("durability", self.durability),
            ("memory_limit", self.memory_limit),
        ];
        Flags {
            config: self.config,
            settings: settings.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(),
        }
    }
}

/// Runs the command that the arguments of this process ask for.
#[must_use]
pub fn main() -> ExitCode {
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => {
            // Also help and version come here. Nothing can be said about an output that is closed.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Exit::Usage.code() } else { 0 });
        }
    };
    match command_line.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if failure.exit != Exit::OutputClosed {
                report(&failure);
            }
            failure.exit.into()
        }
    }
}

impl CommandLine {
    fn run(self) -> Result<()> {
        let mut flags = self.settings.flags();
        flags.settings.extend(self.command.settings());
        let resolved = resolve(&flags, &Surroundings::of_process()?)?;
        let mut output = Output::standard(self.json);
        let result = self.command.run(&resolved, &mut output);
        // What was printed before a failure is shown before it.
        let flushed = output.flush();
        result.and(flushed)
    }
}

/// Says on standard error what was wrong. When that fails too there is nobody to be told.
fn report(failure: &Failure) {
    let _ = writeln!(std::io::stderr(), "{failure}");
}
