//! Whose turn it is to sync.
//!
//! A sync takes as long for one commit as for a hundred. So while one thread syncs, the others write their commits and
//! wait; when it is done, those that it took along go home, and one of the rest leads the next sync for all of them:
//!
//! ```text
//!   a  ──write──[ sync ]──►
//!   b   ──write── waits ──[ sync ]──►
//!   c     ──write── waits  · · · · ·──►   b's sync took it along
//! ```

use crate::error::Result;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// Gives the turn to one thread at a time.
#[derive(Default)]
pub(crate) struct SyncTurn {
    /// Whether somebody syncs.
    taken: Mutex<bool>,
    /// A sync ended: who waited for it goes on, and one of those whose commits came too late for it leads the next.
    ended: Condvar,
}

impl SyncTurn {
    /// Waits for the turn and runs `lead` in it; `None` when `done` said that there is no need any more. `done` is asked
    /// at first, and whenever another's turn has ended.
    ///
    /// # Errors
    /// Those of `done` and `lead`.
    pub(crate) fn lead_unless<T>(
        &self,
        mut done: impl FnMut() -> Result<bool>,
        lead: impl FnOnce() -> Result<T>,
    ) -> Result<Option<T>> {
        let mut taken = self.taken.lock();
        while !done()? {
            if !*taken {
                *taken = true;
                let outcome = MutexGuard::unlocked(&mut taken, lead);
                *taken = false;
                self.ended.notify_all();
                return outcome.map(Some);
            }
            self.ended.wait(&mut taken);
        }
        Ok(None)
    }
}
