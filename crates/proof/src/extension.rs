//! The proof that a later root extends an earlier one.

use serde::{Deserialize, Serialize};

use crate::hash::{Hash, LogId};
use crate::path::tree_of_extension;
use crate::refused::Refused;
use crate::root::Root;
use crate::tree::Tree;

/// That the history up to `new_height` begins with that up to `old_height`: no commit of the older one was changed, left
/// out or put in between. RFC 6962 calls this a consistency proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtensionProof {
    /// The log.
    pub log: LogId,
    /// The older root's height.
    pub old_height: u64,
    /// The newer root's height, not below the older one's.
    pub new_height: u64,
    /// The roots of the parts of which both trees consist.
    pub path: Vec<Hash>,
}

impl ExtensionProof {
    /// Checks it against two roots.
    ///
    /// # Errors
    /// It does not hold.
    pub fn verify(&self, old: &Root, new: &Root) -> Result<(), Refused> {
        old.check_about(self.log, self.old_height)?;
        new.check_about(self.log, self.new_height)?;
        let trees = tree_of_extension(Tree::Commits, self.old_height, self.new_height, &self.path);
        let (older, newer) = trees.ok_or(Refused::Path("the extension"))?;
        old.check_tree(&older, "what the proof takes for the older history")?;
        new.check_tree(&newer, "what the proof takes for the newer history")
    }
}
