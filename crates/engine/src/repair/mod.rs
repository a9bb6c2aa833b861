//! Repairing: what is whole in a damaged log goes into a new one, and what is not is listed.
//!
//! A damaged log is never cut, and never written to: the chain opens read-only, up to the damage. What lies behind the
//! damage is whole as a rule, but some of it may lean on what is lost. So nothing is patched in place. Every commit that
//! can be read is committed again, in its order, to a new log, by the code that commits anything:
//!
//! ```text
//!   damaged   1   2   3   4  [ bytes that are no frames ]  8   9(one body is bad)  10
//!                                                          |   |
//!   new       1   2   3   4   -   -   -                    8   9 (without that operation)   10
//!                             5   6   7: commits without operations, by "immuxdb repair"
//! ```
//!
//! **Heights stay.** Whoever wrote down a height (in another system, on a receipt, in a backup's name) finds the same commit
//! there. The other way would have been new heights and a map from old to new; then every height that was ever given
//! out is wrong, and silently so. A height whose commit is lost is taken by a commit without operations, whose actor is
//! [`ACTOR`]. Heights are in every head, so the number of lost commits is known wherever a whole frame follows.
//!
//! **Times stay, actors stay.** A commit without operations has the time of the commit before it.
//!
//! **The log is a new one**, with its own id: positions, births and chain values are made anew, and nobody takes it for
//! the old one (a backup of the old log refuses to go on with it).
//!
//! **Of a commit with a bad body the rest is kept.** Thousands of rows of one load are not thrown away for one of them. It
//! does mean that such a commit is not the whole that it was, so each operation that is missing is told.
//!
//! What is missing changes what follows from it:
//!
//! * a unit whose newest version is lost is as it was before, until it is written again;
//! * where a deletion is lost, a unique index may have a value twice. Then the index comes to be as one that is not
//!   unique, which is told, and the salvage begins anew;
//! * where the definition of a grouping is lost, its name comes from the manifest, or is made up.
//!
//! Which units the lost commits wrote to, the runs know if they cover them; so do later versions, which name the height
//! of the version that they replaced. Both are asked.

mod losses;
mod salvage;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::chain::{check_is_free, index_directory, make_directory, open_for_writing};
use crate::environment::{Environment, ProcessIdentity};
use crate::error::{Error, Result};
use crate::log::LocalLog;
use crate::options::StoreOptions;
use crate::run::Manifest;
use crate::storage::{Storage, Unmapped};
use crate::types::{Durability, Height, Timestamp};
use crate::verify::Progress;

use self::losses::Losses;
use self::salvage::Salvage;

/// The actor of the commits that stand for lost ones.
pub const ACTOR: &str = "immuxdb repair";

/// Something that is not in the new log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// The commit, or the first of several; `None` where no height is known.
    pub height: Option<Height>,
    /// The last of them.
    pub last_height: Option<Height>,
    /// Where in the damaged log.
    pub offset: Option<u64>,
    /// How many bytes there.
    pub bytes: Option<u64>,
    /// The grouping that it concerns.
    pub grouping: Option<String>,
    /// The unit that it concerns, by its key.
    pub unit: Option<Vec<u8>>,
    /// What is missing, and why.
    pub what: String,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairSummary {
    /// The height of the new chain.
    pub height: Height,
    /// Commits that are as they were.
    pub whole: u64,
    /// Commits of which some operations are missing.
    pub partly: u64,
    /// Heights whose commits are lost.
    pub lost: u64,
    /// Losses that were told.
    pub losses: u64,
}

/// Makes a new log at `new` of all that is whole in the log at `damaged`. Losses are told when the new log is complete.
///
/// # Errors
/// [`Error::Invalid`] when there is something at `new`; [`Error::Format`] when `damaged` is no log, or of a newer ImmuxDB;
/// [`Error::Damaged`] when its header is, and no manifest tells its id; [`Error::Io`], [`Error::NoSpace`]. Nothing is at
/// `new` then.
pub fn repair(
    damaged: &Path,
    new: &Path,
    options: &StoreOptions,
    tell: &mut dyn FnMut(Loss),
    progress: &mut dyn FnMut(Progress),
) -> Result<RepairSummary> {
    let storage = &*options.storage;
    check_is_free(storage, new)?;
    let manifest = Manifest::load(storage, &index_directory(damaged)).ok().flatten();
    let unmapped: Arc<dyn Storage> = Arc::new(Unmapped(Arc::clone(&options.storage)));
    let mut losses = Losses::default();
    let log = match (LocalLog::open_reader(&unmapped, damaged), &manifest) {
        (Err(Error::Damaged { .. }), Some(manifest)) => {
            losses.note("the log's header is damaged; its id was taken from the manifest".to_owned());
            LocalLog::open_without_header(&unmapped, damaged, manifest.log_id, manifest.generation)?
        }
        (opened, _) => opened?,
    };
    if let Some(directory) = new.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        make_directory(storage, directory)?;
    }
    let mut relaxed = BTreeSet::new();
    loop {
        let clock = Arc::new(Clock { inner: Arc::clone(&options.environment), now: AtomicU64::new(0) });
        clock.set(log.header().created);
        // Nobody relies on the new log before it is complete: closing syncs all of it.
        let environment = Arc::<Clock>::clone(&clock);
        let options = StoreOptions { environment, durability: Durability::Buffered, ..options.clone() };
        let target = open_for_writing("repaired", new, &options)?;
        let mut attempt = Salvage::new(&log, &target, &clock, &relaxed, manifest.as_ref(), losses.clone());
        let done = attempt.run(progress);
        let (found, summary) = (std::mem::take(&mut attempt.losses), attempt.summary.clone());
        drop(attempt);
        let closed = target.close();
        drop(target);
        match done.and_then(|()| Ok(closed?)) {
            Err(salvage::Stop::NotUnique(indexes)) => {
                relaxed.extend(indexes);
                remove(storage, new)?;
            }
            Err(salvage::Stop::Error(error)) => {
                // The error tells more than that something of it stays.
                let _ = remove(storage, new);
                return Err(error);
            }
            Ok(()) => {
                losses = found;
                losses.add_units_of_runs(&*options.storage, &index_directory(damaged), manifest.as_ref());
                let told = losses.tell(tell);
                return Ok(RepairSummary { losses: told, ..summary });
            }
        }
    }
}

/// Removes a log that was only begun.
fn remove(storage: &dyn Storage, log: &Path) -> Result<()> {
    let directory = index_directory(log);
    let io = |error| Error::io(directory.as_path(), error);
    if storage.exists(&directory).map_err(io)? {
        for name in storage.list(&directory).map_err(io)? {
            storage.remove(&directory.join(name)).map_err(io)?;
        }
    }
    storage.remove(log).map_err(|error| Error::io(log, error))
}

/// The world, with the time of the commit that is being salvaged.
struct Clock {
    inner: Arc<dyn Environment>,
    now: AtomicU64,
}

impl Clock {
    fn set(&self, now: Timestamp) {
        self.now.store(now.0, Ordering::Relaxed);
    }
}

impl Environment for Clock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Relaxed))
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.inner.fill_random(bytes);
    }

    fn boot_id(&self) -> [u8; 16] {
        self.inner.boot_id()
    }

    fn process(&self) -> ProcessIdentity {
        self.inner.process()
    }
}
