//! A world that an engine can live in without noticing: a clock, randomness and identities that follow from a seed.
//!
//! The clock is as bad as real ones are. It mostly advances a little, sometimes by hours, and sometimes runs backwards,
//! as when somebody sets it: the engine has to keep the time of its log from doing so.

use std::sync::Arc;

use libimmuxdb::Timestamp;
use libimmuxdb::environment::{Environment, ProcessIdentity};
use parking_lot::Mutex;

use crate::disk::CrashKind;
use crate::random::Random;

/// Microseconds: 2026-01-01 00:00 UTC.
const START: u64 = 1_767_225_600_000_000;
const SECOND: u64 = 1_000_000;

/// The world, for all processes that live in it.
#[derive(Clone)]
pub struct World {
    state: Arc<Mutex<State>>,
}

struct State {
    random: Random,
    clock: u64,
    boot_id: [u8; 16],
    processes: u32,
    backwards: u64,
}

impl World {
    /// A world that follows from `random`.
    #[must_use]
    pub fn new(mut random: Random) -> World {
        let mut boot_id = [0; 16];
        random.fill(&mut boot_id);
        let state = State { random, clock: START, boot_id, processes: 0, backwards: 0 };
        World { state: Arc::new(Mutex::new(state)) }
    }

    /// The environment of a new process.
    #[must_use]
    pub fn start_process(&self) -> Arc<SimulatedEnvironment> {
        let mut state = self.state.lock();
        state.processes += 1;
        let identity = ProcessIdentity { id: state.processes, started: Timestamp(state.clock) };
        let boot_id = state.boot_id;
        Arc::new(SimulatedEnvironment { state: Arc::clone(&self.state), identity, boot_id })
    }

    /// A crash passes through the world: a machine that starts again has another boot id.
    pub fn crash(&self, kind: CrashKind) {
        if kind == CrashKind::Machine {
            let State { random, boot_id, .. } = &mut *self.state.lock();
            random.fill(boot_id);
        }
    }

    /// How often the clock has run backwards.
    #[must_use]
    pub fn backward_jumps(&self) -> u64 {
        self.state.lock().backwards
    }
}

/// What one process sees of the world.
pub struct SimulatedEnvironment {
    state: Arc<Mutex<State>>,
    identity: ProcessIdentity,
    boot_id: [u8; 16],
}

impl Environment for SimulatedEnvironment {
    fn now(&self) -> Timestamp {
        let state = &mut *self.state.lock();
        match state.random.below(100) {
            0 => state.clock += state.random.below(86_400 * SECOND),
            1 => {
                state.backwards += 1;
                state.clock -= state.random.below(3_600 * SECOND).min(state.clock - START);
            }
            2..10 => {}
            _ => state.clock += state.random.below(2_000),
        }
        Timestamp(state.clock)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.state.lock().random.fill(bytes);
    }

    fn boot_id(&self) -> [u8; 16] {
        self.boot_id
    }

    fn process(&self) -> ProcessIdentity {
        self.identity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_machine_that_restarts_has_another_boot_id() {
        let world = World::new(Random::new(1));
        let first = world.start_process();
        world.crash(CrashKind::Process);
        let second = world.start_process();
        assert_eq!(first.boot_id(), second.boot_id());
        assert_ne!(first.process().id, second.process().id);
        world.crash(CrashKind::Machine);
        assert_ne!(first.boot_id(), world.start_process().boot_id());
    }

    #[test]
    fn the_clock_runs_backwards_now_and_then() {
        let world = World::new(Random::new(1));
        let process = world.start_process();
        let times: Vec<_> = (0..1000).map(|_| process.now()).collect();
        assert!(times.windows(2).any(|pair| pair[1] < pair[0]));
        assert!(world.backward_jumps() > 0);
        assert!(times.iter().all(|time| time.0 >= START));
    }
}
