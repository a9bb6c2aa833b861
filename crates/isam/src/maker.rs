//! Whose file it is that a program meets where it expects one of ours.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a file from which its maker is known.
pub(crate) const BEGINNING: usize = 512;

/// What wrote a file, as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// This engine.
    ImmuxDb,
    /// Nobody yet: the file has no bytes.
    Empty,
    /// Berkeley DB, with its access method.
    BerkeleyDb(&'static str),
    /// VBISAM: the index file.
    Vbisam,
    /// C-ISAM or D-ISAM: the index file.
    CIsam,
    /// Micro Focus: an indexed file.
    MicroFocus,
    /// SQLite.
    Sqlite,
    /// This engine; but it is a part of what is derived from a file.
    ImmuxDbIndex,
    /// The file begins with zeroes only.
    Zeroes,
    /// Text, or records of text one after another.
    Text,
    /// Something else.
    Unknown,
}

impl Maker {
    /// The maker of the file at `path`.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn of(path: &Path) -> io::Result<Maker> {
        let mut beginning = Vec::with_capacity(BEGINNING);
        File::open(path)?.take(BEGINNING as u64).read_to_end(&mut beginning)?;
        Ok(Maker::of_bytes(&beginning))
    }

    /// The maker of a file that begins with these bytes (512 are enough).
    #[must_use]
    pub fn of_bytes(beginning: &[u8]) -> Maker {
        let starts = |magic: &[u8]| beginning.starts_with(magic);
        if beginning.is_empty() {
            Maker::Empty
        } else if starts(b"IMMUXLOG") {
            Maker::ImmuxDb
        } else if let Some(method) = berkeley_db(beginning) {
            Maker::BerkeleyDb(method)
        } else if starts(&[0xfe, 0x53]) {
            Maker::CIsam
        } else if starts(b"VB") && beginning.get(2).is_some_and(|version| *version < b' ') {
            Maker::Vbisam
        } else if starts(&[0x30, 0x7e]) || starts(&[0x30, 0x00, 0x00, 0x7c]) || starts(&[0x33, 0xfe]) {
            Maker::MicroFocus
        } else if starts(b"SQLite format 3\0") {
            Maker::Sqlite
        } else if starts(b"IMMUXRUN") || starts(b"IMMUXMAN") {
            Maker::ImmuxDbIndex
        } else if beginning.iter().all(|byte| *byte == 0) {
            Maker::Zeroes
        } else if beginning.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1a | 0x20..=0x7e)) {
            Maker::Text
        } else {
            Maker::Unknown
        }
    }
}

impl fmt::Display for Maker {
    /// As in "it is …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Maker::ImmuxDb => "a file of ImmuxDB",
            Maker::Empty => "an empty file",
            Maker::BerkeleyDb(method) => return write!(f, "a Berkeley DB file ({method})"),
            Maker::Vbisam => "a VBISAM index file",
            Maker::CIsam => "a C-ISAM index file",
            Maker::MicroFocus => "a Micro Focus indexed file",
            Maker::Sqlite => "an SQLite database",
            Maker::ImmuxDbIndex => "a part of the .idx directory of a file of ImmuxDB",
            Maker::Zeroes => {
                "a file that begins with zeroes (was the machine switched off while it was being written?)"
            }
            Maker::Text => "a text file, or a sequential one",
            Maker::Unknown => "a file of another kind",
        })
    }
}

/// Berkeley DB keeps its magic at byte 12, in the order of the machine that wrote it.
fn berkeley_db(beginning: &[u8]) -> Option<&'static str> {
    let bytes: [u8; 4] = beginning.get(12..16)?.try_into().ok()?;
    [u32::from_le_bytes(bytes), u32::from_be_bytes(bytes)].into_iter().find_map(|magic| match magic {
        0x0005_3162 => Some("btree"),
        0x0006_1561 => Some("hash"),
        0x0004_2253 => Some("queue"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_are_known_by_their_magic() {
        let mut page = vec![0; BEGINNING];
        page[12..16].copy_from_slice(&[0x62, 0x31, 0x05, 0]);
        assert_eq!(Maker::of_bytes(&page), Maker::BerkeleyDb("btree"));
        page[12..16].copy_from_slice(&[0, 0x05, 0x31, 0x62]);
        assert_eq!(Maker::of_bytes(&page), Maker::BerkeleyDb("btree"));
        let known: [(&[u8], Maker); 9] = [
            (&[0xfe, 0x53, 2], Maker::CIsam),
            (b"VB\x02\x02", Maker::Vbisam),
            (b"VB is a language", Maker::Text),
            (&[0x33, 0xfe, 0, 0], Maker::MicroFocus),
            (b"0001 Ada\n", Maker::Text),
            (&[1, 2, 3], Maker::Unknown),
            (b"IMMUXLOG\x01\0", Maker::ImmuxDb),
            (b"", Maker::Empty),
            (&[0; 512], Maker::Zeroes),
        ];
        for (beginning, maker) in known {
            assert_eq!(Maker::of_bytes(beginning), maker);
        }
    }
}
