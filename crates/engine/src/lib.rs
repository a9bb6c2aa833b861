//! The engine of ImmuxDB.

mod delta;
pub mod environment;
mod error;
pub mod limits;
pub mod storage;
mod types;

pub use error::{Error, Result};
pub use types::{Birth, Durability, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};
