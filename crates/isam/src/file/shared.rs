//! An open file, which the connectors of a run unit share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use libimmuxdb::{Chain, Error, Grouping};
use parking_lot::RwLock;

use super::RECORDS;
use super::hold::Hold;
use super::place::Identity;
use crate::layout::Layout;

/// One file, one engine. Opened for input first and then for more, it gets another engine, which the connectors take up
/// with their next operation.
pub(crate) struct SharedFile {
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) layout: Layout,
    pub(crate) hold: Hold,
    chain: RwLock<Arc<Chain>>,
    /// Counts the engines.
    epoch: AtomicU64,
}

impl SharedFile {
    pub(crate) fn new(path: &Path, identity: Identity, layout: Layout, hold: Hold, chain: Arc<Chain>) -> SharedFile {
        let (path, chain) = (path.to_owned(), RwLock::new(chain));
        SharedFile { path, identity, layout, hold, chain, epoch: AtomicU64::new(0) }
    }

    /// Which engine it is; another number says that [`SharedFile::records`] gives another one.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// The records, and the epoch of their engine.
    pub(crate) fn records(&self) -> Result<(Grouping, u64), Error> {
        let chain = self.chain.read();
        Ok((chain.grouping(RECORDS)?, self.epoch()))
    }

    /// The engine.
    pub(crate) fn chain(&self) -> Arc<Chain> {
        Arc::clone(&self.chain.read())
    }

    /// Goes on with another engine on the same file.
    pub(crate) fn change(&self, chain: Arc<Chain>) {
        let mut current = self.chain.write();
        *current = chain;
        self.epoch.fetch_add(1, Ordering::Release);
    }
}
