//! Finding where a log ends.
//!
//! Whoever holds the writer's lock checks the frames from a point that is known to be good. A bad frame means one of
//! three things:
//!
//! | where, and what follows | what it is | what is done |
//! |---|---|---|
//! | before the end of what was synced | damage: these bytes were on the device | read-only, up to there |
//! | beyond; nothing valid follows, or the machine was restarted since | an append that did not come to its end | saved aside, cut off |
//! | beyond; valid frames follow, and the machine was not restarted | damage: the system held these bytes, and lost none | read-only, up to there |
//!
//! After a restart valid frames may follow a bad one, since a device writes unsynced pages in any order; none of them was
//! promised to anybody. What is synced, the newest of these tells: a status slot, the point from which was checked, and
//! what the frames themselves say.
//!
//! If the machine was not restarted, an earlier process may have seen an fdatasync fail; the pages are then clean without
//! being on the device, and another fdatasync would say nothing. So what lies beyond the synced part is written once more,
//! at its place, before it is synced and believed; by recovery, or, where syncing is left until somebody needs it, by the
//! first sync.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::fault::Fault;
use super::frame::Frame;
use super::head::{FIXED_BYTES, FrameHead, FrameKind, MIN_HEAD_BYTES, OpenRecord, lengths, open_record};
use super::header::PAGE_BYTES;
use super::local::{Access, LocalLog, Tail};
use super::opening::{Opening, directory, read_head};
use super::reader::{FrameReader, Step};
use super::status::Status;
use super::{Log, LogPoint};
use crate::error::{Error, Result};
use crate::options::Syncing;
use crate::planted;
use crate::storage::{File, OpenMode};
use crate::sync::atomic::Ordering;
use crate::types::{Durability, Height};

/// Bytes that are copied or searched at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// What recovery found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovery {
    /// Commits that were replayed.
    pub commits: u64,
    /// Where the log ends, before the record of this opening.
    pub end: LogPoint,
    /// Bytes that were written once more, since it was not known that they are on the device.
    pub rewritten: u64,
    /// What was cut off.
    pub cut: Option<Cut>,
    /// Damage: the log was opened for reading only, up to there.
    pub damage: Option<Damage>,
}

/// An append that did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Where the log ended then.
    pub offset: u64,
    /// How many bytes followed.
    pub bytes: u64,
    /// Where they were saved; `None` if all of them were zero.
    pub saved: Option<PathBuf>,
    /// What is wrong with them.
    pub what: String,
}

/// Bytes that were in the log and are not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Where it begins.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

impl LocalLog {
    /// Finds the end of the log and makes it ready for appending. `apply` is called for each frame after `from`, a point
    /// that was synced and that [fits](LocalLog::fits), or the [base](super::header::LogHeader::base); bodies up to that frame can be
    /// read meanwhile. With damage the log stays read-only, see [`Recovery::damage`].
    ///
    /// # Errors
    /// What `apply` gives; [`Error::Io`], [`Error::NoSpace`] (for what is saved aside). The log cannot be written then.
    pub fn recover(
        &self,
        from: LogPoint,
        opening: &Opening,
        apply: &mut dyn FnMut(&Frame<'_>) -> Result<()>,
    ) -> Result<Recovery> {
        assert_eq!(self.tail.lock().access, Access::Recover, "recovery is done once, by a writer");
        let io = |error| self.io(error);
        let mut len = self.file.len().map_err(io)?;
        self.check_start(from, len)?;
        if planted::is(planted::Fault::PromisedTailCut) && self.known_synced(from).0 < len {
            len -= 1;
        }
        let mut report = Recovery::default();
        let mut boot_id = self.found.map(|status| status.writer.boot_id);
        let known_synced = self.known_synced(from).0;
        let mut synced = from;
        let fault = {
            let mut reader = self.reader(from, len);
            let fault = loop {
                match reader.step()? {
                    Step::Frame(frame) => {
                        if self.found.is_none()
                            && let FrameKind::Open(record) = frame.kind()
                        {
                            boot_id = Some(record.writer.boot_id);
                        }
                        if frame.end().offset <= known_synced {
                            synced = frame.end();
                        }
                        report.commits += u64::from(frame.is_commit());
                        self.written.store(frame.end().offset, Ordering::Release);
                        apply(&frame)?;
                    }
                    Step::End => break None,
                    Step::Broken(fault) => break Some(fault),
                }
            };
            report.end = reader.at();
            fault
        };
        let end = report.end;
        self.written.store(end.offset, Ordering::Release);
        self.tail.lock().end = end;

        let same_boot = boot_id.is_none_or(|id| id == opening.writer.boot_id);
        report.damage = self.find_damage(from, end, len, fault.as_ref(), same_boot)?;
        if let Some(damage) = &report.damage {
            self.tail.lock().access = Access::Stopped(format!(
                "{} is damaged at offset {}: {}",
                self.path.display(),
                damage.offset,
                damage.what
            ));
            self.file.sync_data().map_err(io)?;
            self.set_synced(end);
            return Ok(report);
        }
        if let Some(fault) = fault {
            let saved = self.save_aside(end.offset, len)?;
            self.file.set_len(end.offset).map_err(io)?;
            report.cut = Some(Cut { offset: end.offset, bytes: len - end.offset, saved, what: fault.to_string() });
        }
        let rewrite = synced.offset..end.offset;
        let doubted = same_boot && !planted::is(planted::Fault::SecondSyncBelieved);
        let rewrite = Some(rewrite).filter(|range| doubted && !range.is_empty());
        match opening.syncing {
            Syncing::Always => {
                if let Some(range) = rewrite {
                    report.rewritten = range.end - range.start;
                    self.rewrite(range.start, range.end).map_err(io)?;
                }
                self.file.sync_data().map_err(io)?;
                self.set_synced(end);
            }
            Syncing::OnDemand => {
                self.owed.lock().rewrite = rewrite;
                self.set_synced(synced);
                // Whoever opens a log and writes nothing leaves it as it was, but for the slot.
                let mut tail = self.tail.lock();
                tail.unrecorded = Some(*opening);
                tail.access = Access::Write;
                drop(tail);
                self.write_slot(false)?;
                return Ok(report);
            }
        }
        self.append_open_record(&mut self.tail.lock(), opening)?;
        self.write_slot(false)?;
        Ok(report)
    }

    /// Reads on from `from`, the point that an earlier call gave, or a synced point that [fits](LocalLog::fits), or the
    /// [base](super::header::LogHeader::base): the frames that are whole. What may be an unfinished append is the end for now. What is
    /// given of [`Durability::Sync`] is on the device: if need be, the reader syncs it. Otherwise it takes for durable what
    /// the status slot calls synced.
    ///
    /// # Errors
    /// What `apply` gives; [`Error::Damaged`] when what was synced can't be read, after all before it was given;
    /// [`Error::Io`].
    pub fn follow(&self, from: LogPoint, apply: &mut dyn FnMut(&Frame<'_>) -> Result<()>) -> Result<LogPoint> {
        assert_eq!(self.tail.lock().access, Access::Read, "only readers follow a log");
        let io = |error| self.io(error);
        let known_longer = self.found.is_some_and(|status| status.synced_offset > from.offset);
        if !known_longer && from == self.newest() && from.offset == self.file.len().map_err(io)? {
            return Ok(from);
        }
        // The slot comes first: the writer may go on meanwhile, and what a slot calls synced is in the file by then.
        let status = Status::read(&*self.file, self.header.log_id).map_err(io)?;
        let synced = status.map_or(PAGE_BYTES, |status| status.synced_offset);
        let len = self.file.len().map_err(io)?;
        self.check_start(from, len)?;
        let mut owes_sync = false;
        // Before the first call nothing was read, and `from` is synced.
        let mut known = (from != self.newest() || from.offset == synced).then_some(from);
        let mut reader = self.reader(from, len);
        let what = loop {
            match reader.step()? {
                Step::Frame(frame) => {
                    if frame.end().offset <= synced {
                        known = Some(frame.end());
                    } else {
                        owes_sync |= frame.durability() == Durability::Sync;
                    }
                    self.written.store(frame.end().offset, Ordering::Release);
                    apply(&frame)?;
                }
                Step::End => break "the file ends within what was synced".to_owned(),
                Step::Broken(fault) => break fault.to_string(),
            }
        };
        let end = reader.at();
        if end.offset < synced {
            // What is before the damage was given, and is not given again.
            self.written.store(end.offset, Ordering::Release);
            self.tail.lock().end = end;
            return Err(self.damaged(end.offset, what));
        }
        if owes_sync && !planted::is(planted::Fault::FollowerShowsUnsynced) {
            self.file.sync_data().map_err(io)?;
            known = Some(end);
        }
        if let Some(known) = known {
            self.set_synced(known);
        }
        self.written.store(end.offset, Ordering::Release);
        self.tail.lock().end = end;
        Ok(end)
    }

    /// Nothing beyond the end of the file may ever count as part of the log: it could not be touched in the map.
    fn check_start(&self, from: LogPoint, len: u64) -> Result<()> {
        if from.offset > len {
            return Err(self.damaged(len, format!("the log once had {} bytes", from.offset)));
        }
        Ok(())
    }

    fn reader(&self, from: LogPoint, limit: u64) -> FrameReader {
        let (file, path) = (Arc::clone(&self.file), self.path.clone());
        FrameReader::new(file, path, self.envelope, from, limit)
    }

    /// Offset and height up to which the log is known to have been synced.
    fn known_synced(&self, from: LogPoint) -> (u64, Height) {
        let slot = self.found.map_or((0, Height::ZERO), |status| (status.synced_offset, status.synced_height));
        slot.max((from.offset, from.height))
    }

    /// Tells whether the log, which can be read up to `end`, once went on from there.
    fn find_damage(
        &self,
        from: LogPoint,
        end: LogPoint,
        len: u64,
        fault: Option<&Fault>,
        same_boot: bool,
    ) -> Result<Option<Damage>> {
        let what = fault.map_or_else(|| "the file ends here".to_owned(), Fault::to_string);
        let damage = |why: String| Ok(Some(Damage { offset: end.offset, what: format!("{what}; {why}") }));
        let (synced, height) = self.known_synced(from);
        if (end.offset < synced || end.height < height) && !planted::is(planted::Fault::SyncedHeightIgnored) {
            return damage(format!("the log was synced up to height {height} and offset {synced}"));
        }
        if fault.is_none() {
            return Ok(None);
        }
        let later = self.find_later_frames(end, len).map_err(|error| self.io(error))?;
        match later {
            Some(later) if later.synced > end.height && !planted::is(planted::Fault::SyncedHeightIgnored) => {
                damage(format!(
                    "a later frame, at offset {}, says that the log was synced up to height {}",
                    later.offset, later.synced
                ))
            }
            Some(later) if same_boot => damage(format!(
                "a valid frame follows at offset {}, and the machine was not restarted since",
                later.offset
            )),
            _ => Ok(None),
        }
    }

    /// Looks for heads of frames at every offset beyond a bad one at `end`.
    fn find_later_frames(&self, end: LogPoint, len: u64) -> io::Result<Option<LaterFrames>> {
        let mut found: Option<LaterFrames> = None;
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut at = end.offset + 1;
        while at + MIN_HEAD_BYTES as u64 <= len {
            let chunk = ((len - at) as usize).min(CHUNK_BYTES);
            let read = self.file.read_at(&mut buffer[..chunk], at)?;
            let bytes = &buffer[..read];
            let mut next = 0;
            while next + FIXED_BYTES <= bytes.len() {
                let offset = at + next as u64;
                let mut step = 1;
                if may_begin_frame(&bytes[next..], &end, len - offset) {
                    let head = read_head(self, offset, len)?;
                    if let Ok(head) = FrameHead::parse(&head, &self.envelope, offset) {
                        let later = found.get_or_insert(LaterFrames { offset, synced: Height::ZERO });
                        later.synced = later.synced.max(head.synced);
                        step = head.frame_bytes as usize;
                    }
                }
                next += step;
            }
            if next == 0 {
                break; // the file is shorter than it said
            }
            at += next as u64;
        }
        Ok(found)
    }

    fn save_aside(&self, from: u64, to: u64) -> Result<Option<PathBuf>> {
        let io = |error| self.io(error);
        let mut zero = true;
        copy_chunks(&*self.file, from, to, |bytes, _| {
            zero &= bytes.iter().all(|byte| *byte == 0);
            Ok(())
        })
        .map_err(io)?;
        if zero {
            return Ok(None);
        }
        let (path, aside) = self.create_aside(from)?;
        let saved = copy_chunks(&*self.file, from, to, |bytes, at| aside.write_at(bytes, at - from))
            .and_then(|()| aside.sync_data())
            .and_then(|()| self.storage.sync_dir(directory(&self.path)));
        if let Err(error) = saved {
            // Half a copy helps nobody; the original is still in the log.
            let _ = self.storage.remove(&path);
            return Err(Error::io(path, error));
        }
        Ok(Some(path))
    }

    /// A new file beside the log: `log.tail-OFFSET`, or with a further number where that one is taken.
    fn create_aside(&self, offset: u64) -> Result<(PathBuf, Arc<dyn File>)> {
        let mut number = 0u32;
        loop {
            let mut name = self.path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".tail-{offset}"));
            if number > 0 {
                name.push(format!(".{number}"));
            }
            let path = self.path.with_file_name(name);
            match self.storage.open(&path, OpenMode::CreateNew) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(Error::io(path, error)),
            }
        }
    }

    /// Writes bytes once more at their place, so that the next sync tells the truth about them.
    pub(super) fn rewrite(&self, from: u64, to: u64) -> io::Result<()> {
        copy_chunks(&*self.file, from, to, |bytes, at| self.file.write_at(bytes, at))
    }

    /// Appends the record that somebody opened the log for writing.
    pub(super) fn append_open_record(&self, tail: &mut Tail, opening: &Opening) -> Result<()> {
        let record = OpenRecord { nonce: opening.nonce, writer: opening.writer };
        let synced = self.durable_height();
        let (frame, end) = open_record(&self.envelope, &tail.end, synced, opening.now, &record);
        self.append_frame(tail, &frame, end, Durability::Process)?;
        tail.access = Access::Write;
        Ok(())
    }
}

/// Valid heads beyond a bad frame.
struct LaterFrames {
    /// Where the first one is.
    offset: u64,
    /// The greatest height that one of them knew to be synced.
    synced: Height,
}

/// A cheap test that hardly anything but a later frame passes; the checksum decides.
pub(super) fn may_begin_frame(bytes: &[u8], last: &LogPoint, left: u64) -> bool {
    let Ok((frame, _)) = lengths(bytes) else {
        return false;
    };
    let field = |at| u64::from_le_bytes(super::header::array(bytes, at));
    u64::from(frame) <= left && (1..=2).contains(&bytes[12]) && field(14) >= last.height.0 && field(22) >= last.time.0
}

fn copy_chunks(
    file: &dyn File,
    from: u64,
    to: u64,
    mut then: impl FnMut(&[u8], u64) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK_BYTES.min((to - from) as usize)];
    let mut at = from;
    while at < to {
        let chunk = ((to - at) as usize).min(CHUNK_BYTES);
        let read = file.read_at(&mut buffer[..chunk], at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        then(&buffer[..read], at)?;
        at += read as u64;
    }
    Ok(())
}
