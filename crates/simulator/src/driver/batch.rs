//! Commits of several operations, as a transaction puts them together.

use libimmuxdb::{Birth, Height, Transaction};

use super::ledger::Operations;
use super::vocabulary::GROUPINGS;
use super::writes::{Attempt, Condition, Verdict, verdict_of_condition};
use super::{Driver, Outcome, translate};
use crate::model::{Content, Operation, State, UnitKey};

/// What is to become of a unit.
struct Change {
    grouping: &'static str,
    key: UnitKey,
    content: Option<Content>,
    condition: Condition,
}

/// A transaction as the model has it: of several changes of one unit the last content counts, and the first condition.
#[derive(Default)]
struct Staged {
    cleared: Vec<&'static str>,
    changes: Vec<Change>,
}

impl Staged {
    /// Takes a change in, unless an earlier one of this transaction is against it.
    fn stage(&mut self, change: Change) -> Verdict {
        let same = |earlier: &&mut Change| earlier.grouping == change.grouping && earlier.key == change.key;
        let Some(earlier) = self.changes.iter_mut().find(same) else {
            self.changes.push(change);
            return Verdict::Done;
        };
        let pending = earlier.content.as_ref().map(|_| Height::MAX);
        match (change.condition, pending) {
            (Condition::Absent, Some(height)) => Verdict::UnitExists(height),
            (Condition::Present, None) => Verdict::UnitMissing,
            (Condition::At(_), pending) => Verdict::HeightMismatch(pending),
            _ => {
                earlier.content = change.content;
                Verdict::Done
            }
        }
    }

    /// Forgets what was staged for a grouping, and clears it before all else.
    fn clear(&mut self, grouping: &'static str) {
        self.changes.retain(|change| change.grouping != grouping);
        if !self.cleared.contains(&grouping) {
            self.cleared.push(grouping);
        }
    }

    /// The commit's operations, and what must come of them: first all conditions are looked at, then whether a unique
    /// index would have a key twice when all is done. So two units may swap their keys.
    fn operations(&self, state: &State) -> (Operations, Verdict) {
        let mut operations = Operations::new();
        if self.cleared.is_empty() && self.changes.is_empty() {
            return (operations, Verdict::Empty);
        }
        let mut cleared = state.clone();
        for &grouping in &self.cleared {
            if !cleared.groupings.contains_key(grouping) {
                return (operations, Verdict::GroupingMissing);
            }
            cleared.apply(Birth::MAX, grouping, &Operation::Clear);
            operations.push((grouping.to_owned(), Operation::Clear));
        }
        let mut after = cleared.clone();
        let mut verdict = Verdict::Done;
        for Change { grouping, key, content, condition } in &self.changes {
            if verdict == Verdict::Done {
                verdict = verdict_of_condition(&cleared, grouping, key, *condition);
            }
            let operation = match content {
                Some(content) => Operation::Put(key.clone(), content.clone()),
                None => Operation::Delete(key.clone()),
            };
            after.apply(Birth::MAX, grouping, &operation);
            operations.push(((*grouping).to_owned(), operation));
        }
        let mut forbidding = Vec::new();
        for Change { grouping, key, content, .. } in self.changes.iter().filter(|_| verdict == Verdict::Done) {
            let after = &after.groupings[*grouping];
            forbidding.extend(content.iter().flat_map(|content| after.forbidding_indexes(key, content)));
        }
        if !forbidding.is_empty() {
            verdict = Verdict::DuplicateKey(forbidding);
        }
        (operations, verdict)
    }
}

impl Driver {
    /// Several operations at one height.
    pub(super) fn batch(&mut self) -> Outcome {
        let count = self.vocabulary.batch(&mut self.random);
        let mut transaction = self.chain().begin();
        let mut staged = Staged::default();
        for _ in 0..count {
            self.stage(&mut transaction, &mut staged)?;
        }
        if self.random.chance(10) {
            transaction.set_actor("tester");
        }
        let level = self.level();
        let options = self.write_options(level);
        let (operations, verdict) = staged.operations(self.ledger.model.newest());
        self.attempt(Attempt::of("batch", operations, verdict, level), || transaction.commit_with(options))
    }

    /// Adds one operation to a transaction.
    fn stage(&mut self, transaction: &mut Transaction, staged: &mut Staged) -> Outcome {
        if self.random.chance(2) {
            let name = *self.random.pick(&GROUPINGS);
            transaction.clear(&self.grouping(name)?);
            staged.clear(name);
            return Ok(());
        }
        let name = self.grouping_name();
        let earlier = (!staged.changes.is_empty()).then(|| &staged.changes[self.random.index(staged.changes.len())]);
        let key = match earlier.filter(|change| change.grouping == name) {
            Some(change) if self.random.chance(10) => change.key.clone(),
            _ => self.some_key(name),
        };
        let deletes = self.random.chance(15);
        // Most transactions are to succeed: so few conditions, and few deletions of what is not there.
        let exists =
            self.ledger.model.newest().groupings.get(name).is_some_and(|grouping| grouping.units.contains_key(&key));
        let content = (!deletes || (!exists && self.random.chance(80))).then(|| self.some_content(name, &key));
        let condition = match &content {
            None => Condition::Present,
            Some(_) if self.random.chance(90) => Condition::Any,
            Some(_) => self.condition(name, &key),
        };
        let grouping = self.grouping(name)?;
        let outcome = match (&content, condition) {
            (None, _) => transaction.delete(&grouping, &key),
            (Some(content), Condition::Absent) => transaction.insert(&grouping, &key, translate::content(content)),
            (Some(content), Condition::At(height)) => {
                transaction.compare_and_set(&grouping, &key, height, translate::content(content))
            }
            (Some(content), _) => transaction.put(&grouping, &key, translate::content(content)),
        };
        let verdict = staged.stage(Change { grouping: name, key: key.clone(), content, condition });
        match outcome {
            Ok(()) if verdict == Verdict::Done => self.check_staged(transaction, staged, name, &key),
            Err(error) if verdict.is(&error) => Ok(()),
            other => Err(format!("staging {key:?} in {name:?} must give {verdict:?}, and gives {other:?}")),
        }
    }

    /// A transaction shows what it has staged.
    fn check_staged(&self, transaction: &Transaction, staged: &Staged, name: &str, key: &UnitKey) -> Outcome {
        let grouping = self.grouping(name)?;
        let shown =
            transaction.get(&grouping, key).map_err(|error| format!("a staged unit cannot be read: {error}"))?;
        let change = staged.changes.iter().find(|change| change.grouping == name && change.key == *key);
        let expected = change.and_then(|change| change.content.as_ref());
        let same = match (&shown, expected) {
            (None, None) => true,
            (Some(shown), Some(expected)) => shown.kind == expected.kind && *shown.content == *expected.bytes,
            _ => false,
        };
        if same { Ok(()) } else { Err(format!("a transaction shows {shown:?} where {expected:?} was staged")) }
    }
}
