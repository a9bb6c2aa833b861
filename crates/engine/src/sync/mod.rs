//! The locks, atomic numbers and threads of what several threads share: chain, delta, log and runs take them from here.
//!
//! In a program they are those of `parking_lot` and of the standard library, under their own names. The package
//! `immuxdb_interleavings` builds the same sources with `--cfg immuxdb_shuttle`, and there each of them is a place at
//! which a scheduler decides who goes on:
//!
//! ```text
//!   chain, delta, log, run ──► crate::sync ──► parking_lot, std      programs
//!                                         └──► scheduled, shuttle    immuxdb_interleavings
//! ```
//!
//! So what is tried there is this code, and not a likeness of it.

#[cfg(immuxdb_shuttle)]
pub mod scheduled;

#[cfg(not(immuxdb_shuttle))]
pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard};
#[cfg(not(immuxdb_shuttle))]
pub(crate) use std::{sync::atomic, thread, thread_local};

#[cfg(immuxdb_shuttle)]
pub(crate) use scheduled::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard};
#[cfg(immuxdb_shuttle)]
pub(crate) use shuttle::{sync::atomic, thread, thread_local};
