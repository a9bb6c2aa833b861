//! The server as its clients meet it: a real process on a port of its own, and clients that are good, slow, silent and hostile. docs/RELIABILITY.md
//! names the test of each hazard.

#![allow(clippy::print_stderr, reason = "a test that fails shows what the server logged")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is the report")]

mod support;

mod bodies;
mod bulk;
mod connections;
mod contract;
mod http2;
mod indexes;
mod keys;
mod killed;
mod openapi;
mod operating;
mod scans;
mod slowness;
mod stopping;
mod units;
