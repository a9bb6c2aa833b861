//! The Bloom filter: "this key is surely not here", for the price of one cache line.
//!
//! A filter is a row of 64-byte lines. The upper half of a key's hash picks the line, and six numbers of nine bits,
//! taken from the hash mixed once more, pick six of its 512 bits. At ten bits a key about 1.3 % of the absent keys are
//! let through.
//!
//! ```text
//! hash --(upper 32 bits * lines) >> 32--> line     hash * M --> b0 b1 b2 b3 b4 b5 (9 bits each)
//! ```

/// Bytes of a line: a cache line.
pub(super) const LINE: usize = 64;
/// Bytes of a page: what one CRC covers.
pub(super) const PAGE: usize = 4096;
const BITS_PER_KEY: u64 = 10;
const PROBES: u32 = 6;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lines that a filter of `keys` keys has.
pub(super) fn lines_for(keys: u64) -> u64 {
    let lines = (keys * BITS_PER_KEY).div_ceil(8 * LINE as u64);
    lines.clamp(1, u64::from(u32::MAX))
}

/// The line of a hash.
#[inline]
pub(super) fn line_of(hash: u64, lines: u64) -> u64 {
    ((hash >> 32) * lines) >> 32
}

#[inline]
fn probes(hash: u64) -> impl Iterator<Item = (usize, u8)> {
    let bits = hash.wrapping_mul(MIX) >> 10;
    (0..PROBES).map(move |probe| {
        let bit = (bits >> (9 * probe)) as usize & 511;
        (bit / 8, 1 << (bit % 8))
    })
}

/// Whether the line has all bits of the hash. All are looked at: a branch at each would be mispredicted once.
#[inline]
pub(super) fn test(line: &[u8; LINE], hash: u64) -> bool {
    probes(hash).fold(0, |missing, (byte, bit)| missing | (!line[byte] & bit)) == 0
}

/// Builds the lines of a filter over these hashes.
pub(super) fn build(hashes: &[u64]) -> Vec<u8> {
    let lines = lines_for(hashes.len() as u64);
    let mut bytes = vec![0; lines as usize * LINE];
    for &hash in hashes {
        let at = line_of(hash, lines) as usize * LINE;
        for (byte, bit) in probes(hash) {
            bytes[at + byte] |= bit;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::key_hash;

    #[test]
    fn few_absent_keys_are_let_through_and_no_present_one_is_held_back() {
        let hashes: Vec<u64> = (0..100_000u64).map(|n| key_hash(&n.to_le_bytes())).collect();
        let filter = build(&hashes);
        let lines = lines_for(hashes.len() as u64);
        let has = |hash| {
            let at = line_of(hash, lines) as usize * LINE;
            test(filter[at..].first_chunk().unwrap(), hash)
        };
        assert!(hashes.iter().all(|&hash| has(hash)));
        let false_positives = (100_000..200_000u64).filter(|n| has(key_hash(&n.to_le_bytes()))).count();
        assert!(false_positives < 2_000, "{false_positives} of 100,000");
    }
}
