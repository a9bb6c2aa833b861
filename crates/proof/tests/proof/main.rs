//! What goes for trees, proofs and their bytes.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;
mod tampering;
mod trees;
mod vectors;
