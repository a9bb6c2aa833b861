//! The Rust client of ImmuxDB's server: blocking and asynchronous.
//!
//! ```no_run
#![doc = include_str!("../docs/example.rs")]
//! ```
//!
//! # How it works
//!
//! ```text
//!  Client ──► target ──► request ──► pool of connections ──► server (`immuxdb serve`)
//!    ▲        any key                used again               one line of JSON an item
//!    │                                                             │
//!    └── Unit, Version, …  ◄── lines, decoded as they come ◄───────┘
//! ```
//!
//! *There is no session.* Each request says which chain it is about, so a client object is a handful of settings and a few idle connections. It
//! can be cloned, and any of its requests can be repeated by hand with `curl`. [`Client::switch_namespace`] changes the object, not the server.
//!
//! *A write is sent once.* When a connection breaks while a write is under way, nobody knows whether it happened, and the error says so
//! ([`Error::Broken`], [`Error::TimedOut`]). Reading tells; with a [`Condition`] on the write it can then be repeated without harm. Reads are
//! repeated by themselves where an idle connection turns out to be closed. What was not sent at all is sent on another connection.
//!
//! *Lists come in pieces.* [`Units`] and [`Versions`] read on when you ask for the next item, and the server waits meanwhile: a scan of a billion
//! units takes as much memory as one of ten. A list ends with a line that says so; one that was cut off is an error, never a shorter list.
//!
//! *A scan is of one height.* Whatever others write meanwhile, [`List::height`] is the snapshot's; a cursor ([`List::end`], [`Scan::resume`])
//! goes on at the same height.
//!
//! | the first ImmuxDB's client | |
//! |---|---|
//! | `get_by_key`, `set_key_value` | a value of your type in and out, by serde |
//! | `inspect_by_key`, `revert_by_key` | all versions of a unit; an earlier one becomes the newest |
//! | `switch_namespace` | chooses the chain of this client object |
//!
//! The asynchronous [`Client`] has the same operations as [`blocking::Client`], and runs on tokio:
//!
//! ```no_run
//! # async fn example() -> immuxdb_client::Result<()> {
//! use immuxdb_client::{Client, Durability, Scan};
//!
//! let client = Client::builder("http://127.0.0.1:1991").token("…").durability(Durability::Process).build()?;
//! let mut units = client.scan("people", &Scan::units().prefix("a").limit(10)).await?;
//! while let Some(unit) = units.next().await {
//!     let unit = unit?;
//!     println!("{} at height {}", String::from_utf8_lossy(&unit.key), unit.height);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It speaks plain HTTP/1.1. Over a network that you don't trust, put a tunnel or a proxy that encrypts in between.

pub mod blocking;
mod builder;
mod bulk;
mod call;
mod client;
mod connection;
mod error;
mod lines;
mod proofs;
mod scan;
mod target;
mod types;
pub mod wire;

pub use builder::Builder;
pub use bulk::{BulkItem, BulkOptions};
pub use client::Client;
pub use error::{Error, Result, ServerError};
pub use immuxdb_proof as proof;
pub use lines::{Item, List, Units, Versions};
pub use scan::Scan;
pub use types::{Condition, Content, Durability, Kind, Moment, Reading, Unit, Version};
