//! Records outside of an indexed file.
//!
//! | format | a record is | lengths |
//! |---|---|---|
//! | fixed | so many bytes, one record after another: what a COBOL program calls SEQUENTIAL | all the same: a shorter one is padded with spaces |
//! | lines | a line: LINE SEQUENTIAL | spaces at the end are cut off, unless records have lengths of their own |
//! | ndjson | a line with a JSON object; its field `record` is the record as text, or `record_base64` where it is none | kept |

use std::io::{self, BufRead, Read as _};

use data_encoding::BASE64;
use immuxdb_isam::Layout;
use serde::{Deserialize, Serialize};

use crate::output::KeyFields;

/// How records are written outside.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Bytes, one record after another
    Fixed,
    /// A line for each record
    Lines,
    /// A JSON object a line: {"key": …, "record": …}
    Ndjson,
}

#[derive(Serialize)]
struct Written<'r> {
    #[serde(flatten)]
    key: KeyFields<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_base64: Option<String>,
}

impl Format {
    /// Appends a record with its primary key to `out`.
    ///
    /// # Errors
    /// The record can't be written in this format.
    pub fn write(self, layout: &Layout, key: &[u8], record: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Format::Fixed => {
                out.extend_from_slice(record);
                let missing = (layout.max_record as usize).saturating_sub(record.len());
                out.extend(std::iter::repeat_n(b' ', missing));
            }
            Format::Lines => {
                if let Some(at) = record.iter().position(|byte| *byte < b' ') {
                    let byte = record[at];
                    return Err(format!("byte {} of it is {byte:#04x}, which can't stand in a line", at + 1));
                }
                let end = match layout.variable {
                    true => record.len(),
                    false => record.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1),
                };
                out.extend_from_slice(&record[..end]);
                out.push(b'\n');
            }
            Format::Ndjson => {
                let text = std::str::from_utf8(record).ok();
                let base64 = text.is_none().then(|| BASE64.encode(record));
                let written = Written { key: KeyFields::new(key), record: text, record_base64: base64 };
                serde_json::to_writer(&mut *out, &written).map_err(|error| error.to_string())?;
                out.push(b'\n');
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Given {
    record: Option<String>,
    record_base64: Option<String>,
}

/// Reads records, one after another.
pub struct Records<R> {
    input: R,
    format: Format,
    /// What a record may be.
    min: usize,
    max: usize,
    variable: bool,
    count: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Records<R> {
    /// The records of an input, for a file with this layout.
    pub fn new(input: R, format: Format, layout: &Layout) -> Records<R> {
        Records {
            input,
            format,
            min: layout.min_record as usize,
            max: layout.max_record as usize,
            variable: layout.variable,
            count: 0,
            line: Vec::new(),
        }
    }

    /// How many records were begun: the number of the one that was read last, or that is wrong.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Replaces `record` by the next one; `false` at the end.
    ///
    /// # Errors
    /// The input can't be read, or the next record is none.
    pub fn next(&mut self, record: &mut Vec<u8>) -> Result<bool, String> {
        record.clear();
        match self.format {
            Format::Fixed => return self.next_fixed(record),
            Format::Lines => {
                if !self.next_line()? {
                    return Ok(false);
                }
                record.extend_from_slice(&self.line);
            }
            Format::Ndjson => loop {
                if !self.next_line()? {
                    return Ok(false);
                }
                if self.line.trim_ascii().is_empty() {
                    self.count -= 1;
                    continue;
                }
                let read: Given = serde_json::from_slice(&self.line).map_err(|error| error.to_string())?;
                *record = match (read.record, read.record_base64) {
                    (Some(text), None) => text.into_bytes(),
                    (None, Some(text)) => BASE64.decode(text.as_bytes()).map_err(|error| error.to_string())?,
                    _ => return Err("it has not one of the fields \"record\" and \"record_base64\"".to_owned()),
                };
                break;
            },
        }
        if record.len() > self.max {
            return Err(format!("it has {} bytes; the file's records have at most {}", record.len(), self.max));
        }
        let least = if self.variable { self.min } else { self.max };
        record.resize(record.len().max(least), b' ');
        Ok(true)
    }

    fn next_fixed(&mut self, record: &mut Vec<u8>) -> Result<bool, String> {
        record.resize(self.max, 0);
        let mut filled = 0;
        while filled < self.max {
            match self.input.read(&mut record[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error.to_string()),
            }
        }
        if filled == 0 {
            return Ok(false);
        }
        self.count += 1;
        match filled == self.max {
            true => Ok(true),
            false => Err(format!("the input ends in it: it has {filled} bytes, not {}", self.max)),
        }
    }

    /// The next line, without its end; `false` at the end. A line is never longer than a record can make it.
    fn next_line(&mut self) -> Result<bool, String> {
        // In JSON a byte takes six characters at most, and there may be the key once more.
        let most = 12 * self.max as u64 + 4096;
        self.line.clear();
        let read = (&mut self.input).take(most).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| error.to_string())? as u64;
        if read == 0 {
            return Ok(false);
        }
        self.count += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        } else if read == most {
            return Err(format!("the line is far longer than a record of {} bytes", self.max));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::keys;

    fn layout(min: u32, max: u32) -> Layout {
        Layout { keys: keys::parse("1:2").unwrap(), min_record: min, max_record: max, variable: min != max }
    }

    fn written(format: Format, layout: &Layout, records: &[&[u8]]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        records.iter().try_for_each(|record| format.write(layout, &record[..2], record, &mut out))?;
        Ok(out)
    }

    fn read(format: Format, layout: &Layout, bytes: &[u8]) -> Result<Vec<Vec<u8>>, (u64, String)> {
        let mut records = Records::new(bytes, format, layout);
        let (mut all, mut record) = (Vec::new(), Vec::new());
        while records.next(&mut record).map_err(|what| (records.count(), what))? {
            all.push(record.clone());
        }
        Ok(all)
    }

    #[test]
    fn records_come_back() {
        let same = layout(4, 4);
        let own = layout(2, 4);
        let texts: [&[u8]; 2] = [b"ab  ", b"cd\"x"];
        let odd: [&[u8]; 2] = [b"a\n\xff\0", b"\r\n\r\n"];
        for format in [Format::Fixed, Format::Lines, Format::Ndjson] {
            let bytes = written(format, &same, &texts).unwrap();
            assert_eq!(read(format, &same, &bytes).unwrap(), texts, "{format:?}");
        }
        for format in [Format::Fixed, Format::Ndjson] {
            let bytes = written(format, &same, &odd).unwrap();
            assert_eq!(read(format, &same, &bytes).unwrap(), odd, "{format:?}");
        }
        let lengths: [&[u8]; 3] = [b"ab", b"cd ", b"efgh"];
        for format in [Format::Lines, Format::Ndjson] {
            let bytes = written(format, &own, &lengths).unwrap();
            assert_eq!(read(format, &own, &bytes).unwrap(), lengths, "{format:?}");
        }
        assert_eq!(written(Format::Fixed, &own, &lengths).unwrap(), b"ab  cd  efgh");
        let error = written(Format::Lines, &same, &odd).unwrap_err();
        assert_eq!(error, "byte 2 of it is 0x0a, which can't stand in a line");
    }

    #[test]
    fn what_is_no_record_is_told() {
        let same = layout(4, 4);
        let error = |format, bytes: &[u8], number, what: &str| {
            let (at, says) = read(format, &same, bytes).unwrap_err();
            assert!(at == number && says.contains(what), "{at}: {says}");
        };
        error(Format::Fixed, b"abcdef", 2, "it has 2 bytes, not 4");
        error(Format::Lines, b"ab\r\nabcde\n", 2, "it has 5 bytes; the file's records have at most 4");
        error(Format::Lines, &[b'x'; 10_000], 1, "far longer");
        error(Format::Ndjson, b"{\"record\":\"ab\"}\n\n{\"key\":\"ab\"}\n", 2, "it has not one of the fields");
        error(Format::Ndjson, b"nonsense", 1, "expected");
        assert_eq!(read(Format::Lines, &same, b"ab\nc").unwrap(), [b"ab  ", b"c   "]);
        assert!(read(Format::Fixed, &same, b"").unwrap().is_empty());
    }
}
