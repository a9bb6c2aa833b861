//! A store that a script works on.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use goldenscript::{Command, Context};
use libimmuxdb::environment::{Environment, ProcessIdentity, System};
use libimmuxdb::{
    Background, Chain, Committed, Cursor, Durability, Grouping, Store, StoreOptions, Timestamp, Transaction,
    WriteOptions,
};
use tempfile::TempDir;

use super::arrangement::{Arrangement, Reopen};
use crate::support::storage::Hasty;
use crate::support::{LITTLE_MEMORY, copy_directory};

/// What a command gives.
pub type Given<T = String> = Result<T, Box<dyn Error>>;

/// A store, and what a script has at hand between commands.
pub struct Session {
    arrangement: Arrangement,
    clock: Arc<Clock>,
    directory: TempDir,
    store: Option<Store>,
    follower: Option<Store>,
    /// The name of the chain that commands are about.
    pub chain: String,
    /// The transaction that is open.
    pub transaction: Option<Transaction>,
    /// Cursors that were saved, by name.
    pub cursors: BTreeMap<String, Cursor>,
    writes: usize,
    /// Set while a command writes more than once.
    pub hold_flushes: bool,
    /// The most runs that there were at a time.
    runs: usize,
    /// The same, but for those of new indexes, which wait until they can be merged.
    settled_runs: usize,
}

/// A grouping that no script speaks of: a version of a unit with a long key in it fills a delta.
const PADDING: &str = "(padding)";
const PADDING_KEY: [u8; 2048] = [b'p'; 2048];

impl Session {
    /// A session on a new store.
    pub fn new(arrangement: Arrangement) -> Session {
        let directory = TempDir::new().unwrap();
        let clock = Arc::new(Clock { system: System::new(), now: AtomicU64::new(0) });
        let mut session = Session {
            arrangement,
            clock,
            directory,
            store: None,
            follower: None,
            chain: "default".to_owned(),
            transaction: None,
            cursors: BTreeMap::new(),
            writes: 0,
            hold_flushes: false,
            runs: 0,
            settled_runs: 0,
        };
        session.store = Some(Store::open(session.directory.path(), session.options()).unwrap());
        session
    }

    fn options(&self) -> StoreOptions {
        let mut options = StoreOptions::default().durability(Durability::Process);
        if self.arrangement.flush_every > 0 {
            options.memory_limit = LITTLE_MEMORY;
        }
        options.environment = self.clock.clone();
        options.background = Background::Manual;
        options.storage = Arc::new(Hasty::default());
        options
    }

    /// Lets the next commits happen at this time, in microseconds.
    pub fn set_clock(&self, now: u64) {
        self.clock.now.store(now, Ordering::Relaxed);
    }

    /// The store.
    pub fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    /// The chain to write to.
    pub fn writer(&self) -> Given<Arc<Chain>> {
        Ok(self.store().chain(&self.chain)?)
    }

    /// The chain to read from.
    pub fn reader(&mut self) -> Given<Arc<Chain>> {
        if !self.arrangement.follow {
            return self.writer();
        }
        self.writer()?;
        if self.follower.is_none() {
            self.follower = Some(Store::open_read_only(self.directory.path(), self.options())?);
        }
        let chain = self.follower.as_ref().unwrap().chain(&self.chain)?;
        chain.refresh()?;
        Ok(chain)
    }

    /// A grouping to write to.
    pub fn grouping(&self, name: &str) -> Given<Grouping> {
        Ok(self.writer()?.grouping(name)?)
    }

    /// Does `write` in the open transaction, else in a commit of its own.
    pub fn write(
        &mut self,
        options: WriteOptions,
        write: impl FnOnce(&mut Transaction) -> libimmuxdb::Result<()>,
        alone: impl FnOnce() -> libimmuxdb::Result<Committed>,
    ) -> Given<Option<Committed>> {
        if let Some(transaction) = &mut self.transaction {
            write(transaction)?;
            return Ok(None);
        }
        if !self.is_time_to_flush() {
            return Ok(Some(alone()?));
        }
        let mut transaction = self.writer()?.begin();
        write(&mut transaction)?;
        self.commit(transaction, options).map(Some)
    }

    /// Commits, with padding that fills the delta when it is time for a flush.
    pub fn commit(&mut self, mut transaction: Transaction, options: WriteOptions) -> Given<Committed> {
        if self.is_time_to_flush() && !transaction.is_empty() {
            transaction.put(&self.grouping(PADDING)?, &PADDING_KEY, libimmuxdb::Content::raw(""))?;
        }
        Ok(transaction.commit_with(options)?)
    }

    /// The names of the groupings, in the order in which they came to be.
    pub fn groupings(&mut self) -> Given<Vec<String>> {
        let names = self.reader()?.groupings().into_iter().map(|grouping| grouping.name);
        Ok(names.filter(|name| name != PADDING).collect())
    }

    fn is_time_to_flush(&self) -> bool {
        let every = self.arrangement.flush_every;
        every > 0 && !self.hold_flushes && (self.writes + 1).is_multiple_of(every)
    }

    /// Opens the store again.
    pub fn reopen(&mut self, how: Reopen) -> Given<()> {
        let chains = self.store().chains()?;
        match how {
            Reopen::AfterCrash => {
                let copy = TempDir::new()?;
                copy_directory(self.directory.path(), copy.path())?;
                self.store = None;
                self.follower = None;
                self.directory = copy;
            }
            Reopen::Cleanly => self.close()?,
            Reopen::WithoutDerivedPart => {
                self.close()?;
                for chain in &chains {
                    let derived = self.directory.path().join(chain).join("log.idx");
                    if derived.exists() {
                        std::fs::remove_dir_all(derived)?;
                    }
                }
            }
        }
        self.store = Some(Store::open(self.directory.path(), self.options())?);
        for chain in &chains {
            let chain = self.store().chain(chain)?;
            let found = chain.recovery();
            let is_well = found.damage.is_none() && found.cut.is_none() && found.ignored_runs == 0;
            assert!(is_well, "opened again {how:?}: {found:?}");
        }
        Ok(())
    }

    fn close(&mut self) -> Given<()> {
        Ok(self.store.take().unwrap().close()?)
    }

    /// What the arrangement does after each command.
    fn arrange(&mut self) -> Given<()> {
        if self.transaction.is_some() {
            return Ok(());
        }
        let chain = self.writer()?;
        while chain.stats().frozen > 0 {
            assert!(chain.run_background_step()?);
        }
        let every = self.arrangement.merge_every;
        if every > 0 && self.writes.is_multiple_of(every) {
            chain.drain()?;
        }
        let runs = chain.stats().runs;
        self.runs = self.runs.max(runs.len());
        self.settled_runs = self.settled_runs.max(runs.iter().filter(|run| run.start <= run.end).count());
        drop(chain);
        match self.arrangement.reopen {
            Some(how) => self.reopen(how),
            None => Ok(()),
        }
    }
}

impl goldenscript::Runner for Session {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Given {
        self.execute(command, context)
    }

    fn end_command(&mut self, command: &Command, _: &Context) -> Given {
        if super::commands::WRITES.contains(&command.name.as_str()) {
            self.writes += 1;
        }
        self.arrange()?;
        Ok(String::new())
    }

    /// An arrangement that did not happen proves nothing.
    fn end_script(&mut self) -> Given<()> {
        if self.arrangement.flush_every > 0 && self.writes >= self.arrangement.flush_every {
            assert!(self.runs > 0, "there was no run after {} writes", self.writes);
        }
        if self.arrangement.merge_every == 1 {
            assert!(self.settled_runs <= 4, "{} runs are not merged", self.settled_runs);
        }
        Ok(())
    }
}

/// The system, with a clock that a script sets.
struct Clock {
    system: System,
    now: AtomicU64,
}

impl Environment for Clock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Relaxed))
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.system.fill_random(bytes);
    }

    fn boot_id(&self) -> [u8; 16] {
        self.system.boot_id()
    }

    fn process(&self) -> ProcessIdentity {
        self.system.process()
    }
}
