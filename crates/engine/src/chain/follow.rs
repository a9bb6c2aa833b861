//! Keeping up with a writer in another process.
//!
//! A follower reads the frames that were appended since it last looked, and replays them into a delta of its own. When
//! that is full it looks whether the writer's manifest has runs for it by now, and lets go of what they cover. A delta
//! that a run covers only in part is kept whole: reading an event twice does no harm.

use std::sync::Arc;

use super::Shared;
use super::open::load_derived;
use super::view::View;
use crate::delta::Delta;
use crate::error::Result;
use crate::log::Log;

impl Shared {
    /// Takes in what was committed since the last call.
    pub(crate) fn follow(&self) -> Result<()> {
        let mut followed = self.followed.lock();
        let read = self.log.follow(*followed, &mut |frame| {
            self.replay(frame)?;
            if self.is_full(&self.view().active) {
                self.freeze(frame.end());
                self.take_up_manifest()?;
            }
            Ok(())
        });
        // Also what was read before damage.
        let end = self.log.newest();
        *followed = end;
        self.publish(end.height);
        read.map(|_| ())
    }

    /// Uses the runs that the writer has put in force.
    pub(crate) fn take_up_manifest(&self) -> Result<()> {
        let derived = load_derived(&self.log, &*self.options.storage, &self.index_directory)?;
        let covered = derived.covered.height;
        let newest_first: Vec<_> = derived.runs.iter().rev().map(|numbered| Arc::clone(&numbered.run)).collect();
        let mut runs = self.runs.lock();
        // The runs of a new index cover no heights.
        let stretches =
            runs.in_force.iter().map(|numbered| numbered.run.meta()).filter(|meta| !meta.is_empty_stretch());
        let ours = stretches.map(|meta| meta.end).max().unwrap_or_default();
        // Runs that are ahead of what was followed are ignored, and with them the entries of indexes that are known to be
        // filled: then this is not the moment.
        if covered < ours || derived.ignored > 0 {
            return Ok(());
        }
        runs.in_force = derived.runs;
        self.change_view(|view: &mut View| {
            view.runs.clone_from(&newest_first);
            view.frozen.retain(|delta: &Arc<Delta>| delta.end() > covered);
        });
        self.adopt_filled(&derived.filled)
    }
}
