//! What was promised: which commits must be there after which crash.
//!
//! ```text
//!   heights   1 ………………………… 40 | 41 … 57 | 58 … 61 |   62
//!   promised  after power loss | after   | nothing | in doubt: it failed, and may have
//!             (Sync, closed)   | kill -9 |         | reached the disk all the same
//! ```
//!
//! A commit that has returned survives what its level says, and with it all before it, since a log has no holes. After a
//! crash the chain may end anywhere from the last promised height to the newest attempted one; then that is the truth,
//! and the model forgets the rest.

use std::collections::VecDeque;

use libimmuxdb::{Durability, Height};

use crate::disk::CrashKind;
use crate::model::{Model, Operation};

/// The changes of a commit, each with its grouping.
pub(super) type Operations = Vec<(String, Operation)>;

/// Commits that failed below the engine: the first of them, or all, may have happened.
#[derive(Clone)]
struct Doubt {
    commits: VecDeque<Operations>,
    level: Durability,
    /// For want of space: then it did not happen, and others may follow.
    no_space: bool,
}

/// The model of the chain, and the promises about it.
#[derive(Clone, Default)]
pub(super) struct Ledger {
    pub model: Model,
    survives_process: Height,
    survives_machine: Height,
    /// The levels of the commits from height 1 on.
    levels: Vec<Durability>,
    /// What another process has seen: the system has it.
    seen: Height,
    /// The newest `Sync` commit that another process was shown: the device has it.
    shown: Height,
    in_doubt: Option<Doubt>,
    /// What has happened since the chain was last open: the worst of it.
    crashed: Option<CrashKind>,
}

impl Ledger {
    /// A commit returned, with this promise.
    pub fn committed(&mut self, operations: Operations, level: Durability) -> Height {
        self.in_doubt = None;
        let height = self.model.commit(operations);
        self.levels.push(level);
        match level {
            Durability::Buffered => {}
            Durability::Process => self.survives_process = height,
            Durability::Sync => self.synced(),
        }
        height
    }

    /// Commits failed for a reason that lies below the engine. After one that failed for another reason than want of
    /// space, nothing is written until the store is opened again, so the doubt is about that first one.
    pub fn failed(&mut self, commits: &[Operations], level: Durability, no_space: bool) {
        if !commits.is_empty() && self.in_doubt.as_ref().is_none_or(|doubt| doubt.no_space) {
            self.in_doubt = Some(Doubt { commits: commits.iter().cloned().collect(), level, no_space });
        }
    }

    /// Another process sees the commits up to `height`, which may be in doubt here. `syncs_are_true`: none has failed
    /// since the log was opened to write.
    pub fn seen(&mut self, height: Height, syncs_are_true: bool) {
        self.seen = self.seen.max(height);
        if !syncs_are_true {
            return;
        }
        let doubtful = self.in_doubt.as_ref().map_or(0, |doubt| doubt.commits.len());
        let levels = self.levels.iter().copied();
        let levels = levels.chain(self.in_doubt.iter().flat_map(|doubt| std::iter::repeat_n(doubt.level, doubtful)));
        let newest =
            (1..=height.0).zip(levels).filter(|(_, level)| *level == Durability::Sync).map(|(at, _)| at).last();
        self.shown = self.shown.max(Height(newest.unwrap_or(0)));
    }

    /// The first commits in doubt, up to `height`, have happened.
    pub fn happened(&mut self, height: Height) {
        while self.model.height() < height {
            let next =
                self.in_doubt.as_mut().and_then(|doubt| doubt.commits.pop_front().map(|next| (next, doubt.level)));
            let Some((operations, level)) = next else { unreachable!("height {height} is within the bounds") };
            self.model.commit(operations);
            self.levels.push(level);
        }
    }

    /// Everything up to the newest height was made durable.
    pub fn synced(&mut self) {
        self.survives_process = self.model.height();
        self.survives_machine = self.model.height();
    }

    /// Everything stopped.
    pub fn crashed(&mut self, kind: CrashKind) {
        self.crashed = self.crashed.max(Some(kind));
    }

    /// The newest height that is known to be synced.
    pub fn synced_height(&self) -> Height {
        self.survives_machine
    }

    /// The lowest and highest height at which the chain may be found when it is opened.
    pub fn bounds(&self) -> (Height, Height) {
        let newest = self.model.height();
        let lowest = match self.crashed {
            None => newest,
            Some(CrashKind::Process) => self.survives_process.max(self.seen),
            Some(CrashKind::Machine) => self.survives_machine.max(self.shown),
        };
        let in_doubt = self.in_doubt.as_ref().map_or(0, |doubt| doubt.commits.len() as u64);
        (lowest, Height(newest.0 + in_doubt))
    }

    /// Whether the chain was closed, and nothing is in doubt.
    pub fn is_settled(&self) -> bool {
        self.bounds() == (self.model.height(), self.model.height())
    }

    /// Whether the chain was closed in peace, so that all of its log is known to be synced.
    pub fn is_closed(&self) -> bool {
        self.crashed.is_none() && self.is_settled()
    }

    /// The chain was found at `height`, within the bounds: so be it.
    pub fn recovered(&mut self, height: Height) {
        self.happened(height);
        self.in_doubt = None;
        self.crashed = None;
        self.model.truncate(height);
        self.levels.truncate(height.0 as usize);
        self.survives_process = height;
        self.survives_machine = self.survives_machine.min(height);
        self.seen = self.seen.min(height);
        self.shown = self.shown.min(height);
    }

    /// Somebody put an older copy of the log back, which was closed at the model's height.
    pub fn replaced(&mut self, model: Model) {
        let levels = vec![Durability::Sync; model.height().0 as usize];
        *self = Ledger { model, levels, ..Ledger::default() };
        self.synced();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(ledger: &mut Ledger, level: Durability) {
        ledger.committed(vec![("g".to_owned(), Operation::Clear)], level);
    }

    #[test]
    fn a_level_promises_all_commits_before_it() {
        let mut ledger = Ledger::default();
        write(&mut ledger, Durability::Buffered);
        write(&mut ledger, Durability::Sync);
        write(&mut ledger, Durability::Process);
        write(&mut ledger, Durability::Buffered);
        assert_eq!(ledger.bounds(), (Height(4), Height(4)));
        ledger.failed(&[Vec::new()], Durability::Sync, false);
        ledger.crashed(CrashKind::Process);
        assert_eq!(ledger.bounds(), (Height(3), Height(5)));
        ledger.crashed(CrashKind::Machine);
        ledger.crashed(CrashKind::Process);
        assert_eq!(ledger.bounds(), (Height(2), Height(5)));

        ledger.recovered(Height(5));
        assert_eq!(ledger.model.height(), Height(5));
        ledger.crashed(CrashKind::Machine);
        assert_eq!(ledger.bounds(), (Height(2), Height(5)));
        ledger.recovered(Height(2));
        assert_eq!(ledger.bounds(), (Height(2), Height(2)));
    }

    #[test]
    fn the_next_success_settles_a_doubt() {
        let mut ledger = Ledger::default();
        ledger.failed(&[vec![("g".to_owned(), Operation::Clear)]], Durability::Sync, true);
        write(&mut ledger, Durability::Process);
        assert_eq!(ledger.bounds(), (Height(1), Height(1)));
    }
}
