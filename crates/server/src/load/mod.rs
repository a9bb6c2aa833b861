//! From a file to units.
//!
//! ```text
//!  bytes of a file or of standard input
//!    | Input        counts them, drops a byte order mark, keeps a record's size within bounds
//!    v
//!  CsvRows | NdjsonRows | JsonArrayRows        one row after another, in bounded memory
//!    v
//!  Row { key, content (JSON), line }
//! ```
//!
//! JSON rows are kept byte for byte. A CSV row becomes a JSON object with the header's names; which of its values become numbers
//! is decided in [`value`].

mod csv;
mod input;
mod json;
mod json_array;
mod ndjson;
mod records;
pub mod value;

use std::fmt;

pub use self::csv::{CsvOptions, CsvRows};
pub use self::input::{Input, InputError, MAXIMUM_RECORD_BYTES, Progress};
pub use self::json_array::JsonArrayRows;
pub use self::ndjson::NdjsonRows;

/// What a row of a file becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The unit key.
    pub key: Vec<u8>,
    /// The content: JSON.
    pub content: Vec<u8>,
    /// The line on which the row begins, from 1.
    pub line: u64,
}

/// A file of rows.
pub trait Rows {
    /// Reads the next row into `row`; `false` at the end.
    ///
    /// # Errors
    /// The input can't be read, or the row can't become a unit. No row is to be read after an error.
    fn next(&mut self, row: &mut Row) -> Result<bool, Problem>;
}

/// What is wrong with a file of rows, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: Option<u64>,
    /// The place in the line.
    pub column: Option<Column>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: Option<String>,
}

/// A place in a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Column {
    /// The column of a table, by name.
    Name(String),
    /// The byte, from 1.
    Byte(u64),
}

impl Problem {
    /// Something is wrong on a line.
    pub fn on_line(line: u64, what: impl Into<String>) -> Problem {
        Problem { line: Some(line), ..Problem::new(what) }
    }

    /// Something is wrong with the file as a whole.
    pub fn new(what: impl Into<String>) -> Problem {
        Problem { line: None, column: None, what: what.into(), help: None }
    }

    /// The same, with the column.
    #[must_use]
    pub fn column(mut self, column: Column) -> Problem {
        self.column = Some(column);
        self
    }

    /// The same, with what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}")?;
            match &self.column {
                Some(Column::Name(name)) => write!(f, ", column {name:?}")?,
                Some(Column::Byte(byte)) => write!(f, ", column {byte}")?,
                None => (),
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.what)
    }
}

/// The formats of files that can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A header line with names, then one row a line; values may be quoted
    Csv,
    /// One JSON object a line
    Ndjson,
    /// One array of JSON objects
    Json,
}

impl Format {
    /// The format of a file by its name's ending and the first byte of it that is no white space.
    #[must_use]
    pub fn guess(name: &str, first_byte: Option<u8>) -> Format {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match (ending.as_deref(), first_byte) {
            (Some("csv" | "tsv" | "asc"), _) => Format::Csv,
            (Some("ndjson" | "jsonl"), _) => Format::Ndjson,
            (_, Some(b'[')) => Format::Json,
            (_, Some(b'{')) => Format::Ndjson,
            (Some("json"), _) => Format::Json,
            _ => Format::Csv,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        assert_eq!(Format::guess("a.CSV", Some(b'{')), Format::Csv);
        assert_eq!(Format::guess("a.jsonl", Some(b'{')), Format::Ndjson);
        assert_eq!(Format::guess("a.json", Some(b'[')), Format::Json);
        assert_eq!(Format::guess("a.json", Some(b'{')), Format::Ndjson);
        assert_eq!(Format::guess("a.json", Some(b'1')), Format::Json);
        assert_eq!(Format::guess("-", Some(b'[')), Format::Json);
        assert_eq!(Format::guess("-", Some(b'a')), Format::Csv);
        assert_eq!(Format::guess("-", None), Format::Csv);
    }
}
