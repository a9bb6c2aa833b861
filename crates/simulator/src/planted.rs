//! Would the simulation find it? Faults are planted in the engine one by one, and seeds are run until one fails.
//!
//! A fault that no seed finds is a hole: something that could be wrong in the engine, and nobody would know.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use libimmuxdb::planted::{Fault, plant};
use parking_lot::Mutex;

use crate::driver;

/// How a planted fault was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// The first seed that fails with it.
    pub seed: u64,
    /// Operations up to the failure.
    pub operations: u64,
    /// What was expected, and what happened.
    pub what: String,
}

/// Runs seeds with a fault planted, until one fails; `None` when none does.
#[must_use]
pub fn search(fault: Fault, seeds: Range<u64>) -> Option<Find> {
    be_quiet_about_panics();
    seeds.into_iter().find_map(|seed| {
        plant(Some(fault));
        let outcome = catch_unwind(AssertUnwindSafe(|| driver::run(seed, None)));
        plant(None);
        match outcome {
            Ok(Ok(_)) => None,
            Ok(Err(failure)) => Some(Find { seed, operations: failure.operations, what: failure.what }),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panics");
                Some(Find { seed, operations: 0, what: format!("an assertion fails: {text}") })
            }
        }
    })
}

/// Searches for each of the faults on `threads` threads, in at most `seeds` seeds each; `report` hears of each when it is done.
pub fn search_all(
    faults: &[Fault],
    seeds: &Range<u64>,
    threads: usize,
    report: impl Fn(Fault, Option<&Find>) + Sync,
) -> Vec<(Fault, Option<Find>)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = || {
        while let Some(&fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            let find = search(fault, seeds.clone());
            report(fault, find.as_ref());
            found.lock().push((fault, find));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner();
    found.sort_by_key(|(fault, _)| *fault);
    found
}

/// Panics of an engine that is wrong on purpose are no news.
fn be_quiet_about_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !libimmuxdb::planted::is_planted() {
                usual(info);
            }
        }));
    });
}
