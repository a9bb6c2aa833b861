use std::ops::Range;
use std::path::Path;

use immuxdb_proof::{Frontier, Hash, Tree, extension_ranges, inclusion_ranges};

use super::layout::{PART, header, place_of, roots_in, tile_offset, tiles_in, unseal};
use super::{TileReader, Tiles};
use crate::log::{LogHeader, LogPoint};
use crate::storage::disk::Disk;
use crate::types::{Height, Timestamp};

fn log() -> LogHeader {
    LogHeader::new([3; 16], Timestamp(1))
}

fn leaf(index: u64) -> Hash {
    let mut leaf = [0xaa; 32];
    leaf[..8].copy_from_slice(&index.to_le_bytes());
    Hash(leaf)
}

fn after(height: u64) -> LogPoint {
    LogPoint { height: Height(height), offset: 4096 + 100 * height, chain: !height, time: Timestamp(height) }
}

/// The hashes of commits that have the leaves 0, 1, 2 …
fn tiles(directory: &Path, leaves: u64) -> Tiles {
    let disk = Disk::shared();
    let mut tiles = Tiles::none(directory, &log());
    for index in 0..leaves {
        tiles.advance(Some(leaf(index)), after(index + 1));
        if tiles.is_full() {
            tiles.save(&*disk).unwrap();
        }
    }
    tiles
}

fn naive(range: &Range<u64>) -> Hash {
    let mut frontier = Frontier::new(Tree::Commits);
    range.clone().for_each(|index| frontier.push(leaf(index)));
    frontier.root()
}

#[test]
fn parts_are_read_as_they_would_be_computed() {
    let folder = tempfile::tempdir().unwrap();
    let (size, levels) = (2 * 65_536 + 256 + 77, 3);
    let tiles = tiles(folder.path(), size);
    assert_eq!(tiles.point(), after(size));
    let mut random = 1_u64;
    let mut below = |end: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 20) % end
    };
    let mut wanted: Vec<Range<u64>> =
        [1, 255, 256, 257, 65_535, 65_536, 65_537, 131_072, size].map(|end| 0..end).into();
    for _ in 0..4 {
        let new = 1 + below(size);
        wanted.extend(inclusion_ranges(below(new), new));
        wanted.extend(extension_ranges(below(new), new));
    }
    let mut reader = TileReader::new(&tiles);
    for range in &wanted {
        let mut frontier = Frontier::new(Tree::Commits);
        reader.feed(&mut frontier, range).unwrap();
        assert_eq!(frontier.size(), range.end - range.start);
        assert_eq!(frontier.root(), naive(range), "{range:?}");
    }
    assert_eq!((0..levels).map(|level| place_of(level, 0)).collect::<Vec<_>>(), [(0, 0), (0, 256), (255, 257)]);
}

#[test]
fn what_is_beyond_the_newest_leaf_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let tiles = tiles(folder.path(), 300);
    for (range, known) in [(0..512, 300), (256..512, 44), (512..768, 0)] {
        let mut frontier = Frontier::new(Tree::Commits);
        TileReader::new(&tiles).feed(&mut frontier, &range).unwrap();
        assert_eq!(frontier.size(), known, "{range:?}");
    }
}

#[test]
fn every_part_has_a_place_of_its_own() {
    // Full tiles take 256 leaves, a point, and as many roots as they complete.
    let mut offset = 64;
    for tile in 0..70_000 {
        assert_eq!(tile_offset(tile), offset, "{tile}");
        for len in [offset, offset + 1, offset + 257 * 32] {
            assert_eq!(tiles_in(len), tile);
        }
        offset += 32 * (257 + u64::from(roots_in(tile)));
    }
    assert_eq!([roots_in(254), roots_in(255), roots_in(65_535)], [1, 2, 3]);
    assert_eq!([tiles_in(0), tiles_in(63), tiles_in(64)], [0, 0, 0]);
    assert_eq!(place_of(2, 1), (511, 257));
    assert_eq!(place_of(3, 0), (65_535, 258));
}

/// The bytes that docs/FORMAT.md describes.
#[test]
fn golden_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut tiles = tiles(folder.path(), 258);
    tiles.save(&*Disk::shared()).unwrap();
    let bytes = std::fs::read(folder.path().join("hashes")).unwrap();
    assert_eq!(bytes.len(), 64 + 258 * PART + 3 * PART);
    assert_eq!(bytes[..64], header(&log()));
    assert_eq!(&bytes[..10], b"IMMUXHSH\x01\x00");
    assert_eq!(bytes[16..32], [3; 16]);
    let (first, second) = bytes[64..].split_at(258 * PART);
    assert_eq!(first[..PART], leaf(0).0);
    assert_eq!(first[256 * PART..257 * PART], naive(&(0..256)).0);
    assert_eq!(unseal(first, &log(), 0, 256), Some(after(256)));
    assert_eq!(second[..PART], leaf(256).0);
    assert_eq!(unseal(second, &log(), 1, 2), Some(after(258)));
    assert_eq!(crc32c::crc32c(&bytes), 0x23a5_ec4c);
    // A tile passes at its own place only, and only in the file of its log.
    assert_eq!(unseal(second, &log(), 2, 2), None);
    assert_eq!(unseal(second, &log(), 1, 3), None);
    assert_eq!(unseal(second, &LogHeader::new([4; 16], Timestamp(1)), 1, 2), None);
}
