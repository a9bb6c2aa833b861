//! Indexed files, as COBOL programs know them, on the engine of ImmuxDB.
//!
//! A COBOL program opens an *indexed file*: records with a primary key and any number of alternate keys. It reads them by
//! any key, or walks along one, and gets a two-character *file status* for each operation. This crate gives those words
//! their meaning, and knows nothing of C, compilers, or how a call arrives.
//!
//! ```text
//!   program            SELECT CUSTOMERS            SELECT ORDERS        SELECT CUSTOMERS (in a CALLed module)
//!                           |                           |                     |
//!   run unit           Connector                   Connector             Connector      mode, position, key of reference
//!                            \                          |                    /
//!                             +---- one open file ------|-------------------+           the lock, the engine
//!                                          |            |
//!   disk                CUSTFILE, CUSTFILE.idx/     ORDFILE                             the log, and what is derived
//! ```
//!
//! | word | type | in the standard (ISO/IEC 1989) |
//! |---|---|---|
//! | run unit | [`RunUnit`] | a process: programs that call each other |
//! | connector | [`Connector`] | the file connector of one SELECT: mode, position, key of reference |
//! | layout | [`Layout`] | the keys and record lengths that SELECT and FD declare |
//! | status | [`Status`] | file status; an operation that failed gives a [`Failure`] with it |
//!
//! How a file stands in the engine: it is a chain of its own, whose log is the file at the path that the program names.
//! The grouping `records` holds a unit for each record: the unit key is the primary key's bytes, the content the record at
//! its actual length, and each alternate key is a raw index, `key-1`, `key-2` …. The layout stands in the grouping `file`.

#![warn(missing_docs)]

mod connector;
mod failure;
mod file;
mod files;
mod holders;
mod layout;
mod maker;
mod replacement;
mod request;
mod run_unit;
mod settings;
mod status;
mod tool;

pub use connector::{Connector, Direction, Read, Relation};
pub use failure::Failure;
pub use holders::{Holder, holders};
pub use layout::{Key, KeyPart, Layout};
pub use maker::Maker;
pub use replacement::Replacement;
pub use request::{Access, OpenMode, OpenRequest, Sharing};
pub use run_unit::RunUnit;
pub use settings::{DuplicateStatus, Settings};
pub use status::Status;
pub use tool::IndexedFile;
