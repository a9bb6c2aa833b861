//! A store: one directory that holds chains.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::chain::{Chain, check_name, make_directory, open_for_reading, open_for_writing};
use crate::error::{Error, Result};
use crate::options::StoreOptions;
use crate::sync::Mutex;

/// A directory with one sub-directory for each chain.
///
/// A chain is opened when it is first asked for. Each process that writes to a chain holds its lock; any number of
/// others may read.
pub struct Store {
    root: PathBuf,
    options: StoreOptions,
    read_only: bool,
    chains: Mutex<BTreeMap<String, Arc<Chain>>>,
}

/// The name of a chain's log in its directory.
const LOG: &str = "log";

impl Store {
    /// Opens a store for reading and writing. What is missing is made with the first chain.
    ///
    /// # Errors
    /// [`Error::Io`] when the directory cannot be made.
    pub fn open(root: impl AsRef<Path>, options: StoreOptions) -> Result<Store> {
        let root = root.as_ref().to_owned();
        make_directory(&*options.storage, &root)?;
        Ok(Store { root, options, read_only: false, chains: Mutex::default() })
    }

    /// Opens a store for reading. Nothing is written, and no lock is taken.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such directory.
    pub fn open_read_only(root: impl AsRef<Path>, options: StoreOptions) -> Result<Store> {
        let root = root.as_ref().to_owned();
        let exists = options.storage.exists(&root).map_err(|source| Error::io(root.as_path(), source))?;
        if !exists {
            return Err(Error::Invalid(format!("there is no store at {}", root.display())));
        }
        Ok(Store { root, options, read_only: true, chains: Mutex::default() })
    }

    /// The store's directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A chain by its name; a store that can be written to makes it if it is missing.
    ///
    /// # Errors
    /// [`Error::Held`] when another process writes to the chain; [`Error::Invalid`] for a name that cannot be, or a chain
    /// that is not there in a read-only store; [`Error::Damaged`], [`Error::Format`], [`Error::Io`].
    pub fn chain(&self, name: &str) -> Result<Arc<Chain>> {
        check_chain_name(name)?;
        let mut chains = self.chains.lock();
        if let Some(chain) = chains.get(name) {
            return Ok(Arc::clone(chain));
        }
        let log = self.root.join(name).join(LOG);
        let shared = if self.read_only {
            let exists = self.options.storage.exists(&log).map_err(|source| Error::io(log.as_path(), source))?;
            if !exists {
                return Err(Error::Invalid(format!("there is no chain {name:?} in {}", self.root.display())));
            }
            open_for_reading(name, &log, &self.options)?
        } else {
            make_directory(&*self.options.storage, &self.root.join(name))?;
            open_for_writing(name, &log, &self.options)?
        };
        let chain = Arc::new(Chain::new(shared));
        chains.insert(name.to_owned(), Arc::clone(&chain));
        Ok(chain)
    }

    /// The names of the chains that are there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn chains(&self) -> Result<Vec<String>> {
        let storage = &*self.options.storage;
        let io = |source| Error::io(self.root.as_path(), source);
        let mut names = Vec::new();
        for name in storage.list(&self.root).map_err(io)? {
            if storage.exists(&self.root.join(&name).join(LOG)).map_err(io)? {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Closes all chains: what was committed is synced, whatever its durability. Handles to them that are still held
    /// can read on.
    ///
    /// # Errors
    /// The first one that a chain reports.
    pub fn close(self) -> Result<()> {
        let chains = std::mem::take(&mut *self.chains.lock());
        chains.values().map(|chain| chain.close()).fold(Ok(()), Result::and)
    }
}

/// Chain names are directory names.
fn check_chain_name(name: &str) -> Result<()> {
    check_name("chain name", name)?;
    if name.starts_with('.') || name.contains('/') {
        return Err(Error::Invalid(format!("chain name {name:?} begins with a dot or contains a slash")));
    }
    Ok(())
}
