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
    /// Draws a plan. `number` counts lives: it walks through all sync points, one by one, before and after.
    pub fn draw(random: &mut Random, number: u64) -> Life {
        let misfortune = match random.below(20) {
            0..10 => Misfortune::Fault(stop(random, number)),
            10..12 => {
                Misfortune::Fault(Fault { target: target(random), after: random.below(60), effect: Effect::IoError })
            }
            12 => {
                Misfortune::Fault(Fault { target: Target::Changes, after: random.below(60), effect: Effect::NoSpace })
            }
            13 => Misfortune::Full(random.below(20_000)),
            _ => Misfortune::None,
        };
        let end = if random.chance(35) { End::Close } else { End::Crash(crash_kind(random)) };
        let opening = random.chance(15).then(|| {
            let stop = stop_effect(random);
            let effect = random.weighted(&[(3, Effect::IoError), (1, Effect::NoSpace), (12, stop)]);
            Fault { target: target(random), after: random.below(30), effect }
        });
        Life { operations: random.between(1, 40), opening, misfortune, end }
    }
}

/// What stops when something does.
pub(super) fn crash_kind(random: &mut Random) -> CrashKind {
    random.weighted(&[(2, CrashKind::Process), (3, CrashKind::Machine)])
}

/// A stop: mostly at a sync, the n-th of the n-th life.
fn stop(random: &mut Random, number: u64) -> Fault {
    if random.chance(60) {
        const SYNCS: u64 = 24;
        let effect = *random.pick(&[Effect::StopBefore, Effect::StopAmid, Effect::StopAfter]);
        return Fault { target: Target::Syncs, after: number % SYNCS, effect };
    }
    Fault { target: target(random), after: random.below(100), effect: stop_effect(random) }
}

fn stop_effect(random: &mut Random) -> Effect {
    *random.pick(&[Effect::StopBefore, Effect::StopAmid, Effect::StopAmid, Effect::StopAfter])
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
