//! From a frame to its leaf.

use immuxdb_proof::{self as proof, Frontier, Hash, Salts, Tree, content_hash, key_hash};

use crate::log::{Frame, Operation};
use crate::types::VersionKind;

/// An operation as it is hashed.
fn operation_of<'a>(operation: &Operation<'a>) -> proof::Operation<'a> {
    match operation {
        Operation::Version(version) => {
            let salts = Salts::of_body(version.salt);
            proof::Operation::Version {
                kind: kind_of(version.kind),
                grouping: version.grouping.0,
                previous: version.previous.as_ref().map_or(0, |previous| previous.height.0),
                key: key_hash(&salts.key, version.key),
                content: content_hash(&salts.content, version.content),
            }
        }
        Operation::DefineGrouping { id, name } => proof::Operation::DefineGrouping { grouping: id.0, name },
        Operation::DefineIndex { grouping, index, definition } => {
            proof::Operation::DefineIndex { grouping: grouping.0, index: index.0, definition }
        }
        Operation::DropIndex { grouping, index } => {
            proof::Operation::DropIndex { grouping: grouping.0, index: index.0 }
        }
        Operation::ClearGrouping { grouping } => proof::Operation::ClearGrouping { grouping: grouping.0 },
    }
}

fn kind_of(kind: VersionKind) -> proof::VersionKind {
    match kind {
        VersionKind::Deleted => proof::VersionKind::Deleted,
        VersionKind::Json => proof::VersionKind::Json,
        VersionKind::Raw => proof::VersionKind::Raw,
    }
}

/// The leaves of a commit's tree.
pub(crate) fn operation_leaves(frame: &Frame<'_>) -> impl ExactSizeIterator<Item = Hash> {
    frame.operations().map(|operation| operation_of(&operation).leaf())
}

/// The leaf of a commit.
pub(crate) fn commit_leaf(frame: &Frame<'_>) -> Hash {
    let mut leaves = operation_leaves(frame);
    let count = leaves.len();
    let operations = match (count, leaves.next()) {
        (1, Some(only)) => only,
        (_, first) => {
            let mut frontier = Frontier::new(Tree::Operations);
            first.into_iter().chain(leaves).for_each(|leaf| frontier.push(leaf));
            frontier.root()
        }
    };
    let leaf = proof::commit_leaf(frame.height().0, frame.time().0, frame.actor(), count as u32, &operations);
    leaf.unwrap_or_else(|| unreachable!("an actor has 1 to 255 bytes in every frame"))
}
