//! The chain as its users hold it.

use std::path::Path;
use std::sync::Arc;

use immuxdb_proof::{ExtensionProof, Root, UnitProof};

use super::open::{RecoveryReport, open_for_reading, open_for_writing};
use super::stats::ChainStats;
use super::{Access, Shared};
use crate::error::{Error, Result};
use crate::grouping::Grouping;
use crate::log::Log;
use crate::options::StoreOptions;
use crate::snapshot::Snapshot;
use crate::sync::atomic::Ordering as Atomic;
use crate::transaction::Transaction;
use crate::types::{GroupingId, Height, Timestamp};

/// A namespace with its own log and its own heights.
///
/// Dropping the last handle closes the chain; [`crate::Store::close`] does so and reports errors.
pub struct Chain {
    shared: Arc<Shared>,
}

/// A grouping, as [`Chain::groupings`] lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupingInfo {
    /// Its name.
    pub name: String,
    /// Its number in the chain.
    pub id: GroupingId,
    /// The height at which it came to be.
    pub created: Height,
}

impl Chain {
    /// Opens the chain whose log is the file `path`, for reading and writing; makes it if it is missing. It is a store by
    /// itself: what is derived from the log is in the directory `path.idx`, which comes to be when there is enough of it.
    ///
    /// # Errors
    /// [`Error::Held`], [`Error::Format`], [`Error::Damaged`], [`Error::Io`] (also when the file's directory is missing),
    /// [`Error::NoSpace`].
    pub fn open_file(path: impl AsRef<Path>, options: &StoreOptions) -> Result<Arc<Chain>> {
        let path = path.as_ref();
        let shared = open_for_writing(&name_of(path), path, options)?;
        Ok(Arc::new(Chain::new(shared)))
    }

    /// Opens the chain whose log is the file `path`, for reading. Nothing is written, and no lock is taken.
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Damaged`], [`Error::Io`].
    pub fn open_file_read_only(path: impl AsRef<Path>, options: &StoreOptions) -> Result<Arc<Chain>> {
        let path = path.as_ref();
        let shared = open_for_reading(&name_of(path), path, options)?;
        Ok(Arc::new(Chain::new(shared)))
    }

    pub(crate) fn new(shared: Arc<Shared>) -> Chain {
        Chain { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The chain's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The newest height that readers see.
    #[must_use]
    pub fn height(&self) -> Height {
        self.shared.visible()
    }

    /// The newest height that is known to survive power loss.
    #[must_use]
    pub fn synced_height(&self) -> Height {
        self.shared.log.durable_height()
    }

    /// A grouping by its name. It comes to be with its first write.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::TooLarge`]: the name cannot be.
    pub fn grouping(self: &Arc<Self>, name: &str) -> Result<Grouping> {
        Grouping::new(self, name)
    }

    /// The groupings that are there, in the order in which they came to be.
    #[must_use]
    pub fn groupings(&self) -> Vec<GroupingInfo> {
        let catalog = self.shared.catalog.read();
        let visible = self.height();
        let there = catalog.groupings().iter().filter(|grouping| grouping.created <= visible);
        there
            .map(|grouping| GroupingInfo { name: grouping.name.clone(), id: grouping.id, created: grouping.created })
            .collect()
    }

    /// Whether a grouping is there.
    #[must_use]
    pub fn has_grouping(&self, name: &str) -> bool {
        let grouping = self.shared.catalog.read().grouping(name);
        grouping.is_some_and(|grouping| grouping.created <= self.height())
    }

    /// Why this chain, although it was opened for writing, takes no commits: damage that was found when it was opened, or
    /// an I/O error since. `None` as long as it takes them.
    #[must_use]
    pub fn trouble(&self) -> Option<Error> {
        match &self.shared.recovery.damage {
            Some(damage) => Some(Error::ReadOnly(damage.clone())),
            None => self.shared.log.poison().or_else(|| self.shared.background.failure()).map(Error::Poisoned),
        }
    }

    /// The chain as it is now, to read from while others write. In a read-only chain this looks for new commits first.
    ///
    /// # Errors
    /// Those of [`Chain::refresh`].
    pub fn snapshot(self: &Arc<Self>) -> Result<Snapshot> {
        self.refresh()?;
        Ok(Snapshot::new(self, self.height()))
    }

    /// The chain as it was after the commit at `height`.
    ///
    /// # Errors
    /// [`Error::HeightUnknown`] beyond the newest height.
    pub fn snapshot_at(self: &Arc<Self>, height: Height) -> Result<Snapshot> {
        let newest = self.refresh()?;
        if height > newest {
            return Err(Error::HeightUnknown { asked: height, newest });
        }
        Ok(Snapshot::new(self, height))
    }

    /// The newest height whose commit happened at or before `time`; [`Height::ZERO`] before the first.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn height_at(&self, time: Timestamp) -> Result<Height> {
        self.shared.height_at(time)
    }

    /// When the commit at `height` happened.
    ///
    /// # Errors
    /// [`Error::HeightUnknown`]; [`Error::Damaged`], [`Error::Io`].
    pub fn time_of(&self, height: Height) -> Result<Timestamp> {
        self.shared.time_of(height)
    }

    /// A commit of several operations, which happen at one height or not at all.
    #[must_use]
    pub fn begin(self: &Arc<Self>) -> Transaction {
        Transaction::new(self)
    }

    /// Makes all commits so far survive power loss.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Io`].
    pub fn sync(&self) -> Result<()> {
        let height = self.shared.log.newest().height;
        self.shared.wait_until_synced(height)
    }

    /// Waits until the background has written and merged all that it would.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Poisoned`]: the background cannot go on.
    pub fn drain(&self) -> Result<()> {
        self.shared.drain()
    }

    /// With [`crate::Background::Manual`]: does one piece of background work; `false` when there is none.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Io`].
    pub fn run_background_step(&self) -> Result<bool> {
        self.shared.background_step()
    }

    /// The root hash of the chain's history up to a height: what to keep elsewhere, to notice one day that somebody has
    /// rewritten it.
    ///
    /// # Errors
    /// [`Error::HeightUnknown`]; [`Error::Damaged`], [`Error::Io`].
    pub fn root(&self, height: Height) -> Result<Root> {
        self.refresh()?;
        self.shared.root(height)
    }

    /// The proof of what a unit was given by its newest version at or below `height`, which may be a deletion. It is
    /// checked against [`Chain::root`] of that height.
    ///
    /// # Errors
    /// [`Error::GroupingMissing`], [`Error::UnitMissing`]: there was none then. [`Error::HeightUnknown`];
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn prove(&self, grouping: &str, key: &[u8], height: Height) -> Result<UnitProof> {
        self.refresh()?;
        self.shared.prove(grouping, key, height)
    }

    /// The proof that the history up to the height `new` begins with that up to `old`.
    ///
    /// # Errors
    /// [`Error::HeightUnknown`], [`Error::Invalid`] when `old` is above `new`; [`Error::Damaged`], [`Error::Io`].
    pub fn prove_extends(&self, old: Height, new: Height) -> Result<ExtensionProof> {
        self.refresh()?;
        self.shared.prove_extends(old, new)
    }

    /// Sizes and counts.
    #[must_use]
    pub fn stats(&self) -> ChainStats {
        self.shared.stats()
    }

    /// In a read-only chain: takes in what the writer has committed since. Gives the newest height.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn refresh(&self) -> Result<Height> {
        if matches!(self.shared.access, Access::Follow) && self.shared.recovery.damage.is_none() {
            self.shared.follow()?;
        }
        Ok(self.height())
    }

    /// What opening the chain found.
    #[must_use]
    pub fn recovery(&self) -> &RecoveryReport {
        &self.shared.recovery
    }

    /// Closes the chain: writes what the next opening would take long to replay, syncs unless that is to be done
    /// [on demand](crate::Syncing::OnDemand), and gives the lock back. Handles to it can read on.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Io`], [`Error::NoSpace`].
    pub fn close(&self) -> Result<()> {
        self.shared.close()
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // Whoever wants to know calls `Store::close`; what was promised is in the log already.
        let _ = self.shared.close();
    }
}

/// A file's chain is called as the file.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Shared {
    /// The newest height that readers see.
    pub(crate) fn visible(&self) -> Height {
        Height(self.visible.load(Atomic::Acquire))
    }
}
