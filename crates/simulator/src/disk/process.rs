//! The disk as one process sees it: the engine's storage traits, with every call counted and open to faults.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libimmuxdb::storage::{File, Mapping, OpenMode, Storage};
use parking_lot::Mutex;

use super::faults::{Call, Effect, io_error, no_space, stopped};
use super::state::State;
use super::tree::NodeId;
use crate::random::Random;

/// No simulated file grows beyond this: a write there is a bug of the caller.
const LARGEST_FILE: u64 = 1 << 32;

/// How far a call goes.
enum Course {
    /// To its end.
    Whole,
    /// To its end, but the caller does not hear of it.
    Unheard,
    /// Some of the way, and then this error.
    Partly(io::Error),
    /// Nowhere, with this error.
    Fails(io::Error),
    /// Nowhere: everything has stopped, or the process is dead, and of its files nothing may be left.
    Stops,
    /// To its end, but what was read is wrong in one bit.
    Corrupt,
}

fn course(state: &mut State, process: u64, call: Call, what: &dyn Fn() -> String) -> Course {
    if state.faults.stopped() || !state.processes.contains(&process) {
        return Course::Stops;
    }
    let effect = state.faults.meet(call);
    if let Some(trace) = &state.trace {
        let mark = effect.map_or_else(String::new, |effect| format!("  <<< {effect:?}"));
        trace(&format!("    disk: {call:?} {}{mark}", what()));
    }
    match effect {
        None => Course::Whole,
        Some(Effect::StopAfter) => Course::Unheard,
        Some(Effect::Kill) => {
            state.kill(process);
            Course::Stops
        }
        Some(Effect::Corrupt) => Course::Corrupt,
        Some(Effect::StopBefore) => Course::Stops,
        Some(Effect::StopAmid) if call.changes() => Course::Partly(stopped()),
        Some(Effect::StopAmid) => Course::Stops,
        Some(Effect::IoError) if call.changes() => Course::Partly(io_error()),
        Some(Effect::NoSpace) if call == Call::Write => Course::Partly(no_space()),
        Some(Effect::NoSpace) if call.changes() => Course::Fails(no_space()),
        Some(Effect::IoError | Effect::NoSpace) => Course::Fails(io_error()),
    }
}

/// Does a call that happens or does not, with nothing between.
fn perform<T>(state: &mut State, course: Course, action: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
    match course {
        Course::Whole | Course::Corrupt => action(state),
        Course::Unheard => action(state).and(Err(stopped())),
        Course::Partly(error) => {
            if state.random.chance(50) {
                action(state).and(Err(error))
            } else {
                Err(error)
            }
        }
        Course::Fails(error) => Err(error),
        Course::Stops => Err(stopped()),
    }
}

/// Flips one bit, if there is any.
fn flip_a_bit(bytes: &mut [u8], random: &mut Random) {
    if !bytes.is_empty() {
        let at = random.index(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
}

/// What one simulated process has of the disk. It dies with a crash; all calls fail from then on.
pub struct Process {
    pub(super) state: Arc<Mutex<State>>,
    pub(super) id: u64,
}

impl Process {
    fn call<T>(&self, call: Call, path: &Path, action: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let state = &mut *self.state.lock();
        let course = course(state, self.id, call, &|| path.display().to_string());
        perform(state, course, action)
    }
}

impl Storage for Process {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let call = match mode {
            OpenMode::Read | OpenMode::Write => Call::Open,
            OpenMode::CreateNew => Call::Create,
        };
        let (node, handle) = self.call(call, path, |state| {
            let node = match mode {
                OpenMode::Read | OpenMode::Write => state.tree.find_file(path)?,
                OpenMode::CreateNew => {
                    if state.free() == 0 {
                        state.count("full disk", 1);
                        return Err(no_space());
                    }
                    state.tree.create(path)?
                }
            };
            Ok((node, state.open_handle(self.id, node)))
        })?;
        Ok(Arc::new(Handle {
            state: Arc::clone(&self.state),
            process: self.id,
            id: handle,
            node,
            writes: mode != OpenMode::Read,
            path: path.to_owned(),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::Rename, to, |state| state.tree.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Remove, path, |state| state.tree.remove(path))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.call(Call::List, directory, |state| state.tree.list(directory))
    }

    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        self.call(Call::CreateDir, directory, |state| state.tree.create_dir(directory))
    }

    fn sync_dir(&self, directory: &Path) -> io::Result<()> {
        let state = &mut *self.state.lock();
        match course(state, self.id, Call::SyncDir, &|| directory.display().to_string()) {
            Course::Whole | Course::Corrupt => {
                state.tree.sync_dir(directory)?;
                state.collect();
                Ok(())
            }
            Course::Unheard => state.tree.sync_dir(directory).and(Err(stopped())),
            Course::Partly(error) => {
                state.tree.sync_dir_partly(directory, &mut state.random)?;
                Err(error)
            }
            Course::Fails(error) => Err(error),
            Course::Stops => Err(stopped()),
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.call(Call::Look, path, |state| match state.tree.find(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        })
    }
}

/// An open file.
struct Handle {
    state: Arc<Mutex<State>>,
    process: u64,
    id: u64,
    node: NodeId,
    writes: bool,
    path: PathBuf,
}

impl Handle {
    fn begin(&self, state: &mut State, call: Call, detail: &dyn Fn() -> String) -> Course {
        course(state, self.process, call, &|| format!("{} {}", self.path.display(), detail()))
    }

    fn look<T>(
        &self,
        call: Call,
        detail: &dyn Fn() -> String,
        action: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        let state = &mut *self.state.lock();
        let course = self.begin(state, call, detail);
        perform(state, course, action)
    }

    fn may_write(&self, end: Option<u64>) -> io::Result<()> {
        if !self.writes {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        match end {
            Some(end) if end <= LARGEST_FILE => Ok(()),
            _ => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }
}

impl File for Handle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = buffer.len();
        let state = &mut *self.state.lock();
        let course = self.begin(state, Call::Read, &|| format!("{len} at {offset}"));
        let is_corrupt = matches!(course, Course::Corrupt);
        let count = perform(state, course, |state| {
            let live = state.tree.file(self.node).image.live();
            let from = usize::try_from(offset).map_or(live.len(), |from| from.min(live.len()));
            let count = buffer.len().min(live.len() - from);
            buffer[..count].copy_from_slice(&live[from..from + count]);
            Ok(count)
        })?;
        if is_corrupt {
            flip_a_bit(&mut buffer[..count], &mut state.random);
        }
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.may_write(offset.checked_add(bytes.len() as u64))?;
        let state = &mut *self.state.lock();
        let course = self.begin(state, Call::Write, &|| format!("{} at {offset}", bytes.len()));
        let (mut len, mut result) = match course {
            Course::Whole | Course::Corrupt => (bytes.len(), Ok(())),
            Course::Unheard => (bytes.len(), Err(stopped())),
            Course::Partly(error) => (state.random.index(bytes.len() + 1), Err(error)),
            Course::Fails(error) => return Err(error),
            Course::Stops => return Err(stopped()),
        };
        let old = state.tree.file(self.node).image.live().len() as u64;
        let room = old.saturating_add(state.free()).saturating_sub(offset);
        if len as u64 > room && offset + len as u64 > old {
            len = room as usize;
            result = result.and(Err(no_space()));
            state.count("full disk", 1);
        }
        if len > 0 {
            let image = &mut state.tree.file(self.node).image;
            image.write(&bytes[..len], offset as usize);
        }
        result
    }

    fn len(&self) -> io::Result<u64> {
        self.look(Call::Look, &|| "length".to_owned(), |state| Ok(state.tree.file(self.node).image.live().len() as u64))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.may_write(Some(len))?;
        self.look(Call::SetLen, &|| format!("to {len}"), |state| {
            state.tree.file(self.node).image.set_len(len as usize);
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        let state = &mut *self.state.lock();
        let course = self.begin(state, Call::Sync, &String::new);
        if matches!(course, Course::Stops) {
            return Err(stopped());
        }
        let file = state.tree.file(self.node);
        let error = match course {
            Course::Whole | Course::Corrupt => {
                file.image.sync();
                if !state.hear_of_failed_sync(self.id) {
                    return Ok(());
                }
                state.count("sync failed in another process", 1);
                return Err(io_error());
            }
            Course::Unheard => {
                file.image.sync();
                return Err(stopped());
            }
            // Whoever dies in the middle of a call has not made it fail.
            Course::Partly(error) if state.faults.stopped() => {
                file.image.interrupt_sync(&mut state.random);
                return Err(error);
            }
            Course::Partly(error) => {
                file.image.fail_sync(&mut state.random);
                error
            }
            Course::Fails(error) => error,
            Course::Stops => unreachable!("it was looked at above"),
        };
        file.failed_syncs += 1;
        state.hear_of_failed_sync(self.id);
        Err(error)
    }

    fn try_lock(&self, byte: u64) -> io::Result<bool> {
        self.look(Call::Lock, &|| format!("byte {byte}"), |state| {
            let holder = *state.tree.file(self.node).locks.entry(byte).or_insert(self.id);
            Ok(holder == self.id)
        })
    }

    fn is_locked(&self, byte: u64) -> io::Result<bool> {
        self.look(Call::Lock, &|| format!("asks for {byte}"), |state| {
            let holder = state.tree.file(self.node).locks.get(&byte);
            Ok(holder.is_some_and(|&holder| holder != self.id))
        })
    }

    fn map(&self, offset: u64, len: usize, growing: bool) -> io::Result<Option<Mapping>> {
        let detail = || format!("{len} at {offset}{}", if growing { ", growing" } else { "" });
        let state = &mut *self.state.lock();
        let course = self.begin(state, Call::Map, &detail);
        let is_corrupt = matches!(course, Course::Corrupt);
        let bytes = perform(state, course, |state| {
            if growing {
                return Ok(None);
            }
            let live = state.tree.file(self.node).image.live();
            let range = usize::try_from(offset).ok().and_then(|from| live.get(from..from.checked_add(len)?));
            range.map(|bytes| Some(bytes.to_vec())).ok_or(io::ErrorKind::UnexpectedEof.into())
        })?;
        Ok(bytes.map(|mut bytes| {
            if is_corrupt {
                flip_a_bit(&mut bytes, &mut state.random);
            }
            Mapping::new(bytes)
        }))
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.look(Call::Look, &|| "identity".to_owned(), |_| Ok((1, self.node)))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.state.lock().close_handle(self.id, self.node);
    }
}
