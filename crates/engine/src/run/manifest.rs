//! The manifest: which runs count. It is replaced in one step, so that a crash leaves the old one or the new one.

use std::io;
use std::path::Path;

use super::file::{get_u16, get_u32, get_u64};
use super::{RunCounts, RunMeta, RunSummary};
use crate::error::{Error, Result};
use crate::planted;
use crate::storage::{OpenMode, Storage};
use crate::types::{Height, Timestamp};

const NAME: &str = "manifest";
const NEW_NAME: &str = "manifest.new";
const MAGIC: &[u8; 8] = b"IMMUXMAN";
const FORMAT: u16 = 1;
const HEADER: usize = 56;
const RUN: usize = 96;
const CRC: usize = 4;
/// No manifest is longer: a million groupings take a tenth of it.
const MOST_BYTES: u64 = 1 << 30;

/// A run that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// Its number: the file is [`file_name(number)`](super::file_name).
    pub number: u64,
    /// What its file holds.
    pub summary: RunSummary,
}

/// The state of a chain's derived part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The log's id.
    pub log_id: [u8; 16],
    /// The log's generation.
    pub generation: u16,
    /// The runs in force, oldest first.
    pub runs: Vec<RunEntry>,
    /// A number that no run has had.
    pub next_run: u64,
    /// Groupings, index definitions and clears, in a form that is not this module's.
    pub catalog: Vec<u8>,
}

impl Manifest {
    /// The bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let len = HEADER + RUN * self.runs.len() + self.catalog.len() + CRC;
        let mut out = Vec::with_capacity(len);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&FORMAT.to_le_bytes());
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.log_id);
        for number in [self.next_run, self.runs.len() as u64, self.catalog.len() as u64] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for run in &self.runs {
            let (meta, counts) = (&run.summary.meta, &run.summary.counts);
            assert_eq!(meta.log_id, self.log_id, "a run of another log");
            for number in [
                run.number,
                u64::from(meta.generation),
                meta.start.0,
                meta.end.0,
                meta.end_offset,
                meta.end_chain,
                meta.end_time.0,
                counts.versions,
                counts.live,
                counts.kills,
                counts.past,
                run.summary.bytes,
            ] {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        out.extend_from_slice(&self.catalog);
        let crc = crc32c::crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// Reads the bytes of the file at `path`.
    ///
    /// # Errors
    /// [`Error::Format`] when they are no manifest or of a newer format, [`Error::Damaged`].
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Manifest> {
        let format = |what: String| Error::Format { path: path.to_owned(), what };
        let damaged = |what: &str| Error::Damaged { path: path.to_owned(), offset: 0, what: what.to_owned() };
        if bytes.len() < HEADER + CRC {
            return Err(damaged("the manifest is cut short"));
        }
        if &bytes[..8] != MAGIC {
            return Err(format("this is not an ImmuxDB manifest".to_owned()));
        }
        let version = get_u16(bytes, 8);
        if version != FORMAT {
            return Err(format(format!("this manifest has format {version}; this ImmuxDB reads format {FORMAT}")));
        }
        let (bytes, crc) = bytes.split_at(bytes.len() - CRC);
        if get_u32(crc, 0) != crc32c::crc32c(bytes) && !planted::is(planted::Fault::ManifestChecksumDropped) {
            return Err(damaged("the manifest does not fit its checksum"));
        }
        if get_u32(bytes, 12) != 0 {
            return Err(format("this manifest uses features that this ImmuxDB does not know".to_owned()));
        }
        let mut log_id = [0; 16];
        log_id.copy_from_slice(&bytes[16..32]);
        let (count, catalog_len) = (get_u64(bytes, 40), get_u64(bytes, 48));
        let rest = &bytes[HEADER..];
        let expected = count.checked_mul(RUN as u64).and_then(|runs| runs.checked_add(catalog_len));
        if expected != Some(rest.len() as u64) {
            return Err(damaged("the manifest's parts do not add up"));
        }
        let (runs, catalog) = rest.split_at(RUN * count as usize);
        let runs = runs
            .chunks_exact(RUN)
            .map(|run| decode_run(run, log_id))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| damaged("a run in the manifest cannot be"))?;
        Ok(Manifest {
            log_id,
            generation: get_u16(bytes, 10),
            runs,
            next_run: get_u64(bytes, 32),
            catalog: catalog.to_vec(),
        })
    }

    /// Replaces the manifest in `directory` by this one, durably. What it depends on (the log, the runs and their names)
    /// must be durable already.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoSpace`]: the old manifest is then still there, or the new one, whole.
    pub fn store(&self, storage: &dyn Storage, directory: &Path) -> Result<()> {
        let new = directory.join(NEW_NAME);
        match storage.remove(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io(new, error));
            }
            _ => {}
        }
        let write = || {
            let file = storage.open(&new, OpenMode::CreateNew)?;
            file.write_at(&self.encode(), 0)?;
            file.sync_data()?;
            storage.rename(&new, &directory.join(NAME))?;
            storage.sync_dir(directory)
        };
        write().map_err(|source| Error::io(&new, source))
    }

    /// Whether `directory` has a manifest, of whatever content.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn exists(storage: &dyn Storage, directory: &Path) -> Result<bool> {
        let path = directory.join(NAME);
        storage.exists(&path).map_err(|source| Error::io(path, source))
    }

    /// The manifest in `directory`; `None` when there is none.
    ///
    /// # Errors
    /// As [`Manifest::decode`], and [`Error::Io`].
    pub fn load(storage: &dyn Storage, directory: &Path) -> Result<Option<Manifest>> {
        let path = directory.join(NAME);
        let read = || -> io::Result<Option<Vec<u8>>> {
            let file = storage.open(&path, OpenMode::Read)?;
            let len = file.len()?;
            if len > MOST_BYTES {
                return Ok(None);
            }
            let mut bytes = vec![0; len as usize];
            let read = file.read_at(&mut bytes, 0)?;
            bytes.truncate(read);
            Ok(Some(bytes))
        };
        match read() {
            Ok(Some(bytes)) => Manifest::decode(&bytes, &path).map(Some),
            Ok(None) => Err(Error::Damaged {
                path,
                offset: MOST_BYTES,
                what: "the manifest is longer than any can be".to_owned(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(path, error)),
        }
    }
}

fn decode_run(run: &[u8], log_id: [u8; 16]) -> Option<RunEntry> {
    let field = |number: usize| get_u64(run, 8 * number);
    Some(RunEntry {
        number: field(0),
        summary: RunSummary {
            meta: RunMeta {
                log_id,
                generation: u16::try_from(field(1)).ok()?,
                start: Height(field(2)),
                end: Height(field(3)),
                end_offset: field(4),
                end_chain: field(5),
                end_time: Timestamp(field(6)),
            },
            counts: RunCounts { versions: field(7), live: field(8), kills: field(9), past: field(10) },
            bytes: field(11),
        },
    })
}
