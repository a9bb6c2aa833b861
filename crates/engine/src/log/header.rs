//! The first page of a log: which log it is, and whether this engine may read and write it. It never changes.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::LogPoint;
use crate::error::{Error, Result};
use crate::types::{Height, Timestamp};

/// Bytes of the page that holds the header and the status slots; the first frame begins after it.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Bytes of the header itself.
pub(super) const HEADER_BYTES: usize = 68;
/// The byte of the log whose lock the writer holds: beyond any data.
pub(super) const WRITER_LOCK: u64 = 1 << 62;

pub(super) const MAGIC: [u8; 8] = *b"IMMUXLOG";
const FORMAT_VERSION: u16 = 1;
/// Features that this engine knows, of the two kinds that matter when they are unknown.
const KNOWN_READ_ONLY: u32 = 0;
const KNOWN_INCOMPATIBLE: u32 = 0;

/// What a log's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogHeader {
    /// The log's random name: copies of a file share it, other logs do not.
    pub log_id: [u8; 16],
    /// How many times the log was rewritten (trimmed).
    pub generation: u16,
    /// The height before the first frame: 0 until a trim.
    pub base_height: Height,
    /// The chain value before the first frame.
    pub base_chain: u64,
    /// When the file was made.
    pub created: Timestamp,
    /// Features that an engine which does not know them may ignore.
    pub compatible: u32,
    /// Features that an engine which does not know them may read, and not write.
    pub read_only: u32,
    /// Features that an engine must know to read the log.
    pub incompatible: u32,
}

impl LogHeader {
    /// The header of a new log.
    pub fn new(log_id: [u8; 16], created: Timestamp) -> LogHeader {
        LogHeader {
            log_id,
            generation: 0,
            base_height: Height::ZERO,
            base_chain: xxh3_64(&log_id),
            created,
            compatible: 0,
            read_only: 0,
            incompatible: 0,
        }
    }

    /// Where the frames begin.
    pub fn base(&self) -> LogPoint {
        LogPoint { height: self.base_height, offset: PAGE_BYTES, chain: self.base_chain, time: self.created }
    }

    /// Whether this engine may append to the log.
    pub fn writable(&self) -> bool {
        self.read_only & !KNOWN_READ_ONLY == 0
    }

    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        out[10..12].copy_from_slice(&self.generation.to_le_bytes());
        out[12..16].copy_from_slice(&self.compatible.to_le_bytes());
        out[16..20].copy_from_slice(&self.read_only.to_le_bytes());
        out[20..24].copy_from_slice(&self.incompatible.to_le_bytes());
        out[24..40].copy_from_slice(&self.log_id);
        out[40..48].copy_from_slice(&self.base_height.0.to_le_bytes());
        out[48..56].copy_from_slice(&self.base_chain.to_le_bytes());
        out[56..64].copy_from_slice(&self.created.0.to_le_bytes());
        let crc = crc32c::crc32c(&out[..64]);
        out[64..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    pub(super) fn decode(path: &Path, page: &[u8]) -> Result<LogHeader> {
        let format = |what: String| Error::Format { path: path.to_owned(), what };
        if page.get(..8) != Some(&MAGIC[..]) || page.len() < HEADER_BYTES {
            return Err(format("this is not an ImmuxDB log".to_owned()));
        }
        let version = u16::from_le_bytes(array(page, 8));
        if version != FORMAT_VERSION {
            return Err(format(format!(
                "the log has format version {version}; this engine reads version {FORMAT_VERSION}, use a newer one"
            )));
        }
        if crc32c::crc32c(&page[..64]) != u32::from_le_bytes(array(page, 64)) {
            return Err(Error::Damaged {
                path: path.to_owned(),
                offset: 0,
                what: "the checksum of the log's header is wrong".to_owned(),
            });
        }
        let header = LogHeader {
            generation: u16::from_le_bytes(array(page, 10)),
            compatible: u32::from_le_bytes(array(page, 12)),
            read_only: u32::from_le_bytes(array(page, 16)),
            incompatible: u32::from_le_bytes(array(page, 20)),
            log_id: array(page, 24),
            base_height: Height(u64::from_le_bytes(array(page, 40))),
            base_chain: u64::from_le_bytes(array(page, 48)),
            created: Timestamp(u64::from_le_bytes(array(page, 56))),
        };
        let unknown = header.incompatible & !KNOWN_INCOMPATIBLE;
        if unknown != 0 {
            return Err(format(format!(
                "the log uses features {unknown:#x} that this engine does not know; use a newer one"
            )));
        }
        Ok(header)
    }

    /// Whether a file is one whose making was interrupted: no frame can be in it, since the header was not yet safe.
    pub(super) fn is_unfinished(page: &[u8], file_len: u64) -> bool {
        let started = page.iter().zip(MAGIC).all(|(byte, magic)| *byte == 0 || *byte == magic);
        let sound = page.len() >= HEADER_BYTES && crc32c::crc32c(&page[..64]) == u32::from_le_bytes(array(page, 64));
        file_len <= PAGE_BYTES && started && !sound
    }
}

/// The `N` bytes at `at`, which the caller knows to be there.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_every_flipped_bit_is_noticed() {
        let header = LogHeader::new(*b"0123456789abcdef", Timestamp(77));
        let bytes = header.encode();
        let path = Path::new("log");
        assert_eq!(LogHeader::decode(path, &bytes).unwrap(), header);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(LogHeader::decode(path, &flipped).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(LogHeader::decode(path, &bytes[..len]).is_err());
        }
    }

    #[test]
    fn unknown_features_stop_readers_or_only_writers() {
        let path = Path::new("log");
        let mut header = LogHeader::new([1; 16], Timestamp(0));
        header.compatible = 1;
        assert!(LogHeader::decode(path, &header.encode()).unwrap().writable());
        header.read_only = 1;
        assert!(!LogHeader::decode(path, &header.encode()).unwrap().writable());
        header.incompatible = 4;
        let error = LogHeader::decode(path, &header.encode()).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{error}");
    }

    #[test]
    fn only_a_file_without_a_sound_header_and_frames_is_unfinished() {
        let mut page = vec![0; PAGE_BYTES as usize];
        assert!(LogHeader::is_unfinished(&[], 0));
        assert!(LogHeader::is_unfinished(&page, PAGE_BYTES));
        page[..4].copy_from_slice(b"IMMU");
        assert!(LogHeader::is_unfinished(&page, PAGE_BYTES));
        assert!(LogHeader::is_unfinished(&page[..4], 4));
        assert!(!LogHeader::is_unfinished(&page, PAGE_BYTES + 1));
        let header = LogHeader::new([1; 16], Timestamp(0)).encode();
        page[..HEADER_BYTES].copy_from_slice(&header);
        assert!(!LogHeader::is_unfinished(&page, PAGE_BYTES));
        assert!(!LogHeader::is_unfinished(b"text", 4));
    }
}
