//! Which chains a command works on that can work on all of a store.

use std::path::{Path, PathBuf};

use libimmuxdb::Store;

use crate::configuration::{Origin, Resolved};
use crate::failure::{Failure, Result, nearest};
use crate::opened::{Opened, options};

/// A chain, by name, and its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenChain {
    /// Its name.
    pub name: String,
    /// Its log.
    pub log: PathBuf,
}

/// The chain that the user named, or all chains of the store where none was named.
///
/// # Errors
/// There is no such store or chain, or the store has none. A server is set: what lies at its side is another store.
pub fn chains(resolved: &Resolved) -> Result<Vec<ChosenChain>> {
    let configuration = &resolved.configuration;
    if let Some(server) = &configuration.server
        && !matches!(resolved.origin("data_root"), Origin::Flag(_))
    {
        let origin = resolved.origin("server");
        return Err(Failure::usage(format!("this works on files, not through the server {server} (set by {origin})"))
            .help("run it where the server's store is, with --data-root DIR and without --server; it works beside the server"));
    }
    Opened::store_to_read(configuration)?;
    chains_of(&configuration.data_root, resolved)
}

/// The same, of a store at another place.
///
/// # Errors
/// As [`chains`].
pub fn chains_of(root: &Path, resolved: &Resolved) -> Result<Vec<ChosenChain>> {
    let configuration = &resolved.configuration;
    let names = Store::open_read_only(root, options(configuration))?.chains()?;
    let chosen = match resolved.origin("chain") {
        Origin::Default => names,
        _ if names.contains(&configuration.chain) => vec![configuration.chain.clone()],
        _ => {
            let name = &configuration.chain;
            let failure = Failure::not_found(format!("there is no chain {name:?} in {}", root.display()));
            return Err(match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => failure.help(format!("did you mean {near:?}?")),
                None => failure.help("`immuxdb chains` lists the chains there are"),
            });
        }
    };
    if chosen.is_empty() {
        return Err(Failure::not_found(format!("there is no chain in {}", root.display()))
            .help("a store is a directory of directories, each with a file `log`; is --data-root the right one?"));
    }
    Ok(chosen.into_iter().map(|name| ChosenChain { log: root.join(&name).join("log"), name }).collect())
}

/// Refuses a place for a new store where something is; empty directories, which a failed attempt may have left, are nothing.
///
/// # Errors
/// A file is there.
pub fn check_is_free(new: &Path) -> Result<()> {
    if !holds_something(new) {
        return Ok(());
    }
    Err(Failure::usage(format!("there is something at {}", new.display()))
        .help("name a directory that is empty, or not there yet"))
}

fn holds_something(path: &Path) -> bool {
    match path.read_dir() {
        Ok(mut entries) => entries.any(|entry| entry.map_or(true, |entry| holds_something(&entry.path()))),
        // A file, or what nobody may look into.
        Err(_) => path.symlink_metadata().is_ok(),
    }
}
