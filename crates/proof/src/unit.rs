//! The proof that a unit was given a content by a commit of a chain.

use serde::{Deserialize, Serialize};

use crate::commit::Commit;
use crate::hash::{Hash, LogId};
use crate::operation::{Operation, VersionKind};
use crate::path::tree_of_leaf;
use crate::refused::Refused;
use crate::root::Root;
use crate::salted::{Hidden, Salted, key_hash};
use crate::tree::Tree;

/// From an operation to the tree over all commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The commit.
    pub commit: Commit,
    /// The operation's place in the commit, from 0.
    pub place: u32,
    /// From the operation to the commit's tree.
    pub operation_path: Vec<Hash>,
    /// From the commit to the chain's tree.
    pub commit_path: Vec<Hash>,
}

impl Evidence {
    /// The root of the tree over the first `height` commits, if `leaf` is the operation.
    fn tree(&self, leaf: Hash, height: u64, what: &'static str) -> Result<Hash, Refused> {
        let count = u64::from(self.commit.operations);
        let operations = tree_of_leaf(Tree::Operations, leaf, u64::from(self.place), count, &self.operation_path);
        let commit = operations.and_then(|operations| self.commit.leaf(&operations));
        let index = self.commit.height.checked_sub(1);
        let tree = commit
            .zip(index)
            .and_then(|(commit, index)| tree_of_leaf(Tree::Commits, commit, index, height, &self.commit_path));
        tree.ok_or(Refused::Path(what))
    }
}

/// Which grouping has which name: the operation that defined it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupingProof {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: u32,
    /// Where it was defined.
    pub evidence: Evidence,
}

/// A version of a unit: the operation that wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionProof {
    /// The unit key.
    pub key: Salted,
    /// What the version is.
    pub kind: VersionKind,
    /// Its content; of a deletion, no bytes.
    pub content: Hidden,
    /// The height of the version that it replaced, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<u64>,
    /// Where it was written.
    pub evidence: Evidence,
}

/// That the commit at `version.evidence.commit.height` wrote this version of this unit, in the history whose root at
/// `height` is known.
///
/// It does not show that no later commit up to `height` wrote the unit again, cleared its grouping, or defined another
/// grouping of the same name: an append-only tree has no proof of absence. `docs/PROOFS.md` says what does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitProof {
    /// The log.
    pub log: LogId,
    /// The height of the root that it is checked against.
    pub height: u64,
    /// The unit's grouping.
    pub grouping: GroupingProof,
    /// What was written.
    pub version: VersionProof,
}

impl UnitProof {
    /// Checks it against a root. Then every field of it is as it is in the history that the root stands for.
    ///
    /// # Errors
    /// It does not hold.
    pub fn verify(&self, root: &Root) -> Result<(), Refused> {
        root.check_about(self.log, self.height)?;
        let (grouping, version) = (&self.grouping, &self.version);
        let definition = Operation::DefineGrouping { grouping: grouping.id, name: &grouping.name };
        let tree = grouping.evidence.tree(definition.leaf(), self.height, "the grouping's definition")?;
        root.check_tree(&tree, "the grouping's definition")?;

        let contradiction = |what| Err(Refused::Contradiction(what));
        if version.previous.is_some_and(|previous| previous == 0 || previous >= version.evidence.commit.height) {
            return contradiction("the version that was replaced is not an earlier one");
        }
        if version.kind == VersionKind::Deleted && version.content.bytes().is_some_and(|bytes| !bytes.is_empty()) {
            return contradiction("a deletion has a content");
        }
        let written = Operation::Version {
            kind: version.kind,
            grouping: grouping.id,
            previous: version.previous.unwrap_or(0),
            key: key_hash(&version.key.salt, &version.key.bytes),
            content: version.content.hash(),
        };
        let tree = version.evidence.tree(written.leaf(), self.height, "the version")?;
        root.check_tree(&tree, "the version")?;
        let place = |evidence: &Evidence| (evidence.commit.height, evidence.place);
        if place(&grouping.evidence) >= place(&version.evidence) {
            return contradiction("the grouping was defined after the version was written");
        }
        Ok(())
    }

    /// The same proof without the content: it shows that the unit was written, and not what.
    #[must_use]
    pub fn without_content(mut self) -> UnitProof {
        let hash = self.version.content.hash();
        self.version.content = Hidden::Hash(crate::salted::OnlyHash { hash });
        self
    }
}
