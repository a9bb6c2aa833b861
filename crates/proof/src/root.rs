//! Roots: what is kept, published and compared.

use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::hash::{Hash, LogId};
use crate::refused::Refused;
use crate::tree::Tree;

/// What a log's history up to a height comes down to.
///
/// The hash covers log id and height, so it stands for the whole: of a root that is kept in 64 digits, the rest can be
/// taken from any proof and is checked with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// The log.
    pub log: LogId,
    /// The height; 0 before the first commit.
    pub height: u64,
    /// The hash.
    pub hash: Hash,
}

impl Root {
    /// The root of a log at a height, given the root of the tree over its commits.
    #[must_use]
    pub fn of_tree(log: LogId, height: u64, tree: &Hash) -> Root {
        let hash = Domain::Root.hash(&[&log.0, &height.to_le_bytes(), &tree.0]);
        Root { log, height, hash }
    }

    /// The root of a log before its first commit.
    #[must_use]
    pub fn empty(log: LogId) -> Root {
        Root::of_tree(log, 0, &Tree::Commits.empty())
    }

    /// Checks that a proof is about this root.
    pub(crate) fn check_about(&self, log: LogId, height: u64) -> Result<(), Refused> {
        if log != self.log {
            return Err(Refused::OtherLog);
        }
        if height != self.height {
            return Err(Refused::OtherHeight { proof: height, root: self.height });
        }
        Ok(())
    }

    /// Checks that the tree over the commits is that of this root.
    pub(crate) fn check_tree(&self, tree: &Hash, what: &'static str) -> Result<(), Refused> {
        if Root::of_tree(self.log, self.height, tree).hash != self.hash {
            return Err(Refused::NotInHistory(what));
        }
        Ok(())
    }
}
