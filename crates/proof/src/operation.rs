//! Operations: the leaves of a commit's tree.
//!
//! A leaf has what an operation means, and nothing of where it stands: positions, checksums and births follow from the
//! history, so a backup, or a log that was rewritten without its oldest part, has the same root.

use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::hash::Hash;

/// What a version of a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum VersionKind {
    /// The unit was deleted.
    Deleted = 0,
    /// JSON, kept byte for byte.
    Json = 1,
    /// A raw record.
    Raw = 2,
}

/// An operation, as it is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// A put, or a delete. A revert of a unit is one of these.
    Version {
        /// What the version is.
        kind: VersionKind,
        /// The grouping's id.
        grouping: u32,
        /// The height of the version that this one replaces; 0 if there was none.
        previous: u64,
        /// [`key_hash`](crate::key_hash).
        key: Hash,
        /// [`content_hash`](crate::content_hash).
        content: Hash,
    },
    /// A grouping comes to be.
    DefineGrouping {
        /// Its id.
        grouping: u32,
        /// Its name.
        name: &'a str,
    },
    /// An index comes to be.
    DefineIndex {
        /// The grouping's id.
        grouping: u32,
        /// Its id.
        index: u32,
        /// Name and definition, as the log has them.
        definition: &'a [u8],
    },
    /// An index goes.
    DropIndex {
        /// The grouping's id.
        grouping: u32,
        /// Its id.
        index: u32,
    },
    /// All units of a grouping go.
    ClearGrouping {
        /// The grouping's id.
        grouping: u32,
    },
}

/// The kinds of operations, with the log's numbers.
const PUT: u8 = 1;
const DELETE: u8 = 2;
const DEFINE_GROUPING: u8 = 16;
const DEFINE_INDEX: u8 = 17;
const DROP_INDEX: u8 = 18;
const CLEAR_GROUPING: u8 = 19;

impl Operation<'_> {
    /// The leaf.
    #[must_use]
    pub fn leaf(&self) -> Hash {
        let hash = |parts: &[&[u8]]| Domain::Operation.hash(parts);
        match self {
            Operation::Version { kind, grouping, previous, key, content } => {
                let operation = if *kind == VersionKind::Deleted { DELETE } else { PUT };
                let mut bytes = [0; 78];
                bytes[0] = operation;
                bytes[1..5].copy_from_slice(&grouping.to_le_bytes());
                bytes[5] = *kind as u8;
                bytes[6..14].copy_from_slice(&previous.to_le_bytes());
                bytes[14..46].copy_from_slice(&key.0);
                bytes[46..].copy_from_slice(&content.0);
                hash(&[&bytes])
            }
            Operation::DefineGrouping { grouping, name } => {
                hash(&[&[DEFINE_GROUPING], &grouping.to_le_bytes(), name.as_bytes()])
            }
            Operation::DefineIndex { grouping, index, definition } => {
                hash(&[&[DEFINE_INDEX], &grouping.to_le_bytes(), &index.to_le_bytes(), definition])
            }
            Operation::DropIndex { grouping, index } => {
                hash(&[&[DROP_INDEX], &grouping.to_le_bytes(), &index.to_le_bytes()])
            }
            Operation::ClearGrouping { grouping } => hash(&[&[CLEAR_GROUPING], &grouping.to_le_bytes()]),
        }
    }
}
