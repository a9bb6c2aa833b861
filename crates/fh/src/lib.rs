//! The file handler that GnuCOBOL programs call for their indexed files: `cobc -x -fcallfh=immuxfh prog.cob -limmuxfh`.
//!
//! A program compiled so calls the C function [`immuxfh`] for every statement on every file. What it gets is two bytes of
//! operation code, and the [`FCD`](fcd), a block that describes the file. This crate is the border: it reads and writes
//! those, finds the file, and leaves what the statements mean to `immuxdb_isam`.
//!
//! ```text
//!   COBOL program          READ CUSTOMERS KEY IS TOWN
//!        |
//!        v
//!   cob_extfh_read         ours, under libcob's name: notes which key it is, ...        interpose
//!        |                 ... and hands on
//!        v
//!   libcob                 fills the FCD
//!        |
//!        v
//!   immuxfh(code, fcd)     operation codes, FCD, key definition block                   operation, fcd
//!        |
//!        |-- not indexed ---> libcob's own EXTFH
//!        v
//!   connector of the FCD   by the number in its handle field                            handler::table
//!        |
//!        v
//!   immuxdb_isam           gives a status, which goes into the FCD; workarounds          libcob::faults
//! ```
//!
//! | what may go wrong | what the border does |
//! |---|---|
//! | bytes of an FCD or key block that make no sense | a status; never a crash |
//! | a panic on our side | status 30 and a message; it does not cross into C |
//! | a failure that is no normal course of a program (30, 34, 37, 39, 61 …) | its message goes to standard error |
//! | STOP RUN without CLOSE | files are finished when the process exits |
//! | the process forks | the child has none of the files |
//!
//! Nothing is printed in normal work. [`IMMUX_TRACE`](mod@trace) writes a line for each operation.

#![warn(missing_docs)]

pub mod fcd;
mod handler;
mod interpose;
mod libcob;
mod message;
pub mod name;
pub mod operation;
pub mod trace;

pub use handler::immuxfh;
pub use libcob::Family;
