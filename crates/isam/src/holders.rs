//! Which processes have a file open, as `/proc` shows it.
//!
//! A lock of an open file description names no process (`/proc/locks` has -1 there); but each descriptor's `fdinfo` lists the
//! locks that are held through it. Processes of other users are seen by root only.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Serialize;

use crate::failure::Failure;
use crate::status::Status;

/// A process that has a file open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// Its id.
    pub process: u32,
    /// Its command's name.
    pub name: String,
    /// What its lock says: `writing` (nobody else may open it), `reading`, or `looking` without a lock.
    pub how: &'static str,
}

impl fmt::Display for Holder {
    /// As `process 4711 (ORDENTRY), writing`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({}), {}", self.process, self.name, self.how)
    }
}

/// The processes, but for this one, in the order of their ids.
#[must_use]
pub fn holders(path: &Path) -> Vec<Holder> {
    let Ok(file) = fs::metadata(path) else {
        return Vec::new();
    };
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut holders: Vec<Holder> = numbers
        .filter(|process| *process != std::process::id())
        .filter_map(|process| {
            let how = how(process, (file.dev(), file.ino()))?;
            let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
            Some(Holder { process, name: name.trim().to_owned(), how })
        })
        .collect();
    holders.sort_by_key(|holder| holder.process);
    holders
}

/// The failure of whoever cannot have a file because of another program: it names those that hold it, as far as they can
/// be seen.
pub(crate) fn held(path: &Path) -> Failure {
    let holders = holders(path).into_iter().filter(|holder| holder.how != Lock::None.name());
    let named: Vec<String> = holders.map(|holder| holder.to_string()).collect();
    let by = if named.is_empty() { String::new() } else { format!(": {}", named.join("; ")) };
    Failure::new(Status::FileHeld, format!("{} is open in another program{by}", path.display()))
}

/// How a process has a file open; `None` if it has not, or can't be seen.
fn how(process: u32, file: (u64, u64)) -> Option<&'static str> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let ours = descriptors.filter(|entry| {
        let target = fs::metadata(entry.path());
        target.is_ok_and(|target| (target.dev(), target.ino()) == file)
    });
    let locks = ours.map(|entry| {
        let name = entry.file_name();
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{}", name.display())).unwrap_or_default();
        lock_of(&info)
    });
    locks.max().map(Lock::name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lock {
    None,
    Read,
    Write,
}

impl Lock {
    fn name(self) -> &'static str {
        match self {
            Lock::Write => "writing",
            Lock::Read => "reading",
            Lock::None => "looking",
        }
    }
}

/// The strongest lock of a descriptor, from lines such as `lock:  1: OFDLCK  ADVISORY  WRITE -1 fe:00:123 0 0`.
fn lock_of(info: &str) -> Lock {
    let locks = info.lines().filter_map(|line| line.strip_prefix("lock:"));
    let kinds = locks.map(|lock| match lock.split_whitespace().nth(3) {
        Some("WRITE") => Lock::Write,
        _ => Lock::Read,
    });
    kinds.max().unwrap_or(Lock::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_read() {
        assert_eq!(lock_of("pos:\t0\nflags:\t02\n"), Lock::None);
        let read = "lock:\t1: OFDLCK  ADVISORY  READ -1 fe:00:123 4611686018427387905 4611686018427387905\n";
        let write = "lock:\t2: OFDLCK  ADVISORY  WRITE -1 fe:00:123 4611686018427387904 4611686018427387904\n";
        assert_eq!(lock_of(read), Lock::Read);
        assert_eq!(lock_of(&format!("{read}{write}")), Lock::Write);
    }
}
