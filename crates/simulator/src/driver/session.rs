//! A store that is open.

use std::sync::Arc;

use libimmuxdb::{Background, Chain, Durability, Hashing, Store, StoreOptions};

use super::reads::Held;
use super::{Driver, Outcome};
use crate::disk::{CrashKind, Fault, Process};

/// Where the store is.
pub(super) const ROOT: &str = "/store";
/// The chain that the history is about.
pub(super) const CHAIN: &str = "default";

/// A process that has the store open.
pub(super) struct Session {
    pub store: Store,
    pub chain: Arc<Chain>,
    pub process: Arc<Process>,
    /// The disk's wounds when the store was opened.
    pub wounds: u64,
    /// How often something had been read wrongly by then.
    pub corruptions: u64,
    /// Whether an index could be neither filled nor dropped again. Its creation has failed, so nobody relies on it; the
    /// next opening finishes it or drops it.
    pub has_unfilled_index: bool,
}

impl Driver {
    pub(super) fn options(&self, process: &Arc<Process>) -> StoreOptions {
        StoreOptions {
            memory_limit: self.memory_limit,
            durability: Durability::Sync,
            storage: Arc::<Process>::clone(process),
            environment: self.world.start_process(),
            background: Background::Manual,
            hashing: Hashing::Background,
            ..StoreOptions::default()
        }
    }

    /// The session; it is open.
    pub(super) fn session(&self) -> &Session {
        let Some(session) = &self.session else { unreachable!("the store is open during operations") };
        session
    }

    /// Whether something has failed below the engine in this session, so that it may refuse to write. A full disk is no
    /// reason for that.
    pub(super) fn is_poisoned(&self) -> bool {
        self.session.as_ref().is_some_and(|session| self.disk.wounds() > session.wounds)
    }

    /// Whether damage may be met: a bit of the files is wrong, or one was read wrongly and is remembered so.
    pub(super) fn may_meet_damage(&self) -> bool {
        self.is_rotten || self.session.as_ref().is_some_and(|session| self.disk.corruptions() > session.corruptions)
    }

    /// Whether this session need not have all that it should: it may be poisoned, or have an index that waits to be
    /// filled.
    pub(super) fn is_wounded(&self) -> bool {
        self.is_poisoned() || self.may_meet_damage() || self.session().has_unfilled_index
    }

    pub(super) fn chain(&self) -> &Arc<Chain> {
        &self.session().chain
    }

    /// Opens the store, again and again if that is what it takes, and takes the height at which it is found as the truth
    /// if the promises allow it.
    pub(super) fn open(&mut self, mut fault: Option<Fault>) -> Outcome {
        loop {
            if let Some(fault) = fault.take() {
                self.disk.plan(fault);
            }
            let misfortunes = self.disk.misfortunes();
            let process = self.disk.start_process();
            let options = self.options(&process);
            let opened = Store::open(ROOT, options).and_then(|store| Ok((store.chain(CHAIN)?, store)));
            self.disk.clear_faults();
            let struck = self.disk.misfortunes() > misfortunes;
            match opened {
                Ok((chain, store)) if !self.disk.stopped() && !self.disk.is_dead(&process) => {
                    // Something that failed while the store was opened may have left it unable to write.
                    let wounds = self.disk.wounds().saturating_sub(u64::from(struck));
                    let corruptions = self.disk.corruptions();
                    self.session =
                        Some(Session { store, chain, process, wounds, corruptions, has_unfilled_index: false });
                    return self.settle();
                }
                Ok(_) if self.disk.stopped() => self.crash_at_random(),
                Ok(_) => self.ledger.crashed(CrashKind::Process),
                Err(error) if struck => {
                    self.say(|| format!("-- opening failed: {error}"));
                    self.coverage.count("opening failed");
                    if self.disk.stopped() {
                        self.crash_at_random();
                    } else {
                        self.disk.kill(&process);
                        self.ledger.crashed(CrashKind::Process);
                    }
                }
                Err(error) => return Err(format!("the store does not open: {error}")),
            }
        }
    }

    /// The runs in force, for the trace.
    pub(super) fn say_runs(&self) {
        self.say(|| {
            let stats = self.chain().stats();
            let run = |run: &libimmuxdb::RunStats| {
                let (start, end) = (run.start, run.end);
                format!(
                    "[{start}-{end}: {} versions, {} live, {} kills, {} past]",
                    run.versions, run.live, run.kills, run.past
                )
            };
            let runs: Vec<_> = stats.runs.iter().map(run).collect();
            format!("   runs {} and {} frozen deltas", runs.join(" "), stats.frozen)
        });
    }

    /// Compares the height that was found with the promises.
    fn settle(&mut self) -> Outcome {
        let found = self.chain().height();
        let (lowest, highest) = self.ledger.bounds();
        let report = format!("{:?}", self.chain().recovery());
        self.say(|| format!("-- open at height {found}, of {lowest} to {highest}: {report}"));
        self.say_runs();
        if found < lowest || found > highest {
            return Err(format!(
                "opened at height {found}, but {lowest} was promised and {highest} was the last: {report}"
            ));
        }
        self.coverage.count(if found < highest { "recovered: some commits lost" } else { "recovered: all commits" });
        self.ledger.recovered(found);
        self.failed_syncs = self.disk.failed_syncs();
        Ok(())
    }

    /// Closes the store.
    pub(super) fn close(&mut self) -> Outcome {
        self.held = Held::default();
        let Some(Session { store, chain, process, wounds, .. }) = self.session.take() else {
            return Ok(());
        };
        let wounded = self.disk.wounds() > wounds;
        let misfortunes = self.disk.misfortunes();
        drop(chain);
        let closed = store.close();
        let struck = self.disk.misfortunes() > misfortunes;
        self.say(|| format!("-- closed: {closed:?}"));
        match closed {
            Ok(()) => {
                self.coverage.count("closed");
                self.ledger.synced();
            }
            Err(_) if struck || wounded => {
                self.coverage.count("closing failed");
                self.ledger.crashed(CrashKind::Process);
            }
            Err(error) => return Err(format!("the store does not close: {error}")),
        }
        self.disk.kill(&process);
        if self.disk.stopped() {
            self.crash_at_random();
        }
        self.disk.clear_faults();
        Ok(())
    }
}
