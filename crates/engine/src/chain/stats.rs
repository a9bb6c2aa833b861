//! Sizes and counts of a chain.

use super::Shared;
use crate::log::Log;
use crate::types::Height;

/// Sizes and counts of an open chain.
#[derive(Clone, Debug)]
pub struct ChainStats {
    /// The newest height.
    pub height: Height,
    /// The newest height that is known to survive power loss.
    pub synced: Height,
    /// The height up to which the hashes for proofs are made, where that happens in the background.
    pub hashed: Height,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// The runs, oldest first.
    pub runs: Vec<RunStats>,
    /// An estimate of the memory that newest entries take, in bytes.
    pub delta_bytes: usize,
    /// Deltas that wait for being written.
    pub frozen: usize,
}

/// Sizes and counts of a run.
#[derive(Clone, Debug)]
pub struct RunStats {
    /// The first height of its stretch.
    pub start: Height,
    /// The last one; below `start` for the entries of a new index.
    pub end: Height,
    /// Bytes of its file.
    pub bytes: u64,
    /// Versions of units.
    pub versions: u64,
    /// Index entries that had not ended.
    pub live: u64,
    /// Ends of entries of older runs.
    pub kills: u64,
    /// Index entries that have ended.
    pub past: u64,
}

impl ChainStats {
    /// Bytes of all runs.
    #[must_use]
    pub fn index_bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes).sum()
    }
}

impl Shared {
    pub(crate) fn stats(&self) -> ChainStats {
        let view = self.view();
        let runs = view.runs.iter().rev().map(|run| {
            let (meta, counts) = (run.meta(), run.counts());
            RunStats {
                start: meta.start,
                end: meta.end,
                bytes: run.bytes(),
                versions: counts.versions,
                live: counts.live,
                kills: counts.kills,
                past: counts.past,
            }
        });
        ChainStats {
            height: self.visible(),
            synced: self.log.durable_height(),
            hashed: self.hashed(),
            log_bytes: self.log.newest().offset,
            runs: runs.collect(),
            delta_bytes: view.deltas().map(|delta| delta.bytes()).sum(),
            frozen: view.frozen.len(),
        }
    }
}
