//! The circumstances in which a script runs.
//!
//! A script must not notice any of them. What it wrote may be in the delta, in a run of its own, in a merged run; the
//! store may have been closed, killed, or robbed of its derived part between any two commands; the reader may be another
//! one than the writer.

/// How a store is opened again after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopen {
    /// It was closed.
    Cleanly,
    /// It was not: what the operating system has of its files is opened.
    AfterCrash,
    /// It was closed, and `log.idx` removed.
    WithoutDerivedPart,
}

/// What is done to the store behind the script's back.
#[derive(Clone, Copy, Debug)]
pub struct Arrangement {
    pub name: &'static str,
    /// Every so many writes, all that was written so far goes to a run. 0: never.
    pub flush_every: usize,
    /// Every so many writes, runs are merged until that is not worth it. 0: never.
    pub merge_every: usize,
    /// After every command.
    pub reopen: Option<Reopen>,
    /// A read-only store, which lives as long as the script, does the reading.
    pub follow: bool,
}

const PLAIN: Arrangement =
    Arrangement { name: "in memory", flush_every: 0, merge_every: 0, reopen: None, follow: false };

/// The first one's output is what `UPDATE_GOLDENFILES=1` writes.
pub const ARRANGEMENTS: [Arrangement; 10] = [
    PLAIN,
    Arrangement { name: "flushed", flush_every: 1, ..PLAIN },
    Arrangement { name: "flushed and merged", flush_every: 1, merge_every: 1, ..PLAIN },
    Arrangement { name: "some in memory, some in runs", flush_every: 3, merge_every: 7, ..PLAIN },
    Arrangement { name: "reopened", reopen: Some(Reopen::Cleanly), ..PLAIN },
    Arrangement { name: "reopened, with runs", flush_every: 2, merge_every: 5, reopen: Some(Reopen::Cleanly), ..PLAIN },
    Arrangement { name: "made anew from the log", flush_every: 1, reopen: Some(Reopen::WithoutDerivedPart), ..PLAIN },
    Arrangement { name: "crashed", flush_every: 3, merge_every: 4, reopen: Some(Reopen::AfterCrash), ..PLAIN },
    Arrangement { name: "followed", follow: true, ..PLAIN },
    Arrangement { name: "followed over runs", flush_every: 2, merge_every: 3, follow: true, ..PLAIN },
];
