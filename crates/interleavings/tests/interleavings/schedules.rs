//! Many schedules of one history.

use std::panic::{AssertUnwindSafe, catch_unwind};

use immuxdb_interleavings::planted::{Fault, plant};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// Places at which a thread with priority is held up (PCT): most mistakes need no more.
const DEPTH: usize = 3;
/// The engine's deepest stacks, without optimization.
const STACK_BYTES: usize = 1 << 20;

/// Tells the history in `count` schedules: half of them let anybody go on at each step, the other half run one thread as
/// far as it goes and take its turn away at few places.
pub fn explore(count: usize, history: impl Fn() + Send + Sync + Copy + 'static) {
    run(RandomScheduler::new_from_seed(1, count / 2), history);
    run(PctScheduler::new_from_seed(2, DEPTH, count / 2), history);
}

fn run(scheduler: impl Scheduler + 'static, history: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    Runner::new(scheduler, config).run(history);
}

/// Some schedule of the history fails, and says so with one of these words.
pub fn must_fail(what: &str, says: &[&str], explore: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(explore)) else {
        panic!("no schedule shows it: {what}");
    };
    let said = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(said), _) => said,
        (None, Some(said)) => *said,
        (None, None) => "something that is no text",
    };
    assert!(says.iter().any(|word| said.contains(word)), "{what} shows itself in another way: {said}");
}

/// Some schedule of the history fails when the fault is planted.
pub fn must_find(fault: Fault, says: &[&str], explore: impl FnOnce()) {
    plant(Some(fault));
    must_fail(fault.what(), says, explore);
    plant(None);
}
