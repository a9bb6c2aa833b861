//! Commits: the leaves of the chain's tree.

use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::hash::Hash;

/// What a commit says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// Its height, from 1.
    pub height: u64,
    /// When it happened: microseconds since 1970-01-01 00:00 UTC, by the writer's clock.
    pub time: u64,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// How many operations it has.
    pub operations: u32,
}

/// The most bytes of an actor's name.
const ACTOR_BYTES: usize = 255;

impl Commit {
    /// The leaf, given the root of the tree over the commit's operations. `None` for an actor that no log can have.
    #[must_use]
    pub fn leaf(&self, operations: &Hash) -> Option<Hash> {
        commit_leaf(self.height, self.time, self.actor.as_deref(), self.operations, operations)
    }
}

/// [`Commit::leaf`], of fields that nobody owns.
#[must_use]
pub fn commit_leaf(height: u64, time: u64, actor: Option<&str>, count: u32, operations: &Hash) -> Option<Hash> {
    let len = match actor {
        None => 0,
        Some(actor) => u8::try_from(actor.len()).ok().filter(|len| *len > 0 && actor.len() <= ACTOR_BYTES)?,
    };
    Some(Domain::Commit.hash(&[
        &height.to_le_bytes(),
        &time.to_le_bytes(),
        &count.to_le_bytes(),
        &operations.0,
        &[len],
        actor.unwrap_or_default().as_bytes(),
    ]))
}
