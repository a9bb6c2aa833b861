//! Two copies of a store that go on in different ways, and still have the same heights at the same offsets.
//!
//! ```text
//!              ┌── "left",  "left",  "left"  … ── its runs ──┐
//!   a copy ────┤                                             ├── the right log beside the left runs
//!              └── "right", "right", "right" … ── its runs ──┘
//! ```
//!
//! Somebody who restores a backup, works on, and then finds the newer index lying around, has done just that. Only the
//! chain value tells that these runs are not of this log.

use libimmuxdb::{Durability, Store, WriteOptions};

use super::ledger::Operations;
use super::session::{CHAIN, ROOT};
use super::tampering::{index, log};
use super::vocabulary::GROUPINGS;
use super::{Driver, Outcome};
use crate::model::{Content, Operation};

/// Commits of each way.
const COMMITS: u64 = 40;

impl Driver {
    /// Lets two copies go different ways, and puts the index of the one beside the log of the other.
    pub(super) fn go_two_ways(&mut self) -> Outcome {
        let (Ok(whole_log), true) = (self.disk.save(&log()), self.ledger.is_settled()) else {
            return Ok(());
        };
        // Both ways lead to the same offsets only where no key of an index depends on the content.
        let name = GROUPINGS[2];
        let has_indexes =
            self.ledger.model.newest().groupings.get(name).is_some_and(|grouping| !grouping.indexes.is_empty());
        if has_indexes {
            return Ok(());
        }
        let whole_index = self.disk.save(&index()).ok();
        self.tampered("two copies go different ways, and one gets the other's index");
        self.go(name, b"left ")?;
        let left_index = self.disk.save(&index()).ok();
        self.replace(&log(), Some(&whole_log))?;
        if left_index.is_some() || whole_index.is_some() {
            self.replace(&index(), whole_index.as_ref())?;
        }
        let commits = self.go(name, b"right")?;
        if left_index.is_some() || self.disk.save(&index()).is_ok() {
            self.replace(&index(), left_index.as_ref())?;
        }
        for operations in commits {
            self.ledger.committed(operations, Durability::Sync);
        }
        Ok(())
    }

    /// Goes one of the ways. The ledger learns of it only if it is the one that stays.
    fn go(&mut self, name: &str, way: &[u8]) -> Outcome<Vec<Operations>> {
        let process = self.disk.start_process();
        let failed = |error| format!("one of two ways cannot be gone: {error}");
        let store = Store::open(ROOT, self.options(&process)).map_err(failed)?;
        let chain = store.chain(CHAIN).map_err(failed)?;
        let grouping = chain.grouping(name).map_err(failed)?.with(WriteOptions::durability(Durability::Process));
        let mut commits = Vec::new();
        for number in 0..COMMITS {
            let key = format!("way {}", number % 8).into_bytes();
            grouping.put(&key, libimmuxdb::Content::raw(way)).map_err(failed)?;
            let content = Content::raw(way);
            commits.push(vec![(name.to_owned(), Operation::Put(key, content))]);
        }
        while chain.run_background_step().map_err(failed)? {}
        drop((grouping, chain));
        store.close().map_err(failed)?;
        self.disk.kill(&process);
        Ok(commits)
    }
}
