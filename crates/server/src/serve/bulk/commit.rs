//! From lines to commits.

use std::collections::HashSet;

use libimmuxdb::{Committed, Error, Grouping};

use super::super::problem::{Code, Problem};
use super::operation::{Change, Operation};
use super::{LineError, MOST_ERRORS, Outcome};

/// Operations of one commit.
const MOST_OPERATIONS: usize = 4096;

/// What to do after a line that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnError {
    Stop,
    Continue,
}

/// Commits lines as they come.
pub(super) struct Committing {
    grouping: Grouping,
    on_error: OnError,
    /// Lines so far.
    line: u64,
    outcome: Outcome,
}

impl Committing {
    pub(super) fn new(grouping: Grouping, on_error: OnError) -> Committing {
        Committing { grouping, on_error, line: 0, outcome: Outcome::default() }
    }

    /// Whether no more lines are wanted.
    pub(super) fn is_over(&self) -> bool {
        self.outcome.error.is_some()
    }

    pub(super) fn into_outcome(self) -> Outcome {
        self.outcome
    }

    /// Commits all lines of a text.
    pub(super) fn lines(&mut self, text: &[u8]) {
        let mut batch: Vec<Operation<'_>> = Vec::new();
        let mut keys: HashSet<Vec<u8>> = HashSet::new();
        let mut rest = text;
        while !rest.is_empty() && !self.is_over() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let line = rest[..end].trim_ascii();
            rest = &rest[end..];
            self.line += 1;
            if line.is_empty() {
                continue;
            }
            match Operation::parse(self.line, line) {
                Ok(None) => (),
                Ok(Some(operation)) => {
                    // A second version of a unit needs a height of its own.
                    if batch.len() == MOST_OPERATIONS || keys.contains(&operation.key) {
                        self.commit(&batch);
                        batch.clear();
                        keys.clear();
                    }
                    keys.insert(operation.key.clone());
                    batch.push(operation);
                }
                Err(problem) => {
                    // So that what stops at this line has all lines before it.
                    self.commit(&batch);
                    batch.clear();
                    keys.clear();
                    if !self.is_over() {
                        self.failed(self.line, problem);
                    }
                }
            }
        }
        self.commit(&batch);
    }

    /// Commits all of the batch; or, where that can't be, as much of it as can be.
    fn commit(&mut self, batch: &[Operation<'_>]) {
        if batch.is_empty() || self.is_over() {
            return;
        }
        match self.try_commit(batch) {
            Ok(committed) => {
                self.outcome.written += batch.len() as u64;
                self.outcome.created += committed.created as u64;
                self.outcome.commits += 1;
                self.outcome.height = committed.height.0;
            }
            Err(error) if !is_of_a_line(&error) => {
                // No other line would do better.
                self.outcome.error = Some(error.into());
            }
            Err(error) => match batch {
                [operation] => self.failed(operation.line, error.into()),
                _ => {
                    let (first, second) = batch.split_at(batch.len() / 2);
                    self.commit(first);
                    self.commit(second);
                }
            },
        }
    }

    fn try_commit(&self, batch: &[Operation<'_>]) -> libimmuxdb::Result<Committed> {
        let grouping = &self.grouping;
        if let [Operation { key, change, .. }] = batch {
            return match change {
                Change::Put(bytes) => grouping.put(key, bytes.content()),
                Change::Insert(bytes) => grouping.insert(key, bytes.content()),
                Change::PutAt(height, bytes) => grouping.compare_and_set(key, *height, bytes.content()),
                Change::Delete => grouping.delete(key),
                Change::DeleteAt(height) => grouping.compare_and_delete(key, *height),
            };
        }
        let mut transaction = grouping.chain().begin();
        for Operation { key, change, .. } in batch {
            match change {
                Change::Put(bytes) => transaction.put(grouping, key, bytes.content())?,
                Change::Insert(bytes) => transaction.insert(grouping, key, bytes.content())?,
                Change::PutAt(height, bytes) => transaction.compare_and_set(grouping, key, *height, bytes.content())?,
                Change::Delete => transaction.delete(grouping, key)?,
                Change::DeleteAt(height) => transaction.compare_and_delete(grouping, key, *height)?,
            }
        }
        transaction.commit_with(grouping.options())
    }

    fn failed(&mut self, line: u64, problem: Problem) {
        self.outcome.failed += 1;
        if self.on_error == OnError::Stop {
            let mut end = problem.clone().with("line", line);
            end.message = format!("line {line}: {}", problem.message);
            self.outcome.error = Some(end);
        }
        if self.outcome.errors.len() < MOST_ERRORS {
            self.outcome.errors.push(LineError { line, problem });
        }
    }
}

/// Whether an error is that of a line, so that others may do better.
fn is_of_a_line(error: &Error) -> bool {
    matches!(
        Problem::code_of(error),
        Code::TooLarge
            | Code::Invalid
            | Code::InvalidJson
            | Code::UnitExists
            | Code::UnitMissing
            | Code::DuplicateKey
            | Code::HeightMismatch
    )
}
