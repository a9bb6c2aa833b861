//! A chain: its log, what is derived from it, one writer and any number of readers.
//!
//! | file | what |
//! |---|---|
//! | `handle` | the chain as users hold it |
//! | `commit`, `derive` | the way of a write, and what it changes in the indexes |
//! | `view`, `merged` | deltas and runs as one thing to read |
//! | `read`, `unit_scan`, `index_scan`, `dead`, `arrivals`, `fallback`, `range`, `history` | the ways of a read |
//! | `catalog` | groupings and index definitions |
//! | `open`, `replay`, `follow` | from files to a chain; keeping up with a writer in another process |
//! | `background`, `flush`, `maintain`, `fill` | runs: writing, merging, filling an index |
//! | `hashing`, `prove` | the hashes of commits; roots and proofs |

mod arrivals;
mod background;
pub(crate) mod catalog;
mod commit;
pub(crate) mod dead;
mod derive;
mod fallback;
mod fill;
mod flush;
mod follow;
mod handle;
mod hashing;
mod history;
mod index_scan;
mod maintain;
mod merged;
mod open;
mod prove;
mod range;
mod read;
mod replay;
mod stats;
mod unit_scan;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;

pub(crate) use commit::{Condition, Step, check_name};
pub(crate) use derive::{Changes, Old};
pub(crate) use fallback::FallbackScan;
pub use fill::IndexProgress;
pub use handle::{Chain, GroupingInfo};
pub(crate) use history::VersionScan;
pub(crate) use index_scan::IndexScan;
pub(crate) use merged::Start;
pub use open::{RecoveryReport, TailCut};
pub(crate) use open::{check_is_free, index_directory, make_directory, open_for_reading, open_for_writing};
pub(crate) use range::Range;
pub use stats::{ChainStats, RunStats};
pub(crate) use unit_scan::UnitScan;
pub(crate) use view::{VersionFound, hash_of};

use self::arrivals::Arrivals;
use self::background::BackgroundState;
use self::catalog::Catalog;
use self::commit::Writer;
use self::dead::DeadStretches;
use self::hashing::HashingState;
use self::maintain::Runs;
use self::view::View;
use crate::log::{LocalLog, LogPoint};
use crate::options::StoreOptions;
use crate::sync::atomic::{AtomicBool, AtomicU64};
use crate::sync::{Mutex, RwLock};

/// What this process may do with the chain.
pub(crate) enum Access {
    /// It holds the writer's lock.
    Write,
    /// Another process may write; this one follows.
    Follow,
}

/// What all handles of an open chain share.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) index_directory: PathBuf,
    pub(crate) options: StoreOptions,
    pub(crate) access: Access,
    pub(crate) log: LocalLog,
    pub(crate) recovery: RecoveryReport,
    pub(crate) catalog: RwLock<Catalog>,
    view: ArcSwap<View>,
    visible: AtomicU64,
    writer: Mutex<Writer>,
    runs: Mutex<Runs>,
    /// Whoever fills an index.
    filling: Mutex<()>,
    /// Whoever writes a frozen delta.
    flushing: Mutex<()>,
    /// Whoever merges runs.
    merging: Mutex<()>,
    /// Up to where a follower has read.
    followed: Mutex<LogPoint>,
    /// Where the commits end that defined indexes, as far as they were seen.
    definitions: Mutex<Vec<(crate::types::Height, LogPoint)>>,
    /// Whether new deltas count the key values of all indexes, not only of unique ones.
    counts_all: AtomicBool,
    dead: DeadStretches,
    hashing: HashingState,
    pub(crate) arrivals: Arrivals,
    background: BackgroundState,
}

impl Shared {
    /// The newest view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }
}
