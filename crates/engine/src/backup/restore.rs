//! Restoring: a copy of a log becomes a log again, as far as is wanted.

use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::record::{Record, path_of, with_ending};
use super::{BackupOptions, REPORT_EVERY};
use crate::chain::{check_is_free, make_directory, open_for_reading};
use crate::error::{Error, Result};
use crate::log::{Frame, LocalLog, LogCopy, LogPoint};
use crate::options::StoreOptions;
use crate::types::{Height, Timestamp};
use crate::verify::Progress;

/// How much of the history is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// All of it.
    Newest,
    /// Up to the commit at this height.
    Height(Height),
    /// Up to the newest commit that is not later.
    Time(Timestamp),
}

/// What was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreSummary {
    /// The height of the restored chain.
    pub height: Height,
    /// The time up to which it goes: of its last frame.
    pub time: Timestamp,
    /// Bytes of its log.
    pub bytes: u64,
    /// The height of what it was restored from.
    pub newest: Height,
}

/// Makes a log at `target` of the one at `source`, a backup or any other, up to a moment. It comes to be in one step, when it
/// is complete, was read back, and can be opened.
///
/// # Errors
/// [`Error::Invalid`]: there is something at `target`; [`Error::HeightUnknown`]: the source has no such height;
/// [`Error::Damaged`]: the source is, up to there, or what was written does not read back; [`Error::Held`]: the same is being
/// restored already; [`Error::Format`], [`Error::Io`], [`Error::NoSpace`]. Nothing is at `target` then.
pub fn restore(
    source: &Path,
    target: &Path,
    until: Until,
    options: &BackupOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<RestoreSummary> {
    let storage = &*options.storage;
    check_is_free(storage, target)?;
    let log = LocalLog::open_reader(&options.storage, source)?;
    let record = Record::load(storage, source)?;
    if let Some(record) = &record
        && record.log_id != log.header().log_id
    {
        let what = "the record belongs to another log than the one beside it".to_owned();
        return Err(Error::Damaged { path: path_of(source), offset: 16, what });
    }
    let directory = target.parent().unwrap_or(Path::new(""));
    if !directory.as_os_str().is_empty() {
        make_directory(storage, directory)?;
    }
    let provisional = with_ending(target, ".restoring");
    LogCopy::discard(storage, &provisional)?;
    let restored = write(&log, record.as_ref(), source, &provisional, until, options, progress).and_then(|summary| {
        check(&provisional, &summary, options)?;
        let renamed = storage.rename(&provisional, target).and_then(|()| storage.sync_dir(directory));
        renamed.map_err(|error| Error::io(target, error))?;
        Ok(summary)
    });
    if restored.is_err() {
        // The error tells more than that something of it stays.
        let _ = storage.remove(&provisional);
    }
    restored
}

/// Copies frames until the moment, and reads them back.
fn write(
    log: &LocalLog,
    record: Option<&Record>,
    source: &Path,
    path: &Path,
    until: Until,
    options: &BackupOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<RestoreSummary> {
    let mut target = LogCopy::create(&*options.storage, path, *log.header())?;
    let mut parts = record.map(|record| record.parts.as_slice()).unwrap_or_default().iter().peekable();
    let limit = record.and_then(|record| record.parts.last()).map(|last| last.end);
    let total = Some(limit.map_or(log.file_bytes()?, |end| end.offset));
    let (mut part_hash, mut whole_hash) = (Xxh3::new(), Xxh3::new());
    let mut reported = 0;
    let wanted = |frame: &Frame<'_>| match until {
        Until::Newest => true,
        Until::Height(height) => !frame.is_commit() || frame.height() <= height,
        Until::Time(time) => frame.time() <= time,
    };
    let base = log.header().base();
    let (end, _) = log.transfer(base, limit.map(|end| end.offset), &mut |frame| {
        if !wanted(frame) {
            return Ok(false);
        }
        part_hash.update(frame.bytes());
        whole_hash.update(frame.bytes());
        target.push(frame.bytes())?;
        let end = frame.end();
        if let Some(part) = parts.next_if(|part| part.end.offset <= end.offset) {
            if part.end != end || part.hash != part_hash.digest() {
                let what = format!("the part of the backup up to height {} is not what was copied", part.end.height);
                return Err(Error::Damaged { path: source.to_owned(), offset: end.offset, what });
            }
            part_hash.reset();
        }
        if end.offset - reported >= REPORT_EVERY {
            reported = end.offset;
            progress(Progress { stage: "copying the log", done: end.offset, total });
        }
        Ok(true)
    })?;
    check_moment(until, end)?;
    target.finish()?;
    target.write_slot(end)?;
    let mut read_back = Xxh3::new();
    target.read_back(&mut |bytes| read_back.update(bytes))?;
    if read_back.digest() != whole_hash.digest() {
        let what = "what was written does not read back".to_owned();
        return Err(Error::Damaged { path: path.to_owned(), offset: base.offset, what });
    }
    let newest = limit.map_or(end.height, |limit| limit.height);
    Ok(RestoreSummary { height: end.height, time: end.time, bytes: end.offset, newest })
}

fn check_moment(until: Until, end: LogPoint) -> Result<()> {
    match until {
        Until::Height(height) if end.height < height => Err(Error::HeightUnknown { asked: height, newest: end.height }),
        Until::Time(_) if end.height == Height::ZERO => {
            Err(Error::Invalid("no commit is so old; name a later time, or a height".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Opens the restored log as any reader would.
fn check(path: &Path, summary: &RestoreSummary, options: &BackupOptions) -> Result<()> {
    let store = StoreOptions {
        storage: options.storage.clone(),
        environment: options.environment.clone(),
        ..StoreOptions::default()
    };
    let opened = open_for_reading("restored", path, &store)?;
    match &opened.recovery.damage {
        Some(damage) => {
            Err(Error::Damaged { path: path.to_owned(), offset: 0, what: format!("what was restored: {damage}") })
        }
        None if opened.visible() != summary.height => {
            let what = format!("what was restored opens at height {}", opened.visible());
            Err(Error::Damaged { path: path.to_owned(), offset: 0, what })
        }
        None => Ok(()),
    }
}
