//! What the operating system knows about this process: CPU time, anonymous memory, bytes on disk.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

/// The CPU time of all threads of this process so far, user and system. Zero where the system doesn't tell.
#[must_use]
pub fn cpu_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| {
            Duration::from_secs(time.tv_sec().unsigned_abs()) + Duration::from_micros(time.tv_usec().unsigned_abs())
        })
        .sum()
}

/// The anonymous memory of this process in bytes (`RssAnon`): what it holds itself, without mapped files, which the
/// system can take back at any time. `None` where there is no `/proc`.
#[must_use]
pub fn anonymous_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Watches [`anonymous_memory`] from a thread of its own and keeps the peak.
pub struct MemoryWatch {
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MemoryWatch {
    const PERIOD: Duration = Duration::from_millis(10);

    /// Starts to watch.
    #[must_use]
    pub fn start() -> MemoryWatch {
        let peak = Arc::new(AtomicU64::new(anonymous_memory().unwrap_or(0)));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (peak, stop) = (Arc::clone(&peak), Arc::clone(&stop));
            move || {
                while !stop.load(Ordering::Relaxed) {
                    peak.fetch_max(anonymous_memory().unwrap_or(0), Ordering::Relaxed);
                    thread::sleep(Self::PERIOD);
                }
            }
        });
        MemoryWatch { peak, stop, thread: Some(thread) }
    }

    /// The peak so far in bytes; `None` where the system doesn't tell.
    #[must_use]
    pub fn peak(&self) -> Option<u64> {
        let now = anonymous_memory()?;
        Some(self.peak.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread can't panic; and if it did, the figures would not be wrong, only too low.
            let _ = thread.join();
        }
    }
}

/// The bytes that a store takes on disk: allocated ones, so that a sparse file counts for what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Everything that is derived: files in folders whose names end in `.idx`.
    pub index: u64,
    /// The rest: logs.
    pub log: u64,
}

/// Sums up the files of a store.
///
/// # Errors
/// When a folder cannot be read. A file that disappears in between (a merged run) counts as nothing.
pub fn sizes(store: &Path) -> io::Result<Sizes> {
    let mut sizes = Sizes::default();
    let mut folders = vec![(store.to_owned(), false)];
    while let Some((folder, in_index)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let is_index = in_index || metadata.is_dir() && entry.file_name().to_string_lossy().ends_with(".idx");
            if metadata.is_dir() {
                folders.push((entry.path(), is_index));
            } else if is_index {
                sizes.index += allocated(&metadata);
            } else {
                sizes.log += allocated(&metadata);
            }
        }
    }
    Ok(sizes)
}

fn allocated(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.blocks() * 512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time() {
        let before = cpu_time();
        let mut sum = 0u64;
        while cpu_time() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(cpu_time() > before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_in_use_is_seen() {
        let watch = MemoryWatch::start();
        let before = anonymous_memory().unwrap();
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(watch.peak().unwrap() >= before + (60 << 20));
        drop(block);
        assert!(watch.peak().unwrap() >= before + (60 << 20), "a peak stays");
    }

    #[test]
    fn index_and_log_are_told_apart() {
        let store = tempfile::tempdir().unwrap();
        let runs = store.path().join("default/log.idx");
        fs::create_dir_all(&runs).unwrap();
        fs::write(store.path().join("default/log"), [1; 10_000]).unwrap();
        fs::write(runs.join("1.run"), [1; 100_000]).unwrap();
        let sizes = sizes(store.path()).unwrap();
        assert!((10_000..20_000).contains(&sizes.log), "{sizes:?}");
        assert!((100_000..120_000).contains(&sizes.index), "{sizes:?}");
    }
}
