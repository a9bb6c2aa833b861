//! Integers of variable width (LEB128): seven bits a byte, the lowest first, the top bit set while more follow.
//!
//! | value | bytes |
//! |---|---|
//! | 0 to 127 | 1 |
//! | 128 to 16,383 | 2 |
//! | up to 2^35 - 1 | 5 |
//! | up to `u64::MAX` | 10 |
//!
//! Every number has exactly one encoding: a padded one (`80 00` for 0) is refused, so that bytes which decode are the
//! bytes that encoding gives.

/// The most bytes that a value takes.
pub(crate) const MAX_BYTES: usize = 10;

/// Appends `value`.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    if value < 0x80 {
        out.push(value as u8);
        return;
    }
    let mut bytes = [0u8; MAX_BYTES];
    let mut len = 0;
    while value >= 0x80 {
        bytes[len] = value as u8 | 0x80;
        value >>= 7;
        len += 1;
    }
    bytes[len] = value as u8;
    out.extend_from_slice(&bytes[..=len]);
}

/// The number of bytes that `value` takes.
#[inline]
pub(crate) fn len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Takes a value from the front of `bytes`; `None`, and `bytes` as it was, when there is no whole and minimal one.
#[inline]
pub(crate) fn get(bytes: &mut &[u8]) -> Option<u64> {
    match bytes {
        [byte, rest @ ..] if *byte < 0x80 => {
            let value = u64::from(*byte);
            *bytes = rest;
            Some(value)
        }
        _ => get_long(bytes),
    }
}

fn get_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (at, &byte) in bytes.iter().take(MAX_BYTES).enumerate() {
        if at == MAX_BYTES - 1 && byte > 1 {
            return None; // more than 64 bits
        }
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            if byte == 0 && at > 0 {
                return None; // padded
            }
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

/// [`get`] for a value that must fit 32 bits.
#[inline]
pub(crate) fn get_u32(bytes: &mut &[u8]) -> Option<u32> {
    let mut rest = *bytes;
    let value = u32::try_from(get(&mut rest)?).ok()?;
    *bytes = rest;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_take_the_stated_bytes() {
        for (value, expected) in
            [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), ((1 << 35) - 1, 5), (u64::MAX, 10)]
        {
            let mut out = Vec::new();
            put(&mut out, value);
            assert_eq!((out.len(), len(value)), (expected, expected), "{value}");
            let mut rest = out.as_slice();
            assert_eq!(get(&mut rest), Some(value));
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn padded_long_and_cut_values_are_refused_and_nothing_is_taken() {
        for bad in [
            &[][..],
            &[0x80],
            &[0x80, 0x00],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            &[0xff; 11],
        ] {
            let mut rest = bad;
            assert_eq!(get(&mut rest), None);
            assert_eq!(rest, bad);
        }
        let mut rest = &[0x80, 0x80, 0x80, 0x80, 0x10][..];
        assert_eq!(get_u32(&mut rest), None);
        assert_eq!(rest.len(), 5);
    }

    proptest! {
        #[test]
        fn values_come_back(value: u64, shift in 0u32..64, tail: Vec<u8>) {
            let value = value >> shift;
            let mut out = Vec::new();
            put(&mut out, value);
            prop_assert_eq!(out.len(), len(value));
            out.extend_from_slice(&tail);
            let mut rest = out.as_slice();
            prop_assert_eq!(get(&mut rest), Some(value));
            prop_assert_eq!(rest, tail.as_slice());
        }

        #[test]
        fn what_decodes_is_what_encoding_gives(bytes: Vec<u8>) {
            let mut rest = bytes.as_slice();
            if let Some(value) = get(&mut rest) {
                let mut out = Vec::new();
                put(&mut out, value);
                prop_assert_eq!(out.as_slice(), &bytes[..bytes.len() - rest.len()]);
            }
        }
    }
}
