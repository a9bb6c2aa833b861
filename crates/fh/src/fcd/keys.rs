//! The key definition block: where the keys of a file are in its records.
//!
//! ```text
//!   0    length u16              of the whole block
//!   6    number of keys u16
//!   14   a key, 16 bytes:        number of parts u16, offset of its parts u16 (from the block's start), flags u8
//!        a key, 16 bytes         (0x40 with duplicates, 0x02 sparse), -, sparse character u8, -
//!        ...
//!   at the offsets:              description u8, type u8, position u32, length u32
//!        a part, 10 bytes
//!        ...
//! ```
//!
//! The first key is the primary one (RECORD KEY). Integers are big-endian.

use immuxdb_isam::{Key, KeyPart};

use super::MAX_RECORD;

/// The most keys of a file.
pub const MAX_KEYS: usize = 255;
/// The most parts of a key.
pub const MAX_PARTS: usize = 255;
/// The longest value of a key, in bytes.
pub const MAX_KEY_LEN: usize = 65_535;

const HEADER_LEN: usize = 14;
const KEY_LEN: usize = 16;
const PART_LEN: usize = 10;

const DUPLICATES: u8 = 0x40;
const SPARSE: u8 = 0x02;

/// What is wrong with a key definition block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// There is no block, or it is too short for its header.
    #[error("the program passes no keys")]
    NoBlock,
    /// The number of keys is not from 1 to [`MAX_KEYS`].
    #[error("a file has from 1 to {MAX_KEYS} keys, this program declares {0}")]
    KeyCount(usize),
    /// The description of a key is not within the block.
    #[error("the description of key {0} is not within the block that describes the keys")]
    OutsideBlock(usize),
    /// The number of parts is not from 1 to [`MAX_PARTS`].
    #[error("a key has from 1 to {MAX_PARTS} parts, key {key} has {parts}")]
    PartCount {
        /// Which key.
        key: usize,
        /// How many parts.
        parts: usize,
    },
    /// A part is empty, or not within the record.
    #[error("key {key} takes {len} bytes at {offset} of a record of {record} bytes")]
    OutsideRecord {
        /// Which key.
        key: usize,
        /// Where its part begins.
        offset: u32,
        /// The part's length.
        len: u32,
        /// The length of the longest record.
        record: u32,
    },
    /// The parts are together longer than [`MAX_KEY_LEN`].
    #[error("key {0} is longer than {MAX_KEY_LEN} bytes")]
    TooLong(usize),
}

/// The keys that a block describes, all within records of `max_record` bytes.
///
/// # Errors
/// [`KeyFault`]: the block is not what it should be.
pub fn decode(block: &[u8], max_record: u32) -> Result<Vec<Key>, KeyFault> {
    if block.len() < HEADER_LEN {
        return Err(KeyFault::NoBlock);
    }
    let count = usize::from(u16_at(block, 6).ok_or(KeyFault::NoBlock)?);
    if count == 0 || count > MAX_KEYS {
        return Err(KeyFault::KeyCount(count));
    }
    (0..count).map(|number| decode_key(block, number, max_record.min(MAX_RECORD))).collect()
}

fn decode_key(block: &[u8], number: usize, max_record: u32) -> Result<Key, KeyFault> {
    let outside = KeyFault::OutsideBlock(number);
    let at = HEADER_LEN + number * KEY_LEN;
    let key = block.get(at..at + KEY_LEN).ok_or(outside)?;
    let count = usize::from(u16_at(key, 0).ok_or(outside)?);
    if count == 0 || count > MAX_PARTS {
        return Err(KeyFault::PartCount { key: number, parts: count });
    }
    let first = usize::from(u16_at(key, 2).ok_or(outside)?);
    let mut parts = Vec::with_capacity(count);
    let mut total = 0usize;
    for index in 0..count {
        let at = first + index * PART_LEN;
        let part = block.get(at..at + PART_LEN).ok_or(outside)?;
        let offset = u32_at(part, 2).ok_or(outside)?;
        let len = u32_at(part, 6).ok_or(outside)?;
        if len == 0 || offset.checked_add(len).is_none_or(|end| end > max_record) {
            return Err(KeyFault::OutsideRecord { key: number, offset, len, record: max_record });
        }
        total += len as usize;
        if total > MAX_KEY_LEN {
            return Err(KeyFault::TooLong(number));
        }
        parts.push(KeyPart { offset, len });
    }
    let flags = key[4];
    Ok(Key { parts, duplicates: flags & DUPLICATES != 0, sparse: (flags & SPARSE != 0).then_some(key[6]) })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The block that libcob 3.1.2 passes for a primary key of 4 bytes and an alternate key after it.
    const TWO_KEYS: [u8; 66] = [
        0, 66, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, // header
        0, 1, 0, 46, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // key 0
        0, 1, 0, 56, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // key 1
        0, 0, 0, 0, 0, 0, 0, 0, 0, 4, // key 0's part
        0, 0, 0, 0, 0, 4, 0, 0, 0, 4, // key 1's part
    ];

    #[test]
    fn a_block_of_libcob_is_read() {
        let part = |offset| vec![KeyPart { offset, len: 4 }];
        let expected = vec![
            Key { parts: part(0), duplicates: false, sparse: None },
            Key { parts: part(4), duplicates: true, sparse: None },
        ];
        assert_eq!(decode(&TWO_KEYS, 8), Ok(expected));
    }

    #[test]
    fn each_fault_is_named() {
        let with = |at: usize, byte: u8| {
            let mut block = TWO_KEYS;
            block[at] = byte;
            decode(&block, 8)
        };
        assert_eq!(decode(&TWO_KEYS[..13], 8), Err(KeyFault::NoBlock));
        assert_eq!(with(7, 0), Err(KeyFault::KeyCount(0)));
        assert_eq!(with(6, 1), Err(KeyFault::KeyCount(258)));
        assert_eq!(with(7, 5), Err(KeyFault::PartCount { key: 2, parts: 0 }));
        assert_eq!(with(15, 0), Err(KeyFault::PartCount { key: 0, parts: 0 }));
        assert_eq!(with(33, 57), Err(KeyFault::OutsideBlock(1)));
        let outside = KeyFault::OutsideRecord { key: 1, offset: 5, len: 4, record: 8 };
        assert_eq!(with(61, 5), Err(outside));
        assert_eq!(outside.to_string(), "key 1 takes 4 bytes at 5 of a record of 8 bytes");
    }

    proptest! {
        #[test]
        fn any_bytes_give_keys_within_the_record_or_a_fault(
            block in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..400),
                (any::<prop::sample::Index>(), any::<u8>(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
                    |(first, one, second, other)| {
                        let mut block = TWO_KEYS.to_vec();
                        let len = block.len();
                        block[first.index(len)] = one;
                        block[second.index(len)] = other;
                        block
                    }
                ),
            ],
            max_record in 0u32..100_000,
        ) {
            if let Ok(keys) = decode(&block, max_record) {
                prop_assert!(!keys.is_empty() && keys.len() <= MAX_KEYS);
                for key in keys {
                    prop_assert!(!key.is_empty() && key.len() <= MAX_KEY_LEN);
                    prop_assert!(key.parts.iter().all(|part| part.offset + part.len <= max_record));
                }
            }
        }
    }
}
