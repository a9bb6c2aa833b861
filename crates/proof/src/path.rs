//! From a leaf to a root, and from an older tree to a newer one: RFC 9162, sections 2.1.3.2 and 2.1.4.2.

use crate::hash::Hash;
use crate::tree::Tree;

/// The root of the tree over `size` leaves in which leaf `index` has a path, as [`inclusion_ranges`] has its parts.
/// `None` when the path has another length than there.
///
/// [`inclusion_ranges`]: crate::inclusion_ranges
#[must_use]
pub fn tree_of_leaf(tree: Tree, leaf: Hash, index: u64, size: u64, path: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    let (mut at, mut last) = (index, size - 1);
    let mut root = leaf;
    for sibling in path {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            root = tree.node(sibling, &root);
            // Where the right edge has no sibling, it goes up alone.
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            root = tree.node(&root, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(root)
}

/// The roots of the trees over the first `old`, and over all `new` leaves, of which [`extension_ranges`] has the parts.
/// `None` when the path has another length than there.
///
/// [`extension_ranges`]: crate::extension_ranges
#[must_use]
pub fn tree_of_extension(tree: Tree, old: u64, new: u64, path: &[Hash]) -> Option<(Hash, Hash)> {
    let (first, rest) = path.split_first()?;
    if old > new {
        return None;
    }
    if old == 0 || old == new {
        let older = if old == 0 { tree.empty() } else { *first };
        return rest.is_empty().then_some((older, *first));
    }
    let (mut at, mut last) = (old - 1, new - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut older, mut newer) = (*first, *first);
    for hash in rest {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            older = tree.node(hash, &older);
            newer = tree.node(hash, &newer);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            newer = tree.node(&newer, hash);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some((older, newer))
}
