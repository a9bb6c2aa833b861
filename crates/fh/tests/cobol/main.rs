//! Real COBOL programs, compiled by the real compilers, on ImmuxDB. The programs are in `tests/cobol`; what each prints
//! stands beside it.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod damage;
mod end;
mod killed;
mod many_keys;
mod modules;
mod names;
mod processes;
mod settings;
mod support;
mod transcripts;
