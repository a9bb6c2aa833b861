//! The fixed parts of a run: header and footer, and what they say.

use crate::types::{Height, Timestamp};

/// The name of a run's file in its directory.
#[must_use]
pub fn file_name(number: u64) -> String {
    format!("run-{number}")
}

/// Which part of which log a run was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunMeta {
    /// The log's id.
    pub log_id: [u8; 16],
    /// The log's generation.
    pub generation: u16,
    /// The first height of the stretch that the run covers. Of an empty stretch, greater than `end`.
    pub start: Height,
    /// The last height of the stretch.
    pub end: Height,
    /// Where the log goes on after `end`: an offset in bytes.
    pub end_offset: u64,
    /// The log's chain value after `end`.
    pub end_chain: u64,
    /// The time of the commit at `end`.
    pub end_time: Timestamp,
}

impl RunMeta {
    /// Whether the run covers no height: it was made by the creation of an index.
    #[must_use]
    pub fn is_empty_stretch(&self) -> bool {
        self.start > self.end
    }

    /// The meta of what neighbouring runs, oldest first, are merged into: the union of the stretches that are not empty.
    ///
    /// # Panics
    /// When there is no run, or the runs belong to different logs.
    #[must_use]
    pub fn union<'a>(metas: impl IntoIterator<Item = &'a RunMeta>) -> RunMeta {
        let union = metas.into_iter().copied().reduce(|older, newer| {
            assert_eq!(older.log_id, newer.log_id, "runs of different logs");
            if newer.is_empty_stretch() && !older.is_empty_stretch() {
                older
            } else if older.is_empty_stretch() {
                newer
            } else {
                assert!(older.end < newer.start, "runs out of order");
                RunMeta { start: older.start, ..newer }
            }
        });
        let Some(union) = union else {
            panic!("a union of no runs");
        };
        union
    }
}

/// How many entries of each kind a run has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Versions of units.
    pub versions: u64,
    /// Live index entries.
    pub live: u64,
    /// Ends of entries that were born in older runs.
    pub kills: u64,
    /// Index entries with their ends.
    pub past: u64,
}

impl RunCounts {
    /// All entries.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.versions + self.live + self.kills + self.past
    }
}

/// Bytes of the header.
pub(super) const HEADER: usize = 80;
/// Bytes of the footer.
pub(super) const FOOTER: usize = 96;
const MAGIC: &[u8; 8] = b"IMMUXRUN";
const FOOTER_MAGIC: &[u8; 4] = b"RUN.";
const FORMAT: u16 = 1;

/// Why a header was refused.
pub(super) enum HeaderError {
    /// The file is not a run, or of a newer format.
    Format(String),
    /// The bytes do not fit their CRC.
    Damaged,
}

pub(super) fn encode_header(meta: &RunMeta) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    out[0..8].copy_from_slice(MAGIC);
    out[8..10].copy_from_slice(&FORMAT.to_le_bytes());
    out[10..12].copy_from_slice(&meta.generation.to_le_bytes());
    out[16..32].copy_from_slice(&meta.log_id);
    put_u64(&mut out, 32, meta.start.0);
    put_u64(&mut out, 40, meta.end.0);
    put_u64(&mut out, 48, meta.end_offset);
    put_u64(&mut out, 56, meta.end_chain);
    put_u64(&mut out, 64, meta.end_time.0);
    let crc = crc32c::crc32c(&out[..72]);
    out[72..76].copy_from_slice(&crc.to_le_bytes());
    out
}

/// Reads the header; also gives its CRC, which seeds all others of the file.
pub(super) fn decode_header(header: &[u8; HEADER]) -> Result<(RunMeta, u32), HeaderError> {
    if &header[0..8] != MAGIC {
        return Err(HeaderError::Format("this is not an ImmuxDB run".to_owned()));
    }
    let format = get_u16(header, 8);
    if format != FORMAT {
        return Err(HeaderError::Format(format!("this run has format {format}; this ImmuxDB reads format {FORMAT}")));
    }
    let crc = crc32c::crc32c(&header[..72]);
    if get_u32(header, 72) != crc {
        return Err(HeaderError::Damaged);
    }
    if get_u32(header, 12) != 0 {
        return Err(HeaderError::Format("this run uses features that this ImmuxDB does not know".to_owned()));
    }
    let mut log_id = [0; 16];
    log_id.copy_from_slice(&header[16..32]);
    let meta = RunMeta {
        log_id,
        generation: get_u16(header, 10),
        start: Height(get_u64(header, 32)),
        end: Height(get_u64(header, 40)),
        end_offset: get_u64(header, 48),
        end_chain: get_u64(header, 56),
        end_time: Timestamp(get_u64(header, 64)),
    };
    Ok((meta, crc))
}

/// What the end of the file says about the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) marks: u64,
    pub(super) marks_crc: u32,
    pub(super) directory_at: u64,
    pub(super) sections: u64,
    pub(super) directory_crc: u32,
    pub(super) blocks: u64,
    pub(super) filter_pages: u64,
    pub(super) counts: RunCounts,
}

impl Footer {
    pub(super) fn encode(&self, crc_seed: u32) -> [u8; FOOTER] {
        let mut out = [0; FOOTER];
        let fields = [
            self.marks,
            self.directory_at,
            self.sections,
            self.blocks,
            self.filter_pages,
            self.counts.versions,
            self.counts.live,
            self.counts.kills,
            self.counts.past,
        ];
        for (number, field) in fields.into_iter().enumerate() {
            put_u64(&mut out, 8 * number, field);
        }
        out[72..76].copy_from_slice(&self.marks_crc.to_le_bytes());
        out[76..80].copy_from_slice(&self.directory_crc.to_le_bytes());
        let crc = crc32c::crc32c_append(crc_seed, &out[..88]);
        out[88..92].copy_from_slice(&crc.to_le_bytes());
        out[92..96].copy_from_slice(FOOTER_MAGIC);
        out
    }

    pub(super) fn decode(footer: &[u8; FOOTER], crc_seed: u32) -> Option<Footer> {
        let crc = crc32c::crc32c_append(crc_seed, &footer[..88]);
        if &footer[92..96] != FOOTER_MAGIC || get_u32(footer, 88) != crc {
            return None;
        }
        let field = |number: usize| get_u64(footer, 8 * number);
        Some(Footer {
            marks: field(0),
            directory_at: field(1),
            sections: field(2),
            blocks: field(3),
            filter_pages: field(4),
            counts: RunCounts { versions: field(5), live: field(6), kills: field(7), past: field(8) },
            marks_crc: get_u32(footer, 72),
            directory_crc: get_u32(footer, 76),
        })
    }
}

/// The number at `at`, which must be within `bytes`.
#[inline]
pub(super) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    let mut out = [0; 8];
    out.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(out)
}

/// The number at `at`, which must be within `bytes`.
#[inline]
pub(super) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    let mut out = [0; 4];
    out.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(out)
}

/// The number at `at`, which must be within `bytes`.
pub(super) fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Puts a number at `at`, which must be within `bytes`.
pub(super) fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}
