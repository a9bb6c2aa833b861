//! The store and the chain that a command works on.

use std::sync::Arc;

use libimmuxdb::{Chain, Hashing, Store, StoreOptions};

use crate::configuration::{ImmuxDBConfiguration, Resolved};
use crate::door::no_chain;
use crate::failure::{Failure, Result};
use crate::output::note;

/// An open store, and the chain that the settings name.
pub struct Opened {
    store: Store,
    /// The chain.
    pub chain: Arc<Chain>,
}

impl Opened {
    /// Opens for reading: beside a writer and other readers, changing nothing.
    ///
    /// # Errors
    /// There is no such store or chain, or it can't be read.
    pub fn to_read(resolved: &Resolved) -> Result<Opened> {
        let configuration = &resolved.configuration;
        let store = Opened::store_to_read(configuration)?;
        let name = &configuration.chain;
        let chains = store.chains()?;
        if !chains.contains(name) {
            return Err(no_chain(name, &configuration.data_root.display().to_string(), &chains));
        }
        let chain = store.chain(name)?;
        report_recovery(&chain);
        Ok(Opened { store, chain })
    }

    /// Opens the store alone for reading.
    ///
    /// # Errors
    /// There is no such store, or it can't be read.
    pub fn store_to_read(configuration: &ImmuxDBConfiguration) -> Result<Store> {
        let root = &configuration.data_root;
        if !root.exists() {
            return Err(Failure::not_found(format!("there is no store at {}", root.display()))
                .help("`immuxdb load` and `immuxdb put` make one; another one is named with --data-root"));
        }
        Ok(Store::open_read_only(root, options(configuration))?)
    }

    /// Opens for writing; makes the store and the chain where they are missing.
    ///
    /// # Errors
    /// Another process writes to the chain, or it can't be opened.
    pub fn to_write(configuration: &ImmuxDBConfiguration) -> Result<Opened> {
        let store = Store::open(&configuration.data_root, options(configuration))?;
        let chain = store.chain(&configuration.chain)?;
        report_recovery(&chain);
        Ok(Opened { store, chain })
    }

    /// Closes the store: what was written is then as safe as it will be.
    ///
    /// # Errors
    /// It can't be made safe.
    pub fn close(self) -> Result<()> {
        drop(self.chain);
        Ok(self.store.close()?)
    }
}

/// Says what opening found that a user should know.
fn report_recovery(chain: &Chain) {
    let recovery = chain.recovery();
    if let Some(cut) = &recovery.cut {
        let saved = cut.saved.as_ref().map_or_else(String::new, |path| format!(", and saved as {}", path.display()));
        note(format_args!(
            "the log ended with an unfinished commit: {} bytes at offset {} were cut off{saved}",
            cut.bytes, cut.offset
        ));
    }
    if let Some(damage) = &recovery.damage {
        note(format_args!("the log is damaged, so the chain is read-only: {damage}"));
        note("`immuxdb verify` shows all that is damaged, `immuxdb repair` saves what is whole into a new store");
    }
    match recovery.ignored_runs {
        0 => (),
        1 => note("1 run of the index does not fit the log, and is made again"),
        runs => note(format_args!("{runs} runs of the index do not fit the log, and are made again")),
    }
}

/// How the settings want stores to be opened.
#[must_use]
pub fn options(configuration: &ImmuxDBConfiguration) -> StoreOptions {
    StoreOptions::default()
        .memory_limit(configuration.memory_limit)
        .durability(configuration.durability)
        .hashing(Hashing::Background)
}
