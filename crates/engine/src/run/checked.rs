//! One bit for each thing that is checked at first touch.

use crate::sync::atomic::{AtomicU64, Ordering};

/// Remembers which checks have passed.
pub(super) struct Checked(Box<[AtomicU64]>);

impl Checked {
    /// Nothing of `count` things is checked yet.
    pub(super) fn new(count: usize) -> Checked {
        Checked((0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Whether `number` has passed, now or earlier. Two threads may both do the check; they find the same.
    #[inline]
    pub(super) fn passes(&self, number: usize, check: impl FnOnce() -> bool) -> bool {
        let word = &self.0[number / 64];
        let bit = 1 << (number % 64);
        if word.load(Ordering::Relaxed) & bit != 0 {
            return true;
        }
        let passes = check();
        if passes {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        passes
    }
}
