//! What goes wrong, and when: the calls are counted, and a plan says at which one.

use std::collections::BTreeMap;
use std::io;

/// The kinds of calls that a disk takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Opening a file that is there.
    Open,
    /// Creating a file.
    Create,
    /// Reading.
    Read,
    /// Mapping.
    Map,
    /// Writing.
    Write,
    /// Cutting or extending.
    SetLen,
    /// `fdatasync` of a file.
    Sync,
    /// `fsync` of a directory.
    SyncDir,
    /// Renaming.
    Rename,
    /// Removing.
    Remove,
    /// Listing a directory.
    List,
    /// Creating a directory.
    CreateDir,
    /// Taking or asking about a lock.
    Lock,
    /// Asking for a length, an identity, or whether a path exists.
    Look,
}

impl Call {
    /// Whether the call changes anything.
    #[must_use]
    pub fn changes(self) -> bool {
        !matches!(self, Call::Open | Call::Read | Call::Map | Call::List | Call::Lock | Call::Look)
    }

    /// Whether the call makes something durable.
    #[must_use]
    pub fn syncs(self) -> bool {
        matches!(self, Call::Sync | Call::SyncDir)
    }
}

/// Which calls a fault waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Every call.
    Any,
    /// Calls that change something.
    Changes,
    /// Calls that make something durable.
    Syncs,
    /// Calls of one kind.
    Only(Call),
}

impl Target {
    fn includes(self, call: Call) -> bool {
        match self {
            Target::Any => true,
            Target::Changes => call.changes(),
            Target::Syncs => call.syncs(),
            Target::Only(kind) => kind == call,
        }
    }
}

/// What happens at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// `EIO`. A write may have been done in part; of what a sync should have written, some may be lost for good.
    IoError,
    /// `ENOSPC`. A write may have been done in part.
    NoSpace,
    /// Everything stops before the call has done anything.
    StopBefore,
    /// Everything stops in the middle of the call: a write is done in part, a sync has written a part.
    StopAmid,
    /// Everything stops when the call is done, before the caller hears of it.
    StopAfter,
    /// The process that calls is killed before the call has done anything; others go on.
    Kill,
    /// What is read has one bit flipped, this time. The bytes on the device are right. (Calls that read no content go well.)
    Corrupt,
}

impl Effect {
    /// Whether everything stops.
    #[must_use]
    pub fn stops(self) -> bool {
        matches!(self, Effect::StopBefore | Effect::StopAmid | Effect::StopAfter)
    }

    /// Whether a call can meet it.
    fn meets(self, call: Call) -> bool {
        self != Effect::Corrupt || matches!(call, Call::Read | Call::Map)
    }
}

/// A fault that waits for its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The calls that count.
    pub target: Target,
    /// How many of them still go well.
    pub after: u64,
    /// What happens then.
    pub effect: Effect,
}

/// The counts of calls, and the faults that wait.
#[derive(Debug, Default)]
pub(super) struct Faults {
    waiting: Vec<Fault>,
    stopped: bool,
    calls: BTreeMap<Call, u64>,
    fired: BTreeMap<(Effect, Call), u64>,
}

impl Faults {
    pub fn plan(&mut self, fault: Fault) {
        self.waiting.push(fault);
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    pub fn restart(&mut self) {
        self.waiting.clear();
        self.stopped = false;
    }

    pub fn stopped(&self) -> bool {
        self.stopped
    }

    pub fn calls(&self) -> &BTreeMap<Call, u64> {
        &self.calls
    }

    pub fn fired(&self) -> &BTreeMap<(Effect, Call), u64> {
        &self.fired
    }

    /// Counts a call. The effect, if this is the call that a fault waited for.
    pub fn meet(&mut self, call: Call) -> Option<Effect> {
        *self.calls.entry(call).or_default() += 1;
        let mut met = None;
        self.waiting.retain_mut(|fault| {
            if !fault.target.includes(call) || !fault.effect.meets(call) || met.is_some() {
                return true;
            }
            if fault.after > 0 {
                fault.after -= 1;
                return true;
            }
            met = Some(fault.effect);
            false
        });
        if let Some(effect) = met {
            *self.fired.entry((effect, call)).or_default() += 1;
            self.stopped |= effect.stops();
        }
        met
    }
}

pub(super) fn io_error() -> io::Error {
    io::Error::other("simulated I/O error")
}

pub(super) fn no_space() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "simulated full device")
}

pub(super) fn stopped() -> io::Error {
    io::Error::other("the simulated machine has stopped")
}
