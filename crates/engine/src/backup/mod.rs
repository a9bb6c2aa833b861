//! Backups: copies of a log that are taken while it is written to, and grow with it.
//!
//! The log is the database, so a backup is a copy of the log, and the next one adds what was appended since:
//!
//! ```text
//!   the log          | header | frame | frame | frame | frame | frame | fra…
//!   the backup       | header | frame | frame | frame |              first run, 3 frames
//!                                                     | frame | frame |   second run
//!   its record       part 1: up to here, hash ────────┘               │
//!   (log.backup)     part 2: up to here, hash ────────────────────────┘
//! ```
//!
//! It is laid out like a store: `immuxdb` reads it in place (`--data-root BACKUP`), and `verify` verifies it.
//!
//! **What is checked.** Each frame as it is copied: checksums of head and bodies, height, time, and the chain value,
//! which stands for all heads before. Before a run adds anything, the log must still have, at the same offset, the frame
//! with which the backup ends, with the same chain value: then everything before it is the same history. If not, the log
//! was put back from an older copy, or went another way, and the backup refuses to go on: it may be the only one that has
//! what is missing there.
//!
//! **It survives a kill at every point.** New frames go behind those that the record counts; they are synced; then the
//! record is replaced in one step. The first run writes to `log.copying` and renames it last. What an interrupted run left
//! behind is checked to be the log's own, and written over.
//!
//! **It holds only what the log will keep.** The source is synced up to the end of what was copied before the record counts
//! it, so that no crash there can lose a commit that is in the backup, and part the histories.
//!
//! **It is a reader.** It takes no lock on the log, and works beside a writer in another process. Its own copy it locks, so
//! that two runs do not meet, and nobody writes to a backup while it grows.
//!
//! Restoring copies a log back, up to the end or to a height or time, checks each frame and the hash of each part again,
//! reads what it wrote back from the device, and opens it. The restored log has the bytes of the original, so the same id,
//! and the same chain value at its end.

mod record;
mod restore;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

pub use restore::{RestoreSummary, Until, restore};

use self::record::{Part, Record, path_of, with_ending};
use crate::chain::make_directory;
use crate::environment::{Environment, System};
use crate::error::{Error, Result};
use crate::log::{LocalLog, LogCopy, LogPoint};
use crate::storage::Storage;
use crate::storage::disk::Disk;
use crate::types::{Height, Timestamp};
use crate::verify::Progress;

/// How backups are taken and restored.
#[derive(Clone)]
pub struct BackupOptions {
    /// The disk.
    pub storage: Arc<dyn Storage>,
    /// The clock.
    pub environment: Arc<dyn Environment>,
}

impl Default for BackupOptions {
    fn default() -> BackupOptions {
        BackupOptions { storage: Disk::shared(), environment: Arc::new(System::new()) }
    }
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    /// The height that the backup had before; `None` when it was made.
    pub since: Option<Height>,
    /// The height that it has.
    pub height: Height,
    /// The time up to which it goes: of its last frame.
    pub time: Timestamp,
    /// Bytes that were copied.
    pub copied: u64,
    /// Bytes of the whole copy.
    pub bytes: u64,
    /// How many runs added something.
    pub parts: u64,
}

/// Bytes of log between two reports of progress.
const REPORT_EVERY: u64 = 8 << 20;

/// Copies to `copy` what the log at `source` has and the copy does not.
///
/// # Errors
/// [`Error::Invalid`]: there is something else at `copy`, or the histories have parted; nothing is changed then.
/// [`Error::Damaged`]: the log or the backup is; [`Error::Held`]: another run goes on; [`Error::Format`], [`Error::Io`],
/// [`Error::NoSpace`]. The backup is then as it was before.
pub fn backup(
    source: &Path,
    copy: &Path,
    options: &BackupOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupSummary> {
    let storage = &*options.storage;
    let log = LocalLog::open_reader(&options.storage, source)?;
    if let Some(directory) = copy.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        make_directory(storage, directory)?;
    }
    let is_there = storage.exists(copy).map_err(|error| Error::io(copy, error))?;
    let known = Record::load(storage, copy)?;
    let run = match (is_there, known) {
        (true, None) => return Err(refused(copy, "a log that is no backup is there; name another place")),
        (true, Some(record)) => Run::go_on(&options.storage, &log, source, copy, record)?,
        (false, _) => Run::begin(storage, &log, copy)?,
    };
    run.copy(storage, &log, source, copy, options, progress)
}

fn refused(copy: &Path, why: &str) -> Error {
    Error::Invalid(format!("{}: {why}", copy.display()))
}

/// A run, when it is clear where it goes on.
struct Run {
    record: Record,
    from: LogPoint,
    target: LogCopy,
    /// The name of the copy until it is complete, if it is a new one.
    provisional: Option<PathBuf>,
}

impl Run {
    fn begin(storage: &dyn Storage, log: &LocalLog, copy: &Path) -> Result<Run> {
        let path = with_ending(copy, ".copying");
        LogCopy::discard(storage, &path)?;
        let target = LogCopy::create(storage, &path, *log.header())?;
        Ok(Run { record: Record::new(log.header()), from: log.header().base(), target, provisional: Some(path) })
    }

    fn go_on(storage: &Arc<dyn Storage>, log: &LocalLog, source: &Path, copy: &Path, record: Record) -> Result<Run> {
        let header = log.header();
        if (record.log_id, record.generation) != (header.log_id, header.generation) {
            let why = format!("this is a backup of another log than {}; name another place", source.display());
            return Err(refused(copy, &why));
        }
        let Some(last) = record.parts.last().copied() else {
            return Err(Error::Damaged { path: path_of(copy), offset: 0, what: "the record has no part".to_owned() });
        };
        let target = LogCopy::open(&**storage, copy, *header, last.end.offset)?;
        // The copy as a log: is it whole up to its end?
        let held = LocalLog::open_reader(storage, copy)?;
        let (chain, len) = held.chain_after_frame(last.last_frame)?;
        if chain != Some(last.end.chain) || len < last.end.offset {
            let what = "the backup is not what its record says; keep it, and take a new one elsewhere".to_owned();
            return Err(Error::Damaged { path: copy.to_owned(), offset: last.end.offset.min(len), what });
        }
        same_history(log, source, copy, &record, &last)?;
        nobody_wrote(&target, log, copy, last.end)?;
        Ok(Run { record, from: last.end, target, provisional: None })
    }

    fn copy(
        mut self,
        storage: &dyn Storage,
        log: &LocalLog,
        source: &Path,
        copy: &Path,
        options: &BackupOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<BackupSummary> {
        let since = self.record.parts.last().map(|part| part.end.height);
        let total = Some(log.file_bytes()?);
        let mut hash = Xxh3::new();
        let mut reported = self.from.offset;
        let target = &mut self.target;
        let (end, last_frame) = log.transfer(self.from, None, &mut |frame| {
            hash.update(frame.bytes());
            target.push(frame.bytes())?;
            let done = frame.end().offset;
            if done - reported >= REPORT_EVERY {
                reported = done;
                progress(Progress { stage: "copying the log", done, total });
            }
            Ok(true)
        })?;
        if last_frame.is_some() || self.record.parts.is_empty() {
            log.sync_as_reader()?;
            let last_frame = last_frame.unwrap_or(0);
            // A writer without space cuts off what it could not finish.
            if log.chain_after_frame(last_frame)?.0 != Some(end.chain) {
                let what = "the end of the log was taken back while it was copied; try again".to_owned();
                return Err(Error::Invalid(format!("{}: {what}", source.display())));
            }
            self.target.finish()?;
            let made = options.environment.now();
            self.record.parts.push(Part { made, end, last_frame, hash: hash.digest() });
            if self.provisional.is_some() {
                self.target.write_slot(end)?;
            }
            self.record.store(storage, copy)?;
            match &self.provisional {
                Some(provisional) => {
                    let directory = copy.parent().unwrap_or(Path::new(""));
                    let renamed = storage.rename(provisional, copy).and_then(|()| storage.sync_dir(directory));
                    renamed.map_err(|error| Error::io(copy, error))?;
                }
                None => self.target.write_slot(end)?,
            }
        }
        Ok(BackupSummary {
            since,
            height: end.height,
            time: end.time,
            copied: end.offset - self.from.offset,
            bytes: end.offset,
            parts: self.record.parts.len() as u64,
        })
    }
}

/// Refuses to go on when the log has another history than the backup, or a shorter one.
fn same_history(log: &LocalLog, source: &Path, copy: &Path, record: &Record, last: &Part) -> Result<()> {
    let (chain, len) = log.chain_after_frame(last.last_frame)?;
    if chain == Some(last.end.chain) && len >= last.end.offset {
        return Ok(());
    }
    let mut agreed = Height::ZERO;
    for part in record.parts.iter().rev() {
        let (chain, len) = log.chain_after_frame(part.last_frame)?;
        if chain == Some(part.end.chain) && len >= part.end.offset {
            agreed = part.end.height;
            break;
        }
    }
    let how = if len < last.end.offset { "is shorter than" } else { "went another way than" };
    let why = format!(
        "{} {how} this backup, which has commits up to height {} (they agree at height {agreed}): was an older copy put back? \
         Keep this backup, and take the next one elsewhere",
        source.display(),
        last.end.height
    );
    Err(refused(copy, &why))
}

/// What lies behind the end of the backup must be what an interrupted run copied, or no frames at all.
fn nobody_wrote(target: &LogCopy, log: &LocalLog, copy: &Path, end: LogPoint) -> Result<()> {
    target.frames_behind(end, &mut |frame| {
        let (chain, _) = log.chain_after_frame(frame.offset())?;
        if chain != Some(frame.end().chain) {
            let why = "somebody wrote to this backup; what was written is in none of its parts. Keep it, and take a new one \
                       elsewhere";
            return Err(refused(copy, why));
        }
        Ok(true)
    })
}
