//! Numbers in entries, and what keys have in common: the inner loops of writing and decoding.

use crate::varint;

/// A difference, with its sign in the lowest bit.
#[inline]
pub(super) fn zigzag(delta: u64) -> u64 {
    (delta << 1) ^ ((delta as i64 >> 63) as u64)
}

/// The difference that [`zigzag`] was given.
#[inline]
pub(super) fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// Appends a number: as [`varint::put`], but faster for those of 2 to 8 bytes.
#[inline(always)]
pub(super) fn put_number(out: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        out.push(value as u8);
        return;
    }
    if value >= 1 << 56 {
        varint::put(out, value);
        return;
    }
    // Make gaps for the top bits: first in fours, then in pairs.
    let x = (value & 0x0fff_ffff) | ((value & 0x00ff_ffff_f000_0000) << 4);
    let x = (x & 0x0000_3fff_0000_3fff) | ((x & 0x0fff_c000_0fff_c000) << 2);
    let x = (x & 0x007f_007f_007f_007f) | ((x & 0x3f80_3f80_3f80_3f80) << 1);
    let bytes = (u64::BITS - value.leading_zeros()).div_ceil(7);
    let more = 0x8080_8080_8080_8080 & !(u64::MAX << (8 * (bytes - 1)));
    // All eight bytes are copied, which is faster than an exact number, and those beyond the end taken back.
    let end = out.len() + bytes as usize;
    out.extend_from_slice(&(x | more).to_le_bytes());
    out.truncate(end);
}

/// A number: as [`varint::get`], but faster for those of 2 to 8 bytes.
#[inline(always)]
pub(super) fn number(input: &mut &[u8]) -> Option<u64> {
    let [first, ..] = **input else {
        return None;
    };
    if first < 0x80 {
        *input = &input[1..];
        return Some(u64::from(first));
    }
    let Some(bytes) = input.first_chunk::<8>() else {
        return varint::get(input);
    };
    let bytes = u64::from_le_bytes(*bytes);
    let ends = !bytes & 0x8080_8080_8080_8080;
    if ends == 0 {
        return varint::get(input);
    }
    let bits = ends.trailing_zeros() + 1;
    *input = &input[bits as usize / 8..];
    // Keep the bytes up to the end, and close the gaps that the top bits leave: first in pairs, then in fours.
    let x = bytes & (u64::MAX >> (64 - bits)) & 0x7f7f_7f7f_7f7f_7f7f;
    let x = (x & 0x007f_007f_007f_007f) | ((x & 0x7f00_7f00_7f00_7f00) >> 1);
    let x = (x & 0x0000_3fff_0000_3fff) | ((x & 0x3fff_0000_3fff_0000) >> 2);
    Some((x & 0x0fff_ffff) | ((x & 0x0fff_ffff_0000_0000) >> 4))
}

/// A number that fits 32 bits.
#[inline]
pub(super) fn number_u32(input: &mut &[u8]) -> Option<u32> {
    u32::try_from(number(input)?).ok()
}

/// The number of bytes that two keys have in common at their beginnings.
#[inline]
pub(super) fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut shared = 0;
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let x = u64::from_le_bytes(first_8(x));
        let y = u64::from_le_bytes(first_8(y));
        if x != y {
            return shared + ((x ^ y).trailing_zeros() / 8) as usize;
        }
        shared += 8;
    }
    let rest = a[shared..].iter().zip(&b[shared..]);
    shared + rest.take_while(|(x, y)| x == y).count()
}

#[inline]
fn first_8(bytes: &[u8]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&bytes[..8]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fast_numbers_are_the_slow_ones(value: u64, shift in 0u32..64, tail: Vec<u8>) {
            let value = value >> shift;
            let (mut fast, mut slow) = (Vec::new(), Vec::new());
            put_number(&mut fast, value);
            varint::put(&mut slow, value);
            prop_assert_eq!(&fast, &slow);
            fast.extend_from_slice(&tail);
            let mut rest = fast.as_slice();
            prop_assert_eq!(number(&mut rest), Some(value));
            prop_assert_eq!(rest, tail.as_slice());
        }

        #[test]
        fn prefixes_are_counted(a: Vec<u8>, b: Vec<u8>, start: Vec<u8>) {
            let (a, b) = ([start.as_slice(), &a].concat(), [start, b].concat());
            let expected = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
            prop_assert_eq!(shared_prefix(&a, &b), expected);
        }
    }
}
