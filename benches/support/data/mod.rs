//! Rows for the realistic loads.
//!
//! | set | real rows | stand-in |
//! |---|---|---|
//! | [`berka99`] | eight tables of a Czech bank (PKDD'99 challenge) | the same tables, columns and numbers of rows, with invented values that keep the traits |
//! | [`census90`] | US Census 1990, 69 integer columns | each column drawn from its frequencies: synthetic |
//!
//! A load's rows are made before its clock starts, and kept in one block, so that neither parsing nor drawing is measured.

pub mod berka99;
mod berka99_standin;
pub mod census90;
mod table;

use std::path::Path;

use anyhow::{Context, Result};

/// Rows in the order of loading: a unit key and a JSON object each.
#[derive(Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Where each row's key and object end.
    ends: Vec<(usize, usize)>,
}

impl Rows {
    /// Adds a row.
    pub fn push(&mut self, key: &[u8], object: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(object);
        self.ends.push((key_end, self.bytes.len()));
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The unit key and the JSON object of a row.
    #[must_use]
    pub fn get(&self, number: usize) -> (&[u8], &[u8]) {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let (key_end, end) = self.ends[number];
        (&self.bytes[start..key_end], &self.bytes[key_end..end])
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        (0..self.len()).map(|number| self.get(number))
    }
}

/// Reads a file with a header line into rows: the first column is the unit key, all columns are the object. At most `limit` rows are read.
fn read(path: &Path, delimiter: u8, limit: usize) -> Result<Rows> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).from_path(path).with_context(|| path.display().to_string())?;
    let columns = reader.headers().with_context(|| path.display().to_string())?.clone();
    let mut table = table::Table::new(columns.iter());
    for record in reader.records().take(limit) {
        let record = record.with_context(|| path.display().to_string())?;
        table.push(record.iter());
    }
    Ok(table.into_rows())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_as_they_went_in() {
        let mut rows = Rows::default();
        rows.push(b"1", b"{}");
        rows.push(b"", b"{\"a\":2}");
        let all: Vec<_> = rows.iter().collect();
        assert_eq!(all, [(&b"1"[..], &b"{}"[..]), (b"", b"{\"a\":2}")]);
    }

    #[test]
    fn a_file_is_read_as_the_command_line_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trans.asc");
        std::fs::write(&path, "\"id\";\"amount\";\"k\"\n7;700.00;\"\"\n8;1.5;\"?\"\n").unwrap();
        let rows = read(&path, b';', 10).unwrap();
        let all: Vec<_> = rows.iter().collect();
        assert_eq!(
            all,
            [(&b"7"[..], &br#"{"id":7,"amount":"700.00","k":""}"#[..]), (b"8", br#"{"id":8,"amount":1.5,"k":"?"}"#),]
        );
        assert_eq!(read(&path, b';', 1).unwrap().len(), 1);
    }
}
