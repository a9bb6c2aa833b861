//! Where the engine's work runs.
//!
//! The engine blocks. A read takes some microseconds, unless it has to wait for the disk; a commit too, unless it waits for
//! a sync, for the background, or for a unique index that is being filled. Handing work to another thread and back costs
//! more than most of that work (10 to 20 µs), so:
//!
//! | work | where |
//! |---|---|
//! | short, as far as one can tell: gets, small commits that wait for no sync | on the thread that serves the connection, as long as another such thread stays free for all others |
//! | long: synced commits, large contents, scans, bulk, indexes | on a thread of the blocking pool |
//!
//! So whatever a commit waits for, connections are served meanwhile, and synced commits of many clients wait together for
//! one sync.

use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::problem::{Code, Problem};

/// Content over this is large: checking and copying it takes long.
const LARGE: usize = 256 << 10;

/// How long work may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// Some microseconds.
    Short,
    /// Nobody knows.
    Long,
}

impl Length {
    /// That of work on so many bytes.
    pub(crate) fn of_bytes(bytes: usize) -> Length {
        if bytes > LARGE { Length::Long } else { Length::Short }
    }
}

/// Hands out the right to block a thread that serves connections.
pub(crate) struct Lane {
    threads: Semaphore,
}

impl Lane {
    /// For a runtime of so many threads, one of which is never blocked.
    pub(crate) fn new(threads: usize) -> Lane {
        Lane { threads: Semaphore::new(threads.saturating_sub(1)) }
    }

    /// Runs `work`.
    ///
    /// # Errors
    /// It failed, or it panicked.
    pub(crate) async fn run<T, F>(&self, length: Length, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Problem> + Send + 'static,
    {
        if length == Length::Short
            && let Ok(_thread) = self.threads.try_acquire()
        {
            return work();
        }
        long(work).await
    }
}

/// Runs `work` on a thread of the blocking pool.
///
/// # Errors
/// It failed, or it panicked.
pub(crate) async fn long<T, F>(work: F) -> Result<T, Problem>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Problem> + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(lost(&error)))
}

fn lost(error: &JoinError) -> Problem {
    tracing::error!("work on the engine was lost: {error}");
    Problem::new(Code::Internal, "the request's work was lost").help("this is a fault of the server; its log says more")
}
