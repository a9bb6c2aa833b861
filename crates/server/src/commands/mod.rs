//! One file for each subcommand.
//!
//! A subcommand is a struct of arguments with a function `run`, which opens the store to read or to write, does one thing, and prints
//! through [`Output`].

mod backup;
mod chains;
mod check;
mod cobc;
mod completions;
mod config;
mod delete;
mod file;
mod get;
mod groupings;
mod history;
mod index;
mod load;
mod prove;
mod put;
mod repair;
mod restore;
mod revert;
mod root;
mod scan;
mod serve;
mod stats;
mod unit;
mod verify;

use clap::Subcommand;

use crate::configuration::Resolved;
use crate::failure::Result;
use crate::output::Output;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Load(load::Load),
    Get(get::Get),
    Put(put::Put),
    Delete(delete::Delete),
    Scan(scan::Scan),
    History(history::History),
    Revert(revert::Revert),
    #[command(subcommand)]
    Index(index::Index),
    Groupings(groupings::Groupings),
    Chains(chains::Chains),
    Stats(stats::Stats),
    #[command(subcommand)]
    File(file::File),
    Cobc(cobc::Cobc),
    Serve(serve::Serve),
    Root(root::Root),
    #[command(subcommand)]
    Prove(prove::Prove),
    Check(check::Check),
    Verify(verify::Verify),
    Repair(repair::Repair),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Config(config::Config),
    Completions(completions::Completions),
}

impl Command {
    /// The flags of the subcommand that are settings: their names and values.
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        match self {
            Command::Serve(serve) => serve.settings(),
            _ => Vec::new(),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// It can't be done.
    pub fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        match self {
            Command::Load(load) => load.run(resolved, output),
            Command::Get(get) => get.run(resolved, output),
            Command::Put(put) => put.run(resolved, output),
            Command::Delete(delete) => delete.run(resolved, output),
            Command::Scan(scan) => scan.run(resolved, output),
            Command::History(history) => history.run(resolved, output),
            Command::Revert(revert) => revert.run(resolved, output),
            Command::Index(index) => index.run(resolved, output),
            Command::Groupings(groupings) => groupings.run(resolved, output),
            Command::Chains(chains) => chains.run(resolved, output),
            Command::Stats(stats) => stats.run(resolved, output),
            Command::File(file) => file.run(resolved, output),
            Command::Cobc(cobc) => cobc.run(output),
            Command::Serve(serve) => serve.run(resolved),
            Command::Root(root) => root.run(resolved, output),
            Command::Prove(prove) => prove.run(resolved, output),
            Command::Check(check) => check.run(output),
            Command::Verify(verify) => verify.run(resolved, output),
            Command::Repair(repair) => repair.run(resolved, output),
            Command::Backup(backup) => backup.run(resolved, output),
            Command::Restore(restore) => restore.run(resolved, output),
            Command::Config(config) => config.run(resolved, output),
            Command::Completions(completions) => completions.run(output),
        }
    }
}
