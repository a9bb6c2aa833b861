//! Random histories of a store that is treated badly, and the comparison with the model.
//!
//! A seed decides everything: what is written and read, when the disk fails, when everything stops, what is left then.
//! It tells a history of some fifty *lives*:
//!
//! ```text
//!   ┌─> open the store ── crash in the middle? ──> again ─┐
//!   │        │                                            │
//!   │   compare: which height was found? is it within the promises? (ledger)
//!   │            does all that can be read equal the model at that height? (check)
//!   │        │
//!   │   write and read at random; each answer is compared (writes, reads)
//!   │        │   meanwhile, a fault may be waiting at some call (life)
//!   │        │
//!   │   close, or stop everything: the process, or the machine
//!   │        │
//!   └── sometimes: remove derived files, put old copies back (tampering)
//! ```
//!
//! The same seed gives the same history, to the byte: nothing here has threads, clocks or hash tables. So a failure is
//! one number, and can be told again with every step and every call of the disk in view.

mod batch;
mod check;
mod coverage;
mod ledger;
mod life;
mod listing;
mod processes;
mod proofs;
mod reads;
mod rot;
mod session;
mod tampering;
mod translate;
mod twins;
mod verifying;
mod vocabulary;
mod writes;

use std::fmt;
use std::sync::Arc;

use libimmuxdb::Height;

pub use coverage::Coverage;

use self::ledger::Ledger;
use self::life::{End, Life, Misfortune};
use self::processes::Reader;
use self::reads::Held;
use self::session::Session;
use self::tampering::Copies;
use self::vocabulary::Vocabulary;
use crate::disk::{CrashKind, Effect, SimulatedDisk};
use crate::environment::World;
use crate::random::Random;

/// The fewest operations of a history.
const OPERATIONS: u64 = 1_000;
/// The fewest crashes of a history.
const CRASHES: u64 = 50;

/// Who hears of each step of a run.
pub type Trace = Arc<dyn Fn(&str) + Send + Sync>;

/// A history that did not go as it must.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed that tells it.
    pub seed: u64,
    /// Operations up to the failure.
    pub operations: u64,
    /// What was expected, and what happened.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} fails at operation {}: {}", self.seed, self.operations, self.what)?;
        write!(f, "to see it happen: cargo xtask simulate --seed {}", self.seed)
    }
}

/// What a step gives; the text says what was expected and what happened instead.
type Outcome<T = ()> = Result<T, String>;

/// Tells the history of a seed.
///
/// # Errors
/// The first thing that was not as the model has it.
pub fn run(seed: u64, trace: Option<Trace>) -> Result<Coverage, Failure> {
    let mut driver = Driver::new(seed, trace);
    match driver.tell() {
        Ok(()) => Ok(driver.finish()),
        Err(what) => {
            driver.say(|| format!("FAILED: {what}"));
            Err(Failure { seed, operations: driver.operations, what })
        }
    }
}

/// A history that is being told.
struct Driver {
    random: Random,
    disk: SimulatedDisk,
    world: World,
    ledger: Ledger,
    session: Option<Session>,
    held: Held,
    reader: Option<Reader>,
    copies: Copies,
    vocabulary: Vocabulary,
    memory_limit: usize,
    /// How many syncs had failed when the store was last opened to write.
    failed_syncs: u64,
    /// Whether a bit of the files is wrong, so that it is right to fail with [`libimmuxdb::Error::Damaged`].
    is_rotten: bool,
    operations: u64,
    crashes: u64,
    lives: u64,
    coverage: Coverage,
    trace: Option<Trace>,
}

impl Driver {
    fn new(seed: u64, trace: Option<Trace>) -> Driver {
        let mut random = Random::new(seed);
        let disk = SimulatedDisk::new(random.fork());
        if let Some(trace) = trace.clone() {
            disk.trace(move |line| trace(line));
        }
        let world = World::new(random.fork());
        // From so little that each few commits make a run, to so much that there is none.
        let vocabulary = Vocabulary::draw(&mut random);
        let memory_limit = 1 << random.between(12, 20);
        Driver {
            random,
            disk,
            world,
            ledger: Ledger::default(),
            session: None,
            held: Held::default(),
            reader: None,
            copies: Copies::default(),
            vocabulary,
            memory_limit,
            failed_syncs: 0,
            is_rotten: false,
            operations: 0,
            crashes: 0,
            lives: 0,
            coverage: Coverage::default(),
            trace,
        }
    }

    /// Tells whoever listens.
    fn say(&self, line: impl FnOnce() -> String) {
        if let Some(trace) = &self.trace {
            trace(&line());
        }
    }

    fn tell(&mut self) -> Outcome {
        while self.operations < OPERATIONS || self.crashes < CRASHES {
            self.live()?;
        }
        self.open(None)?;
        self.check_everything()?;
        self.verify()?;
        self.close()
    }

    /// One life.
    fn live(&mut self) -> Outcome {
        let life = Life::draw(&mut self.random, self.lives, self.ledger.model.height() == Height::ZERO);
        self.lives += 1;
        self.say(|| format!("== life {}: {life:?}", self.lives));
        self.open(life.opening)?;
        self.check_everything()?;
        self.verify()?;
        match life.misfortune {
            Misfortune::None => {}
            Misfortune::Fault(fault) => self.disk.plan(fault),
            Misfortune::Full(bytes) => self.disk.set_quota(Some(self.disk.used() + bytes)),
        }
        for _ in 0..life.operations {
            if self.disk.stopped() || self.is_writer_dead() || self.session().has_unfilled_index {
                break;
            }
            self.operation()?;
        }
        let cause = self.disk.stopped();
        match life.end {
            _ if cause => self.crash_at_random(),
            _ if self.is_writer_dead() => self.kill()?,
            End::Close => self.close()?,
            End::Crash(kind) => self.crash(kind),
            End::Kill => self.kill()?,
        }
        self.disk.set_quota(None);
        self.tamper()
    }

    /// One operation.
    fn operation(&mut self) -> Outcome {
        self.operations += 1;
        if self.random.chance(55) { self.write() } else { self.read() }
    }

    fn crash_at_random(&mut self) {
        let kind = life::crash_kind(&mut self.random);
        self.crash(kind);
    }

    /// Whether a fault has killed the process that writes.
    fn is_writer_dead(&self) -> bool {
        self.session.as_ref().is_some_and(|session| self.disk.is_dead(&session.process))
    }

    /// The process that writes is killed. Those that read go on, until the next one writes, or the machine stops.
    fn kill(&mut self) -> Outcome {
        self.say(|| "-- kill the writer".to_owned());
        self.crashes += 1;
        self.coverage.count("crash: the writer alone");
        self.disk.clear_faults();
        if let Some(session) = &self.session {
            self.disk.kill(&session.process);
        }
        self.ledger.crashed(CrashKind::Process);
        self.held = Held::default();
        self.session = None;
        if self.random.chance(80) {
            self.coverage.count("reader goes on without a writer");
            self.read_elsewhere()?;
        }
        if self.random.chance(50) {
            self.crash_at_random();
        }
        Ok(())
    }

    /// Everything stops, and starts again.
    fn crash(&mut self, kind: CrashKind) {
        self.say(|| format!("-- crash: {kind:?}"));
        self.crashes += 1;
        self.coverage.count(format!("crash: {kind:?}"));
        self.disk.crash(kind);
        self.world.crash(kind);
        self.ledger.crashed(kind);
        // What the dead processes still do as their memory is taken apart reaches no disk.
        self.held = Held::default();
        self.reader = None;
        self.session = None;
    }

    fn finish(mut self) -> Coverage {
        self.coverage.add("operations", self.operations);
        self.coverage.add("crashes", self.crashes);
        self.coverage.add("lives", self.lives);
        self.coverage.add("commits in the end", self.ledger.model.height().0);
        self.coverage.add("clock ran backwards", self.world.backward_jumps());
        for ((effect, call), times) in self.disk.fired() {
            let effect = match effect {
                Effect::IoError => "EIO",
                Effect::NoSpace => "ENOSPC",
                Effect::StopBefore => "stop before",
                Effect::StopAmid => "stop in",
                Effect::StopAfter => "stop after",
                Effect::Kill => "kill at",
                Effect::Corrupt => "bit flipped in",
            };
            self.coverage.add(format!("fault: {effect} {call:?}"), times);
        }
        for (event, times) in self.disk.events() {
            self.coverage.add(format!("disk: {event}"), times);
        }
        for (call, times) in self.disk.calls() {
            self.coverage.add(format!("calls: {call:?}"), times);
        }
        self.coverage
    }
}
