//! Several operations that happen at one height, or not at all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::chain::{Chain, Condition, Step};
use crate::error::{Error, Result};
use crate::grouping::Grouping;
use crate::index::IndexDefinition;
use crate::limits;
use crate::types::{Birth, Height, VersionKind};
use crate::unit::{Committed, Content, Unit, WriteOptions};

/// What is to become of a unit.
struct Change {
    grouping: String,
    key: Vec<u8>,
    content: Option<(VersionKind, Vec<u8>)>,
    condition: Condition,
}

impl Change {
    /// What it adds to the size of a commit, at least.
    fn bytes(&self) -> usize {
        self.key.len() + self.content.as_ref().map_or(0, |(_, content)| content.len())
    }
}

/// A commit that is being put together. Conditions are checked when it is committed, except against operations of the
/// transaction itself, which are checked at once. Dropping it forgets it.
///
/// Of several operations on one unit the last one counts, and the first one's condition. The memory held is bounded by
/// the size of a commit ([`limits::FRAME_BYTES`]).
pub struct Transaction {
    chain: Arc<Chain>,
    defined: Vec<(String, Vec<(String, IndexDefinition)>)>,
    cleared: Vec<String>,
    changes: Vec<Change>,
    by_unit: HashMap<(String, Vec<u8>), usize>,
    bytes: usize,
    actor: Option<String>,
}

impl Transaction {
    pub(crate) fn new(chain: &Arc<Chain>) -> Transaction {
        Transaction {
            chain: Arc::clone(chain),
            defined: Vec::new(),
            cleared: Vec::new(),
            changes: Vec::new(),
            by_unit: HashMap::new(),
            bytes: 0,
            actor: None,
        }
    }

    /// Records who makes the commit: text of at most [`limits::NAME_BYTES`] bytes.
    pub fn set_actor(&mut self, actor: impl Into<String>) {
        self.actor = Some(actor.into());
    }

    /// Whether there is nothing to commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.cleared.is_empty() && self.defined.is_empty()
    }

    /// Makes a grouping, with indexes that are ready at once, since there is nothing to fill them with. The transaction
    /// must do nothing else with it.
    ///
    /// # Errors
    /// The commit gives [`Error::Invalid`] when there is such a grouping, or [`Error::IndexExists`] when two of the
    /// indexes have one name.
    pub fn define(&mut self, grouping: &Grouping, indexes: Vec<(String, IndexDefinition)>) {
        self.defined.push((grouping.name().to_owned(), indexes));
    }

    /// As [`Grouping::put`].
    ///
    /// # Errors
    /// [`Error::TooLarge`]: the commit would be.
    pub fn put(&mut self, grouping: &Grouping, key: &[u8], content: Content<'_>) -> Result<()> {
        self.change(grouping, key, Some(content), Condition::Any)
    }

    /// As [`Grouping::insert`].
    ///
    /// # Errors
    /// [`Error::UnitExists`] when this transaction wrote the unit; [`Error::TooLarge`].
    pub fn insert(&mut self, grouping: &Grouping, key: &[u8], content: Content<'_>) -> Result<()> {
        self.change(grouping, key, Some(content), Condition::Absent)
    }

    /// As [`Grouping::compare_and_set`].
    ///
    /// # Errors
    /// [`Error::HeightMismatch`] when this transaction changed the unit; [`Error::TooLarge`].
    pub fn compare_and_set(
        &mut self,
        grouping: &Grouping,
        key: &[u8],
        expected: Height,
        content: Content<'_>,
    ) -> Result<()> {
        self.change(grouping, key, Some(content), Condition::At(expected))
    }

    /// As [`Grouping::delete`].
    ///
    /// # Errors
    /// [`Error::UnitMissing`] when this transaction deleted the unit; [`Error::TooLarge`].
    pub fn delete(&mut self, grouping: &Grouping, key: &[u8]) -> Result<()> {
        self.change(grouping, key, None, Condition::Present)
    }

    /// As [`Grouping::compare_and_delete`].
    ///
    /// # Errors
    /// [`Error::HeightMismatch`] when this transaction changed the unit; [`Error::TooLarge`].
    pub fn compare_and_delete(&mut self, grouping: &Grouping, key: &[u8], expected: Height) -> Result<()> {
        self.change(grouping, key, None, Condition::At(expected))
    }

    /// As [`Grouping::clear`]; operations of this transaction on the grouping so far are forgotten.
    pub fn clear(&mut self, grouping: &Grouping) {
        let name = grouping.name();
        self.changes.retain(|change| change.grouping != name);
        self.bytes = self.changes.iter().map(Change::bytes).sum();
        self.by_unit = self
            .changes
            .iter()
            .enumerate()
            .map(|(at, change)| ((change.grouping.clone(), change.key.clone()), at))
            .collect();
        if !self.cleared.iter().any(|cleared| cleared == name) {
            self.cleared.push(name.to_owned());
        }
    }

    /// A unit as it will be: what this transaction wrote, else as it is now.
    ///
    /// # Errors
    /// Those of [`Grouping::get`].
    pub fn get(&self, grouping: &Grouping, key: &[u8]) -> Result<Option<Unit>> {
        match self.pending(grouping, key) {
            Some(Change { content: Some((kind, content)), .. }) => Ok(Some(Unit {
                key: key.to_vec(),
                height: Height::MAX,
                kind: *kind,
                content: content.clone(),
                index_key: Vec::new(),
                birth: Birth::MAX,
            })),
            Some(_) => Ok(None),
            None if self.cleared.iter().any(|cleared| cleared == grouping.name()) => Ok(None),
            None => grouping.get(key),
        }
    }

    fn pending(&self, grouping: &Grouping, key: &[u8]) -> Option<&Change> {
        let at = self.by_unit.get(&(grouping.name().to_owned(), key.to_vec()))?;
        Some(&self.changes[*at])
    }

    fn change(
        &mut self,
        grouping: &Grouping,
        key: &[u8],
        content: Option<Content<'_>>,
        condition: Condition,
    ) -> Result<()> {
        let replaced = self.pending(grouping, key);
        if let Some(change) = replaced {
            match (condition, &change.content) {
                (Condition::Absent, Some(_)) => return Err(Error::UnitExists { height: Height::MAX }),
                (Condition::Present, None) => return Err(Error::UnitMissing),
                (Condition::At(expected), _) => {
                    let actual = change.content.is_some().then_some(Height::MAX);
                    return Err(Error::HeightMismatch { expected, actual });
                }
                _ => {}
            }
        }
        let bytes =
            self.bytes - replaced.map_or(0, Change::bytes) + key.len() + content.map_or(0, |new| new.bytes.len());
        if bytes > limits::FRAME_BYTES {
            return Err(Error::TooLarge { what: "commit", actual: bytes, limit: limits::FRAME_BYTES });
        }
        self.bytes = bytes;
        let content = content.map(|content| (content.kind, content.bytes.to_vec()));
        match self.by_unit.entry((grouping.name().to_owned(), key.to_vec())) {
            Entry::Occupied(at) => self.changes[*at.get()].content = content,
            Entry::Vacant(place) => {
                place.insert(self.changes.len());
                let (grouping, key) = (grouping.name().to_owned(), key.to_vec());
                self.changes.push(Change { grouping, key, content, condition });
            }
        }
        Ok(())
    }

    /// Commits with the store's durability.
    ///
    /// # Errors
    /// The first operation's that cannot be; see [`Grouping::put`]. Then none happened.
    pub fn commit(self) -> Result<Committed> {
        self.commit_with(WriteOptions::default())
    }

    /// Commits.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub fn commit_with(self, options: WriteOptions) -> Result<Committed> {
        for (grouping, _) in &self.defined {
            let used =
                self.cleared.contains(grouping) || self.changes.iter().any(|change| change.grouping == *grouping);
            if used {
                let what = format!("grouping {grouping:?} is defined by this transaction, which may not use it yet");
                return Err(Error::Invalid(what));
            }
        }
        let definitions = self.defined.iter().map(|(grouping, indexes)| Step::DefineGrouping { grouping, indexes });
        let clears = self.cleared.iter().map(|grouping| Step::Clear { grouping });
        let changes = self.changes.iter().map(|change| Step::Unit {
            grouping: &change.grouping,
            key: &change.key,
            content: change.content.as_ref().map(|(kind, bytes)| Content { kind: *kind, bytes }),
            condition: change.condition,
        });
        let steps: Vec<Step<'_>> = definitions.chain(clears).chain(changes).collect();
        self.chain.shared().commit(&steps, self.actor.as_deref(), options)
    }
}
