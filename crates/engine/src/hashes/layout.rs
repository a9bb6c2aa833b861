//! Where what is in the file of hashes.
//!
//! ```text
//!   header 64 | tile | tile | … | tile that is not full
//!   tile := 256 leaves | root over them | [root over the last 65,536 leaves | …] | point
//! ```
//!
//! All parts of a tile have 32 bytes. A root over 256^n leaves stands in the tile that completes it: so where it is
//! follows from its number, and the file only grows.

use immuxdb_proof::Hash;

use crate::log::{LogHeader, LogPoint};
use crate::types::{Height, Timestamp};

/// Leaves of a full tile.
pub(super) const TILE_LEAVES: u64 = 256;
/// Levels of the tree from one kept level to the next: 2^8 leaves are a tile.
pub(super) const LEVELS: u32 = 8;
/// Bytes of each part.
pub(super) const PART: usize = 32;
/// Bytes of the header.
pub(super) const HEADER: usize = 64;

const MAGIC: &[u8; 8] = b"IMMUXHSH";
const FORMAT: u16 = 1;

/// The header of the hashes of a log.
pub(super) fn header(log: &LogHeader) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    out[..8].copy_from_slice(MAGIC);
    out[8..10].copy_from_slice(&FORMAT.to_le_bytes());
    out[10..12].copy_from_slice(&log.generation.to_le_bytes());
    out[16..32].copy_from_slice(&log.log_id);
    out[32..40].copy_from_slice(&log.base_height.0.to_le_bytes());
    let crc = crc32c::crc32c(&out[..HEADER - 4]);
    out[HEADER - 4..].copy_from_slice(&crc.to_le_bytes());
    out
}

/// How many roots a tile completes: of 256 leaves, and of 65,536 …
pub(super) fn roots_in(tile: u64) -> u32 {
    1 + (tile + 1).trailing_zeros() / LEVELS
}

/// Where a tile begins: the end of those before it.
pub(super) fn tile_offset(tile: u64) -> u64 {
    let mut parts = tile * (TILE_LEAVES + 1);
    let mut roots = tile;
    while roots > 0 {
        parts += roots;
        roots >>= LEVELS;
    }
    HEADER as u64 + parts * PART as u64
}

/// How many full tiles fit into a file of this length.
pub(super) fn tiles_in(len: u64) -> u64 {
    let Some(bytes) = len.checked_sub(HEADER as u64) else {
        return 0;
    };
    // The tiles with one root only are the smallest.
    let mut tiles = bytes / ((TILE_LEAVES + 2) * PART as u64);
    while tile_offset(tiles) > len {
        tiles -= 1;
    }
    tiles
}

/// The tile that has the root over the `index`-th 256^`level` leaves, and which of its parts that is.
pub(super) fn place_of(level: u32, index: u64) -> (u64, usize) {
    match level {
        0 => (index / TILE_LEAVES, (index % TILE_LEAVES) as usize),
        _ => (((index + 1) << (LEVELS * (level - 1))) - 1, (TILE_LEAVES as u32 + level - 1) as usize),
    }
}

/// Closes a tile: the point of the log up to which it goes, and a checksum of all before.
pub(super) fn seal(tile: &mut Vec<u8>, log: &LogHeader, number: u64, leaves: u64, end: &LogPoint) {
    for value in [end.offset, end.chain, end.time.0] {
        tile.extend_from_slice(&value.to_le_bytes());
    }
    tile.extend_from_slice(&(leaves as u32).to_le_bytes());
    let crc = checksum(log, number, tile);
    tile.extend_from_slice(&crc.to_le_bytes());
}

/// The point at the end of a tile, if it is whole and has so many leaves.
pub(super) fn unseal(tile: &[u8], log: &LogHeader, number: u64, leaves: u64) -> Option<LogPoint> {
    let (rest, crc) = tile.split_last_chunk::<4>()?;
    let (_, point) = rest.split_last_chunk::<28>()?;
    let value = |at: usize| point[at..at + 8].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    if u32::from_le_bytes(*crc) != checksum(log, number, rest) || point[24..] != (leaves as u32).to_le_bytes() {
        return None;
    }
    let height = Height(number * TILE_LEAVES + leaves);
    Some(LogPoint { height, offset: value(0)?, chain: value(8)?, time: Timestamp(value(16)?) })
}

/// Seeded with log and number, so that no tile passes in another file, or at another place.
fn checksum(log: &LogHeader, number: u64, bytes: &[u8]) -> u32 {
    let seed = crc32c::crc32c(&log.log_id);
    let seed = crc32c::crc32c_append(seed, &number.to_le_bytes());
    crc32c::crc32c_append(seed, bytes)
}

/// The hash in a part of a tile.
pub(super) fn part(tile: &[u8], number: usize) -> Option<Hash> {
    tile.get(number * PART..)?.first_chunk().map(|bytes| Hash(*bytes))
}
