//! The engine of ImmuxDB.

mod error;
pub mod limits;
pub mod storage;
mod types;
mod varint;

pub use error::{Error, Result};
pub use types::{Birth, Durability, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};
