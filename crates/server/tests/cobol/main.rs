//! What a COBOL shop does: install, compile with `immuxdb cobc`, run programs, look at their files with `immuxdb file`.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod example;
mod held;
mod installed;
mod support;
