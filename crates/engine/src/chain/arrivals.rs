//! When each ordering last got a new entry.
//!
//! A walk that stays open while others commit needs to know whether something came to be ahead of it. What ended is told
//! by the units themselves, so only births count. Orderings share a few counters: one that is told of another's birth
//! looks anew once too often, and that is all.

use crate::sync::atomic::{AtomicU64, Ordering as Atomic};
use crate::types::{Height, IndexId};

const COUNTERS: usize = 256;

/// The heights of the newest births, by index.
pub(crate) struct Arrivals(Box<[AtomicU64]>);

impl Arrivals {
    /// Nothing was born yet.
    pub(crate) fn new() -> Arrivals {
        Arrivals((0..COUNTERS).map(|_| AtomicU64::new(0)).collect())
    }

    /// The commit at `height`, which nobody sees yet, adds an entry to an index, or a unit.
    pub(crate) fn born(&self, index: IndexId, height: Height) {
        self.0[index.0 as usize % COUNTERS].store(height.0, Atomic::Relaxed);
    }

    /// The commit at `height` changes everything.
    pub(crate) fn all(&self, height: Height) {
        self.0.iter().for_each(|counter| counter.store(height.0, Atomic::Relaxed));
    }

    /// Whether something may have been born above `height`, among what the caller can see.
    pub(crate) fn since(&self, index: IndexId, height: Height) -> bool {
        self.0[index.0 as usize % COUNTERS].load(Atomic::Relaxed) > height.0
    }
}
