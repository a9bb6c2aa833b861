//! Verifying: is the log whole, and is what lies beside it what the log says?
//!
//! A store checks little of itself while it works. A commit is checked when it is replayed, a block of a run when it is
//! first touched, a body when it is read. What nobody reads may rot for years, and that a run *fits* its log (same history,
//! same end) does not prove that its entries are right. Here all of it is read and derived once more, and compared:
//!
//! ```text
//!   log ──► frames: checksums of heads and bodies, heights, times, chain values, the status slot
//!    │
//!    ├──► versions ──► sorted ──► each names the version that it replaces: height, position, births
//!    │                   │   └──► compared with the versions in the runs
//!    │                   └──► what the creation of each index found
//!    │                          │
//!    └──► events ──► sorted ◄───┘   born, ended
//!                        └──► compared with the live, killed and past entries of each section of each run
//!
//!   runs ──► checksums, order, counts, filters, block index, marks
//!   manifest ──► the runs that it names; its catalog against the definitions and clears in the log
//! ```
//!
//! **The comparison is exact.** From an entry's birth and end, and from where the runs begin and end, follows in which
//! section of which run it must be and what must stand there (`entries` has the rules). What is missing, what is there and
//! should not be, and what differs is a fault.
//!
//! **Damage does not end it.** A bad body costs that operation, a bad head the bytes up to the next whole one
//! (`log::examine`). Of groupings that lost something in the log no comparison is made, since nobody knows what
//! their indexes should hold; where whole commits are lost, of none. The parts are looked at for themselves all the same.
//!
//! **Memory is bounded.** Versions and events are sorted in portions (`sorter`), which go to files without a name in the
//! scratch directory. At most three quarters of [`VerifyOptions::memory`] are held at a time, and beside that a
//! MiB of log or one frame, and a cursor for each section of one index. The files take about as much as the runs would
//! without compression: some 60 bytes and the key for each version and for each birth and end of an entry.
//!
//! **It is a reader.** It takes no lock and writes nothing beside the log, so it works beside a writer, in this process or
//! another. It verifies what is in the file when it begins to read the log; the runs were there before, so that the log
//! has all that they have. Content that a writer still holds in memory (`Buffered`) is not seen.
//!
//! | file | what |
//! |---|---|
//! | `walk` | the log |
//! | `derived` | manifest and runs, each for itself |
//! | `units` | versions |
//! | `entries` | index entries |
//! | `record`, `sorter` | what is sorted, and how |
//! | `report` | faults, progress, the summary |

mod derived;
mod entries;
mod record;
mod report;
mod sorter;
mod units;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use report::{Fault, Part, Progress, Summary};

use self::derived::Derived;
use self::entries::Entries;
use self::report::Report;
use self::sorter::Scratch;
use self::units::Units;
use crate::chain::index_directory;
use crate::error::Result;
use crate::log::LocalLog;
use crate::storage::disk::Disk;
use crate::storage::{Storage, Unmapped};

/// How a log is verified.
#[derive(Clone)]
pub struct VerifyOptions {
    /// The disk.
    pub storage: Arc<dyn Storage>,
    /// The bytes to hold for sorting at most. Default: 128 MiB.
    pub memory: usize,
    /// Where files for sorting may be made; they have no name there. Default: the system's directory for such files.
    pub scratch: PathBuf,
    /// The faults that are told at most; the rest is counted. Default: 1,000.
    pub most_faults: u64,
    /// Whether to leave out what lies beside the log. Default: no.
    pub log_only: bool,
}

impl Default for VerifyOptions {
    fn default() -> VerifyOptions {
        VerifyOptions {
            storage: Disk::shared(),
            memory: 128 << 20,
            scratch: std::env::temp_dir(),
            most_faults: 1000,
            log_only: false,
        }
    }
}

/// Below this a portion holds next to nothing.
const LEAST_MEMORY: usize = 64 << 10;

/// Verifies the log at `path` and what was derived from it. Each fault is told as it is found.
///
/// # Errors
/// [`Error::Format`](crate::Error::Format) when the file is no log, or of a newer ImmuxDB; [`Error::Damaged`](crate::Error::Damaged) when its header is: nothing can be
/// read then. [`Error::Io`](crate::Error::Io) when files cannot be opened, or the scratch directory cannot be written.
pub fn verify(
    path: &Path,
    options: &VerifyOptions,
    tell: &mut dyn FnMut(Fault),
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary> {
    let mut report = Report::new(options.most_faults, tell, progress);
    let mut summary = Summary::default();
    let unmapped: Arc<dyn Storage> = Arc::new(Unmapped(Arc::clone(&options.storage)));
    let log = LocalLog::open_reader(&unmapped, path)?;
    let directory = index_directory(path);
    let derived = match options.log_only {
        true => None,
        false => Derived::load(&*options.storage, &directory, log.header(), &mut report)?,
    };
    let usable = derived.as_ref().filter(|derived| derived.catalog.is_some());
    summary.runs = usable.map_or(0, |derived| derived.runs.len() as u64);
    summary.covered = usable.map_or_else(Default::default, Derived::covered);

    let scratch = Scratch::new(Arc::clone(&options.storage), options.scratch.clone(), scratch_name(path));
    let memory = options.memory.max(LEAST_MEMORY);
    let truth = walk::walk(&log, path, usable, &scratch, memory, &mut report, &mut summary)?;
    if truth.broken {
        summary.notes.push("commits are missing in the log, so nothing was compared with it".to_owned());
    } else {
        let (catalog, unsure) = (&truth.catalog, &truth.unsure);
        let usable = usable.filter(|_| truth.runs_fit);
        if !unsure.is_empty() {
            let names: Vec<_> =
                unsure.iter().filter_map(|id| catalog.by_id(*id)).map(|grouping| grouping.name.clone()).collect();
            summary.notes.push(format!(
                "operations are missing in the log, so the versions and indexes of these groupings were not compared with it: \
                 {}",
                names.join(", ")
            ));
        }
        if let Some(derived) = usable {
            derived.compare_catalog(catalog, &mut report)?;
        }
        let (report, summary) = (&mut report, &mut summary);
        let mut units = Units { log: &log, path, catalog, unsure, derived: usable, report, summary };
        let events = units.compare(truth.versions, truth.events)?;
        if let Some(derived) = usable {
            Entries { catalog, unsure, derived, report, summary }.compare(events)?;
        }
    }
    summary.faults = report.found;
    Ok(summary)
}

/// A name for scratch files that no other verification has, in this process or another.
fn scratch_name(path: &Path) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".immuxdb-verify-{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
