//! A grouping: a named set of units in a chain.

use std::sync::Arc;

use crate::chain::{Chain, Condition, IndexProgress, Step, check_name};
use crate::error::{Error, Result};
use crate::index::IndexDefinition;
use crate::scan::Scan;
use crate::snapshot::Snapshot;
use crate::types::{Height, IndexId, VersionKind};
use crate::unit::{Committed, Content, Unit, WriteOptions};
use crate::units::{Units, Versions};

/// A handle to a grouping. Cheap to clone; each write through it is a commit of its own.
#[derive(Clone)]
pub struct Grouping {
    chain: Arc<Chain>,
    name: Arc<str>,
    options: WriteOptions,
}

/// An index, as [`Grouping::indexes`] lists it.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// Its name.
    pub name: String,
    /// Its number in the chain.
    pub id: IndexId,
    /// How keys are made.
    pub definition: IndexDefinition,
    /// The height of its definition; reads before it cannot use the index.
    pub since: Height,
    /// Whether it can be read: `false` while it is being filled.
    pub ready: bool,
}

impl Grouping {
    pub(crate) fn new(chain: &Arc<Chain>, name: &str) -> Result<Grouping> {
        check_name("grouping name", name)?;
        Ok(Grouping { chain: Arc::clone(chain), name: name.into(), options: WriteOptions::default() })
    }

    /// The same grouping, whose writes are committed with these options.
    #[must_use]
    pub fn with(&self, options: WriteOptions) -> Grouping {
        Grouping { options, ..self.clone() }
    }

    /// How its writes are committed.
    #[must_use]
    pub fn options(&self) -> WriteOptions {
        self.options
    }

    /// The grouping's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The chain that it is in.
    #[must_use]
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// Writes a version of a unit, whether or not it is there.
    ///
    /// # Errors
    /// [`Error::InvalidJson`], [`Error::TooLarge`], [`Error::DuplicateKey`]; [`Error::NoSpace`], [`Error::Poisoned`],
    /// [`Error::ReadOnly`], [`Error::Io`]. The commit did not happen then, save for an error of the final sync, after
    /// which nobody knows.
    pub fn put(&self, key: &[u8], content: Content<'_>) -> Result<Committed> {
        self.write(key, Some(content), Condition::Any)
    }

    /// Writes the first version of a unit.
    ///
    /// # Errors
    /// [`Error::UnitExists`]; those of [`Grouping::put`].
    pub fn insert(&self, key: &[u8], content: Content<'_>) -> Result<Committed> {
        self.write(key, Some(content), Condition::Absent)
    }

    /// Writes a further version of a unit that is there.
    ///
    /// # Errors
    /// [`Error::UnitMissing`]; those of [`Grouping::put`].
    pub fn replace(&self, key: &[u8], content: Content<'_>) -> Result<Committed> {
        self.write(key, Some(content), Condition::Present)
    }

    /// Writes a version of a unit whose current version is that of height `expected`.
    ///
    /// # Errors
    /// [`Error::HeightMismatch`]; those of [`Grouping::put`].
    pub fn compare_and_set(&self, key: &[u8], expected: Height, content: Content<'_>) -> Result<Committed> {
        self.write(key, Some(content), Condition::At(expected))
    }

    /// Deletes a unit. Its versions stay readable at their heights.
    ///
    /// # Errors
    /// [`Error::UnitMissing`]; those of [`Grouping::put`].
    pub fn delete(&self, key: &[u8]) -> Result<Committed> {
        self.write(key, None, Condition::Present)
    }

    /// Deletes a unit whose current version is that of height `expected`.
    ///
    /// # Errors
    /// [`Error::HeightMismatch`]; those of [`Grouping::put`].
    pub fn compare_and_delete(&self, key: &[u8], expected: Height) -> Result<Committed> {
        self.write(key, None, Condition::At(expected))
    }

    /// Writes a new version of a unit with the content that it had at height `to`, or deletes it if it was not there
    /// then.
    ///
    /// # Errors
    /// [`Error::HeightUnknown`]; [`Error::UnitMissing`] when it is there neither now nor then; those of
    /// [`Grouping::put`].
    pub fn revert(&self, key: &[u8], to: Height) -> Result<Committed> {
        match self.chain.snapshot_at(to)?.get(&self.name, key)? {
            Some(then) => {
                let content = Content { kind: then.kind, bytes: &then.content };
                self.write(key, Some(content), Condition::Any)
            }
            None => self.delete(key),
        }
    }

    /// Takes all units away, in one operation. Their versions stay readable at their heights.
    ///
    /// # Errors
    /// [`Error::GroupingMissing`]; those of [`Grouping::put`].
    pub fn clear(&self) -> Result<Committed> {
        self.chain.shared().commit(&[Step::Clear { grouping: &self.name }], None, self.options)
    }

    fn write(&self, key: &[u8], content: Option<Content<'_>>, condition: Condition) -> Result<Committed> {
        debug_assert!(content.is_none_or(|content| content.kind != VersionKind::Deleted));
        let step = Step::Unit { grouping: &self.name, key, content, condition };
        self.chain.shared().commit(&[step], None, self.options)
    }

    /// A unit as it is now.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn get(&self, key: &[u8]) -> Result<Option<Unit>> {
        self.chain.refresh()?;
        self.chain.shared().get(&self.name, key, self.chain.height())
    }

    /// Units in order, as they are now.
    ///
    /// # Errors
    /// [`Error::IndexMissing`]; [`Error::Damaged`], [`Error::Io`].
    pub fn scan(&self, scan: Scan) -> Result<Units> {
        self.now()?.scan(&self.name, scan)
    }

    /// The number of units that [`Grouping::scan`] would give. Contents are not read.
    ///
    /// # Errors
    /// Those of [`Grouping::scan`].
    pub fn count(&self, scan: Scan) -> Result<u64> {
        self.now()?.count(&self.name, scan)
    }

    /// All versions of a unit, newest first; when the grouping was cleared, that shows as a deletion.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`].
    pub fn inspect(&self, key: &[u8]) -> Result<Versions> {
        self.chain.refresh()?;
        self.chain.shared().inspect(&self.name, key, self.chain.height())
    }

    fn now(&self) -> Result<Snapshot> {
        self.chain.snapshot()
    }

    /// Makes an index and fills it from the units that are there; `progress` is told now and then how far it is.
    /// Writing goes on meanwhile, unless the index is unique. Returns the height of the definition.
    ///
    /// # Errors
    /// [`Error::IndexExists`]; [`Error::DuplicateKey`] when the index is unique and two units have one key;
    /// [`Error::Invalid`] for a definition that cannot be; those of [`Grouping::put`]. There is no index then.
    pub fn create_index(
        &self,
        name: &str,
        definition: IndexDefinition,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<Height> {
        self.chain.shared().create_index(&self.name, name, &definition, progress)
    }

    /// Drops an index. Returns the height.
    ///
    /// # Errors
    /// [`Error::IndexMissing`], [`Error::GroupingMissing`]; those of [`Grouping::put`].
    pub fn drop_index(&self, name: &str) -> Result<Height> {
        let step = Step::DropIndex { grouping: &self.name, name };
        Ok(self.chain.shared().commit(&[step], None, self.options)?.height)
    }

    /// The indexes that there are, in the order in which they came to be.
    #[must_use]
    pub fn indexes(&self) -> Vec<IndexInfo> {
        let Some(entry) = self.chain.shared().grouping_with_indexes(&self.name) else {
            return Vec::new();
        };
        let there = entry.indexes.iter().filter(|index| index.dropped.is_none());
        there
            .map(|index| IndexInfo {
                name: index.name.clone(),
                id: index.id,
                definition: index.definition.clone(),
                since: index.since,
                ready: index.filled,
            })
            .collect()
    }

    /// The index with this name.
    ///
    /// # Errors
    /// [`Error::IndexMissing`].
    pub fn index(&self, name: &str) -> Result<IndexInfo> {
        let found = self.indexes().into_iter().find(|index| index.name == name);
        found.ok_or_else(|| Error::IndexMissing { grouping: self.name.to_string(), index: name.to_owned() })
    }
}
