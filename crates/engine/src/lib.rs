//! The engine of ImmuxDB.

mod delta;
pub mod environment;
mod error;
pub mod index;
pub mod limits;
#[allow(dead_code, unused_imports)] // until the chains use all of it
mod log;
pub mod storage;
mod types;
mod varint;

pub use error::{Error, Result};
pub use types::{Birth, Durability, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};
