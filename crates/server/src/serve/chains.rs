//! The store, which is open for writing as long as the server runs, and its chains, which are opened when they are first
//! asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use libimmuxdb::{Chain, Store};
use parking_lot::{Mutex, RwLock};

use super::lane;
use super::problem::{Code, Problem};
use crate::failure::nearest;

/// Each open chain has memory, files and two threads of its own.
const MOST_OPEN: usize = 256;

/// The store and its chains.
pub(crate) struct Chains {
    /// `None` when it is closed.
    store: Mutex<Option<Store>>,
    open: RwLock<BTreeMap<String, Arc<Chain>>>,
}

impl fmt::Debug for Chains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.open.read().keys()).finish()
    }
}

impl Chains {
    pub(crate) fn new(store: Store) -> Chains {
        Chains { store: Mutex::new(Some(store)), open: RwLock::default() }
    }

    /// The chains that are open.
    pub(crate) fn open(&self) -> Vec<Arc<Chain>> {
        self.open.read().values().cloned().collect()
    }

    /// The names of all chains.
    pub(crate) fn names(&self) -> Result<Vec<String>, Problem> {
        match &*self.store.lock() {
            Some(store) => Ok(store.chains()?),
            None => Err(closed()),
        }
    }

    /// A chain to read from: one that is there.
    pub(crate) async fn to_read(self: &Arc<Self>, name: &str) -> Result<Arc<Chain>, Problem> {
        self.get(name, false).await
    }

    /// A chain to write to, which is made if it is missing.
    pub(crate) async fn to_write(self: &Arc<Self>, name: &str) -> Result<Arc<Chain>, Problem> {
        self.get(name, true).await
    }

    async fn get(self: &Arc<Self>, name: &str, make: bool) -> Result<Arc<Chain>, Problem> {
        if let Some(chain) = self.open.read().get(name) {
            return Ok(Arc::clone(chain));
        }
        let (chains, name) = (Arc::clone(self), name.to_owned());
        // Opening replays the log since the last run, and may take a second.
        lane::long(move || chains.open_now(&name, make)).await
    }

    fn open_now(&self, name: &str, make: bool) -> Result<Arc<Chain>, Problem> {
        let store = self.store.lock();
        let Some(store) = &*store else {
            return Err(closed());
        };
        let chains = store.chains()?;
        if !make && !chains.iter().any(|chain| chain == name) {
            return Err(Problem::new(Code::ChainMissing, format!("there is no chain {name:?}"))
                .with("chain", name)
                .help(match nearest(name, chains.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean {near:?}? GET /.chains lists the chains there are"),
                    None => "a chain comes to be with its first write; GET /.chains lists those there are".to_owned(),
                }));
        }
        let open = self.open.read().len();
        if open >= MOST_OPEN && !self.open.read().contains_key(name) {
            return Err(Problem::new(Code::TooManyChains, format!("{open} chains are open, which is the most"))
                .help("use fewer chains, or restart the server to close those that are not used"));
        }
        let chain = store.chain(name)?;
        let is_new = self.open.write().insert(name.to_owned(), Arc::clone(&chain)).is_none();
        if is_new {
            report(&chain);
        }
        Ok(chain)
    }

    /// Closes the store: what was committed is synced.
    pub(crate) fn close(&self) -> libimmuxdb::Result<()> {
        self.open.write().clear();
        match self.store.lock().take() {
            Some(store) => store.close(),
            None => Ok(()),
        }
    }
}

fn closed() -> Problem {
    Problem::new(Code::Stopping, "the server is being stopped").help("try again when it runs anew")
}

/// Says what opening found that an operator should know.
fn report(chain: &Chain) {
    let (name, recovery) = (chain.name(), chain.recovery());
    if let Some(cut) = &recovery.cut {
        let saved = cut.saved.as_ref().map(|path| path.display().to_string());
        tracing::warn!(
            chain = name,
            bytes = cut.bytes,
            offset = cut.offset,
            saved,
            "the log ended with an unfinished commit, which was cut off"
        );
    }
    if let Some(damage) = &recovery.damage {
        tracing::error!(chain = name, damage, "the log is damaged, so the chain is read-only");
    }
    if recovery.ignored_runs > 0 {
        tracing::warn!(
            chain = name,
            runs = recovery.ignored_runs,
            "runs of the index do not fit the log, and are made again"
        );
    }
    tracing::info!(chain = name, height = chain.height().0, replayed = recovery.replayed, "opened a chain");
}
