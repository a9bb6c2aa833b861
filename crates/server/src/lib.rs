//! The command line of ImmuxDB and its server, as a library, so that their parts can be tested.
//!
//! ```text
//!  arguments ──► command_line ──► configuration      defaults, file, environment, flags
//!                     │
//!                     ▼
//!                 commands ────► door ──┬──► opened ────► libimmuxdb
//!                  │     │              └──► immuxdb_client, to a server
//!                  │     │
//!        load ◄────┘     └────► output               tables for people, JSON lines for programs
//!  rows of files                failure              what was wrong, what to do, exit code
//!
//!  immuxdb serve ──► serve      HTTP, for clients of all kinds
//! ```

mod chosen;
pub mod command_line;
mod commands;
pub mod configuration;
mod door;
pub mod failure;
pub mod file;
mod index_value;
pub mod load;
mod moment;
mod opened;
pub mod output;
mod progress;
mod serve;
