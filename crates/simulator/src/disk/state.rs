//! All that a simulated disk remembers, behind its one mutex.

use std::collections::{BTreeMap, BTreeSet};

use super::faults::Faults;
use super::tree::{NodeId, Tree};
use crate::random::Random;

/// Who hears of each call, when a run is traced.
type Trace = Box<dyn Fn(&str) + Send + Sync>;

pub(super) struct State {
    pub tree: Tree,
    pub faults: Faults,
    pub random: Random,
    pub processes: BTreeSet<u64>,
    pub quota: Option<u64>,
    pub trace: Option<Trace>,
    handles: BTreeMap<u64, Open>,
    events: BTreeMap<&'static str, u64>,
    next: u64,
}

/// A handle: whose it is and where it leads.
struct Open {
    process: u64,
    node: NodeId,
    /// The failed syncs of the file that this handle need not hear of any more.
    heard: u64,
}

impl State {
    pub fn new(random: Random) -> State {
        State {
            tree: Tree::new(),
            faults: Faults::default(),
            random,
            processes: BTreeSet::new(),
            quota: None,
            trace: None,
            handles: BTreeMap::new(),
            events: BTreeMap::new(),
            next: 1,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub fn start_process(&mut self) -> u64 {
        let id = self.number();
        self.processes.insert(id);
        id
    }

    pub fn open_handle(&mut self, process: u64, node: NodeId) -> u64 {
        let id = self.number();
        let heard = self.tree.file(node).failed_syncs;
        self.handles.insert(id, Open { process, node, heard });
        id
    }

    /// Whether a sync of the file has failed that this handle has not heard of: whoever has a file open hears once of
    /// each failure, also of those that another handle's sync came upon.
    pub fn hear_of_failed_sync(&mut self, handle: u64) -> bool {
        let Some(open) = self.handles.get_mut(&handle) else {
            return false;
        };
        let failed = self.tree.file(open.node).failed_syncs;
        std::mem::replace(&mut open.heard, failed) < failed
    }

    /// Ends a handle and its locks. After a crash the handle is unknown, and its file may be another's or gone.
    pub fn close_handle(&mut self, id: u64, node: NodeId) {
        if self.handles.remove(&id).is_some() {
            self.tree.file(node).locks.retain(|_, &mut holder| holder != id);
        }
    }

    /// Ends a process, its handles and their locks.
    pub fn kill(&mut self, process: u64) {
        self.processes.remove(&process);
        let dead: Vec<_> = self
            .handles
            .iter()
            .filter(|(_, open)| open.process == process)
            .map(|(&id, open)| (id, open.node))
            .collect();
        for (id, node) in dead {
            self.close_handle(id, node);
        }
    }

    pub fn kill_all(&mut self) {
        self.processes.clear();
        self.handles.clear();
        self.tree.unlock_all();
        self.faults.restart();
    }

    /// Forgets the files that nobody can reach any more.
    pub fn collect(&mut self) {
        let open: BTreeSet<_> = self.handles.values().map(|open| open.node).collect();
        self.tree.collect(&|node| open.contains(&node));
    }

    /// The bytes that still fit.
    pub fn free(&self) -> u64 {
        match self.quota {
            Some(quota) => quota.saturating_sub(self.tree.used()),
            None => u64::MAX,
        }
    }

    pub fn count(&mut self, event: &'static str, times: u64) {
        if times > 0 {
            *self.events.entry(event).or_default() += times;
        }
    }

    /// How often something was counted.
    pub fn event(&self, event: &str) -> u64 {
        self.events.get(event).copied().unwrap_or(0)
    }

    pub fn events(&self) -> &BTreeMap<&'static str, u64> {
        &self.events
    }
}
