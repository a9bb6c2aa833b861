//! From files to a chain.
//!
//! ```text
//!   lock    the log, for a writer
//!   load    the manifest; its newest runs that fit the log are used, others are ignored
//!   replay  the log's frames from where those runs end
//!   fill    indexes whose filling was interrupted
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::arrivals::Arrivals;
use super::background::BackgroundState;
use super::catalog::Catalog;
use super::commit::Writer;
use super::dead::DeadStretches;
use super::hashing::HashingState;
use super::maintain::{NumberedRun, Runs};
use super::view::View;
use super::{Access, Shared};
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::log::{FrameBuilder, LocalLog, Log, LogPoint, Opening, Writer as LogWriter};
use crate::options::{Background, StoreOptions};
use crate::run::{Manifest, Run, RunMeta, file_name};
use crate::storage::{OpenMode, Storage};
use crate::sync::atomic::{AtomicBool, AtomicU64};
use crate::sync::{Mutex, RwLock};
use crate::types::{Height, IndexId};

/// What opening a chain found.
#[derive(Clone, Debug, Default)]
pub struct RecoveryReport {
    /// Commits that were replayed from the log, since no run had them.
    pub replayed: u64,
    /// The end of the log that a crash left unfinished. It held nothing that was promised.
    pub cut: Option<TailCut>,
    /// Damage that was found: the chain is read-only then, up to the height before it.
    pub damage: Option<String>,
    /// Runs that were not used, since they do not fit the log or cannot be read; they are made again.
    pub ignored_runs: u64,
}

/// Bytes that were cut off the end of the log.
#[derive(Clone, Debug)]
pub struct TailCut {
    /// Where the log ended then.
    pub offset: u64,
    /// How many bytes were cut off.
    pub bytes: u64,
    /// Where they were saved.
    pub saved: Option<PathBuf>,
}

/// The derived part, as far as it can be used.
#[derive(Default)]
pub(super) struct Derived {
    /// Oldest first.
    pub(super) runs: Vec<NumberedRun>,
    pub(super) catalog: Catalog,
    /// Indexes that were filled, and the heights of their definitions.
    pub(super) filled: Vec<(IndexId, Height)>,
    /// Where replaying begins.
    pub(super) covered: LogPoint,
    pub(super) ignored: u64,
    pub(super) next_run: u64,
    /// The newest height that the manifest's catalog knows of.
    pub(super) known: Height,
}

/// `log.idx` for `log`.
pub(crate) fn index_directory(log: &Path) -> PathBuf {
    let mut name = log.file_name().unwrap_or_default().to_owned();
    name.push(".idx");
    log.with_file_name(name)
}

/// How often a manifest is read anew because a writer replaced its runs meanwhile.
const ATTEMPTS: usize = 16;

/// Loads what of the derived part fits the log.
pub(super) fn load_derived(log: &LocalLog, storage: &dyn Storage, directory: &Path) -> Result<Derived> {
    let nothing = || Derived { covered: log.header().base(), ..Derived::default() };
    for _ in 0..ATTEMPTS {
        let manifest = match Manifest::load(storage, directory) {
            Ok(Some(manifest)) => manifest,
            Ok(None) => return Ok(nothing()),
            // Derived: what cannot be read is made again.
            Err(Error::Damaged { .. } | Error::Format { .. }) => return Ok(Derived { ignored: 1, ..nothing() }),
            Err(error) => return Err(error),
        };
        if let Some(derived) = load_runs(log, storage, directory, &manifest)? {
            return Ok(derived);
        }
    }
    Ok(nothing())
}

/// `None`: the manifest was replaced while its runs were opened.
fn load_runs(log: &LocalLog, storage: &dyn Storage, directory: &Path, manifest: &Manifest) -> Result<Option<Derived>> {
    let header = log.header();
    let mut derived = Derived { covered: header.base(), next_run: manifest.next_run, ..Derived::default() };
    let Ok(catalog) = Catalog::decode(&manifest.catalog) else {
        derived.ignored = manifest.runs.len() as u64;
        return Ok(Some(derived));
    };
    for entry in &manifest.runs {
        let meta = entry.summary.meta;
        let same_log = meta.log_id == header.log_id && meta.generation == header.generation;
        if !same_log || !log.fits(&point_of(&meta))? {
            break;
        }
        let path = directory.join(file_name(entry.number));
        let file = match storage.open(&path, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if Manifest::load(storage, directory)?.as_ref() != Some(manifest) {
                    return Ok(None);
                }
                break;
            }
            Err(error) => return Err(Error::io(path, error)),
        };
        match Run::open(file, &path) {
            Ok(run) if *run.meta() == meta => derived.runs.push(NumberedRun { number: entry.number, run }),
            Ok(_) | Err(Error::Damaged { .. } | Error::Format { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    derived.ignored = (manifest.runs.len() - derived.runs.len()) as u64;
    if let Some(newest) = derived
        .runs
        .iter()
        .map(|numbered| *numbered.run.meta())
        .max_by_key(|meta| if meta.is_empty_stretch() { Height::ZERO } else { meta.end })
        && !newest.is_empty_stretch()
    {
        derived.covered = point_of(&newest);
    }
    // Which runs were filled into which index is known only if all of them are there.
    let covered = derived.covered.height;
    let whole = derived.ignored == 0;
    derived.filled = catalog.filled().filter(|(_, since)| whole || *since < covered).collect();
    if !whole {
        let usable =
            |numbered: &NumberedRun| !numbered.run.meta().is_empty_stretch() || numbered.run.meta().end < covered;
        derived.runs.retain(usable);
    }
    derived.known = catalog.newest_height();
    derived.catalog = catalog.up_to(covered)?;
    Ok(Some(derived))
}

fn point_of(meta: &RunMeta) -> LogPoint {
    LogPoint { height: meta.end, offset: meta.end_offset, chain: meta.end_chain, time: meta.end_time }
}

impl Shared {
    fn new(name: &str, path: &Path, options: StoreOptions, access: Access, log: LocalLog, derived: Derived) -> Shared {
        let covered = derived.covered;
        let runs: Vec<_> = derived.runs.iter().rev().map(|numbered| Arc::clone(&numbered.run)).collect();
        let counts_all = options.expect_duplicate_reports;
        let active = Arc::new(Delta::new(covered.height.next(), covered.offset, counts_all));
        let dead = DeadStretches::default();
        dead.apply(covered.height);
        Shared {
            name: name.to_owned(),
            path: path.to_owned(),
            index_directory: index_directory(path),
            recovery: RecoveryReport { ignored_runs: derived.ignored, ..RecoveryReport::default() },
            options,
            access,
            log,
            catalog: RwLock::new(derived.catalog),
            view: ArcSwap::from_pointee(View { active, frozen: Vec::new(), runs }),
            visible: AtomicU64::new(covered.height.0),
            writer: Mutex::new(Writer { builder: FrameBuilder::new(), height: covered.height, closed: None }),
            runs: Mutex::new(Runs {
                in_force: derived.runs,
                next: derived.next_run,
                directory_made: false,
                manifest_held_back: false,
            }),
            filling: Mutex::new(()),
            flushing: Mutex::new(()),
            merging: Mutex::new(()),
            followed: Mutex::new(covered),
            definitions: Mutex::new(Vec::new()),
            counts_all: AtomicBool::new(counts_all),
            dead,
            hashing: HashingState::default(),
            arrivals: Arrivals::new(),
            background: BackgroundState::default(),
        }
    }

    /// Says which of the indexes that are known by now were filled.
    pub(super) fn adopt_filled(&self, filled: &[(IndexId, Height)]) -> Result<()> {
        let mut catalog = self.catalog.write();
        for (id, since) in filled {
            catalog.index_filled_if(*id, *since)?;
        }
        Ok(())
    }

    /// Removes run files that no manifest names.
    fn remove_strays(&self) -> Result<()> {
        let storage = &*self.options.storage;
        let directory = &self.index_directory;
        let io = |error| Error::io(directory.as_path(), error);
        if !storage.exists(directory).map_err(io)? {
            return Ok(());
        }
        let mut runs = self.runs.lock();
        let in_force: Vec<String> = runs.in_force.iter().map(|numbered| file_name(numbered.number)).collect();
        for name in storage.list(directory).map_err(io)? {
            let Some(number) = name.strip_prefix("run-").and_then(|number| number.parse::<u64>().ok()) else {
                continue;
            };
            runs.next = runs.next.max(number + 1);
            if !in_force.contains(&name) {
                storage.remove(&directory.join(&name)).map_err(io)?;
            }
        }
        Ok(())
    }

    /// Replays one frame, and writes a run whenever there is enough for one.
    fn recover_frame(&self, frame: &crate::log::Frame<'_>) -> Result<()> {
        self.replay(frame)?;
        let view = self.view();
        if self.is_full(&view.active) {
            self.freeze(frame.end());
            self.flush_oldest()?;
        }
        Ok(())
    }

    /// Syncs, writes what the next opening would take long to replay, and gives the lock back.
    pub(crate) fn close(&self) -> Result<()> {
        if !matches!(self.access, Access::Write) {
            return Ok(());
        }
        {
            let mut writer = self.writer.lock();
            if writer.closed.is_some() && self.recovery.damage.is_none() {
                return Ok(());
            }
            writer.closed = Some("it was closed".to_owned());
            let active = self.view().active.clone();
            let limit = self.options.replay_limit;
            let long = active.log_bytes() > 2 * limit as u64 || active.bytes() > limit;
            if long && self.recovery.damage.is_none() {
                self.freeze(self.log.newest());
            }
        }
        if self.recovery.damage.is_some() {
            return Ok(());
        }
        self.background.stop();
        let flushed = self.flush_all();
        self.remove_damaged_runs();
        self.save_newest_hashes();
        self.log.close()?;
        // A run that cannot be written costs the next opening a longer replay, and nothing else.
        match flushed {
            Err(Error::NoSpace { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Shared {
    /// Writes all frozen deltas. Another thread sorts ahead, from the last ordering to the first, since nobody commits
    /// meanwhile.
    fn flush_all(&self) -> Result<()> {
        let sort_ahead = |frozen: Vec<Arc<Delta>>| {
            for delta in frozen.iter().rev() {
                for (_, ordering) in delta.orderings().iter().rev() {
                    ordering.whole();
                }
            }
        };
        if self.view().frozen.is_empty() {
            return Ok(());
        }
        crate::sync::thread::scope(|scope| {
            if self.options.background == Background::Threads {
                let frozen = self.view().frozen.clone();
                scope.spawn(|| sort_ahead(frozen));
            }
            while self.flush_oldest()? {}
            Ok(())
        })
    }
}

/// Opens a chain for writing, making it if it is missing; its directory must be there.
pub(crate) fn open_for_writing(name: &str, path: &Path, options: &StoreOptions) -> Result<Arc<Shared>> {
    let storage = &options.storage;
    let environment = &*options.environment;
    let process = environment.process();
    let mut opening = Opening {
        writer: LogWriter { boot_id: environment.boot_id(), pid: process.id, started: process.started.0 },
        nonce: [0; 16],
        log_id: [0; 16],
        now: environment.now(),
        was_there: Manifest::exists(&**storage, &index_directory(path))?,
        syncing: options.syncing,
    };
    environment.fill_random(&mut opening.nonce);
    environment.fill_random(&mut opening.log_id);
    let log = LocalLog::open_writer(storage, path, &opening)?;
    let derived = load_derived(&log, &**storage, &index_directory(path))?;
    let (covered, filled, known) = (derived.covered, derived.filled.clone(), derived.known);
    let mut shared = Shared::new(name, path, options.clone(), Access::Write, log, derived);
    shared.remove_strays()?;
    let next_run = {
        let mut runs = shared.runs.lock();
        runs.manifest_held_back = true;
        runs.next
    };
    let recovery = shared.log.recover(covered, &opening, &mut |frame| shared.recover_frame(frame))?;
    shared.runs.lock().manifest_held_back = false;
    shared.adopt_filled(&filled)?;
    shared.writer.lock().height = recovery.end.height;
    shared.publish(recovery.end.height);
    shared.recovery.replayed = recovery.commits;
    shared.recovery.cut = recovery.cut.map(|cut| TailCut { offset: cut.offset, bytes: cut.bytes, saved: cut.saved });
    if let Some(damage) = recovery.damage {
        let what = damage_text(path, damage.offset, &damage.what, recovery.end.height);
        shared.writer.lock().closed = Some(what.clone());
        shared.recovery.damage = Some(what);
        return Ok(Arc::new(shared));
    }
    let shared = Arc::new(shared);
    let ahead = known > recovery.end.height;
    if shared.runs.lock().next > next_run || shared.recovery.ignored_runs > 0 || ahead {
        // The manifest does not know the runs that were written while replaying, still names those that do not fit, or knows
        // of groupings and indexes that an older copy of the log, put back beside it, does not have.
        shared.install(|_| {}, |_| {}, None)?;
    }
    shared.fill_unfilled()?;
    if options.background == Background::Threads {
        BackgroundState::may_start(&shared, !shared.has_merge_to_do());
    }
    Ok(shared)
}

/// Opens a chain for reading. It takes no lock and writes nothing.
pub(crate) fn open_for_reading(name: &str, path: &Path, options: &StoreOptions) -> Result<Arc<Shared>> {
    let log = LocalLog::open_reader(&options.storage, path)?;
    let derived = load_derived(&log, &*options.storage, &index_directory(path))?;
    let filled = derived.filled.clone();
    let mut shared = Shared::new(name, path, options.clone(), Access::Follow, log, derived);
    shared.writer.lock().closed = Some("it was opened for reading".to_owned());
    match shared.follow() {
        Err(Error::Damaged { path: damaged, offset, what }) if damaged == path => {
            shared.recovery.damage = Some(damage_text(path, offset, &what, shared.visible()));
        }
        followed => followed?,
    }
    shared.adopt_filled(&filled)?;
    Ok(Arc::new(shared))
}

/// What there is to say about a damaged log that can be read up to `height`.
fn damage_text(path: &Path, offset: u64, what: &str, height: Height) -> String {
    format!(
        "{} is damaged at offset {offset}: {what}; what was committed up to height {height} can be read",
        path.display()
    )
}

/// Refuses a place for a new log where something is. An empty directory for its index is nothing: a failed attempt may have
/// left it.
pub(crate) fn check_is_free(storage: &dyn Storage, log: &Path) -> Result<()> {
    let exists = |path: &Path| storage.exists(path).map_err(|error| Error::io(path, error));
    let index = index_directory(log);
    let is_taken = exists(log)? || exists(&index)? && storage.list(&index).map_or(true, |names| !names.is_empty());
    if is_taken {
        let what = format!("there is something at {}; name a place where nothing is", log.display());
        return Err(Error::Invalid(what));
    }
    Ok(())
}

/// Makes a directory and makes its name survive power loss.
pub(crate) fn make_directory(storage: &dyn Storage, directory: &Path) -> Result<()> {
    let io = |error| Error::io(directory, error);
    // Also if it is there: whoever made it may have been stopped before its name was safe.
    if !storage.exists(directory).map_err(io)? {
        storage.create_dir(directory).map_err(io)?;
    }
    let mut child = directory;
    while let Some(parent) = child.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        match storage.sync_dir(parent) {
            Ok(()) => {}
            // A parent that this user cannot open was there before.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => break,
            Err(error) => return Err(Error::io(parent, error)),
        }
        child = parent;
    }
    Ok(())
}
