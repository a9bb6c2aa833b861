//! Why a proof does not hold.

/// A proof that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It is about another log than the root.
    #[error("the proof is about another log than the root")]
    OtherLog,
    /// It is about another height than the root.
    #[error("the proof is for the root at height {proof}, and this root is of height {root}")]
    OtherHeight {
        /// The proof's.
        proof: u64,
        /// The root's.
        root: u64,
    },
    /// It contradicts itself.
    #[error("the proof contradicts itself: {0}")]
    Contradiction(&'static str),
    /// It has too few or too many hashes for where it says that it leads.
    #[error("the path of {0} has the wrong length, or leads nowhere")]
    Path(&'static str),
    /// What it shows is not what the root stands for.
    #[error("{0} is not in the history that the root stands for")]
    NotInHistory(&'static str),
}
