//! A disk that keeps its promises and nothing more.
//!
//! A real disk mostly does better than it must: bytes that nobody synced are usually there after a crash, in order. So
//! a program that syncs too little passes every test on a real disk, and loses data once in ten years. This one does as
//! badly as it may, and at any moment:
//!
//! | what happens | what is left |
//! |---|---|
//! | the process dies ([`CrashKind::Process`]) | all that was written: the operating system has it. Locks and handles end |
//! | the machine stops ([`CrashKind::Machine`]) | of each file: what was synced, and of the writes since then a random part, in no order, each whole or torn (at a sector, at a byte, with holes), or only its length, with zeroes or rubbish |
//! | | of each directory: the entries that were synced, and a random number of the changes since, in order |
//! | a call fails with `EIO` | a write: any part of it. A sync: what it did not write may never be written, and the next sync succeeds all the same. Who else has the file open hears of it at his next sync, once |
//! | a call fails with `ENOSPC` | a write: any part of it |
//! | everything stops before, in or after a call | as above; every later call fails until somebody calls [`SimulatedDisk::crash`] |
//! | the process that calls is killed | its handles and locks are gone; others, as its readers, go on |
//! | what is read, or mapped, has one bit flipped | the device still has the right one |
//!
//! [`SimulatedDisk`] is the device; [`SimulatedDisk::start_process`] gives what one process has of it, the engine's
//! [`Storage`](libimmuxdb::storage::Storage). Several can live at once, as a writer and its readers do. There is no
//! clock and no thread here, and nothing depends on the order of a hash table: a seed and the calls decide everything.

mod faults;
mod image;
mod process;
mod state;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

pub use faults::{Call, Effect, Fault, Target};
pub use process::Process;
pub use tree::Saved;

use self::state::State;
use crate::random::Random;

/// What stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashKind {
    /// All processes (`kill -9`); the operating system goes on.
    Process,
    /// The machine: the power goes.
    Machine,
}

/// A device with files on it.
#[derive(Clone)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

impl SimulatedDisk {
    /// An empty disk, whose misfortunes follow from `random`.
    #[must_use]
    pub fn new(random: Random) -> SimulatedDisk {
        SimulatedDisk { state: Arc::new(Mutex::new(State::new(random))) }
    }

    /// Tells `trace` of every call from now on.
    pub fn trace(&self, trace: impl Fn(&str) + Send + Sync + 'static) {
        self.state.lock().trace = Some(Box::new(trace));
    }

    /// The disk for a new process. The process has it until it dies.
    #[must_use]
    pub fn start_process(&self) -> Arc<Process> {
        let id = self.state.lock().start_process();
        Arc::new(Process { state: Arc::clone(&self.state), id })
    }

    /// Kills one process (`kill -9`); others go on.
    pub fn kill(&self, process: &Process) {
        self.state.lock().kill(process.id);
    }

    /// Kills all processes, or stops the machine, and starts it again: all processes and handles are dead, no fault is
    /// waiting, and the disk holds what the crash left.
    pub fn crash(&self, kind: CrashKind) {
        let state = &mut *self.state.lock();
        state.kill_all();
        match kind {
            CrashKind::Process => state.collect(),
            CrashKind::Machine => {
                let losses = state.tree.lose_power(&mut state.random);
                state.count("unsynced change survived", losses.kept);
                state.count("unsynced change lost", losses.lost);
                state.count("unsynced write torn", losses.torn);
                state.count("unsynced change out of order", losses.reordered);
                state.count("length without bytes", losses.lengths_only);
            }
        }
    }

    /// Plans a fault.
    pub fn plan(&self, fault: Fault) {
        self.state.lock().faults.plan(fault);
    }

    /// Drops the faults that are waiting.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Whether a fault has stopped everything.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.state.lock().faults.stopped()
    }

    /// Whether a process is dead.
    #[must_use]
    pub fn is_dead(&self, process: &Process) -> bool {
        !self.state.lock().processes.contains(&process.id)
    }

    /// How often a sync has failed: what it should have written may be clean in the cache and not on the device.
    #[must_use]
    pub fn failed_syncs(&self) -> u64 {
        let state = self.state.lock();
        let failed = |&(effect, call): &(Effect, Call)| {
            call == Call::Sync && matches!(effect, Effect::IoError | Effect::NoSpace)
        };
        state.faults.fired().iter().filter(|(met, _)| failed(met)).map(|(_, times)| times).sum()
    }

    /// How often something was read wrongly.
    #[must_use]
    pub fn corruptions(&self) -> u64 {
        let state = self.state.lock();
        state.faults.fired().iter().filter(|((effect, _), _)| *effect == Effect::Corrupt).map(|(_, times)| times).sum()
    }

    /// Sets how many bytes fit on the device; `None`: any number.
    pub fn set_quota(&self, quota: Option<u64>) {
        self.state.lock().quota = quota;
    }

    /// The bytes that its files take.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.state.lock().tree.used()
    }

    /// How often each kind of call was made.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<Call, u64> {
        self.state.lock().faults.calls().clone()
    }

    /// How often each effect has met each kind of call.
    #[must_use]
    pub fn fired(&self) -> BTreeMap<(Effect, Call), u64> {
        self.state.lock().faults.fired().clone()
    }

    /// The number of faults that have happened, those of a full disk included: whoever compares it before and after knows
    /// whether a failure had a cause.
    #[must_use]
    pub fn misfortunes(&self) -> u64 {
        self.count_misfortunes(|_, _| true) + self.state.lock().event("full disk")
    }

    /// The number of faults after which nobody can know what is on the disk: all but `ENOSPC` of a call that writes.
    #[must_use]
    pub fn wounds(&self) -> u64 {
        self.count_misfortunes(|effect, call| effect != Effect::NoSpace || call.syncs())
    }

    fn count_misfortunes(&self, counts: impl Fn(Effect, Call) -> bool) -> u64 {
        let state = self.state.lock();
        let fired = state.faults.fired().iter().filter(|((effect, call), _)| counts(*effect, *call));
        fired.map(|(_, times)| times).sum::<u64>() + state.event("sync failed in another process")
    }

    /// How often each thing befell the disk in crashes.
    #[must_use]
    pub fn events(&self) -> BTreeMap<&'static str, u64> {
        self.state.lock().events().clone()
    }

    /// A copy of the file or directory at `path`, as `cp -r` would make it.
    ///
    /// # Errors
    /// There is nothing.
    pub fn save(&self, path: &Path) -> io::Result<Saved> {
        self.state.lock().tree.save(path)
    }

    /// Puts a copy at `path`, or nothing, in place of what is there; at once and durably. No process may be using it.
    ///
    /// # Errors
    /// The directory above is missing.
    pub fn replace(&self, path: &Path, saved: Option<&Saved>) -> io::Result<()> {
        self.state.lock().tree.replace(path, saved)
    }
}
