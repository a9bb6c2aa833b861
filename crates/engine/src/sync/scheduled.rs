//! Locks whose turns a scheduler gives out, with the names that `parking_lot` has for them.
//!
//! Time does not pass here: whoever waits with a limit lets the others go on once, and then its time is up.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use shuttle::sync;

thread_local! {
    static FORGETFUL: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` in a world in which conditions wake one of those who wait, and forget the others: a mistake that the
/// scheduler must find wherever several may wait.
pub fn with_forgetful_conditions(work: impl FnOnce()) {
    FORGETFUL.set(true);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    FORGETFUL.set(false);
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

#[derive(Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// `None` only while the lock is given away, within a method that takes the guard.
    held: Option<sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, held: Some(self.take()) }
    }

    fn take(&self) -> sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> MutexGuard<'_, T> {
    pub(crate) fn unlocked<U>(guard: &mut Self, work: impl FnOnce() -> U) -> U {
        guard.held = None;
        let outcome = work();
        guard.held = Some(guard.mutex.take());
        outcome
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.held {
            Some(held) => held,
            None => unreachable!("a guard that is borrowed holds its lock"),
        }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.held {
            Some(held) => held,
            None => unreachable!("a guard that is borrowed holds its lock"),
        }
    }
}

#[derive(Default)]
pub(crate) struct Condvar(sync::Condvar);

pub(crate) struct WaitTimeoutResult;

impl WaitTimeoutResult {
    pub(crate) fn timed_out(&self) -> bool {
        true
    }
}

impl Condvar {
    pub(crate) fn notify_all(&self) {
        if FORGETFUL.get() {
            self.0.notify_one();
        } else {
            self.0.notify_all();
        }
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        if let Some(held) = guard.held.take() {
            guard.held = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(crate) fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: Duration) -> WaitTimeoutResult {
        MutexGuard::unlocked(guard, shuttle::thread::yield_now);
        WaitTimeoutResult
    }

    pub(crate) fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, until: Instant) -> WaitTimeoutResult {
        self.wait_for(guard, until.saturating_duration_since(Instant::now()))
    }
}

#[derive(Default)]
pub(crate) struct RwLock<T>(sync::RwLock<T>);

pub(crate) type RwLockReadGuard<'a, T> = sync::RwLockReadGuard<'a, T>;

impl<T> RwLock<T> {
    pub(crate) fn new(value: T) -> RwLock<T> {
        RwLock(sync::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> sync::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
