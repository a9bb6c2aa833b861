//! The shape of the trees: RFC 6962, section 2.1, with BLAKE3 in two domains instead of SHA-256 with two prefixes.
//!
//! The tree over n leaves has on its left the tree over the first k, where k is the largest power of two below n, and on its
//! right that over the rest. So each part that was complete stays as it is when leaves are added, and the right edge is
//! all that changes:
//!
//! ```text
//!            .                     the frontier of 7 leaves:  (0-3) (4 5) (6)
//!        /       \                 one hash for each bit that is set in 7;
//!       .          .               an added leaf joins those that it completes, like adding 1 with carry
//!     /   \      /   \
//!    .     .    .     6
//!   / \   / \  / \
//!  0   1 2  3 4   5
//! ```

use std::ops::Range;

use crate::domain::Domain;
use crate::hash::Hash;

/// Which of the two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Over the operations of a commit.
    Operations,
    /// Over the commits of a chain.
    Commits,
}

impl Tree {
    fn domain(self) -> Domain {
        match self {
            Tree::Operations => Domain::Operations,
            Tree::Commits => Domain::Commits,
        }
    }

    /// The inner node over two others.
    #[must_use]
    pub fn node(self, left: &Hash, right: &Hash) -> Hash {
        self.domain().hash(&[&left.0, &right.0])
    }

    /// The root of the tree without leaves.
    #[must_use]
    pub fn empty(self) -> Hash {
        self.domain().hash(&[])
    }
}

/// What is needed of a tree to go on adding leaves: the roots of the complete parts, the largest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontier {
    tree: Tree,
    size: u64,
    complete: Vec<Hash>,
}

impl Frontier {
    /// That of the empty tree.
    #[must_use]
    pub fn new(tree: Tree) -> Frontier {
        Frontier { tree, size: 0, complete: Vec::new() }
    }

    /// The number of leaves.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf: one hash on average, at most 63.
    pub fn push(&mut self, leaf: Hash) {
        self.push_complete(0, leaf);
    }

    /// Adds 2^`level` leaves at once, given the root over them.
    ///
    /// # Panics
    /// When they would not be a part of the tree: `size` is no multiple of 2^`level`.
    pub fn push_complete(&mut self, level: u32, root: Hash) {
        assert!(self.size.trailing_zeros() >= level, "{} leaves are followed by 2^{level} others", self.size);
        let mut carried = root;
        let mut bits = self.size >> level;
        while bits & 1 == 1 {
            let Some(left) = self.complete.pop() else {
                unreachable!("there is a part for each bit of the size");
            };
            carried = self.tree.node(&left, &carried);
            bits >>= 1;
        }
        self.complete.push(carried);
        self.size += 1 << level;
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> Hash {
        let mut parts = self.complete.iter().rev();
        let Some(last) = parts.next() else {
            return self.tree.empty();
        };
        parts.fold(*last, |right, left| self.tree.node(left, &right))
    }
}

/// The largest power of two below `size`, which is at least 2.
fn split(size: u64) -> u64 {
    1 << (u64::BITS - 1 - (size - 1).leading_zeros())
}

/// The parts of the tree over `size` leaves whose roots lead from leaf `index` to the root, from the leaf upward. Each is a
/// range of leaves; it begins at a multiple of the smallest power of two that is not below its length.
///
/// # Panics
/// When `index` is not below `size`.
#[must_use]
pub fn inclusion_ranges(index: u64, size: u64) -> Vec<Range<u64>> {
    assert!(index < size, "leaf {index} of {size}");
    let mut ranges = Vec::new();
    let mut within = 0..size;
    while within.end - within.start > 1 {
        let middle = within.start + split(within.end - within.start);
        if index < middle {
            ranges.push(middle..within.end);
            within.end = middle;
        } else {
            ranges.push(within.start..middle);
            within.start = middle;
        }
    }
    ranges.reverse();
    ranges
}

/// The parts of the tree over `new` leaves whose roots show that it extends the tree over the first `old`. RFC 6962 leaves
/// the first out where it is the older tree's root; here it is always there.
///
/// # Panics
/// When `old` is greater than `new`.
#[must_use]
pub fn extension_ranges(old: u64, new: u64) -> Vec<Range<u64>> {
    assert!(old <= new, "{new} leaves extend {old}");
    let mut ranges = Vec::new();
    let mut within = 0..new;
    while old > 0 && old < within.end {
        let middle = within.start + split(within.end - within.start);
        if old <= middle {
            ranges.push(middle..within.end);
            within.end = middle;
        } else {
            ranges.push(within.start..middle);
            within.start = middle;
        }
    }
    ranges.push(within);
    ranges.reverse();
    ranges
}
