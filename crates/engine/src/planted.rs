//! Faults that are put in on purpose, so that the simulation can show that it would find them.
//!
//! A simulation that passes proves little: it may look in the wrong places. So each kind of mistake that would cost
//! somebody data is written down here and *planted* where it would be made, behind a switch that only the feature
//! `planted` has:
//!
//! ```text
//! if !planted::is(Fault::LogNotSynced) {
//!     self.file.sync_data()?;
//! }
//! ```
//!
//! The simulator runs with one fault after the other, and a fault that it does not find is a hole in the simulation.
//! Without the feature [`is`] is a constant, and nothing of this reaches a program.

#[cfg(any(test, feature = "planted"))]
use std::cell::Cell;

macro_rules! faults {
    ($($name:ident, $what:literal;)*) => {
        /// A mistake that somebody could make in the engine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $(#[doc = $what] $name,)*
        }

        #[cfg(any(test, feature = "planted"))]
        impl Fault {
            /// All of them.
            pub const ALL: &[Fault] = &[$(Fault::$name),*];

            /// What is wrong, in words.
            #[must_use]
            pub fn what(self) -> &'static str {
                match self {
                    $(Fault::$name => $what,)*
                }
            }
        }
    };
}

faults! {
    LogNotSynced, "a `Sync` commit returns without a sync of the log";
    LogNotSyncedBeforeManifest, "a manifest is replaced without a sync of the log that it speaks of";
    RunNotSynced, "a run is named by a manifest, and was never synced";
    DirectoryNotSynced, "the name of a new log is not made durable";
    StatusBeforeSync, "the status slot calls synced what is only written";
    SecondSyncBelieved, "what an earlier process wrote is synced without being written once more";
    FailedSyncForgotten, "writing goes on after a sync that failed";
    HalfWriteKept, "on a full disk the part of a frame that was written counts as part of the log";
    HeadChecksumDropped, "the checksum of a frame's head is not looked at";
    BodyChecksumDropped, "the checksum of a body is not looked at";
    BlockChecksumDropped, "the checksum of a run's block is not looked at";
    ManifestChecksumDropped, "the checksum of the manifest is not looked at";
    ChainValueDropped, "whether a frame belongs behind the one before is not looked at";
    SyncedHeightIgnored, "what is known to be synced is not asked for where a log seems to end";
    PromisedTailCut, "the last commit is cut off, if nobody has called it synced";
    StaleIndexTrusted, "runs are used without asking whether they fit the log";
    LockIgnored, "a second writer is let in";
    HalfBatchApplied, "readers see the first half of a transaction only";
    HalfBatchReplayed, "the first half of a transaction only is replayed from the log";
    PublishedBeforeAppend, "readers see a height before its commit is in the log";
    ConditionIgnored, "a compare-and-set does not compare";
    UniqueNotChecked, "a unique index takes a key value that filters do not rule out without a look";
    KillForgotten, "a merge forgets that an entry ended";
    KillForgottenAtFlush, "an entry that ended in its own delta is written as a living one";
    ClearForgotten, "a merge forgets a clear";
    DropForgotten, "an index that was dropped is there after the next opening";
    BirthsOutOfOrder, "a rewrite that keeps its key value goes behind the others of that value";
    EndOffByOne, "an entry is still there at the height of its end";
    FilterSaysNo, "a filter says no to some keys that are there";
    StaleHintTrusted, "the hint of an entry is believed without asking newer sources";
    DeadStretchKept, "a stretch of dead entries stays so when one is born in it";
    ViewLosesDelta, "a frozen delta leaves the view before its run is there";
    FillMissesRewrites, "a new index has the newest versions of units, and not those of its height";
    FollowerSeesHalfCommit, "a follower takes the first half of a transaction only";
    FollowerShowsUnsynced, "a follower shows a `Sync` commit that it has not seen synced";
    TimeRunsBackwards, "a commit's time is the clock's, whatever the time of the one before";
}

#[cfg(any(test, feature = "planted"))]
thread_local! {
    static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Plants a fault for this thread, or none.
#[cfg(any(test, feature = "planted"))]
pub fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

/// Whether this thread has a fault planted.
#[cfg(any(test, feature = "planted"))]
#[must_use]
pub fn is_planted() -> bool {
    PLANTED.get().is_some()
}

/// Whether the fault is planted.
#[cfg(any(test, feature = "planted"))]
#[must_use]
pub(crate) fn is(fault: Fault) -> bool {
    PLANTED.get() == Some(fault)
}

/// Whether the fault is planted: it cannot be.
#[cfg(not(any(test, feature = "planted")))]
#[must_use]
pub(crate) const fn is(_: Fault) -> bool {
    false
}
