//! What is to befall one life of a store, from an opening to the next.

use crate::disk::{Call, CrashKind, Effect, Fault, Target};
use crate::random::Random;

/// How a life ends, if nothing stops it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The store is closed.
    Close,
    /// Everything stops between two operations.
    Crash(CrashKind),
    /// The process that writes is killed; those that read go on.
    Kill,
}

/// What befalls the device in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfortune {
    None,
    /// A fault at some call.
    Fault(Fault),
    /// Only so many more bytes fit.
    Full(u64),
}

/// The plan of a life.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// Operations until the end.
    pub operations: u64,
    /// While the store is opened.
    pub opening: Option<Fault>,
    /// After it was opened.
    pub misfortune: Misfortune,
    pub end: End,
}

impl Life {
    /// Draws a plan. `number` counts lives: it walks through all sync points, one by one, before, in and after.
    /// `is_first`: the store is yet to be made.
    pub fn draw(random: &mut Random, number: u64, is_first: bool) -> Life {
        let misfortune = match random.below(20) {
            0..6 => Misfortune::Fault(stop_at_sync(number)),
            6..11 => Misfortune::Fault(Fault { target: target(random), after: soon(random), effect: stop(random) }),
            11 => Misfortune::Fault(of_one_process(random)),
            12 => Misfortune::Fault(Fault { target: target(random), after: soon(random), effect: Effect::IoError }),
            13 => Misfortune::Fault(Fault { target: Target::Changes, after: soon(random), effect: Effect::NoSpace }),
            14 => Misfortune::Full(random.below(20_000)),
            _ => Misfortune::None,
        };
        let stops =
            matches!(misfortune, Misfortune::Fault(Fault { effect, .. }) if effect.stops() || effect == Effect::Kill);
        let end = match random.below(20) {
            0..7 => End::Close,
            7..9 => End::Kill,
            _ => End::Crash(crash_kind(random)),
        };
        let opening = random.chance(if is_first { 70 } else { 20 }).then(|| {
            let stop = stop(random);
            let effect = random.weighted(&[(3, Effect::IoError), (1, Effect::NoSpace), (2, Effect::Kill), (12, stop)]);
            Fault { target: target(random), after: soon(random), effect }
        });
        // What is to be stopped lasts until then.
        let operations = if stops { LONG_LIFE } else { random.between(1, 40) };
        Life { operations, opening, misfortune, end }
    }
}

/// The most operations of a life.
const LONG_LIFE: u64 = 60;
/// The syncs at which lives are stopped, one after the other.
const SYNCS: u64 = 20;

/// What stops when something does.
pub(super) fn crash_kind(random: &mut Random) -> CrashKind {
    random.weighted(&[(2, CrashKind::Process), (3, CrashKind::Machine)])
}

/// A stop at the n-th sync; before, in, or after it.
fn stop_at_sync(number: u64) -> Fault {
    let effects = [Effect::StopBefore, Effect::StopAmid, Effect::StopAfter];
    let effect = effects[(number / SYNCS) as usize % effects.len()];
    Fault { target: Target::Syncs, after: number % SYNCS, effect }
}

fn stop(random: &mut Random) -> Effect {
    *random.pick(&[Effect::StopBefore, Effect::StopAmid, Effect::StopAmid, Effect::StopAfter])
}

/// What strikes one process, or one reading. A writer that dies before its sync leaves to others what it has written.
fn of_one_process(random: &mut Random) -> Fault {
    let (target, effect) = match random.below(4) {
        0 => (target(random), Effect::Corrupt),
        1 => (target(random), Effect::Kill),
        _ => (Target::Only(Call::Sync), Effect::Kill),
    };
    Fault { target, after: soon(random), effect }
}

/// A number of calls: mostly few.
fn soon(random: &mut Random) -> u64 {
    let most = 1 + random.below(50);
    random.below(most)
}

fn target(random: &mut Random) -> Target {
    match random.below(10) {
        0..2 => Target::Any,
        2..6 => Target::Changes,
        _ => Target::Only(*random.pick(&[
            Call::Read,
            Call::Write,
            Call::Write,
            Call::Sync,
            Call::SyncDir,
            Call::Rename,
            Call::Create,
            Call::SetLen,
            Call::Map,
            Call::Open,
            Call::Remove,
            Call::List,
        ])),
    }
}
