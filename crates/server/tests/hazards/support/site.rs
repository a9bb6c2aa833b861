//! A directory with a store in it, and what can be done to its files.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libimmuxdb::{Chain, Durability, Result, Store, StoreOptions};

use super::ledger::{Ledger, check_all};

/// A directory with a store.
pub struct Site {
    directory: tempfile::TempDir,
}

/// So little memory that a few hundred commits make runs, and merge them.
pub fn little_memory() -> StoreOptions {
    StoreOptions::default().memory_limit(256 << 10).durability(Durability::Process)
}

/// So much memory that nothing but the log is written.
pub fn log_only() -> StoreOptions {
    StoreOptions::default().durability(Durability::Process)
}

impl Site {
    pub fn new() -> Site {
        Site { directory: tempfile::tempdir().unwrap() }
    }

    /// A site whose store has the ledger up to this height, in runs and log, closed.
    pub fn with_ledger(height: u64) -> Site {
        let site = Site::new();
        site.write_ledger(&little_memory(), height);
        assert!(!site.runs().is_empty());
        site
    }

    /// The same, all of it in the log alone.
    pub fn with_log_only(height: u64) -> Site {
        let site = Site::new();
        site.write_ledger(&log_only(), height);
        site
    }

    pub fn write_ledger(&self, options: &StoreOptions, height: u64) {
        let (store, chain) = self.open(options).unwrap();
        let mut ledger = Ledger::at(chain.height().0);
        ledger.commit_to(&chain, height);
        chain.drain().unwrap();
        drop(chain);
        store.close().unwrap();
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn root(&self) -> PathBuf {
        self.path().join("store")
    }

    pub fn log(&self) -> PathBuf {
        self.root().join("default/log")
    }

    pub fn index(&self) -> PathBuf {
        self.root().join("default/log.idx")
    }

    /// The run files, oldest number first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let mut runs: Vec<(u64, PathBuf)> = files(&self.index())
            .into_iter()
            .filter_map(|path| {
                let number = path.file_name()?.to_str()?.strip_prefix("run-")?.parse().ok()?;
                Some((number, path))
            })
            .collect();
        runs.sort();
        runs.into_iter().map(|(_, path)| path).collect()
    }

    /// What recoveries saved beside the log.
    pub fn tails(&self) -> Vec<PathBuf> {
        let is_tail = |path: &PathBuf| path.to_string_lossy().contains("log.tail-");
        files(&self.root().join("default")).into_iter().filter(is_tail).collect()
    }

    pub fn open(&self, options: &StoreOptions) -> Result<(Store, Arc<Chain>)> {
        let store = Store::open(self.root(), options.clone())?;
        let chain = store.chain("default")?;
        Ok((store, chain))
    }

    pub fn open_to_read(&self) -> Result<(Store, Arc<Chain>)> {
        let store = Store::open_read_only(self.root(), little_memory())?;
        let chain = store.chain("default")?;
        Ok((store, chain))
    }

    /// Everything is there, for a reader and for a writer, who goes on.
    pub fn check_and_go_on(&self, height: u64) {
        let (_store, chain) = self.open_to_read().unwrap();
        assert_eq!(chain.height().0, height);
        check_all(&chain);
        let (store, chain) = self.open(&little_memory()).unwrap();
        assert_eq!(chain.height().0, height);
        check_all(&chain);
        let mut ledger = Ledger::at(height);
        ledger.commit_to(&chain, height + 10);
        check_all(&chain);
        drop(chain);
        store.close().unwrap();
    }

    /// A copy of all files as they are now: what a kill would leave.
    pub fn copy(&self) -> Site {
        let copy = Site::new();
        copy_directory(&self.root(), &copy.root());
        copy
    }
}

/// All files below a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

pub fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_directory(&entry.path(), &to);
        } else {
            match fs::copy(entry.path(), to) {
                // A merge removed it meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                copied => drop(copied.unwrap()),
            }
        }
    }
}

pub fn length(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

pub fn cut_to(path: &Path, length: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

pub fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

pub fn flip_bit(path: &Path, offset: u64, bit: u32) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    byte[0] ^= 1 << bit;
    file.write_all_at(&byte, offset).unwrap();
}

/// Where these bytes are in a file, for the first time.
pub fn find(path: &Path, bytes: &[u8]) -> u64 {
    let file = fs::read(path).unwrap();
    file.windows(bytes.len()).position(|window| window == bytes).unwrap() as u64
}
