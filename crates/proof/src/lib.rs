//! Tamper evidence: what a chain's root hash is made of, and how proofs against it are checked.
//!
//! Whoever can write to a log's file can rewrite it: cut a commit out, change a content, and make all checksums right
//! again. A *root* makes that visible. It is 32 bytes that stand for everything that a chain's log says up to a height,
//! and who has kept an old one elsewhere can ask for two things:
//!
//! ```text
//!   root at 900 (kept since March)          root at 1200 (today)
//!        \______ extension proof ______________/        the newer history begins with the older one
//!                                              |
//!                                         unit proof      at height 734, unit "ada" of "people" was given this content
//! ```
//!
//! Both are checked with what is in this crate alone: no files, no engine, no trust in who made the proof.
//!
//! # The construction
//!
//! Two trees of the shape of RFC 6962 (Certificate Transparency), one in the other, hashed with BLAKE3:
//!
//! ```text
//!                            root      log id, height
//!                             |
//!                         ( commits )                        a tree over all commits
//!                   /         |         \
//!              commit 1    commit 2    commit 3 …            height, time, actor, number of operations
//!                             |
//!                        ( operations )                      a tree over the operations of the commit
//!                       /             \
//!          define grouping "people"   put                    kind, grouping, previous height
//!                                    /    \
//!                              key          content          each hashed with a salt of its own
//! ```
//!
//! Appending a commit takes two hashes on average. A proof is a path from a leaf to the root: 20 hashes in a chain of a
//! million commits.
//!
//! | file | what |
//! |---|---|
//! | `hash` | hashes and log ids, and their text |
//! | `domain` | each kind of hash has its own key, so that none passes for another |
//! | `salted` | keys and contents, hidden until they are shown |
//! | `operation`, `commit` | the leaves |
//! | `tree` | the tree's shape: frontier, and which parts a proof is made of |
//! | `path` | from a leaf to a root, and from an older root to a newer one |
//! | `root` | what is kept and compared |
//! | `unit`, `extension`, `document` | the proofs, and their JSON form |
//!
//! `docs/PROOFS.md` has each byte, with test vectors, and what is *not* proven.

mod commit;
mod document;
mod domain;
mod extension;
mod hash;
mod operation;
mod path;
mod refused;
mod root;
mod salted;
mod tree;
mod unit;

pub use commit::{Commit, commit_leaf};
pub use document::Proof;
pub use extension::ExtensionProof;
pub use hash::{Hash, LogId, NotHex};
pub use operation::{Operation, VersionKind};
pub use path::{tree_of_extension, tree_of_leaf};
pub use refused::Refused;
pub use root::Root;
pub use salted::{Hidden, OnlyHash, Salt, Salted, Salts, content_hash, key_hash};
pub use tree::{Frontier, Tree, extension_ranges, inclusion_ranges};
pub use unit::{Evidence, GroupingProof, UnitProof, VersionProof};
