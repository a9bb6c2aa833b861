//! The hashes that roots and proofs are made of.
//!
//! A root stands for all commits up to a height; the `immuxdb_proof` crate says how it is made. What takes time is the
//! commits' *leaves*, since each content must be read once. So a thread follows the log, some moments behind the
//! writer, and keeps the leaves in a derived file:
//!
//! ```text
//!   log        | frame | frame | frame | frame | …                    the truth
//!                  |       |       |
//!   hashes     | header | 256 leaves, the root over them, a log point | 256 leaves, … |      32 bytes a commit
//!                         '------------- a tile -------------------'
//! ```
//!
//! * Commits never change, so the file only grows, by a tile for each 256 commits. What is newer is in memory, and is made
//!   again when the chain is opened next: a small chain has no such file.
//! * A tile says up to which point of the log it goes. At opening the newest tile is sought whose point the log confirms, and
//!   what comes after is cut: a torn end, or the hashes of commits that power loss has taken back.
//! * Roots over 256, 65,536 … commits are kept too, so that a root needs some hundreds of hashes, however long the chain.
//! * Nobody waits for it: it is never synced while a commit waits, and if it cannot be written, or is lost, roots are
//!   computed from the log.
//!
//! | file | what |
//! |---|---|
//! | `leaf` | from a frame to its leaf |
//! | `layout` | where what is in the file |
//! | `tiles` | the file: opening, checking, reading, appending |

mod layout;
mod leaf;
#[cfg(test)]
mod tests;
mod tiles;

pub(crate) use leaf::{commit_leaf, operation_leaves};
pub(crate) use tiles::{TileReader, Tiles};
