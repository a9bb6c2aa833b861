//! Everything that was thought of to break a store: real processes, real files, real kills. docs/RELIABILITY.md names
//! the test of each hazard.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is the report")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "workers print what they did, tests what they skip")]

#[path = "../support/mod.rs"]
mod command;
mod support;

mod derived;
mod foreign_log;
mod full_disk;
mod handles;
mod killed;
mod log_damage;
mod processes;
mod read_only_root;
mod storm;
mod threads;
mod values;
