//! The log, mapped for reading: windows of 1 GiB, each mapped when first touched and kept as long as the log is open.
//!
//! ```text
//! window 0   0 ............. 1 GiB + 128 MiB
//! window 1            1 GiB ............. 2 GiB + 128 MiB
//! ```
//!
//! Windows overlap by more than the longest body, so that each body is whole in the window in which it begins. They are
//! mapped to their full length at once, beyond the end of the file; only bytes below the known end are touched.

use std::io;
use std::sync::OnceLock;

use crate::storage::{File, Mapping};
use crate::types::Position;

const WINDOW_BITS: u32 = 30;
const OVERLAP: usize = 128 << 20;
const SPAN: usize = (1 << WINDOW_BITS) + OVERLAP;
const TABLE_BITS: u32 = 9;
const TABLE: usize = 1 << TABLE_BITS;

const _: () = assert!(Position::MAX_OFFSET >> WINDOW_BITS < (TABLE * TABLE) as u64);
const _: () = assert!(super::body::MAX_BODY_BYTES < OVERLAP);

/// `None` once the storage has said that it maps no such ranges.
type Window = OnceLock<Option<Mapping>>;

/// A table of two levels that only ever gains entries, so that a reader follows it without a lock.
pub(super) struct Windows {
    tables: Box<[OnceLock<Box<[Window]>>]>,
}

impl Windows {
    pub fn new() -> Windows {
        Windows { tables: (0..TABLE).map(|_| OnceLock::new()).collect() }
    }

    /// The bytes from `offset` on: up to `end`, or up to the end of the window. `None`: read the file instead.
    pub fn bytes(&self, file: &dyn File, offset: u64, end: u64) -> io::Result<Option<&[u8]>> {
        assert!(offset <= end && end <= Position::MAX_OFFSET, "{offset}..{end} is no range of a log");
        let number = (offset >> WINDOW_BITS) as usize;
        let table = self.tables[number >> TABLE_BITS].get_or_init(|| (0..TABLE).map(|_| OnceLock::new()).collect());
        let window = &table[number & (TABLE - 1)];
        let start = (number as u64) << WINDOW_BITS;
        let mapping = match window.get() {
            Some(mapping) => mapping,
            None => {
                let mapping = file.map(start, SPAN, true)?;
                window.get_or_init(|| mapping)
            }
        };
        let to = (end - start).min(SPAN as u64) as usize;
        Ok(mapping.as_ref().map(|bytes| &bytes[(offset - start) as usize..to]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::disk::Disk;
    use crate::storage::{OpenMode, Storage};

    #[test]
    fn what_lies_across_the_border_of_two_windows_is_whole_in_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = Disk.open(&folder.path().join("log"), OpenMode::CreateNew).unwrap();
        let border = 3 << WINDOW_BITS;
        file.write_at(b"before|after", border - 7).unwrap(); // the rest of the file is a hole
        let windows = Windows::new();
        let bytes = |offset, end| windows.bytes(&*file, offset, end).unwrap().unwrap();
        assert_eq!(bytes(border - 7, border + 5), b"before|after");
        assert_eq!(bytes(border, border + 5), b"after");
        assert_eq!(bytes(border - 7, border - 7), b"");
        file.write_at(b"!", border + 5).unwrap();
        assert_eq!(bytes(border - 7, border + 6), b"before|after!");
        assert_eq!(bytes(1 << WINDOW_BITS, border).len(), SPAN);
    }
}
