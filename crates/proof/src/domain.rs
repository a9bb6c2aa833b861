//! Domains: BLAKE3 is used in its keyed mode, with a key for each kind of input.
//!
//! A leaf that could be read as an inner node, or a key as a content, would let somebody prove what was never written. So
//! each kind of input has its own hash function. The keys are no secrets; they are readable names, filled up with zeroes.
//! A key instead of a prefix in the input keeps an inner node at 64 bytes, which is one block of BLAKE3.

use crate::hash::Hash;

/// What is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// A body's salt, to two salts.
    Salts,
    /// A unit key.
    Key,
    /// A content.
    Content,
    /// An operation: a leaf of a commit's tree.
    Operation,
    /// An inner node of a commit's tree.
    Operations,
    /// A commit: a leaf of the chain's tree.
    Commit,
    /// An inner node of the chain's tree.
    Commits,
    /// A root.
    Root,
}

const fn named(name: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    let mut at = 0;
    while at < name.len() {
        key[at] = name[at];
        at += 1;
    }
    key
}

/// Up to this length the parts of an input are copied together, which is faster than hashing piece by piece.
const COPIED_BYTES: usize = 1024;

impl Domain {
    fn key(self) -> &'static [u8; 32] {
        const SALTS: [u8; 32] = named(b"ImmuxDB proof 1: salts");
        const KEY: [u8; 32] = named(b"ImmuxDB proof 1: key");
        const CONTENT: [u8; 32] = named(b"ImmuxDB proof 1: content");
        const OPERATION: [u8; 32] = named(b"ImmuxDB proof 1: operation");
        const OPERATIONS: [u8; 32] = named(b"ImmuxDB proof 1: operations");
        const COMMIT: [u8; 32] = named(b"ImmuxDB proof 1: commit");
        const COMMITS: [u8; 32] = named(b"ImmuxDB proof 1: commits");
        const ROOT: [u8; 32] = named(b"ImmuxDB proof 1: root");
        match self {
            Domain::Salts => &SALTS,
            Domain::Key => &KEY,
            Domain::Content => &CONTENT,
            Domain::Operation => &OPERATION,
            Domain::Operations => &OPERATIONS,
            Domain::Commit => &COMMIT,
            Domain::Commits => &COMMITS,
            Domain::Root => &ROOT,
        }
    }

    /// The hash of the parts, one after another.
    pub(crate) fn hash(self, parts: &[&[u8]]) -> Hash {
        let bytes = parts.iter().map(|part| part.len()).sum::<usize>();
        if bytes > COPIED_BYTES {
            let mut hasher = blake3::Hasher::new_keyed(self.key());
            for part in parts {
                hasher.update(part);
            }
            return Hash(*hasher.finalize().as_bytes());
        }
        let mut copied = [0; COPIED_BYTES];
        let mut end = 0;
        for part in parts {
            copied[end..end + part.len()].copy_from_slice(part);
            end += part.len();
        }
        Hash(*blake3::keyed_hash(self.key(), &copied[..end]).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_hashed_as_one_input_whatever_their_length() {
        for len in [0, 1, 63, 64, 65, COPIED_BYTES - 1, COPIED_BYTES, COPIED_BYTES + 1, 5000] {
            let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let whole = blake3::keyed_hash(Domain::Content.key(), &bytes);
            let (front, back) = bytes.split_at(len / 3);
            assert_eq!(Domain::Content.hash(&[front, &[], back]).0, *whole.as_bytes(), "{len}");
        }
    }

    #[test]
    fn no_two_domains_are_alike() {
        use Domain::*;
        let all = [Salts, Key, Content, Operation, Operations, Commit, Commits, Root];
        let hashes: std::collections::BTreeSet<Hash> = all.iter().map(|domain| domain.hash(&[b"same"])).collect();
        assert_eq!(hashes.len(), all.len());
    }
}
