//! The engine of ImmuxDB: an immutable record database to be embedded.
//!
//! Nothing that was committed is lost. Every write is a new version at a *height*; any height can be read again; an index
//! entry is added without reading those that are there, so that writing does not slow down as data and duplicates grow.
//!
//! ```
//! use libimmuxdb::index::IndexDefinition;
//! use libimmuxdb::{Content, Scan, Store, StoreOptions};
//!
//! # fn main() -> libimmuxdb::Result<()> {
//! # let directory = tempfile::tempdir().expect("a directory for the example");
//! # let root = directory.path().join("store");
//! let store = Store::open(root, StoreOptions::default())?;
//! let chain = store.chain("default")?;
//! let people = chain.grouping("people")?;
//!
//! let first = people.put(b"ada", Content::json(r#"{"name": "Ada", "city": "London"}"#))?;
//! people.put(b"ada", Content::json(r#"{"name": "Ada", "city": "Paris"}"#))?;
//!
//! // What was, stays.
//! let then = chain.snapshot_at(first.height)?.get("people", b"ada")?;
//! assert!(then.is_some_and(|unit| unit.content.ends_with(br#""London"}"#)));
//! assert_eq!(people.inspect(b"ada")?.count(), 2);
//!
//! // An index can come at any time.
//! people.create_index("city", IndexDefinition::json("city"), &mut |_| {})?;
//! assert_eq!(people.count(Scan::index("city"))?, 1);
//! store.close()
//! # }
//! ```
//!
//! | word | type | |
//! |---|---|---|
//! | store | [`Store`] | a directory that holds chains |
//! | chain | [`Chain`] | a namespace with its own log and heights |
//! | grouping | [`Grouping`] | a named set of units |
//! | unit | [`Unit`] | a unit key and its content at some height |
//! | snapshot | [`Snapshot`] | a chain at a height |
//! | transaction | [`Transaction`] | several operations at one height |
//! | scan | [`Scan`], [`Units`] | units in order, by unit key or index |
//! | walk | [`Walk`] | units in order, one step at a time, while commits go on |

// The unit tests know nothing of a scheduler: where these sources are built for one, there are none.
#![cfg(not(all(test, immuxdb_shuttle)))]

pub mod backup;
mod chain;
mod delta;
pub mod environment;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod grouping;
mod hashes;
pub mod index;
#[cfg(immuxdb_shuttle)]
pub mod interleavings;
pub mod limits;
mod log;
mod options;
#[cfg(any(test, feature = "planted"))]
pub mod planted;
#[cfg(not(any(test, feature = "planted")))]
mod planted;
mod prefetch;
pub mod repair;
mod run;
mod scan;
mod snapshot;
pub mod storage;
mod store;
#[cfg(immuxdb_shuttle)]
pub mod sync;
#[cfg(not(immuxdb_shuttle))]
mod sync;
mod transaction;
mod types;
mod unit;
mod units;
mod varint;
pub mod verify;
mod walk;

pub use chain::{Chain, ChainStats, GroupingInfo, IndexProgress, RecoveryReport, RunStats, TailCut};
pub use error::{Error, Result};
pub use grouping::{Grouping, IndexInfo};
pub use immuxdb_proof as proof;
pub use options::{Background, Hashing, StoreOptions, Syncing};
pub use scan::{Cursor, Scan};
pub use snapshot::Snapshot;
pub use store::Store;
pub use transaction::Transaction;
pub use types::{Birth, Durability, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};
pub use unit::{Committed, Content, Unit, Version, WriteOptions};
pub use units::{Units, Versions};
pub use walk::{Seek, Walk};
