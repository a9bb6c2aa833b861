//! Random writes: what the model expects of each, and what its outcome means for the promises.

use libimmuxdb::{Committed, Durability, Error, Grouping, Height, WriteOptions};

use super::ledger::Operations;
use super::translate;
use super::vocabulary::{self, GROUPINGS, INDEXES};
use super::{Driver, Outcome};
use crate::model::{Content, Index, IndexSpec, Operation, State, UnitKey};

/// What must come of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Done,
    UnitExists(Height),
    UnitMissing,
    HeightMismatch(Option<Height>),
    /// One of these indexes has the key.
    DuplicateKey(Vec<String>),
    GroupingMissing,
    IndexMissing,
    IndexExists,
    InvalidJson,
    TooLarge,
    /// There is nothing to do.
    Empty,
}

impl Verdict {
    /// Whether this is how the engine says it.
    pub fn is(&self, error: &Error) -> bool {
        match (self, error) {
            (Verdict::UnitExists(expected), Error::UnitExists { height }) => height == expected,
            (Verdict::HeightMismatch(expected), Error::HeightMismatch { actual, .. }) => actual == expected,
            (Verdict::DuplicateKey(among), Error::DuplicateKey { index }) => among.contains(index),
            (Verdict::UnitMissing, Error::UnitMissing)
            | (Verdict::GroupingMissing, Error::GroupingMissing(_))
            | (Verdict::IndexMissing, Error::IndexMissing { .. })
            | (Verdict::IndexExists, Error::IndexExists { .. })
            | (Verdict::InvalidJson, Error::InvalidJson(_))
            | (Verdict::Empty, Error::Invalid(_))
            | (Verdict::TooLarge, Error::TooLarge { .. }) => true,
            _ => false,
        }
    }
}

/// What a write must find of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Any,
    Absent,
    Present,
    At(Height),
}

/// A write that is about to happen.
pub(super) struct Attempt {
    what: &'static str,
    verdict: Verdict,
    /// The promise that it makes.
    level: Durability,
    /// The commits that it brings when it goes as it must.
    commits: Vec<Operations>,
    /// The commits of which the first or all have happened when it fails.
    possible: Vec<Operations>,
}

impl Attempt {
    /// A write of one commit, if it is not refused.
    pub fn of(what: &'static str, operations: Operations, verdict: Verdict, level: Durability) -> Attempt {
        let commits = if verdict == Verdict::Done { vec![operations] } else { Vec::new() };
        Attempt { what, verdict, level, possible: commits.clone(), commits }
    }
}

impl Driver {
    /// One write, or something else that changes files.
    pub(super) fn write(&mut self) -> Outcome {
        type Kind = fn(&mut Driver) -> Outcome;
        let kind: Kind = self.random.weighted(&[
            (40, Driver::put as Kind),
            (8, Driver::delete),
            (14, Driver::batch),
            (1, Driver::clear),
            (4, Driver::revert),
            (4, Driver::create_index),
            (1, Driver::drop_index),
            (2, Driver::put_nonsense),
            (16, Driver::background_step),
            (3, Driver::sync),
        ]);
        kind(self)
    }

    pub(super) fn level(&mut self) -> Durability {
        self.random.weighted(&[(2, Durability::Buffered), (6, Durability::Process), (5, Durability::Sync)])
    }

    pub(super) fn write_options(&mut self, level: Durability) -> WriteOptions {
        let options = WriteOptions::durability(level);
        if self.random.chance(20) { options.report_duplicates() } else { options }
    }

    pub(super) fn grouping_name(&mut self) -> &'static str {
        self.random.weighted(&[(5, GROUPINGS[0]), (2, GROUPINGS[1]), (2, GROUPINGS[2])])
    }

    pub(super) fn grouping(&self, name: &str) -> Outcome<Grouping> {
        self.chain().grouping(name).map_err(|error| format!("no handle for grouping {name:?}: {error}"))
    }

    /// A key: of a unit that exists, or any.
    pub(super) fn some_key(&mut self, grouping: &str) -> UnitKey {
        let units = self.ledger.model.newest().groupings.get(grouping).map(|grouping| &grouping.units);
        match units.filter(|units| !units.is_empty()) {
            Some(units) if self.random.chance(60) => {
                let nth = self.random.index(units.len());
                units.keys().nth(nth).cloned().unwrap_or_default()
            }
            _ => self.vocabulary.unit_key(&mut self.random),
        }
    }

    /// Any content, or a slight change of the unit's own.
    pub(super) fn some_content(&mut self, grouping: &str, key: &UnitKey) -> Content {
        let state = self.ledger.model.newest();
        let old = state.groupings.get(grouping).and_then(|grouping| grouping.units.get(key));
        match old {
            Some(unit) if self.random.chance(20) => unit.content.clone(),
            _ => self.vocabulary.content(&mut self.random),
        }
    }

    /// A handle whose writes make a promise, and the promise.
    fn writing(&mut self, name: &str) -> Outcome<(Grouping, Durability)> {
        let level = self.level();
        let options = self.write_options(level);
        Ok((self.grouping(name)?.with(options), level))
    }

    fn put(&mut self) -> Outcome {
        let name = self.grouping_name();
        let key = self.some_key(name);
        let content = self.some_content(name, &key);
        let condition = self.condition(name, &key);
        let verdict = verdict_of_unit(self.ledger.model.newest(), name, &key, Some(&content), condition);
        let operations = vec![(name.to_owned(), Operation::Put(key.clone(), content.clone()))];
        let (grouping, level) = self.writing(name)?;
        self.attempt(Attempt::of("put", operations, verdict, level), || {
            let content = translate::content(&content);
            match condition {
                Condition::Absent => grouping.insert(&key, content),
                Condition::At(height) => grouping.compare_and_set(&key, height, content),
                Condition::Any | Condition::Present => grouping.put(&key, content),
            }
        })
    }

    pub(super) fn condition(&mut self, grouping: &str, key: &UnitKey) -> Condition {
        match self.random.below(10) {
            0..7 => Condition::Any,
            7 | 8 => Condition::Absent,
            _ => {
                let state = self.ledger.model.newest();
                let unit = state.groupings.get(grouping).and_then(|grouping| grouping.units.get(key));
                let right = unit.map(|unit| unit.birth.height);
                let wrong = Height(self.random.below(self.ledger.model.height().0 + 2));
                Condition::At(if self.random.chance(70) { right.unwrap_or(wrong) } else { wrong })
            }
        }
    }

    fn delete(&mut self) -> Outcome {
        let name = self.grouping_name();
        let key = self.some_key(name);
        let condition = match self.condition(name, &key) {
            Condition::At(height) => Condition::At(height),
            _ => Condition::Present,
        };
        let verdict = verdict_of_unit(self.ledger.model.newest(), name, &key, None, condition);
        let operations = vec![(name.to_owned(), Operation::Delete(key.clone()))];
        let (grouping, level) = self.writing(name)?;
        self.attempt(Attempt::of("delete", operations, verdict, level), || match condition {
            Condition::At(height) => grouping.compare_and_delete(&key, height),
            _ => grouping.delete(&key),
        })
    }

    fn clear(&mut self) -> Outcome {
        let name = self.grouping_name();
        let known = self.ledger.model.newest().groupings.contains_key(name);
        let verdict = if known { Verdict::Done } else { Verdict::GroupingMissing };
        let operations = vec![(name.to_owned(), Operation::Clear)];
        let (grouping, level) = self.writing(name)?;
        self.attempt(Attempt::of("clear", operations, verdict, level), || grouping.clear())
    }

    /// The content of an earlier height once more.
    fn revert(&mut self) -> Outcome {
        let name = self.grouping_name();
        let key = self.some_key(name);
        let model = &self.ledger.model;
        let to = Height(self.random.below(model.height().0 + 1));
        let then = model.at(to).groupings.get(name).and_then(|grouping| grouping.units.get(&key));
        let (operation, verdict) = match then {
            Some(unit) => {
                let content = unit.content.clone();
                let verdict = verdict_of_unit(model.newest(), name, &key, Some(&content), Condition::Any);
                (Operation::Put(key.clone(), content), verdict)
            }
            None => {
                let verdict = verdict_of_unit(model.newest(), name, &key, None, Condition::Present);
                (Operation::Delete(key.clone()), verdict)
            }
        };
        let operations = vec![(name.to_owned(), operation)];
        let (grouping, level) = self.writing(name)?;
        self.attempt(Attempt::of("revert", operations, verdict, level), || grouping.revert(&key, to))
    }

    /// Creates an index: one commit. When its filling fails (because it is to be unique and cannot be, or because of the
    /// disk), another commit drops it again.
    fn create_index(&mut self) -> Outcome {
        let name = self.grouping_name();
        let index = *self.random.pick(&INDEXES);
        let spec = vocabulary::index_spec(&mut self.random);
        let verdict = verdict_of_index(self.ledger.model.newest(), name, index, &spec);
        let creation = vec![(name.to_owned(), Operation::CreateIndex(index.to_owned(), spec.clone()))];
        let removal = vec![(name.to_owned(), Operation::DropIndex(index.to_owned()))];
        let commits = match verdict {
            Verdict::Done => vec![creation.clone()],
            Verdict::DuplicateKey(_) => vec![creation.clone(), removal.clone()],
            _ => Vec::new(),
        };
        let possible = if commits.is_empty() { Vec::new() } else { vec![creation, removal] };
        let grouping = self.grouping(name)?;
        // The store's default level.
        let level = Durability::Sync;
        self.attempt(Attempt { what: "create index", verdict, level, commits, possible }, || {
            let definition = translate::definition(&spec);
            let height = grouping.create_index(index, definition, &mut |_| {})?;
            Ok(Committed { height, duplicates: false, created: 0 })
        })?;
        let is_over = self.disk.stopped() || self.is_writer_dead();
        let is_unfilled = !is_over && grouping.index(index).is_ok_and(|info| !info.ready);
        if let Some(session) = self.session.as_mut().filter(|_| is_unfilled) {
            self.coverage.count("an index is left unfilled");
            session.has_unfilled_index = true;
        }
        Ok(())
    }

    fn drop_index(&mut self) -> Outcome {
        let name = self.grouping_name();
        let index = *self.random.pick(&INDEXES);
        let verdict = match self.ledger.model.newest().groupings.get(name) {
            None => Verdict::GroupingMissing,
            Some(grouping) if grouping.indexes.contains_key(index) => Verdict::Done,
            Some(_) => Verdict::IndexMissing,
        };
        let operations = vec![(name.to_owned(), Operation::DropIndex(index.to_owned()))];
        let (grouping, level) = self.writing(name)?;
        self.attempt(Attempt::of("drop index", operations, verdict, level), || {
            Ok(Committed { height: grouping.drop_index(index)?, duplicates: false, created: 0 })
        })
    }

    /// What must be refused at all times.
    fn put_nonsense(&mut self) -> Outcome {
        let name = self.grouping_name();
        let (grouping, level) = self.writing(name)?;
        let operations = Operations::new();
        if self.random.chance(30) {
            let key = vec![b'k'; libimmuxdb::limits::UNIT_KEY_BYTES + 1];
            let attempt = Attempt::of("put with too long a key", operations, Verdict::TooLarge, level);
            return self.attempt(attempt, || grouping.put(&key, libimmuxdb::Content::raw(b"")));
        }
        let texts = ["", "{", "{\"a\":01}", "[1,]", "nul", "{\"a\":1} x", "\"\u{1}\"", "{\"a\":1"];
        let text = *self.random.pick(&texts);
        let attempt = Attempt::of("put of no JSON", operations, Verdict::InvalidJson, level);
        self.attempt(attempt, || grouping.put(b"k", libimmuxdb::Content::json(text)))
    }

    /// Does a write, and compares what comes of it.
    pub(super) fn attempt(
        &mut self,
        attempt: Attempt,
        write: impl FnOnce() -> libimmuxdb::Result<Committed>,
    ) -> Outcome {
        let Attempt { what, verdict, level, commits, possible } = attempt;
        let height = self.ledger.model.height();
        self.say(|| format!("{} {what} {level:?} {possible:?}, expected {verdict:?}", self.operations));
        let misfortunes = self.disk.misfortunes();
        let outcome = write();
        let struck = self.disk.misfortunes() > misfortunes;
        self.say(|| format!("  -> {outcome:?}"));
        self.coverage.count(format!("{what}: {}", name_of(&outcome)));
        match outcome {
            Ok(_) if verdict != Verdict::Done => {
                Err(format!("{what} must be refused with {verdict:?}, and is done: {possible:?}"))
            }
            Ok(committed) if committed.height != height.next() => {
                Err(format!("{what} got height {}, after height {height}", committed.height))
            }
            Err(error) if !verdict.is(&error) => {
                if struck {
                    self.ledger.failed(&possible, level, !self.is_poisoned());
                } else if self.is_wounded() {
                    // What was struck before, a run with a flipped bit, may be met after the commit.
                    self.ledger.failed(&possible, level, true);
                } else {
                    return Err(format!("{what} must give {verdict:?}, and fails: {error}: {possible:?}"));
                }
                self.look_for_failed_commit()
            }
            _ => {
                // What is refused may be refused before or after it was begun.
                let begun = self.chain().height() > height;
                for operations in commits.into_iter().filter(|_| begun) {
                    self.ledger.committed(operations, level);
                }
                self.check_newest_height()
            }
        }
    }

    /// A commit that failed is invisible until the store is opened again, or it is visible as a whole.
    fn look_for_failed_commit(&mut self) -> Outcome {
        let (height, newest) = (self.chain().height(), self.ledger.model.height());
        if height > newest && height <= self.ledger.bounds().1 {
            self.coverage.count("a failed commit is visible");
            self.ledger.happened(height);
        }
        self.check_newest_height()
    }

    fn check_newest_height(&self) -> Outcome {
        let (found, expected) = (self.chain().height(), self.ledger.model.height());
        if found == expected { Ok(()) } else { Err(format!("the chain is at height {found}, not at {expected}")) }
    }

    fn background_step(&mut self) -> Outcome {
        let misfortunes = self.disk.misfortunes();
        let outcome = self.chain().run_background_step();
        let struck = self.disk.misfortunes() > misfortunes;
        self.say(|| format!("{} background step -> {outcome:?}", self.operations));
        self.say_runs();
        match outcome {
            Ok(worked) => {
                self.coverage.count(if worked { "background step" } else { "background step: nothing to do" })
            }
            Err(_) if struck || self.is_wounded() => {
                self.coverage.count("background step failed");
            }
            Err(error) => return Err(format!("a background step fails: {error}")),
        }
        self.check_newest_height()
    }

    fn sync(&mut self) -> Outcome {
        let misfortunes = self.disk.misfortunes();
        let outcome = self.chain().sync();
        let struck = self.disk.misfortunes() > misfortunes;
        self.say(|| format!("{} sync -> {outcome:?}", self.operations));
        match outcome {
            Ok(()) => {
                self.coverage.count("sync");
                self.ledger.synced();
            }
            Err(_) if struck || self.is_wounded() => {
                self.coverage.count("sync failed");
            }
            Err(error) => return Err(format!("a sync fails: {error}")),
        }
        self.check_newest_height()
    }
}

fn name_of(outcome: &libimmuxdb::Result<Committed>) -> String {
    match outcome {
        Ok(_) => "done".to_owned(),
        Err(error) => {
            let debug = format!("{error:?}");
            debug.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
        }
    }
}

/// What must come of a write of one unit; without content, of its deletion.
pub(super) fn verdict_of_unit(
    state: &State,
    grouping: &str,
    key: &UnitKey,
    content: Option<&Content>,
    condition: Condition,
) -> Verdict {
    let verdict = verdict_of_condition(state, grouping, key, condition);
    let (Verdict::Done, Some(content), Some(grouping)) = (&verdict, content, state.groupings.get(grouping)) else {
        return verdict;
    };
    let forbidding = grouping.forbidding_indexes(key, content);
    if forbidding.is_empty() { Verdict::Done } else { Verdict::DuplicateKey(forbidding) }
}

/// What must come of a write because of its condition.
pub(super) fn verdict_of_condition(state: &State, grouping: &str, key: &UnitKey, condition: Condition) -> Verdict {
    let unit = state.groupings.get(grouping).and_then(|grouping| grouping.units.get(key));
    match (condition, unit.map(|unit| unit.birth.height)) {
        (Condition::Absent, Some(height)) => Verdict::UnitExists(height),
        (Condition::Present, None) => Verdict::UnitMissing,
        (Condition::At(expected), actual) if actual != Some(expected) => Verdict::HeightMismatch(actual),
        _ => Verdict::Done,
    }
}

fn verdict_of_index(state: &State, grouping: &str, name: &str, spec: &IndexSpec) -> Verdict {
    let Some(grouping) = state.groupings.get(grouping) else {
        return Verdict::Done;
    };
    if grouping.indexes.contains_key(name) {
        return Verdict::IndexExists;
    }
    let index = Index::over(&grouping.units, spec, Height::ZERO);
    let entries = index.in_order();
    let duplicate = entries.windows(2).any(|pair| pair[0].0 == pair[1].0);
    if spec.unique && duplicate { Verdict::DuplicateKey(vec![name.to_owned()]) } else { Verdict::Done }
}
