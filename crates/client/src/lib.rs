//! The Rust client of ImmuxDB's server.

pub mod blocking;
mod builder;
mod bulk;
mod client;
mod connection;
mod error;
mod lines;
mod scan;
mod target;
mod types;
pub mod wire;

pub use builder::Builder;
pub use bulk::{BulkItem, BulkOptions};
pub use client::Client;
pub use error::{Error, Result, ServerError};
pub use lines::{Item, List, Units, Versions};
pub use scan::Scan;
pub use types::{Condition, Content, Durability, Kind, Moment, Reading, Unit, Version};
