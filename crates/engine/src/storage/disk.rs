//! The operating system's files.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use super::{File, Mapping, OpenMode, Storage};

/// The operating system's file system. It holds nothing, so any number of them are alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Disk {
    /// A disk to share.
    #[must_use]
    pub fn shared() -> Arc<dyn Storage> {
        Arc::new(Disk)
    }
}

/// `Path::parent` of a bare file name is empty, and means the working directory.
fn directory_or_here(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

impl Storage for Disk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut options = fs::OpenOptions::new();
        match mode {
            OpenMode::Read => options.read(true),
            OpenMode::Write => options.read(true).write(true),
            OpenMode::CreateNew => options.read(true).write(true).create_new(true),
        };
        Ok(Arc::new(DiskFile { file: options.open(path)?, locks: locks::Locks::new() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut names = fs::read_dir(directory_or_here(directory))?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory_or_here(directory))
    }

    fn sync_dir(&self, directory: &Path) -> io::Result<()> {
        fs::File::open(directory_or_here(directory))?.sync_all()
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }
}

struct DiskFile {
    file: fs::File,
    locks: locks::Locks,
}

impl Drop for DiskFile {
    fn drop(&mut self) {
        // A process that is being started by this one has the same descriptor for a moment, and would hold the lock.
        self.locks.unlock(&self.file);
    }
}

impl File for DiskFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn try_lock(&self, byte: u64) -> io::Result<bool> {
        self.locks.try_lock(&self.file, byte)
    }

    fn try_lock_shared(&self, byte: u64) -> io::Result<bool> {
        self.locks.try_lock_shared(&self.file, byte)
    }

    fn is_locked(&self, byte: u64) -> io::Result<bool> {
        self.locks.is_locked(&self.file, byte)
    }

    #[allow(unsafe_code)]
    fn map(&self, offset: u64, len: usize, growing: bool) -> io::Result<Option<Mapping>> {
        if len == 0 {
            return Ok(Some(Mapping::new(Vec::new())));
        }
        let end = offset.checked_add(len as u64);
        if !growing && end.is_none_or(|end| end > self.file.metadata().map_or(0, |m| m.len())) {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the range to map reaches beyond the end of the file",
            ));
        }
        // SAFETY: the map is for reading and outlives the descriptor without harm. That its bytes stay as they are is
        // the engine's rule for its files: runs never change once they have their name, and of a log only bytes below
        // its known end are touched, which nothing rewrites with other bytes and which no cut reaches. A stranger who
        // shortens a file under the engine breaks that rule, and the process gets SIGBUS.
        let map = unsafe { memmap2::MmapOptions::new().offset(offset).len(len).map(&self.file)? };
        Ok(Some(Mapping::new(map)))
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        let metadata = self.file.metadata()?;
        Ok((metadata.dev(), metadata.ino()))
    }
}

/// Open-file-description locks: of one byte, between descriptors rather than processes, gone when the descriptor is.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod locks {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::{fs, io};

    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    pub(super) struct Locks {
        held: AtomicBool,
    }

    fn one(kind: libc::c_int, byte: u64) -> io::Result<libc::flock> {
        let start = libc::off_t::try_from(byte).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(range(kind, start, 1))
    }

    fn range(kind: libc::c_int, start: libc::off_t, length: libc::off_t) -> libc::flock {
        libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: start,
            l_len: length,
            l_pid: 0, // the kernel wants zero for this kind of lock
        }
    }

    impl Locks {
        pub(super) fn new() -> Locks {
            Locks { held: AtomicBool::new(false) }
        }

        /// Gives back all locks of this handle.
        pub(super) fn unlock(&self, file: &fs::File) {
            if self.held.load(Ordering::Relaxed) {
                // If this fails, the lock goes with the descriptor. Length zero reaches to the end of all offsets.
                let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&range(libc::F_UNLCK, 0, 0)));
            }
        }

        pub(super) fn try_lock(&self, file: &fs::File, byte: u64) -> io::Result<bool> {
            self.take(file, &one(libc::F_WRLCK, byte)?)
        }

        pub(super) fn try_lock_shared(&self, file: &fs::File, byte: u64) -> io::Result<bool> {
            self.take(file, &one(libc::F_RDLCK, byte)?)
        }

        fn take(&self, file: &fs::File, lock: &libc::flock) -> io::Result<bool> {
            match fcntl(file, FcntlArg::F_OFD_SETLK(lock)) {
                Ok(_) => {
                    self.held.store(true, Ordering::Relaxed);
                    Ok(true)
                }
                Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
                Err(errno) => Err(errno.into()),
            }
        }

        pub(super) fn is_locked(&self, file: &fs::File, byte: u64) -> io::Result<bool> {
            let mut lock = one(libc::F_WRLCK, byte)?;
            fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
            Ok(lock.l_type != libc::F_UNLCK as libc::c_short)
        }
    }
}

/// `flock`, for systems that lack such locks: it covers the file, whichever byte is asked for. A file of the engine has
/// one lock only.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod locks {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::{fs, io};

    pub(super) struct Locks {
        held: AtomicBool,
    }

    impl Locks {
        pub(super) fn new() -> Locks {
            Locks { held: AtomicBool::new(false) }
        }

        /// Gives back the lock of this handle.
        pub(super) fn unlock(&self, file: &fs::File) {
            if self.held.load(Ordering::Relaxed) {
                // If this fails, the lock goes with the descriptor.
                let _ = file.unlock();
            }
        }

        pub(super) fn try_lock(&self, file: &fs::File, _byte: u64) -> io::Result<bool> {
            match file.try_lock() {
                Ok(()) => {
                    self.held.store(true, Ordering::Relaxed);
                    Ok(true)
                }
                Err(fs::TryLockError::WouldBlock) => Ok(false),
                Err(fs::TryLockError::Error(error)) => Err(error),
            }
        }

        pub(super) fn try_lock_shared(&self, file: &fs::File, _byte: u64) -> io::Result<bool> {
            match file.try_lock_shared() {
                Ok(()) => {
                    self.held.store(true, Ordering::Relaxed);
                    Ok(true)
                }
                Err(fs::TryLockError::WouldBlock) => Ok(false),
                Err(fs::TryLockError::Error(error)) => Err(error),
            }
        }

        pub(super) fn is_locked(&self, file: &fs::File, _byte: u64) -> io::Result<bool> {
            if self.held.load(Ordering::Relaxed) {
                return Ok(false); // by this handle, not by another
            }
            match file.try_lock_shared() {
                Ok(()) => file.unlock().map(|()| false),
                Err(fs::TryLockError::WouldBlock) => Ok(true),
                Err(fs::TryLockError::Error(error)) => Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stop_at_the_end_and_writes_may_go_beyond_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let disk = Disk::shared();
        let file = disk.open(&path, OpenMode::CreateNew).unwrap();
        file.write_at(b"abc", 5).unwrap();
        let mut buffer = [1; 16];
        assert_eq!(file.read_at(&mut buffer, 4).unwrap(), 4);
        assert_eq!(&buffer[..4], b"\0abc");
        assert_eq!(file.read_at(&mut buffer, 100).unwrap(), 0);
        assert_eq!(file.len().unwrap(), 8);
        file.set_len(6).unwrap();
        file.sync_data().unwrap();
        disk.sync_dir(folder.path()).unwrap();
        assert_eq!(file.len().unwrap(), 6);
        let again = disk.open(&path, OpenMode::CreateNew).map(|_| ());
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let reader = disk.open(&path, OpenMode::Read).unwrap();
        assert!(reader.write_at(b"x", 0).is_err());
        assert_eq!(reader.identity().unwrap(), file.identity().unwrap());
    }

    #[test]
    fn a_growing_map_shows_what_is_written_later() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::shared();
        let file = disk.open(&folder.path().join("file"), OpenMode::CreateNew).unwrap();
        assert!(file.map(0, 10, false).is_err());
        let map = file.map(0, 1 << 20, true).unwrap().unwrap();
        file.write_at(&[7; 5000], 0).unwrap();
        assert_eq!(&map[..5000], &[7; 5000]);
        let exact = file.map(4097, 903, false).unwrap().unwrap();
        assert_eq!(&exact[..], &[7; 903]);
    }

    #[test]
    fn a_lock_excludes_other_handles_until_its_own_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let disk = Disk::shared();
        let first = disk.open(&path, OpenMode::CreateNew).unwrap();
        let second = disk.open(&path, OpenMode::Write).unwrap();
        let byte = 1 << 62;
        assert!(!second.is_locked(byte).unwrap());
        assert!(first.try_lock(byte).unwrap());
        assert!(first.try_lock(byte).unwrap());
        assert!(!first.is_locked(byte).unwrap());
        assert!(second.is_locked(byte).unwrap());
        assert!(!second.try_lock(byte).unwrap());
        drop(first);
        assert!(second.try_lock(byte).unwrap());
    }

    #[test]
    fn shared_locks_exclude_the_exclusive_one_which_one_of_them_may_become() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let disk = Disk::shared();
        let first = disk.open(&path, OpenMode::CreateNew).unwrap();
        let second = disk.open(&path, OpenMode::Read).unwrap();
        assert!(first.try_lock_shared(7).unwrap() && second.try_lock_shared(7).unwrap());
        assert!(!first.try_lock(7).unwrap());
        drop(second);
        assert!(first.try_lock(7).unwrap());
        let second = disk.open(&path, OpenMode::Read).unwrap();
        assert!(!second.try_lock_shared(7).unwrap());
        assert!(first.try_lock_shared(7).unwrap());
        assert!(second.try_lock_shared(7).unwrap());
    }

    #[test]
    fn names_are_listed_in_order_and_renaming_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::shared();
        let inner = folder.path().join("a/b");
        disk.create_dir(&inner).unwrap();
        for name in ["z", "m"] {
            let file = disk.open(&inner.join(name), OpenMode::CreateNew).unwrap();
            file.write_at(name.as_bytes(), 0).unwrap();
        }
        assert_eq!(disk.list(&inner).unwrap(), ["m", "z"]);
        disk.rename(&inner.join("z"), &inner.join("m")).unwrap();
        assert_eq!(disk.list(&inner).unwrap(), ["m"]);
        assert!(disk.exists(&inner.join("m")).unwrap());
        disk.remove(&inner.join("m")).unwrap();
        assert!(!disk.exists(&inner.join("m")).unwrap());
    }
}
