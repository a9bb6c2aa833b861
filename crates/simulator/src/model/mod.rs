//! What a chain should be, as plainly as it can be said.
//!
//! The model keeps, for every height, the whole [`State`] of the chain: its groupings, their units, and for each index
//! which unit it has under which key since when. A commit copies the state before it and changes the copy. So there is
//! no log, no delta, no run, nothing to merge and nothing to find: a read at a height looks into the state of that
//! height. It is slow and takes much memory, and it fits into one's head:
//!
//! | rule | where |
//! |---|---|
//! | an index is ordered by key, and among equal keys by birth | [`Index::in_order`] |
//! | a rewrite that leaves the key alone keeps the unit's place; another key is a new birth | `Index::put` |
//! | an index that is created later takes the births of the versions it finds | [`Index::over`] |
//! | a crash leaves the commits up to some height | [`Model::truncate`] |

mod content;
mod state;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use libimmuxdb::proof::Root;
use libimmuxdb::{Birth, Height, Timestamp};

pub use content::{Content, Field, IndexSpec, Key, KeyPart, Parts, Range, Value, compare_to_bound};
pub use state::{Grouping, Index, Operation, State, Unit, UnitKey};

/// A commit: what it changes, each change with its grouping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The changes, in order.
    pub operations: Vec<(String, Operation)>,
    /// Its time, once the engine has told it.
    pub time: Option<Timestamp>,
    /// The root at its height, once the engine has told it.
    pub root: Option<Root>,
}

/// A version of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its height.
    pub height: Height,
    /// Its content; `None` for a deletion.
    pub content: Option<Content>,
}

/// A chain with all its heights.
#[derive(Clone, Debug)]
pub struct Model {
    commits: Vec<Commit>,
    states: Vec<Arc<State>>,
}

impl Default for Model {
    fn default() -> Model {
        Model { commits: Vec::new(), states: vec![Arc::default()] }
    }
}

impl Model {
    /// The newest height.
    #[must_use]
    pub fn height(&self) -> Height {
        Height(self.commits.len() as u64)
    }

    /// Adds a commit. Each change has a place in it, and so has the coming to be of a grouping that is written to first.
    pub fn commit(&mut self, operations: Vec<(String, Operation)>) -> Height {
        let height = self.height().next();
        let mut state = State::clone(self.newest());
        let mut place = 0;
        for (grouping, operation) in &operations {
            place += u32::from(!state.groupings.contains_key(grouping));
            state.apply(Birth::new(height, place), grouping, operation);
            place += 1;
        }
        self.commits.push(Commit { operations, time: None, root: None });
        self.states.push(Arc::new(state));
        height
    }

    /// Forgets the commits above `height`.
    pub fn truncate(&mut self, height: Height) {
        self.commits.truncate(height.0 as usize);
        self.states.truncate(height.0 as usize + 1);
    }

    /// The state at a height that there is.
    #[must_use]
    pub fn at(&self, height: Height) -> &State {
        &self.states[height.0 as usize]
    }

    /// The newest state.
    #[must_use]
    pub fn newest(&self) -> &State {
        self.at(self.height())
    }

    /// The commit at a height from 1.
    #[must_use]
    pub fn commit_at(&self, height: Height) -> &Commit {
        &self.commits[height.0 as usize - 1]
    }

    /// Remembers the time that the engine gave a commit; `false` if it gave another one before.
    pub fn learn_time(&mut self, height: Height, time: Timestamp) -> bool {
        *self.commits[height.0 as usize - 1].time.get_or_insert(time) == time
    }

    /// Remembers the root that the engine gave at a height; `false` if it gave another one before.
    pub fn learn_root(&mut self, height: Height, root: Root) -> bool {
        *self.commits[height.0 as usize - 1].root.get_or_insert(root) == root
    }

    /// The root at a height above 0, if the engine has told it.
    #[must_use]
    pub fn root(&self, height: Height) -> Option<Root> {
        self.commits[height.0 as usize - 1].root
    }

    /// The versions of a unit, oldest first. A clear shows as a deletion of the units that were there.
    #[must_use]
    pub fn versions(&self, grouping: &str, unit: &UnitKey) -> Vec<Version> {
        let mut versions: Vec<Version> = Vec::new();
        for (height, commit) in (1..).map(Height).zip(&self.commits) {
            for (_, operation) in commit.operations.iter().filter(|(of, _)| of == grouping) {
                let exists = versions.last().is_some_and(|version| version.content.is_some());
                let content = match operation {
                    Operation::Put(key, content) if key == unit => Some(content.clone()),
                    Operation::Delete(key) if key == unit => None,
                    Operation::Clear if exists => None,
                    _ => continue,
                };
                versions.push(Version { height, content });
            }
        }
        versions
    }
}
