//! Sets of keys keep their order, and each key once.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::index::KeySet;
use crate::types::IndexId;

proptest! {
    #[test]
    fn a_key_set_is_a_sorted_set(keys in prop::collection::vec((0u32..4, "[ab]{0,2}"), 0..20)) {
        let mut set = KeySet::new();
        let mut expected = BTreeSet::new();
        for (index, key) in &keys {
            set.insert(IndexId(*index), key.as_bytes());
            expected.insert((IndexId(*index), key.as_bytes()));
        }
        prop_assert!(set.iter().eq(expected.iter().copied()));
        prop_assert_eq!((set.len(), set.is_empty()), (expected.len(), expected.is_empty()));
        for index in (0..5).map(IndexId) {
            let of: Vec<&[u8]> = expected.iter().filter(|(id, _)| *id == index).map(|(_, key)| *key).collect();
            prop_assert!(set.of(index).eq(of.iter().copied()));
            prop_assert_eq!(set.contains(index, b"ab"), of.contains(&&b"ab"[..]));
        }
        set.clear();
        prop_assert_eq!(set.iter().len(), 0);
    }
}
