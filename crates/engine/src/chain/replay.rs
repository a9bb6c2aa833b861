//! Taking a frame of the log into catalog and delta, as its commit did.
//!
//! A frame says which version each of its versions replaces, and when that one's key values were born. So no index is
//! asked: old keys come from the old body, and the changes come out of [`Changes::derive`] as they did for the commit.

use std::cell::RefCell;

use super::Shared;
use super::catalog::{GroupingEntry, IndexEntry, decode_definition};
use super::commit::{AppliedVersion, apply_version};
use super::derive::{Changes, Old};
use super::view::hash_of;
use crate::delta::{Delta, Mark};
use crate::error::{Error, Result};
use crate::index::KeySet;
use crate::log::{Frame, Log, NewVersion, Operation};
use crate::planted;
use crate::types::{Birth, GroupingId, Height, IndexId};

#[derive(Default)]
struct Scratch {
    new: KeySet,
    old: KeySet,
    births: Vec<(IndexId, Birth)>,
    changes: Changes,
}

crate::sync::thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Shared {
    /// Replays one frame.
    pub(crate) fn replay(&self, frame: &Frame<'_>) -> Result<()> {
        if !frame.is_commit() {
            return Ok(());
        }
        let active = self.view().active.clone();
        let height = frame.height();
        self.dead.apply(height);
        let mut most = usize::MAX;
        if planted::is(planted::Fault::HalfBatchReplayed)
            || (planted::is(planted::Fault::FollowerSeesHalfCommit) && matches!(self.access, super::Access::Follow))
        {
            most = frame.operations().count().div_ceil(2);
        }
        for operation in frame.operations().take(most) {
            SCRATCH
                .with(|scratch| self.replay_operation(frame, &active, height, &operation, &mut scratch.borrow_mut()))?;
        }
        active.finish_commit(Mark { height, end: frame.end().offset, time: frame.time() });
        Ok(())
    }

    fn replay_operation(
        &self,
        frame: &Frame<'_>,
        active: &Delta,
        height: Height,
        operation: &Operation<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        match operation {
            Operation::Version(version) => {
                let grouping = self.replayed_grouping(frame, version.grouping)?;
                self.replay_version(active, &grouping, height, version, scratch)
            }
            Operation::DefineGrouping { id, name } => self.catalog.write().define_grouping(*id, name, height),
            Operation::DefineIndex { grouping, index, definition } => {
                let (name, definition) = decode_definition(definition)?;
                let entry = IndexEntry { id: *index, name, definition, since: height, dropped: None, filled: false };
                self.definitions.lock().push((height, frame.end()));
                self.catalog.write().define_index(*grouping, entry)
            }
            Operation::DropIndex { grouping, index } => self.catalog.write().drop_index(*grouping, *index, height),
            Operation::ClearGrouping { grouping } => {
                let grouping = self.replayed_grouping(frame, *grouping)?;
                self.apply_clear(active, &grouping, height)
            }
        }
    }

    fn replay_version(
        &self,
        active: &Delta,
        grouping: &GroupingEntry,
        height: Height,
        version: &NewVersion<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { new, old, births, changes } = scratch;
        new.clear();
        old.clear();
        let birth = Birth::new(height, version.place);
        if grouping.has_indexes() {
            grouping.extractor.extract(version.kind, version.content, new)?;
        }
        let maintained = |id: IndexId| grouping.index_by_id(id).is_some_and(|index| index.is_maintained_at(height));
        match &version.previous {
            Some(previous) if grouping.has_indexes() => {
                let body = self.log.read_body(previous.position)?;
                grouping.extractor.extract(body.kind(), body.content(), old)?;
                births.clear();
                births.extend(previous.births);
                let old = Old { keys: old, birth: Birth::new(previous.height, previous.place), births };
                changes.derive(new, birth, Some(old), maintained);
            }
            _ => changes.derive(new, birth, None, maintained),
        }
        let applied = AppliedVersion {
            grouping,
            key: version.key,
            birth,
            hash: hash_of(version.key),
            kind: version.kind,
            position: version.position,
            new: version.previous.is_none(),
        };
        apply_version(&self.dead, &self.arrivals, active, &applied, new, old, changes);
        Ok(())
    }

    fn replayed_grouping(&self, frame: &Frame<'_>, id: GroupingId) -> Result<std::sync::Arc<GroupingEntry>> {
        let grouping = self.catalog.read().by_id(id);
        grouping.ok_or_else(|| self.damaged(frame, &format!("grouping {} was never defined", id.0)))
    }

    fn damaged(&self, frame: &Frame<'_>, what: &str) -> Error {
        Error::Damaged { path: self.path.clone(), offset: frame.offset(), what: what.to_owned() }
    }
}
