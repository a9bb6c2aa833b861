//! Many seeds, several at a time.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::driver::{self, Coverage, Failure};

/// What came of many seeds.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// Seeds whose history went as it must.
    pub passed: u64,
    /// The others, by seed.
    pub failures: Vec<Failure>,
    /// What the ones that passed have come across.
    pub coverage: Coverage,
}

/// Runs all `seeds` on `threads` threads; `report` hears of each failure when it happens.
pub fn run(seeds: Range<u64>, threads: usize, report: impl Fn(&Failure) + Sync) -> Campaign {
    let next = AtomicU64::new(seeds.start);
    let campaign = Mutex::new(Campaign::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| driver::run(seed, None)));
            let outcome = outcome
                .unwrap_or_else(|_| Err(Failure { seed, operations: 0, what: "it panics (see above)".to_owned() }));
            let mut campaign = campaign.lock();
            match outcome {
                Ok(coverage) => {
                    campaign.passed += 1;
                    campaign.coverage.merge(&coverage);
                }
                Err(failure) => {
                    report(&failure);
                    campaign.failures.push(failure);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    let mut campaign = campaign.into_inner();
    campaign.failures.sort_by_key(|failure| failure.seed);
    campaign
}
