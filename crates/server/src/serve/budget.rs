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

/// Memory that was taken. Dropping it gives it back.
pub(crate) type Share = OwnedSemaphorePermit;

impl Budget {
    /// So many bytes; who asks waits for at most `patience`.
    pub(crate) fn new(bytes: usize, patience: Duration) -> Budget {
        let total = bytes.div_ceil(UNIT).min(Semaphore::MAX_PERMITS);
        Budget { left: Arc::new(Semaphore::new(total)), total, patience }
    }

    /// Takes memory for `bytes`, waiting until others give it back. Who asks for more than there is takes all of it.
    ///
    /// # Errors
    /// [`Code::Overloaded`]: it did not become free in time.
    pub(crate) async fn take(&self, bytes: usize) -> Result<Option<Share>, Problem> {
        if bytes <= SMALL {
            return Ok(None);
        }
        let units = u32::try_from(bytes.div_ceil(UNIT).min(self.total)).unwrap_or(u32::MAX);
        let taken = tokio::time::timeout(self.patience, Arc::clone(&self.left).acquire_many_owned(units)).await;
        match taken {
            Ok(Ok(share)) => Ok(Some(share)),
            Ok(Err(_)) => unreachable!("nobody closes the budget"),
            Err(_) => {
                Err(Problem::new(Code::Overloaded, "other requests take all memory that there is for large ones")
                    .help("try again later, or send fewer large requests at once"))
            }
        }
    }
}
