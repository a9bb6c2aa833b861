//! Roots and proofs.

use immuxdb_proof::{
    Commit, Evidence, ExtensionProof, Frontier, GroupingProof, Hash, Hidden, LogId, Root, Salted, Salts, Tree,
    UnitProof, VersionKind as ProvenKind, VersionProof, extension_ranges, inclusion_ranges,
};

use super::Shared;
use super::view::hash_of;
use crate::error::{Error, Result};
use crate::hashes::operation_leaves;
use crate::log::{Frame, Log, Operation};
use crate::types::{Height, VersionKind};

/// An operation that was found in its commit, with its way to the commit's tree.
struct Found<T> {
    commit: Commit,
    place: u32,
    path: Vec<Hash>,
    what: T,
}

impl<T> Found<T> {
    /// The parts of the chain's tree that lead from the commit to the root at a height.
    fn ranges(&self, at: Height) -> Vec<std::ops::Range<u64>> {
        inclusion_ranges(self.commit.height - 1, at.0)
    }

    fn evidence(self, commit_path: &[Hash]) -> (Evidence, T) {
        let Found { commit, place, path, what } = self;
        (Evidence { commit, place, operation_path: path, commit_path: commit_path.to_vec() }, what)
    }
}

/// What a version says that is not evidence.
struct Written {
    key: Salted,
    kind: ProvenKind,
    content: Salted,
    previous: Option<u64>,
}

impl Shared {
    fn log_id(&self) -> LogId {
        LogId(self.log.header().log_id)
    }

    fn check_height(&self, asked: Height) -> Result<()> {
        let newest = self.visible();
        if asked > newest {
            return Err(Error::HeightUnknown { asked, newest });
        }
        Ok(())
    }

    /// The root at a height.
    pub(crate) fn root(&self, at: Height) -> Result<Root> {
        self.check_height(at)?;
        let all = 0..at.0;
        let tree = self.roots_of(std::slice::from_ref(&all), at)?;
        Ok(Root::of_tree(self.log_id(), at.0, &tree[0]))
    }

    /// The proof that the history up to `new` begins with that up to `old`.
    pub(crate) fn prove_extends(&self, old: Height, new: Height) -> Result<ExtensionProof> {
        self.check_height(new)?;
        if old > new {
            return Err(Error::Invalid(format!("a history up to height {new} cannot extend one up to {old}")));
        }
        let path = self.roots_of(&extension_ranges(old.0, new.0), new)?;
        Ok(ExtensionProof { log: self.log_id(), old_height: old.0, new_height: new.0, path })
    }

    /// The proof of the newest version of a unit at or below `at`.
    pub(crate) fn prove(&self, grouping: &str, key: &[u8], at: Height) -> Result<UnitProof> {
        self.check_height(at)?;
        let entry = self.catalog.read().grouping(grouping).filter(|entry| entry.created <= at);
        let entry = entry.ok_or_else(|| Error::GroupingMissing(grouping.to_owned()))?;
        let version = self.view().version(&entry, key, hash_of(key), at, usize::MAX)?.ok_or(Error::UnitMissing)?;

        let definition = self.find_operation(entry.created, |operation| match operation {
            Operation::DefineGrouping { id, .. } => (*id == entry.id).then_some(()),
            _ => None,
        })?;
        let place = version.birth.place;
        let written = self.find_operation(version.birth.height, |operation| match operation {
            Operation::Version(version) if version.place == place && version.key == key => {
                let salts = Salts::of_body(version.salt);
                Some(Written {
                    key: Salted { salt: salts.key, bytes: key.to_vec() },
                    kind: match version.kind {
                        VersionKind::Deleted => ProvenKind::Deleted,
                        VersionKind::Json => ProvenKind::Json,
                        VersionKind::Raw => ProvenKind::Raw,
                    },
                    content: Salted { salt: salts.content, bytes: version.content.to_vec() },
                    previous: version.previous.as_ref().map(|previous| previous.height.0),
                })
            }
            _ => None,
        })?;

        let of_definition = definition.ranges(at);
        let of_both = [of_definition.clone(), written.ranges(at)].concat();
        let hashes = self.roots_of(&of_both, at)?;
        let (of_definition, of_version) = hashes.split_at(of_definition.len());
        let (evidence, ()) = definition.evidence(of_definition);
        let grouping = GroupingProof { name: entry.name.clone(), id: entry.id.0, evidence };
        let (evidence, Written { key, kind, content, previous }) = written.evidence(of_version);
        let version = VersionProof { key, kind, content: Hidden::Shown(content), previous, evidence };
        Ok(UnitProof { log: self.log_id(), height: at.0, grouping, version })
    }

    /// Finds an operation of the commit at `height`.
    fn find_operation<T>(&self, height: Height, is_it: impl Fn(&Operation<'_>) -> Option<T>) -> Result<Found<T>> {
        self.with_frame(height, |frame| {
            let leaves: Vec<Hash> = operation_leaves(frame).collect();
            let mut operations = frame.operations().enumerate();
            let (place, what) = operations.find_map(|(place, operation)| Some((place, is_it(&operation)?)))?;
            let part = |range: std::ops::Range<u64>| {
                let mut frontier = Frontier::new(Tree::Operations);
                leaves[range.start as usize..range.end as usize].iter().for_each(|leaf| frontier.push(*leaf));
                frontier.root()
            };
            let count = leaves.len();
            let path = inclusion_ranges(place as u64, count as u64).into_iter().map(part).collect();
            let commit = Commit {
                height: height.0,
                time: frame.time().0,
                actor: frame.actor().map(str::to_owned),
                operations: count as u32,
            };
            Some(Found { commit, place: place as u32, path, what })
        })
    }

    /// Reads the commit at `height`, in which there is what `read` looks for.
    fn with_frame<T>(&self, height: Height, read: impl FnOnce(&Frame<'_>) -> Option<T>) -> Result<T> {
        let before = self.last_mark(|mark| mark.height < height)?;
        let mut frames = self.log.frames(self.point_after(before)?)?;
        while let Some(frame) = frames.next()? {
            if frame.is_commit() && frame.height() == height {
                let offset = frame.offset();
                let damaged = || Error::Damaged {
                    path: self.path.clone(),
                    offset,
                    what: format!("the commit at height {height} lacks what the index says it has"),
                };
                return read(&frame).ok_or_else(damaged);
            }
        }
        Err(Error::HeightUnknown { asked: height, newest: self.visible() })
    }
}
