//! Short forms for what every load says to the engine.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use libimmuxdb::index::{IndexDefinition, key_from_json};
use libimmuxdb::{Chain, Grouping, Hashing, Result, Scan, Store, StoreOptions, Unit};

use crate::options::Options;

/// The chain that the benchmarks use.
const CHAIN: &str = "default";

/// The engine's options for what the command line asks for.
#[must_use]
pub fn store_options(options: &Options) -> StoreOptions {
    let mut store = StoreOptions { durability: options.durability.into(), ..StoreOptions::default() };
    if options.hashes {
        store.hashing = Hashing::Background;
    }
    if let Some(mebibytes) = options.memory_limit {
        store.memory_limit = mebibytes << 20;
    }
    store
}

/// A store that is open for writing, with the chain that is used.
pub struct Opened {
    store: Store,
    /// The chain.
    pub chain: Arc<Chain>,
}

/// Opens a store for writing.
///
/// # Errors
/// The engine's.
pub fn open(root: &Path, options: StoreOptions) -> Result<Opened> {
    let store = Store::open(root, options)?;
    let chain = store.chain(CHAIN)?;
    Ok(Opened { store, chain })
}

impl Opened {
    /// A grouping of the chain.
    ///
    /// # Errors
    /// The engine's.
    pub fn grouping(&self, name: &str) -> Result<Grouping> {
        self.chain.grouping(name)
    }

    /// Waits for the work in the background and closes the store: from then on, everything that the load has cost has been paid.
    ///
    /// # Errors
    /// The engine's.
    pub fn drain_and_close(self) -> Result<()> {
        self.chain.drain()?;
        self.close()
    }

    /// Closes the store.
    ///
    /// # Errors
    /// The engine's.
    pub fn close(self) -> Result<()> {
        drop(self.chain);
        self.store.close()
    }
}

/// Adds an index with duplicates over one field of JSON content.
///
/// # Errors
/// The engine's.
pub fn index_field(grouping: &Grouping, field: &str) -> Result<()> {
    add(grouping, field, IndexDefinition::json(field))
}

/// Adds an index with duplicates over a range of bytes of raw content.
///
/// # Errors
/// The engine's.
pub fn index_bytes(grouping: &Grouping, name: &str, range: Range<u32>) -> Result<()> {
    add(grouping, name, IndexDefinition::raw(range))
}

/// The key that an index of [`index_field`] has for a value, which is given as JSON text.
///
/// # Errors
/// The engine's.
pub fn field_key(field: &str, value: &str) -> Result<Vec<u8>> {
    key_from_json(&IndexDefinition::json(field), &[value])
}

/// The first unit with a key value, in the order of writing.
///
/// # Errors
/// The engine's.
pub fn first(grouping: &Grouping, index: &str, key: &[u8]) -> Result<Option<Unit>> {
    let scan = Scan::index(index).prefix(key).limit(1);
    grouping.scan(scan)?.next().transpose()
}

/// The last unit with a key value, in the order of writing.
///
/// # Errors
/// The engine's.
pub fn last(grouping: &Grouping, index: &str, key: &[u8]) -> Result<Option<Unit>> {
    let scan = Scan::index(index).prefix(key).backward().limit(1);
    grouping.scan(scan)?.next().transpose()
}

fn add(grouping: &Grouping, name: &str, definition: IndexDefinition) -> Result<()> {
    grouping.create_index(name, definition, &mut |_| ())?;
    Ok(())
}
