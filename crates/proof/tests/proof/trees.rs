//! The trees against the recursion of RFC 6962.

use crate::support::{Chain, naive, parts};
use immuxdb_proof::{Frontier, Hash, Tree, extension_ranges, inclusion_ranges, tree_of_extension, tree_of_leaf};
use proptest::prelude::*;

fn leaves(count: u64) -> Vec<Hash> {
    (0..count).map(|at| Hash(std::array::from_fn(|byte| (at >> (8 * (byte % 8))) as u8 ^ byte as u8))).collect()
}

fn frontier(tree: Tree, leaves: &[Hash]) -> Frontier {
    let mut frontier = Frontier::new(tree);
    leaves.iter().for_each(|leaf| frontier.push(*leaf));
    frontier
}

const SIZES: u64 = 66;

#[test]
fn a_frontier_has_the_root_of_the_recursion() {
    let all = leaves(SIZES);
    for tree in [Tree::Operations, Tree::Commits] {
        let mut grown = Frontier::new(tree);
        assert_eq!(grown.root(), tree.empty());
        for size in 1..=SIZES as usize {
            grown.push(all[size - 1]);
            assert_eq!(grown.size(), size as u64);
            assert_eq!(grown.root(), naive(tree, &all[..size]), "{size}");
        }
    }
    assert_ne!(naive(Tree::Operations, &all), naive(Tree::Commits, &all));
}

#[test]
fn each_leaf_of_each_size_has_a_path_to_the_root() {
    let tree = Tree::Commits;
    let all = leaves(SIZES);
    for size in 1..=SIZES {
        let all = &all[..size as usize];
        for index in 0..size {
            let path = parts(tree, all, &inclusion_ranges(index, size));
            assert!(path.len() <= 7);
            assert_eq!(tree_of_leaf(tree, all[index as usize], index, size, &path), Some(naive(tree, all)));
            let longer = [&path[..], &path[..1.min(path.len())], &[Hash::default()]].concat();
            assert_eq!(tree_of_leaf(tree, all[index as usize], index, size, &longer), None);
            if let Some((_, shorter)) = path.split_last() {
                assert_eq!(tree_of_leaf(tree, all[index as usize], index, size, shorter), None);
            }
        }
        assert_eq!(tree_of_leaf(tree, all[0], size, size, &[]), None);
    }
}

#[test]
fn each_size_extends_each_smaller_one() {
    let tree = Tree::Commits;
    let all = leaves(SIZES);
    for new in 0..=SIZES {
        for old in 0..=new {
            let path = parts(tree, &all, &extension_ranges(old, new));
            let both = (naive(tree, &all[..old as usize]), naive(tree, &all[..new as usize]));
            assert_eq!(tree_of_extension(tree, old, new, &path), Some(both), "{old} {new}");
            let longer = [&path[..], &[Hash::default()]].concat();
            assert_eq!(tree_of_extension(tree, old, new, &longer), None, "{old} {new}");
            assert_eq!(tree_of_extension(tree, old, new, &path[..path.len() - 1]), None, "{old} {new}");
        }
    }
    assert_eq!(tree_of_extension(tree, 2, 1, &[Hash::default()]), None);
}

/// RFC 6962, section 2.1.3 draws these for seven leaves.
#[test]
fn the_examples_of_the_rfc() {
    assert_eq!(inclusion_ranges(0, 7), [1..2, 2..4, 4..7]);
    assert_eq!(inclusion_ranges(3, 7), [2..3, 0..2, 4..7]);
    assert_eq!(inclusion_ranges(4, 7), [5..6, 6..7, 0..4]);
    assert_eq!(inclusion_ranges(6, 7), [4..6, 0..4]);
    assert_eq!(extension_ranges(3, 7), [2..3, 3..4, 0..2, 4..7]);
    // The RFC leaves the first of these out, and asks for the older root instead.
    assert_eq!(extension_ranges(4, 7), [0..4, 4..7]);
    assert_eq!(extension_ranges(6, 7), [4..6, 6..7, 0..4]);
}

#[test]
fn proofs_of_a_chain_hold_at_every_height() {
    let chain = Chain::of(19);
    let at: Vec<_> = (0..=19).map(|height| chain.root(height)).collect();
    for new in 1..=19 {
        for old in 0..=new {
            chain.extension(old, new).verify(&at[old as usize], &at[new as usize]).unwrap();
        }
        for commit in 1..=new {
            let proof = chain.unit(commit, new);
            proof.verify(&at[new as usize]).unwrap();
            proof.clone().without_content().verify(&at[new as usize]).unwrap();
            // Another height of the same history is not what it was made for.
            assert!(proof.verify(&at[new as usize - 1]).is_err());
        }
    }
}

proptest! {
    #[test]
    fn complete_parts_may_be_added_at_once(sizes in proptest::collection::vec(0u32..6, 1..12)) {
        // Parts of falling size are always where the tree has parts.
        let mut sizes = sizes;
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let all = leaves(sizes.iter().map(|level| 1 << level).sum());
        let mut grown = Frontier::new(Tree::Commits);
        for level in sizes {
            let from = grown.size() as usize;
            grown.push_complete(level, naive(Tree::Commits, &all[from..from + (1 << level)]));
        }
        prop_assert_eq!(grown.root(), naive(Tree::Commits, &all));
        prop_assert_eq!(grown, frontier(Tree::Commits, &all));
    }

    #[test]
    fn parts_begin_where_the_tree_has_parts(size in 1u64..1 << 40, index in 0u64..1 << 40) {
        let index = index % size;
        for range in inclusion_ranges(index, size).into_iter().chain(extension_ranges(index, size)) {
            let length = range.end - range.start;
            prop_assert!(length > 0 && range.start % length.next_power_of_two() == 0);
        }
    }

    #[test]
    fn arbitrary_paths_never_panic(index: u64, size: u64, bytes in proptest::collection::vec(any::<[u8; 32]>(), 0..80)) {
        let path: Vec<Hash> = bytes.into_iter().map(Hash).collect();
        let _ = tree_of_leaf(Tree::Commits, Hash::default(), index, size, &path);
        let _ = tree_of_extension(Tree::Commits, index, size, &path);
    }
}
