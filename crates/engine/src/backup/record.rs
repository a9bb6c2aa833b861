//! What a backup says of itself: `log.backup`, beside the copy of the log.
//!
//! It is replaced in one step when a copy is complete. So it never says more than is there, and a copy that was interrupted
//! leaves bytes behind that nobody counts.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::log::{LogHeader, LogPoint};
use crate::storage::{OpenMode, Storage};
use crate::types::{Height, Timestamp};

const MAGIC: &[u8; 8] = b"IMMUXBAK";
const FORMAT: u16 = 1;
const HEADER: usize = 40;
const PART: usize = 64;
const CRC: usize = 4;
/// No record is longer: a part each minute for ten years takes a third of it.
const MOST_BYTES: u64 = 1 << 30;

/// One run of the command: what it added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// When it was complete.
    pub(super) made: Timestamp,
    /// Up to where the log was copied.
    pub(super) end: LogPoint,
    /// Where the last frame before the end begins; 0 when there is none.
    pub(super) last_frame: u64,
    /// XXH3 of the bytes from the end of the part before, or the first page's, to the end.
    pub(super) hash: u64,
}

/// The parts of a backup, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) log_id: [u8; 16],
    pub(super) generation: u16,
    pub(super) parts: Vec<Part>,
}

/// The record of the copy at `log`.
pub(super) fn path_of(log: &Path) -> PathBuf {
    with_ending(log, ".backup")
}

/// A path beside `log` whose name goes on with `ending`.
pub(super) fn with_ending(log: &Path, ending: &str) -> PathBuf {
    let mut name = log.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    log.with_file_name(name)
}

impl Record {
    pub(super) fn new(header: &LogHeader) -> Record {
        Record { log_id: header.log_id, generation: header.generation, parts: Vec::new() }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + PART * self.parts.len() + CRC);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&FORMAT.to_le_bytes());
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.log_id);
        out.extend_from_slice(&(self.parts.len() as u64).to_le_bytes());
        for part in &self.parts {
            let end = &part.end;
            let numbers = [part.made.0, end.height.0, end.offset, end.chain, end.time.0, part.last_frame, part.hash, 0];
            for number in numbers {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        let crc = crc32c::crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    fn decode(bytes: &[u8], path: &Path) -> Result<Record> {
        let format = |what: String| Error::Format { path: path.to_owned(), what };
        let damaged = |what: &str| Error::Damaged { path: path.to_owned(), offset: 0, what: what.to_owned() };
        if bytes.get(..8) != Some(MAGIC) {
            return Err(format("this is not the record of an ImmuxDB backup".to_owned()));
        }
        if bytes.len() < HEADER + CRC {
            return Err(damaged("the record is cut short"));
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version != FORMAT {
            return Err(format(format!(
                "this backup has format {version}; this ImmuxDB reads format {FORMAT}. Use the ImmuxDB that made it, or a \
                 newer one"
            )));
        }
        let (bytes, crc) = bytes.split_at(bytes.len() - CRC);
        if crc != crc32c::crc32c(bytes).to_le_bytes() {
            return Err(damaged("the record does not fit its checksum"));
        }
        if bytes[12..16] != [0; 4] {
            return Err(format(
                "this backup uses features that this ImmuxDB does not know; use a newer one".to_owned(),
            ));
        }
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(number)
        };
        let count = number(32);
        if count.checked_mul(PART as u64) != Some((bytes.len() - HEADER) as u64) {
            return Err(damaged("the record's parts do not add up"));
        }
        let part = |nth: usize| {
            let field = |field: usize| number(HEADER + PART * nth + 8 * field);
            Part {
                made: Timestamp(field(0)),
                end: LogPoint {
                    height: Height(field(1)),
                    offset: field(2),
                    chain: field(3),
                    time: Timestamp(field(4)),
                },
                last_frame: field(5),
                hash: field(6),
            }
        };
        let mut log_id = [0; 16];
        log_id.copy_from_slice(&bytes[16..32]);
        let generation = u16::from_le_bytes([bytes[10], bytes[11]]);
        Ok(Record { log_id, generation, parts: (0..count as usize).map(part).collect() })
    }

    /// The record beside the copy at `log`; `None` when there is none.
    pub(super) fn load(storage: &dyn Storage, log: &Path) -> Result<Option<Record>> {
        let path = path_of(log);
        let file = match storage.open(&path, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, error)),
        };
        let read = file.len().and_then(|len| {
            let mut bytes = vec![0; len.min(MOST_BYTES) as usize];
            let read = file.read_at(&mut bytes, 0)?;
            bytes.truncate(read);
            Ok(bytes)
        });
        Record::decode(&read.map_err(|error| Error::io(path.as_path(), error))?, &path).map(Some)
    }

    /// Puts this record in the place of the one that is there, durably.
    pub(super) fn store(&self, storage: &dyn Storage, log: &Path) -> Result<()> {
        let (path, new) = (path_of(log), with_ending(log, ".backup.new"));
        match storage.remove(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io(new, error)),
            _ => {}
        }
        let written = (|| {
            let file = storage.open(&new, OpenMode::CreateNew)?;
            file.write_at(&self.encode(), 0)?;
            file.sync_data()?;
            storage.rename(&new, &path)?;
            storage.sync_dir(log.parent().unwrap_or(Path::new("")))
        })();
        written.map_err(|error| Error::io(new, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_and_every_flipped_bit_is_noticed() {
        let end = LogPoint { height: Height(7), offset: 5000, chain: 99, time: Timestamp(1234) };
        let part = Part { made: Timestamp(5), end, last_frame: 4900, hash: 77 };
        let record = Record { log_id: [3; 16], generation: 2, parts: vec![part, part] };
        let bytes = record.encode();
        let path = Path::new("log.backup");
        assert_eq!(Record::decode(&bytes, path).unwrap(), record);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::decode(&flipped, path).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(Record::decode(&bytes[..len], path).is_err());
        }
    }
}
