//! Short forms for what every load says to the engine.

use std::ops::Range;
use std::path::Path;

use libimmuxdb::{Grouping, IndexDefinition, Result, Store, StoreOptions, key_from_json};

use crate::options::Options;

/// The chain that the benchmarks use.
pub const CHAIN: &str = "default";

/// The engine's options for what the command line asks for.
#[must_use]
pub fn store_options(options: &Options) -> StoreOptions {
    let mut store = StoreOptions {
        durability: options.durability.into(),
        ..StoreOptions::default()
    };
    if let Some(mebibytes) = options.memory_limit {
        store.memory_limit = mebibytes << 20;
    }
    store
}

/// Opens a store for writing.
///
/// # Errors
/// The engine's.
pub fn open(root: &Path, options: &Options) -> Result<Store> {
    Store::open(root, store_options(options))
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

fn add(grouping: &Grouping, name: &str, definition: IndexDefinition) -> Result<()> {
    grouping.create_index(name, definition, &mut |_| ())?;
    Ok(())
}
