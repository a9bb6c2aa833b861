//! The bytes of a small run, pinned; and a hand that mends checksums after a forgery.

use super::model::{GROUPING, INDEX, Owned, meta, write};
use crate::run::directory::{RECORD, SectionRecord};
use crate::run::file::{self, FOOTER, Footer, HEADER, get_u64};
use crate::run::marks::MARK;
use crate::run::memory::Memory;
use crate::run::reader::crc_seed;
use crate::run::{Mark, SectionId};
use crate::types::{Birth, Height, IndexId, Position, Timestamp, VersionKind};

fn birth(height: u64, place: u32) -> Birth {
    Birth::new(Height(height), place)
}

fn tiny() -> Vec<u8> {
    let storage = Memory::default();
    let mut version = Owned::new(b"unit-1", birth(2, 0));
    version.kind = VersionKind::Raw;
    version.position = Position::new(0, 4200);
    version.births = vec![(INDEX, birth(1, 0))];
    let mut older = Owned::new(b"unit-1", birth(1, 0));
    older.kind = VersionKind::Json;
    older.position = Position::new(0, 4110);
    let mut live = Owned::new(b"amber", birth(1, 0));
    live.unit = b"unit-1".to_vec();
    live.version = birth(2, 0);
    live.position = Position::new(0, 4200);
    let mut second = Owned::new(b"amber", birth(3, 1));
    second.unit = b"unit-2".to_vec();
    second.position = Position::new(0, 4300);
    let mut kill = Owned::new(b"azure", birth(300, 0));
    kill.end = Height(301);
    let mut past = Owned::new(b"", birth(5, 0));
    past.end = Height(6);
    past.unit = b"unit-3".to_vec();
    past.position = Position::new(0, 4400);
    let mark = Mark { height: Height(2), end_offset: 4250, time: Timestamp(1_000_000) };
    write(
        &storage,
        "run-1",
        meta(1, 6),
        &[mark],
        &[
            (SectionId::versions(GROUPING), vec![version, older]),
            (SectionId::live(GROUPING, INDEX), vec![live, second]),
            (SectionId::kills(GROUPING, INDEX), vec![kill]),
            (SectionId::past(GROUPING, IndexId(7)), vec![past]),
        ],
    );
    storage.bytes("run-1")
}

#[test]
fn the_format_is_pinned() {
    let bytes = tiny();
    let hex = |from: usize, to: usize| -> String { bytes[from..to].iter().map(|b| format!("{b:02x}")).collect() };
    assert_eq!(hex(0, HEADER), GOLDEN_HEADER);
    assert_eq!(hex(HEADER, HEADER + MARK), GOLDEN_MARK);
    let blocks: Vec<String> =
        directory(&bytes).iter().map(|section| hex(section.blocks_at as usize, section.index_at as usize)).collect();
    assert_eq!(blocks, GOLDEN_BLOCKS);
    assert_eq!((bytes.len(), crc32c::crc32c(&bytes)), GOLDEN_ALL);
}

const GOLDEN_HEADER: &str = "\
     494d4d555852554e01000000000000007369787465656e2062797465732069640100000000000000\
     060000000000000058120000000000002a0000000000000042000000000000002d617a7300000000";
const GOLDEN_MARK: &str = "\
     02000000000000009a1000000000000040420f0000000000";
const GOLDEN_BLOCKS: [&str; 4] = [
    "\
     a00006756e69742d3104d041030201004101b30100000000fdffffffffffffff01000000ffffffff\
     5fd6e854",
    "\
     000005616d6265720201000006756e69742d31d0411d02010532c801000000000100000000000000\
     01000000ffffffff765431a1",
    "\
     000005617a757265d80401000000002c0100000000000001000000ffffffff0bc8854d",
    "\
     09050006756e69742d33e0440100000000050000000000000001000000ffffffff9f8ac2d4",
];
const GOLDEN_ALL: (usize, u32) = (1281, 0x73516d5c);

fn directory(bytes: &[u8]) -> Vec<SectionRecord> {
    let end = bytes.len() - FOOTER;
    let from = get_u64(&bytes[end..], 8) as usize;
    let records = bytes.get(from..end).unwrap_or_default();
    records.chunks_exact(RECORD).filter_map(SectionRecord::decode).collect()
}

/// Makes all checksums right again, as far as the parts can be found.
pub(super) fn mend(bytes: &mut [u8]) {
    let header_crc = crc32c::crc32c(&bytes[..72]);
    bytes[72..76].copy_from_slice(&header_crc.to_le_bytes());
    let footer_at = bytes.len() - FOOTER;
    let seal = |bytes: &mut [u8], from: usize, to: usize| -> Option<u32> {
        let seed = crc_seed(header_crc, from as u64);
        Some(crc32c::crc32c_append(seed, bytes.get(from..to)?))
    };
    let directory_at = get_u64(&bytes[footer_at..], 8) as usize;
    for (number, section) in directory(bytes).into_iter().enumerate() {
        if !section.fits(directory_at as u64) {
            continue;
        }
        let index_at = section.index_at as usize;
        let details_at = index_at + section.common as usize + 8 * section.blocks as usize;
        let offsets: Vec<usize> = (0..section.blocks as usize)
            .map(|block| get_u64(bytes, details_at + 32 * block) as usize)
            .chain([index_at])
            .collect();
        for block in offsets.windows(2) {
            let [from, to] = [block[0], block[1]];
            if from.saturating_add(4) < to
                && to <= footer_at
                && let Some(crc) = seal(bytes, from, to - 4)
            {
                bytes[to - 4..to].copy_from_slice(&crc.to_le_bytes());
            }
        }
        let index_end = index_at + section.index_len as usize;
        if let Some(crc) = seal(bytes, index_at, index_end) {
            let at = directory_at + RECORD * number + 116;
            bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
        }
    }
    if let Some(directory) = bytes.get(directory_at..footer_at) {
        let crc = crc32c::crc32c_append(header_crc, directory);
        bytes[footer_at + 76..footer_at + 80].copy_from_slice(&crc.to_le_bytes());
    }
    let marks = get_u64(&bytes[footer_at..], 0) as usize;
    let marks_end = marks.saturating_mul(MARK).saturating_add(HEADER);
    if let Some(marks) = bytes.get(HEADER..marks_end) {
        let crc = crc32c::crc32c_append(header_crc, marks);
        bytes[footer_at + 72..footer_at + 76].copy_from_slice(&crc.to_le_bytes());
    }
    let crc = crc32c::crc32c_append(header_crc, &bytes[footer_at..footer_at + 88]);
    bytes[footer_at + 88..footer_at + 92].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn mending_leaves_a_whole_run_as_it_is() {
    let whole = tiny();
    let mut mended = whole.clone();
    mend(&mut mended);
    assert!(mended == whole);
    let footer = whole.last_chunk::<FOOTER>().unwrap();
    let header = whole.first_chunk::<HEADER>().unwrap();
    let Ok((decoded, crc)) = file::decode_header(header) else {
        panic!("a whole header is refused");
    };
    assert_eq!(decoded, meta(1, 6));
    assert_eq!(Footer::decode(footer, crc).unwrap().encode(crc), *footer);
}
