//! Verifying, repairing, backing up, restoring, and old formats: real files, real processes, real kills.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is the report")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "workers print what they did")]

#[path = "../support/mod.rs"]
mod command;
#[allow(dead_code, reason = "the hazards use more of it")]
#[path = "../hazards/support/mod.rs"]
mod support;

mod backup;
mod format;
mod repair;
mod verify;
