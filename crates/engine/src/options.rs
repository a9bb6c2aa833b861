//! How a store is opened.

use std::sync::Arc;

use crate::environment::{Environment, System};
use crate::storage::{Storage, disk::Disk};
use crate::types::Durability;

/// Who writes and merges runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Two threads of each open chain, from when there is something to do: one writes runs, the other merges them.
    #[default]
    Threads,
    /// Nobody, until [`crate::Chain::run_background_step`] is called. For simulations, where the order must be known.
    Manual,
}

/// When the hashes for proofs are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hashing {
    /// When a root or a proof is asked for: the log is read from the newest hashes on that an earlier writer has left.
    #[default]
    OnDemand,
    /// A thread of each chain that is open for writing follows the log, and leaves the hashes beside the runs. With
    /// [`Background::Manual`] that is a piece of background work like others.
    Background,
}

/// When opening and closing a chain sync what they write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syncing {
    /// At each opening and closing, so that what was there then survives power loss whatever its durability.
    #[default]
    Always,
    /// Only when something depends on it: a commit with [`Durability::Sync`], [`crate::Chain::sync`], or a run. Opening
    /// and closing are cheap then; what was committed with [`Durability::Process`] may be lost with the machine's power
    /// even after a clean close.
    OnDemand,
}

/// Settings of a store that is being opened.
#[derive(Clone)]
pub struct StoreOptions {
    /// The bytes of anonymous memory that each open chain aims to stay below. Default: 512 MiB.
    ///
    /// Newest entries wait in memory for at most half of it; the rest is for writing and merging runs.
    pub memory_limit: usize,
    /// The durability of commits that do not ask for one. Default: [`Durability::Sync`].
    pub durability: Durability,
    /// Whether commits are going to ask for duplicates ([`crate::WriteOptions::report_duplicates`]). Then what they ask is
    /// counted from the opening on; otherwise the first one that asks ends a delta. Default: no.
    pub expect_duplicate_reports: bool,
    /// Bytes of newest entries that a clean close leaves to the next opening to replay; more become a run. Twice as much
    /// of the log is. Default: 4 MiB.
    pub replay_limit: usize,
    /// When opening and closing sync. Default: [`Syncing::Always`].
    pub syncing: Syncing,
    /// The disk.
    pub storage: Arc<dyn Storage>,
    /// Clock, randomness and identity.
    pub environment: Arc<dyn Environment>,
    /// Who does the work in the background.
    pub background: Background,
    /// When the hashes for proofs are made. Default: [`Hashing::OnDemand`].
    pub hashing: Hashing,
}

/// Below this a delta holds next to nothing.
const SMALLEST_DELTA: usize = 4 << 10;
/// Above this a larger delta gains nothing, and takes longer to replay.
const LARGEST_DELTA: usize = 64 << 20;

impl Default for StoreOptions {
    /// The operating system's disk, and the defaults that the fields state.
    fn default() -> StoreOptions {
        StoreOptions {
            memory_limit: 512 << 20,
            durability: Durability::default(),
            expect_duplicate_reports: false,
            replay_limit: 4 << 20,
            syncing: Syncing::default(),
            storage: Disk::shared(),
            environment: Arc::new(System::new()),
            background: Background::default(),
            hashing: Hashing::default(),
        }
    }
}

impl StoreOptions {
    /// With this default durability.
    #[must_use]
    pub fn durability(mut self, level: Durability) -> StoreOptions {
        self.durability = level;
        self
    }

    /// With this memory limit, in bytes.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> StoreOptions {
        self.memory_limit = bytes;
        self
    }

    /// With hashes made then.
    #[must_use]
    pub fn hashing(mut self, when: Hashing) -> StoreOptions {
        self.hashing = when;
        self
    }

    /// The bytes at which a delta is frozen.
    pub(crate) fn delta_bytes(&self) -> usize {
        (self.memory_limit / 8).clamp(SMALLEST_DELTA, LARGEST_DELTA)
    }
}
