//! Memory for bodies and answers that are large: all requests together stay below a limit, whatever clients do.
//!
//! What is at most [`SMALL`] is not counted; the limits on connections and requests bound it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::{Code, Problem};

/// Bytes that every request may take.
pub(crate) const SMALL: usize = 64 << 10;
/// What a permit of the semaphore stands for, in bytes.
const UNIT: usize = 1 << 10;

/// The memory that is left.
pub(crate) struct Budget {
    left: Arc<Semaphore>,
    total: usize,
    patience: Duration,
}

/// Memory that a request has taken. Dropping it gives it back.
pub(crate) struct Share {
    budget: Arc<Budget>,
    taken: Option<OwnedSemaphorePermit>,
}

impl Budget {
    /// So many bytes; who asks waits for at most `patience`.
    pub(crate) fn new(bytes: usize, patience: Duration) -> Budget {
        let total = bytes.div_ceil(UNIT).min(Semaphore::MAX_PERMITS).min(u32::MAX as usize);
        Budget { left: Arc::new(Semaphore::new(total)), total, patience }
    }

    /// Nothing so far.
    pub(crate) fn share(self: &Arc<Self>) -> Share {
        Share { budget: Arc::clone(self), taken: None }
    }
}

impl Share {
    /// Takes memory until it is enough for `bytes`, waiting for others to give it back. What is more than there is at all
    /// counts as all of it.
    ///
    /// # Errors
    /// [`Code::Overloaded`]: it did not become free in time.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        let wanted = if bytes <= SMALL { 0 } else { bytes.div_ceil(UNIT).min(self.budget.total) };
        let more = wanted.saturating_sub(self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
        if more == 0 {
            return Ok(());
        }
        let waiting = Arc::clone(&self.budget.left).acquire_many_owned(more as u32);
        match tokio::time::timeout(self.budget.patience, waiting).await {
            Ok(Ok(more)) => {
                match &mut self.taken {
                    Some(taken) => taken.merge(more),
                    None => self.taken = Some(more),
                }
                Ok(())
            }
            Ok(Err(_)) => unreachable!("nobody closes the budget"),
            Err(_) => {
                Err(Problem::new(Code::Overloaded, "other requests take all memory that there is for large ones")
                    .help("try again later, or send fewer large requests at once"))
            }
        }
    }
}
