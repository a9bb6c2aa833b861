//! The records of a table, each with the line on which it begins.
//!
//! The state machine is that of the crate `csv-core`. Driving it here, rather than through the crate `csv`, gives true line numbers
//! (also with blank lines and CRLF), and tells a quote that is still open at the end of the file, which would otherwise
//! silently take the rest of the file for one value.

use std::io::{self, BufRead};

use csv_core::ReadRecordResult;

/// Reads records.
pub(super) struct Records<R> {
    input: R,
    core: csv_core::Reader,
    line: u64,
    record: Record,
}

/// The values of one record.
pub(super) struct Record {
    /// The line on which it begins, from 1.
    pub(super) line: u64,
    values: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

/// Why there is no next record.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    /// A quote is still open at the end of the input, in the record that begins on this line.
    OpenQuote(u64),
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(input: R, delimiter: u8) -> Records<R> {
        Records {
            input,
            core: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            line: 1,
            record: Record { line: 1, values: vec![0; 1 << 10], ends: vec![0; 32], count: 0 },
        }
    }

    /// The line that has been reached.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next record; `None` at the end. Blank lines are left out.
    pub(super) fn next(&mut self) -> Result<Option<&Record>, Fault> {
        if !self.skip_blank_lines().map_err(Fault::Io)? {
            return Ok(None);
        }
        self.record.line = self.line;
        self.record.count = 0;
        let mut written = 0;
        loop {
            let buffer = self.input.fill_buf().map_err(Fault::Io)?;
            let at_end = buffer.is_empty();
            // A line feed ends the last record, unless it stands in quotes.
            let bytes = if at_end { b"\n".as_slice() } else { buffer };
            let (result, read, out, ends) = self.core.read_record(
                bytes,
                &mut self.record.values[written..],
                &mut self.record.ends[self.record.count..],
            );
            written += out;
            self.record.count += ends;
            if !at_end {
                self.line += line_feeds(&bytes[..read]);
                self.input.consume(read);
            }
            match result {
                ReadRecordResult::Record => return Ok(Some(&self.record)),
                ReadRecordResult::OutputFull => self.record.values.resize(2 * self.record.values.len(), 0),
                ReadRecordResult::OutputEndsFull => self.record.ends.resize(2 * self.record.ends.len(), 0),
                ReadRecordResult::InputEmpty if at_end => {
                    return Err(Fault::OpenQuote(self.record.line));
                }
                ReadRecordResult::InputEmpty => (),
                ReadRecordResult::End => {
                    unreachable!("it comes only after empty input, which is never given")
                }
            }
        }
    }

    /// Steps over line ends; `false` at the end of the input.
    fn skip_blank_lines(&mut self) -> io::Result<bool> {
        loop {
            let buffer = self.input.fill_buf()?;
            let blank = buffer.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let (is_empty, found) = (buffer.is_empty(), blank < buffer.len());
            self.line += line_feeds(&buffer[..blank]);
            self.input.consume(blank);
            if is_empty || found {
                return Ok(found);
            }
        }
    }
}

impl Record {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, index: usize) -> &[u8] {
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.values[begin..self.ends[index]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(|index| self.get(index))
    }
}

fn line_feeds(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}
