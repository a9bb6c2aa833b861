//! `immuxdb completions`: what a shell needs to complete our arguments.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::command_line::CommandLine;
use crate::failure::Result;
use crate::output::Output;

/// Print the completions for a shell
///
/// For example: immuxdb completions bash > ~/.local/share/bash-completion/completions/immuxdb
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut CommandLine::command(), "immuxdb", &mut script);
        output.bytes(&script)
    }
}
