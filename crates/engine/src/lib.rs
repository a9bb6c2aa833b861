//! The engine of ImmuxDB.

mod error;
pub mod limits;
#[allow(
    dead_code,
    unused_imports,
    reason = "the chain, which is written on top of it, uses it"
)]
mod run;
pub mod storage;
mod types;
#[allow(dead_code, reason = "used by the parts to come")]
mod varint;

pub use error::{Error, Result};
pub use types::{Birth, Durability, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};
