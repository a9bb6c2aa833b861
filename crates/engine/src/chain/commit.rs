//! The way of a write.
//!
//! ```text
//!  prepare   outside the lock: validate JSON, extract the index keys
//!  lock      the chain's one writer
//!  check     find the unit's current version; conditions; unique keys
//!  append    one frame to the log, with one write: the commit has happened
//!  apply     add version and events to the delta; readers see the new height
//!  unlock
//!  sync      (Durability::Sync) wait for one fdatasync, shared with all who wait
//! ```
//!
//! To place an index entry nothing is read: its birth is the commit's height. What is read is the unit's current version
//! (to know its old keys), and a count or filter for each key value when uniqueness or duplicates are asked about.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use super::Shared;
use super::arrivals::Arrivals;
use super::catalog::{GroupingEntry, IndexEntry, encode_definition};
use super::dead::DeadStretches;
use super::derive::{Changes, Old};
use super::index_scan::IndexScan;
use super::range::Range;
use super::view::{VersionFound, View, hash_of};
use crate::delta::{Delta, Mark, NewVersion};
use crate::error::{Error, Result};
use crate::index::{IndexDefinition, KeySet, validate_json};
use crate::limits;
use crate::log::{Appended, CommitMeta, FrameBuilder, Log, LogPoint, Previous};
use crate::planted;
use crate::sync::atomic::Ordering as Atomic;
use crate::types::{Birth, Durability, GroupingId, Height, IndexId, Position, VersionKind};
use crate::unit::{Committed, Content, WriteOptions};

/// What must be true of a unit for its write to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Nothing.
    Any,
    /// The unit does not exist.
    Absent,
    /// The unit exists.
    Present,
    /// The unit's version is that of this height.
    At(Height),
}

/// One operation of a commit.
pub(crate) enum Step<'a> {
    /// A new version of a unit; without content, its deletion.
    Unit { grouping: &'a str, key: &'a [u8], content: Option<Content<'a>>, condition: Condition },
    /// All units of a grouping go. Before the other operations on it.
    Clear { grouping: &'a str },
    /// A grouping comes to be, with indexes that are ready at once, since there is nothing to fill them with. No other
    /// operation of the commit is on it.
    DefineGrouping { grouping: &'a str, indexes: &'a [(String, IndexDefinition)] },
    /// An index comes to be; later commits maintain it.
    DefineIndex { grouping: &'a str, name: &'a str, definition: &'a IndexDefinition },
    /// An index goes.
    DropIndex { grouping: &'a str, name: &'a str },
}

/// What one operation needs between being checked and being applied. Kept by the thread, so that commits allocate little.
#[derive(Default)]
struct Prepared {
    grouping: Option<Arc<GroupingEntry>>,
    kind: Option<VersionKind>,
    new: KeySet,
    old: KeySet,
    changes: Changes,
    hash: u64,
    place: u32,
    /// Whether the unit was not there before.
    new_unit: bool,
}

crate::sync::thread_local! {
    static PREPARED: RefCell<Vec<Prepared>> = const { RefCell::new(Vec::new()) };
}

/// The state that only the holder of the writer's lock sees.
pub(crate) struct Writer {
    pub(crate) builder: FrameBuilder,
    pub(crate) height: Height,
    /// Why no commit is accepted, if so.
    pub(crate) closed: Option<String>,
}

impl Shared {
    /// Commits `steps` at one height, or nothing of them.
    pub(crate) fn commit(
        self: &Arc<Self>,
        steps: &[Step<'_>],
        actor: Option<&str>,
        options: WriteOptions,
    ) -> Result<Committed> {
        self.background.check_room()?;
        let outcome = self.prepare_and_commit(None, steps, actor, options);
        let (committed, log_bytes) = outcome.map_err(|error| self.settle_refusal(error))?;
        if self.level_of(options) == Durability::Sync {
            self.wait_until_synced(committed.height)?;
        }
        self.background.pause_writer(log_bytes);
        Ok(committed)
    }

    /// Commits while the caller holds the writer's lock.
    pub(crate) fn commit_locked(
        self: &Arc<Self>,
        writer: &mut Writer,
        steps: &[Step<'_>],
        options: WriteOptions,
    ) -> Result<Committed> {
        let (committed, _) = self.prepare_and_commit(Some(writer), steps, None, options)?;
        if self.level_of(options) == Durability::Sync {
            self.wait_until_synced(committed.height)?;
        }
        Ok(committed)
    }

    /// Commits nothing, so that a height is taken: for one whose commit is lost.
    pub(crate) fn commit_nothing(self: &Arc<Self>, actor: &str) -> Result<Height> {
        self.background.check_room()?;
        let mut writer = self.writer.lock();
        let (committed, _) =
            self.commit_prepared(&mut writer, &[], &mut [], Some(actor), Durability::Buffered, false)?;
        Ok(committed.height)
    }

    /// A refusal tells of the commit that was in its way. Nobody may be told of what readers do not see yet, and power
    /// loss could take away: so this waits until that commit is synced.
    fn settle_refusal(&self, error: Error) -> Error {
        let tells = matches!(
            error,
            Error::UnitExists { .. } | Error::UnitMissing | Error::HeightMismatch { .. } | Error::DuplicateKey { .. }
        );
        let newest = self.log.newest().height;
        if !tells || self.visible() >= newest {
            return error;
        }
        self.wait_until_synced(newest).err().unwrap_or(error)
    }

    fn level_of(&self, options: WriteOptions) -> Durability {
        options.durability.unwrap_or(self.options.durability)
    }

    /// Gives the commit, and the bytes that it added to the log.
    fn prepare_and_commit(
        self: &Arc<Self>,
        writer: Option<&mut Writer>,
        steps: &[Step<'_>],
        actor: Option<&str>,
        options: WriteOptions,
    ) -> Result<(Committed, usize)> {
        if steps.is_empty() {
            return Err(Error::Invalid("a commit needs at least one operation".to_owned()));
        }
        check_count(steps.len(), limits::OPERATIONS_PER_COMMIT)?;
        PREPARED.with(|prepared| {
            let prepared = &mut *prepared.borrow_mut();
            if prepared.len() < steps.len() {
                prepared.resize_with(steps.len(), Prepared::default);
            }
            let outcome = (|| {
                for (step, prepared) in steps.iter().zip(prepared.iter_mut()) {
                    self.prepare(step, prepared)?;
                }
                let (level, report) = (self.level_of(options), options.report_duplicates);
                match writer {
                    Some(writer) => self.commit_prepared(writer, steps, prepared, actor, level, report),
                    None => self.commit_prepared(&mut self.writer.lock(), steps, prepared, actor, level, report),
                }
            })();
            prepared.truncate(KEPT);
            prepared.iter_mut().for_each(|prepared| prepared.grouping = None);
            outcome
        })
    }

    /// What can be done before the lock is taken.
    fn prepare(&self, step: &Step<'_>, prepared: &mut Prepared) -> Result<()> {
        match step {
            Step::Unit { grouping, key, content, .. } => {
                check_name("grouping name", grouping)?;
                check_size("unit key", key.len(), limits::UNIT_KEY_BYTES)?;
                if let Some(content) = content {
                    check_size("content", content.bytes.len(), limits::CONTENT_BYTES)?;
                }
                prepared.hash = hash_of(key);
                prepared.grouping = self.catalog.read().grouping(grouping);
                prepared.extract(content.as_ref())
            }
            Step::Clear { grouping } => check_name("grouping name", grouping),
            Step::DefineGrouping { grouping, indexes } => {
                check_name("grouping name", grouping)?;
                check_size("the list of the grouping's indexes", indexes.len(), limits::INDEXES_PER_GROUPING)?;
                for (name, definition) in *indexes {
                    check_name("index name", name)?;
                    definition.validate()?;
                }
                Ok(())
            }
            Step::DefineIndex { grouping, name, .. } | Step::DropIndex { grouping, name } => {
                check_name("grouping name", grouping)?;
                check_name("index name", name)
            }
        }
    }

    fn commit_prepared(
        self: &Arc<Self>,
        writer: &mut Writer,
        steps: &[Step<'_>],
        prepared: &mut [Prepared],
        actor: Option<&str>,
        level: Durability,
        report_duplicates: bool,
    ) -> Result<(Committed, usize)> {
        if let Some(why) = &writer.closed {
            return Err(Error::ReadOnly(why.clone()));
        }
        // Before the commit: once it has happened, nothing may make it look undone.
        self.flush_if_alone()?;
        if report_duplicates {
            self.count_all_key_values();
        }
        let height = writer.height.next();
        let view = self.view();
        let now = self.options.environment.now();
        writer.builder.begin(&CommitMeta { height, now, durability: level, actor, commit_id: None })?;
        let mut pending = Pending::new(steps.len() > 1);
        for (step, prepared) in steps.iter().zip(prepared.iter_mut()) {
            self.check(step, prepared, height, &view, &mut writer.builder, &mut pending)?;
        }
        let mut duplicates = false;
        for prepared in prepared[..steps.len()].iter().filter(|prepared| !prepared.changes.lives.is_empty()) {
            duplicates |=
                self.check_new_keys(prepared, height_before(height), &view, &mut pending, report_duplicates)?;
        }
        if planted::is(planted::Fault::PublishedBeforeAppend) {
            self.publish(height);
        }
        let before = self.log.newest().offset;
        let end = match self.log.append(&mut writer.builder)? {
            Appended::At(end) => end,
            Appended::Conflict { newest } => {
                unreachable!("the log is at height {newest}, the holder of its lock at {}", writer.height)
            }
        };
        writer.height = height;
        self.dead.apply(height);
        let mut applied = steps.len();
        if planted::is(planted::Fault::HalfBatchApplied) {
            applied = steps.len().div_ceil(2);
        }
        for (step, prepared) in steps[..applied].iter().zip(prepared.iter()) {
            self.apply(step, prepared, end, &view.active, &writer.builder)?;
        }
        view.active.finish_commit(Mark { height, end: end.offset, time: end.time });
        if level != Durability::Sync {
            self.publish(height);
        }
        if self.is_full(&view.active) {
            self.freeze(end);
        }
        self.background.wake_hasher();
        Ok((Committed { height, duplicates, created: pending.created }, (end.offset - before) as usize))
    }

    /// Whether a delta is to be frozen: it has its share of memory, or of the log that a recovery would have to read.
    pub(crate) fn is_full(&self, delta: &Delta) -> bool {
        delta.bytes() >= self.options.delta_bytes() || delta.log_bytes() >= MOST_LOG_BYTES
    }

    /// From now on deltas count the key values of all indexes, so that duplicates are found without sorting.
    fn count_all_key_values(&self) {
        if !self.counts_all.swap(true, Atomic::Relaxed) && !self.view().active.counts_all() {
            self.renew_active(self.log.newest());
        }
    }

    /// Checks one operation, but for its new keys, and adds it to the frame.
    fn check(
        self: &Arc<Self>,
        step: &Step<'_>,
        prepared: &mut Prepared,
        height: Height,
        view: &View,
        builder: &mut FrameBuilder,
        pending: &mut Pending,
    ) -> Result<()> {
        prepared.changes.clear();
        match step {
            Step::Unit { grouping, key, content, condition } => {
                let grouping = self.grouping_for_write(grouping, prepared, content.as_ref(), builder, pending)?;
                let place = builder.count();
                let birth = Birth::new(height, place);
                prepared.place = place;
                let before = height_before(height);
                let previous = if pending.cleared.contains(&grouping.id) {
                    None
                } else {
                    let found = view.version(&grouping, key, prepared.hash, before, usize::MAX)?;
                    found.filter(|version| version.kind != VersionKind::Deleted)
                };
                check_condition(*condition, previous.as_ref())?;
                prepared.new_unit = previous.is_none();
                pending.created += usize::from(content.is_some() && previous.is_none());
                self.derive_changes(&grouping, prepared, birth, previous.as_ref())?;
                pending.add_kills(prepared);
                let previous = previous.as_ref().map(|version| Previous {
                    height: version.birth.height,
                    place: version.birth.place,
                    position: version.position,
                    births: version.births.as_slice(),
                });
                let mut salt = [0; 16];
                self.options.environment.fill_random(&mut salt);
                match content {
                    Some(content) => {
                        builder.put(grouping.id, content.kind, key, content.bytes, salt, previous.as_ref())?
                    }
                    None => builder.delete(grouping.id, key, salt, previous.as_ref())?,
                };
                prepared.grouping = Some(grouping);
                Ok(())
            }
            Step::Clear { grouping } => {
                let entry = self.existing_grouping(grouping)?;
                builder.clear_grouping(entry.id)?;
                pending.cleared.insert(entry.id);
                prepared.grouping = Some(entry);
                Ok(())
            }
            Step::DefineGrouping { grouping, indexes } => {
                let is_known = self.catalog.read().grouping(grouping).is_some();
                if is_known || pending.defined.iter().any(|entry| entry.name == *grouping) {
                    return Err(Error::Invalid(format!("there is a grouping {grouping:?} already")));
                }
                let entry = self.grouping_for_write(grouping, prepared, None, builder, pending)?;
                for (nth, (name, definition)) in indexes.iter().enumerate() {
                    if indexes[..nth].iter().any(|(known, _)| known == name) {
                        return Err(Error::IndexExists { grouping: entry.name.clone(), index: name.clone() });
                    }
                    let id = IndexId(self.catalog.read().next_index().0 + pending.indexes);
                    pending.indexes += 1;
                    builder.define_index(entry.id, id, &encode_definition(name, definition))?;
                }
                prepared.grouping = Some(entry);
                Ok(())
            }
            Step::DefineIndex { grouping, name, definition } => {
                let entry = self.grouping_for_write(grouping, prepared, None, builder, pending)?;
                let count = entry.indexes.iter().filter(|index| index.dropped.is_none()).count();
                if entry.index(name).is_some() {
                    return Err(Error::IndexExists { grouping: entry.name.clone(), index: (*name).to_owned() });
                }
                check_size("the list of the grouping's indexes", count + 1, limits::INDEXES_PER_GROUPING)?;
                assert!(builder.count() <= 1, "an index is defined by a commit of its own");
                let id = self.catalog.read().next_index();
                builder.define_index(entry.id, id, &encode_definition(name, definition))?;
                prepared.grouping = Some(entry);
                Ok(())
            }
            Step::DropIndex { grouping, name } => {
                let entry = self.existing_grouping(grouping)?;
                let index = entry.index(name).ok_or_else(|| index_missing(grouping, name))?;
                builder.drop_index(entry.id, index.id)?;
                prepared.grouping = Some(entry);
                Ok(())
            }
        }
    }

    fn existing_grouping(&self, name: &str) -> Result<Arc<GroupingEntry>> {
        let entry = self.catalog.read().grouping(name);
        entry.ok_or_else(|| Error::GroupingMissing(name.to_owned()))
    }

    /// The grouping as it is under the lock. One that does not exist is defined in the same commit.
    fn grouping_for_write(
        &self,
        name: &str,
        prepared: &mut Prepared,
        content: Option<&Content<'_>>,
        builder: &mut FrameBuilder,
        pending: &mut Pending,
    ) -> Result<Arc<GroupingEntry>> {
        let known = self.catalog.read().grouping(name);
        if let Some(entry) = known {
            let as_prepared = prepared.grouping.as_ref().is_some_and(|prepared| Arc::ptr_eq(prepared, &entry));
            if !as_prepared {
                prepared.grouping = Some(Arc::clone(&entry));
                prepared.extract(content)?;
            }
            return Ok(entry);
        }
        if let Some(entry) = pending.defined.iter().find(|entry| entry.name == name) {
            return Ok(Arc::clone(entry));
        }
        let known = self.catalog.read().groupings().len() + pending.defined.len();
        check_size("the list of groupings", known + 1, limits::GROUPINGS_PER_CHAIN)?;
        let id = GroupingId(known as u32 + 1);
        builder.define_grouping(id, name)?;
        let entry = Arc::new(GroupingEntry::new(id, name.to_owned(), builder.height(), Vec::new(), Vec::new())?);
        pending.defined.push(Arc::clone(&entry));
        Ok(entry)
    }

    fn derive_changes(
        &self,
        grouping: &GroupingEntry,
        prepared: &mut Prepared,
        birth: Birth,
        previous: Option<&VersionFound>,
    ) -> Result<()> {
        let Prepared { new, old, changes, .. } = prepared;
        let everything = |_: IndexId| true;
        match previous {
            Some(version) if grouping.has_indexes() => {
                let body = self.log.read_body(version.position)?;
                old.clear();
                grouping.extractor.extract(version.kind, body.content(), old)?;
                let old = Old { keys: old, birth: version.birth, births: &version.births };
                changes.derive(new, birth, Some(old), everything);
            }
            _ => changes.derive(new, birth, None, everything),
        }
        Ok(())
    }

    /// Refuses key values that a unique index has already; tells whether another unit has one of the others. All
    /// operations of the commit were checked by now, so that the key values that they give up are free.
    fn check_new_keys(
        self: &Arc<Self>,
        prepared: &Prepared,
        before: Height,
        view: &View,
        pending: &mut Pending,
        report_duplicates: bool,
    ) -> Result<bool> {
        let Some(grouping) = &prepared.grouping else {
            unreachable!("each operation was checked, and has its grouping");
        };
        // An index that is being filled does not know all key values; a unique one lets no commit in before it does.
        let asked = |id: IndexId| {
            let index = grouping.index_by_id(id)?;
            (index.filled && (index.definition.unique || report_duplicates)).then_some(index)
        };
        let keys = || {
            let lives = prepared.changes.lives.iter().zip(&prepared.changes.hashes);
            lives.filter_map(|((id, at), hash)| Some((asked(*id)?, prepared.new.get(*at).1, *hash)))
        };
        let duplicates = Cell::new(false);
        let found = |index: &IndexEntry| {
            if index.definition.unique {
                return Err(Error::DuplicateKey { index: index.name.clone() });
            }
            duplicates.set(true);
            Ok(())
        };
        // One duplicate is enough to report; unique indexes must be asked all the same.
        let settled = |index: &IndexEntry| duplicates.get() && !index.definition.unique;
        let mut unsure: Vec<(&IndexEntry, &[u8])> = Vec::new();
        {
            let known = view.known_keys();
            for (nth, (index, key, hash)) in keys().enumerate() {
                if settled(index) {
                    continue;
                }
                if nth == 1 {
                    keys().for_each(|(index, _, hash)| known.prefetch(grouping.id, index.id, hash));
                }
                if pending.has(index.id, key) {
                    found(index)?;
                    continue;
                }
                if pending.cleared.contains(&grouping.id) {
                    continue;
                }
                match known.has_entry(grouping, index, (key, hash), before)? {
                    Some(false) => {}
                    Some(true) if pending.kills.is_empty() => found(index)?,
                    _ if planted::is(planted::Fault::UniqueNotChecked) => {}
                    _ => unsure.push((index, key)),
                }
            }
        }
        for (index, key) in unsure {
            if !settled(index) && self.has_living_entry(grouping, index, key, before, pending)? {
                found(index)?;
            }
        }
        pending.add_lives(prepared);
        Ok(duplicates.get())
    }

    /// Whether some unit has the key value, and no operation of this commit takes it away.
    fn has_living_entry(
        self: &Arc<Self>,
        grouping: &Arc<GroupingEntry>,
        index: &IndexEntry,
        key: &[u8],
        at: Height,
        pending: &Pending,
    ) -> Result<bool> {
        let mut scan = IndexScan::new(self, Arc::clone(grouping), index.id, at, Range::of_key(key))?;
        while scan.next()? {
            let entry = scan.entry();
            if !pending.kills.contains(&(index.id, entry.key.clone(), entry.birth)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes what was appended into catalog and delta.
    fn apply(
        &self,
        step: &Step<'_>,
        prepared: &Prepared,
        end: LogPoint,
        active: &Delta,
        builder: &FrameBuilder,
    ) -> Result<()> {
        let height = end.height;
        let Some(grouping) = &prepared.grouping else {
            unreachable!("each operation was checked, and has its grouping");
        };
        self.catalog_knows(grouping, height)?;
        match step {
            Step::Unit { key, content, .. } => {
                let kind = content.as_ref().map_or(VersionKind::Deleted, |content| content.kind);
                let Some(position) = builder.position(prepared.place) else {
                    unreachable!("a version has a body in the frame that was appended");
                };
                let (hash, new) = (prepared.hash, prepared.new_unit);
                let birth = Birth::new(height, prepared.place);
                let version = AppliedVersion { grouping, key, birth, kind, hash, position, new };
                apply_version(
                    &self.dead,
                    &self.arrivals,
                    active,
                    &version,
                    &prepared.new,
                    &prepared.old,
                    &prepared.changes,
                );
            }
            Step::Clear { .. } => self.apply_clear(active, grouping, height)?,
            Step::DefineGrouping { indexes, .. } => {
                for (name, definition) in *indexes {
                    self.apply_index(grouping, name, definition, end)?;
                }
            }
            Step::DefineIndex { name, definition, .. } => self.apply_index(grouping, name, definition, end)?,
            Step::DropIndex { name, .. } => {
                let Some(index) = grouping.index(name) else {
                    unreachable!("the index was there when the operation was checked");
                };
                self.catalog.write().drop_index(grouping.id, index.id, height)?;
            }
        }
        Ok(())
    }

    fn apply_index(
        &self,
        grouping: &GroupingEntry,
        name: &str,
        definition: &IndexDefinition,
        end: LogPoint,
    ) -> Result<()> {
        let mut catalog = self.catalog.write();
        let index = IndexEntry {
            id: catalog.next_index(),
            name: name.to_owned(),
            definition: definition.clone(),
            since: end.height,
            dropped: None,
            filled: false,
        };
        self.definitions.lock().push((end.height, end));
        catalog.define_index(grouping.id, index)
    }

    fn catalog_knows(&self, grouping: &GroupingEntry, height: Height) -> Result<()> {
        if self.catalog.read().by_id(grouping.id).is_some() {
            return Ok(());
        }
        self.catalog.write().define_grouping(grouping.id, &grouping.name, height)
    }

    /// A clear, from a commit or from a replayed frame.
    pub(crate) fn apply_clear(&self, active: &Delta, grouping: &GroupingEntry, height: Height) -> Result<()> {
        let mut existence = active.existence().lock();
        for index in &grouping.indexes {
            existence.forget(index.id);
        }
        self.arrivals.all(height);
        self.catalog.write().clear(grouping.id, height)
    }

    /// Makes the commit at `height` visible to readers.
    pub(crate) fn publish(&self, height: Height) {
        self.visible.fetch_max(height.0, Atomic::Release);
    }

    /// Returns when `height` survives power loss, and readers see it.
    pub(crate) fn wait_until_synced(&self, height: Height) -> Result<()> {
        self.log.sync(height)?;
        self.publish(height);
        Ok(())
    }
}

/// Bytes of log after which a delta is frozen even if it takes little memory.
const MOST_LOG_BYTES: u64 = 256 << 20;

/// Prepared operations that a thread keeps for its next commit.
const KEPT: usize = 16;

impl Prepared {
    /// Takes the index keys out of the content, which validates it.
    fn extract(&mut self, content: Option<&Content<'_>>) -> Result<()> {
        self.new.clear();
        self.kind = content.map(|content| content.kind);
        let Some(content) = content else {
            return Ok(());
        };
        match &self.grouping {
            Some(grouping) => grouping.extractor.extract(content.kind, content.bytes, &mut self.new),
            None if content.kind == VersionKind::Json => validate_json(content.bytes),
            None => Ok(()),
        }
    }
}

/// What earlier operations of the same commit did.
struct Pending {
    many: bool,
    created: usize,
    defined: Vec<Arc<GroupingEntry>>,
    /// How many indexes it defines.
    indexes: u32,
    cleared: HashSet<GroupingId>,
    lives: HashSet<(IndexId, Vec<u8>)>,
    kills: HashSet<(IndexId, Vec<u8>, Birth)>,
}

impl Pending {
    fn new(many: bool) -> Pending {
        Pending {
            many,
            created: 0,
            defined: Vec::new(),
            indexes: 0,
            cleared: HashSet::new(),
            lives: HashSet::new(),
            kills: HashSet::new(),
        }
    }

    /// Whether an earlier operation gives a unit this key value.
    fn has(&self, index: IndexId, key: &[u8]) -> bool {
        !self.lives.is_empty() && self.lives.contains(&(index, key.to_vec()))
    }

    fn add_kills(&mut self, prepared: &Prepared) {
        for (index, at, birth) in prepared.changes.kills.iter().filter(|_| self.many) {
            self.kills.insert((*index, prepared.old.get(*at).1.to_vec(), *birth));
        }
    }

    fn add_lives(&mut self, prepared: &Prepared) {
        for (index, at) in prepared.changes.lives.iter().filter(|_| self.many) {
            self.lives.insert((*index, prepared.new.get(*at).1.to_vec()));
        }
    }
}

/// A version that is in the log.
pub(crate) struct AppliedVersion<'a> {
    pub(crate) grouping: &'a GroupingEntry,
    pub(crate) key: &'a [u8],
    pub(crate) birth: Birth,
    pub(crate) hash: u64,
    pub(crate) kind: VersionKind,
    pub(crate) position: Position,
    /// Whether the unit was not there before.
    pub(crate) new: bool,
}

/// Adds a version and what it changes to the delta, for a commit or a replayed frame.
pub(crate) fn apply_version(
    dead: &DeadStretches,
    arrivals: &Arrivals,
    delta: &Delta,
    version: &AppliedVersion<'_>,
    new: &KeySet,
    old: &KeySet,
    changes: &Changes,
) {
    let (grouping, birth) = (version.grouping.id, version.birth);
    if version.new {
        arrivals.born(IndexId::UNITS, birth.height);
    }
    let mut adding = delta.add();
    let id = adding.version(&NewVersion {
        grouping,
        key: version.key,
        hash: version.hash,
        birth,
        kind: version.kind,
        position: version.position,
        births: &changes.births,
    });
    if changes.lives.is_empty() && changes.kills.is_empty() {
        return;
    }
    let mut existence = delta.existence().lock();
    let counted = |index: IndexId| {
        delta.counts_all() || version.grouping.index_by_id(index).is_some_and(|index| index.definition.unique)
    };
    for (index, at, born) in &changes.kills {
        let key = old.get(*at).1;
        adding.kill(grouping, *index, key, *born, birth.height);
        if counted(*index) {
            let since = version.grouping.index_by_id(*index).map_or(Height::ZERO, |index| index.since);
            existence.ended(*index, hash_of(key), born.height >= delta.start() && born.height > since);
        }
    }
    for ((index, at), hash) in changes.lives.iter().zip(&changes.hashes) {
        let key = new.get(*at).1;
        adding.live(grouping, *index, key, birth, id);
        dead.born(grouping, *index, key, birth);
        arrivals.born(*index, birth.height);
        if counted(*index) {
            existence.born(*index, *hash);
        }
    }
}

fn check_condition(condition: Condition, previous: Option<&VersionFound>) -> Result<()> {
    match (condition, previous) {
        (Condition::Any, _) | (Condition::Absent, None) | (Condition::Present, Some(_)) => Ok(()),
        (Condition::Absent, Some(version)) => Err(Error::UnitExists { height: version.birth.height }),
        (Condition::Present, None) => Err(Error::UnitMissing),
        (Condition::At(expected), Some(version)) if version.birth.height == expected => Ok(()),
        (Condition::At(_), Some(_)) if planted::is(planted::Fault::ConditionIgnored) => Ok(()),
        (Condition::At(expected), previous) => {
            Err(Error::HeightMismatch { expected, actual: previous.map(|version| version.birth.height) })
        }
    }
}

fn height_before(height: Height) -> Height {
    Height(height.0 - 1)
}

fn check_count(actual: usize, limit: usize) -> Result<()> {
    if actual > limit {
        return Err(Error::Invalid(format!("a commit has {actual} operations; at most {limit} are allowed")));
    }
    Ok(())
}

fn check_size(what: &'static str, actual: usize, limit: usize) -> Result<()> {
    if actual > limit {
        return Err(Error::TooLarge { what, actual, limit });
    }
    Ok(())
}

/// Names are text without control characters, so that they can be shown and typed.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<()> {
    check_size(what, name.len(), limits::NAME_BYTES)?;
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Error::Invalid(format!("{what} {name:?} is empty or has control characters")));
    }
    Ok(())
}

fn index_missing(grouping: &str, name: &str) -> Error {
    Error::IndexMissing { grouping: grouping.to_owned(), index: name.to_owned() }
}
