//! The threads that write and merge runs, and how a writer that outruns them is slowed down.
//!
//! ```text
//!   writer ──► active delta ──full──► frozen deltas ──[flusher]──► runs ──[merger]──► fewer runs
//! ```
//!
//! Memory stays bounded because frozen deltas are few: from the second one on, each commit pauses for the time that
//! writing its share of a run takes, so that the writer comes down to the flusher's pace; at the fourth it waits.
//!
//! The threads begin when there is work for the first time: opening and closing a chain that needs none costs no thread.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use super::Shared;
use crate::error::{Error, Result};
use crate::options::Hashing;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering as Atomic, fence};
use crate::sync::thread::JoinHandle;
use crate::sync::{Condvar, Mutex};

/// Frozen deltas beyond which commits pause.
const FREELY_FROZEN: usize = 1;
/// Frozen deltas at which commits wait.
pub(crate) const MOST_FROZEN: usize = 3;
/// Runs beyond which commits pause, since each of them costs readers and writers a filter.
const FREELY_RUNS: usize = 12;
/// Shorter pauses are saved up: a thread that sleeps less oversleeps by as much.
const SHORTEST_PAUSE: Duration = Duration::from_micros(500);
/// The hasher lets commits collect for so long: each of its rounds costs a few system calls.
const HASHING_PAUSE: Duration = Duration::from_millis(50);
/// The time between attempts to write a run on a full device.
const PAUSE_WHEN_FULL: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Work {
    frozen: usize,
    runs: usize,
    /// Steps under way.
    busy: usize,
    /// No merge is worth it, as far as the merger knows.
    merged: bool,
    stop: bool,
    /// There is no space for a run.
    full: Option<Error>,
    /// There is no space for a merged run. That stops no writer.
    full_for_merge: Option<Error>,
    /// Why the background has given up.
    failed: Option<String>,
}

impl Work {
    fn may_merge(&self) -> bool {
        !self.merged && self.runs > 1
    }
}

/// What the threads and the writers tell each other.
#[derive(Default)]
pub(crate) struct BackgroundState {
    work: Mutex<Work>,
    changed: Condvar,
    /// Whom the threads work for, once they may begin.
    shared: OnceLock<Weak<Shared>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    has_threads: AtomicBool,
    /// Nanoseconds of flushing for 1024 bytes of log.
    flush_cost: AtomicU64,
    /// Nanoseconds of pauses that were saved up.
    owed: AtomicU64,
    stop_merge: AtomicBool,
    hasher: Mutex<Option<JoinHandle<()>>>,
    /// Whether the hasher waits for a commit, or for its first one.
    hasher_sleeps: AtomicBool,
}

impl BackgroundState {
    /// Whether a commit may add to the delta: not while frozen deltas pile up because runs cannot be written.
    pub(crate) fn check_room(&self) -> Result<()> {
        let work = self.work.lock();
        if let Some(failure) = &work.failed {
            return Err(Error::Poisoned(failure.clone()));
        }
        match &work.full {
            Some(Error::NoSpace { path }) if work.frozen >= MOST_FROZEN => Err(Error::NoSpace { path: path.clone() }),
            _ => Ok(()),
        }
    }

    /// Why the background has given up, if it has.
    pub(crate) fn failure(&self) -> Option<String> {
        self.work.lock().failed.clone()
    }

    /// The view has so many frozen deltas and runs now.
    pub(crate) fn view_changed(&self, frozen: usize, runs: usize) {
        let mut work = self.work.lock();
        work.frozen = frozen;
        work.merged &= work.runs == runs;
        work.runs = runs;
        let needed = (frozen > 0 || work.may_merge()) && !work.stop;
        self.changed.notify_all();
        drop(work);
        if needed {
            self.start();
        }
    }

    /// Slows down a writer, which just added `bytes` to the log, to the pace of the background.
    pub(crate) fn pause_writer(&self, bytes: usize) {
        if !self.has_threads.load(Atomic::Relaxed) {
            return;
        }
        let mut work = self.work.lock();
        while work.frozen >= MOST_FROZEN && work.full.is_none() && work.failed.is_none() && !work.stop {
            self.changed.wait(&mut work);
        }
        let behind = work.frozen.saturating_sub(FREELY_FROZEN).max(work.runs.saturating_sub(FREELY_RUNS) / 4);
        drop(work);
        if behind == 0 {
            return;
        }
        let pause = self.flush_cost.load(Atomic::Relaxed).saturating_mul(bytes as u64 * behind as u64) / 1024;
        let owed = self.owed.fetch_add(pause, Atomic::Relaxed) + pause;
        let owed_time = Duration::from_nanos(owed);
        if owed_time >= SHORTEST_PAUSE {
            self.owed.fetch_sub(owed, Atomic::Relaxed);
            crate::sync::thread::sleep(owed_time);
        }
    }

    /// Waits until nothing is left to write and no merge is worth it.
    pub(crate) fn wait_until_idle(&self) -> Result<()> {
        let mut work = self.work.lock();
        loop {
            if let Some(failure) = &work.failed {
                return Err(Error::Poisoned(failure.clone()));
            }
            if let Some(Error::NoSpace { path }) = work.full.as_ref().or(work.full_for_merge.as_ref()) {
                return Err(Error::NoSpace { path: path.clone() });
            }
            if work.stop || (work.frozen == 0 && work.busy == 0 && !work.may_merge()) {
                return Ok(());
            }
            self.changed.wait(&mut work);
        }
    }

    /// From now on threads may begin. `merged`: no merge is worth it.
    pub(crate) fn may_start(shared: &Arc<Shared>, merged: bool) {
        let view = shared.view();
        let state = &shared.background;
        // A chain is opened once.
        let _ = state.shared.set(Arc::downgrade(shared));
        state.hasher_sleeps.store(shared.options.hashing == Hashing::Background, Atomic::Relaxed);
        {
            let mut work = state.work.lock();
            work.runs = view.runs.len();
            work.merged = merged;
        }
        state.view_changed(view.frozen.len(), view.runs.len());
    }

    /// Starts the threads, unless they run or may not begin.
    fn start(&self) {
        if self.has_threads.load(Atomic::Relaxed) {
            return;
        }
        let Some(shared) = self.shared.get().and_then(Weak::upgrade) else {
            return;
        };
        let mut threads = self.threads.lock();
        if !threads.is_empty() {
            return;
        }
        type Body = fn(&Shared);
        for (name, body) in [("immuxdb-flush", flush_loop as Body), ("immuxdb-merge", merge_loop as Body)] {
            let shared_by_thread = Arc::clone(&shared);
            let spawned =
                crate::sync::thread::Builder::new().name(name.to_owned()).spawn(move || body(&shared_by_thread));
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    self.work.lock().failed = Some(format!("a thread cannot be started: {error}"));
                    break;
                }
            }
        }
        self.has_threads.store(true, Atomic::Relaxed);
    }

    /// Ends the threads. A merge that is under way is given up; a run that is being written is finished.
    pub(crate) fn stop(&self) {
        self.work.lock().stop = true;
        self.stop_merge.store(true, Atomic::Relaxed);
        self.changed.notify_all();
        for thread in std::mem::take(&mut *self.threads.lock()).into_iter().chain(self.hasher.lock().take()) {
            // A thread that panicked has said so on standard error.
            let _ = thread.join();
        }
        self.has_threads.store(false, Atomic::Relaxed);
    }

    /// Set when a merge is to be given up.
    pub(crate) fn stop_merge(&self) -> &AtomicBool {
        &self.stop_merge
    }

    /// A commit was added to the log.
    pub(crate) fn wake_hasher(&self) {
        // Either the hasher sees what was written before this, or this sees that it sleeps.
        fence(Atomic::SeqCst);
        if self.hasher_sleeps.load(Atomic::Relaxed) {
            let stop = {
                let work = self.work.lock();
                self.hasher_sleeps.store(false, Atomic::Relaxed);
                self.changed.notify_all();
                work.stop
            };
            if !stop {
                self.start_hasher();
            }
        }
    }

    /// Starts the hasher's thread, unless it runs.
    fn start_hasher(&self) {
        let mut hasher = self.hasher.lock();
        let shared = self.shared.get().and_then(Weak::upgrade);
        if let Some(shared) = shared.filter(|_| hasher.is_none() && !self.work.lock().stop) {
            let thread = crate::sync::thread::Builder::new().name("immuxdb-hash".to_owned());
            // Without it, hashes are made when they are asked for.
            *hasher = thread.spawn(move || hash_loop(&shared)).ok();
        }
    }

    /// Lets commits collect, and waits for one if there is none; `false` when the thread is to end.
    fn wait_for_commits(&self, are_there: impl Fn() -> bool) -> bool {
        let until = Instant::now() + HASHING_PAUSE;
        let mut work = self.work.lock();
        while !work.stop && !self.changed.wait_until(&mut work, until).timed_out() {}
        self.hasher_sleeps.store(true, Atomic::Relaxed);
        fence(Atomic::SeqCst);
        while !work.stop && self.hasher_sleeps.load(Atomic::Relaxed) && !are_there() {
            self.changed.wait(&mut work);
        }
        self.hasher_sleeps.store(false, Atomic::Relaxed);
        !work.stop
    }

    /// Waits for work; `false` when the thread is to end.
    fn wait_for(&self, ready: impl Fn(&Work) -> bool) -> bool {
        let mut work = self.work.lock();
        while !work.stop && (work.failed.is_some() || !ready(&work)) {
            self.changed.wait(&mut work);
        }
        work.busy += 1;
        !work.stop
    }

    /// One step ended. After a full disk the next one waits a little.
    fn step_ended(&self, full_of: fn(&mut Work) -> &mut Option<Error>, outcome: Result<()>) {
        let mut work = self.work.lock();
        work.busy -= 1;
        let full = matches!(outcome, Err(Error::NoSpace { .. }));
        match outcome {
            Ok(()) => *full_of(&mut work) = None,
            Err(error) if full => *full_of(&mut work) = Some(error),
            Err(error) => work.failed = Some(error.to_string()),
        }
        self.changed.notify_all();
        if full && !work.stop {
            self.changed.wait_for(&mut work, PAUSE_WHEN_FULL);
        }
    }
}

fn flush_loop(shared: &Shared) {
    let state = &shared.background;
    while state.wait_for(|work| work.frozen > 0) {
        let (began, log_bytes) = (Instant::now(), shared.oldest_frozen_log_bytes());
        let outcome = shared.flush_oldest().map(|_| ());
        let cost = (began.elapsed().as_nanos() as u64).saturating_mul(1024) / log_bytes.max(1);
        state.flush_cost.store(cost, Atomic::Relaxed);
        state.step_ended(|work| &mut work.full, outcome);
    }
}

fn merge_loop(shared: &Shared) {
    let state = &shared.background;
    while state.wait_for(|work| !work.merged) {
        let under_load = state.work.lock().frozen > 0;
        let outcome = shared.merge_some(under_load);
        if let Ok(false) = &outcome {
            // Nothing to merge, unless the runs have changed since.
            let mut work = state.work.lock();
            work.merged = work.runs == shared.view().runs.len() && !(under_load && work.frozen == 0);
        }
        state.step_ended(|work| &mut work.full_for_merge, outcome.map(|_| ()));
    }
}

fn hash_loop(shared: &Shared) {
    let mut goes_on = true;
    while goes_on {
        goes_on = if shared.hash_step() {
            !shared.background.work.lock().stop
        } else {
            shared.background.wait_for_commits(|| shared.has_unhashed_commits())
        };
    }
}
