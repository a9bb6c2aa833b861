//! Tables in text: a header line with names, then one row a line, values optionally in double quotes.

use std::io::BufReader;

use super::records::{Fault, Record, Records};
use super::value::{push_string, push_value};
use super::{Column, Input, Problem, Progress, Row, Rows};
use crate::failure::nearest;

/// How to read a table.
#[derive(Clone, Debug, Default)]
pub struct CsvOptions {
    /// What separates the values; `None` for a comma, unless the header looks as if it were something else, which is an error.
    pub delimiter: Option<u8>,
    /// The column whose value is the unit key; `None` for the first.
    pub key: Option<String>,
    /// Whether all values stay text.
    pub text: bool,
}

/// The rows of a table.
pub struct CsvRows {
    records: Records<BufReader<Input>>,
    progress: Progress,
    columns: Vec<String>,
    /// For each column `{"name":` or `,"name":`, as the content of each row has it.
    openings: Vec<Vec<u8>>,
    key: usize,
    numbers: bool,
}

impl CsvRows {
    /// Reads the header.
    ///
    /// # Errors
    /// The header can't be read, or can't be right; the key column is not there.
    pub fn new(input: Input, options: &CsvOptions) -> Result<CsvRows, Problem> {
        let progress = input.progress();
        let mut records = Records::new(BufReader::with_capacity(64 << 10, input), options.delimiter.unwrap_or(b','));
        let Some(header) = next(&mut records)? else {
            return Err(Problem::new("there is no header line").help("the first line of a table names its columns"));
        };
        progress.row_done();
        let columns = columns(header)?;
        if options.delimiter.is_none() {
            check_delimiter(&columns)?;
        }
        let key = match &options.key {
            None => 0,
            Some(name) => position(&columns, name)?,
        };
        let openings = columns
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let mut opening = vec![if index == 0 { b'{' } else { b',' }];
                push_string(&mut opening, name);
                opening.push(b':');
                opening
            })
            .collect();
        Ok(CsvRows { records, progress, columns, openings, key, numbers: !options.text })
    }
}

impl Rows for CsvRows {
    fn next(&mut self, row: &mut Row) -> Result<bool, Problem> {
        let Some(record) = next(&mut self.records)? else {
            return Ok(false);
        };
        self.progress.row_done();
        row.line = record.line;
        if record.len() != self.columns.len() {
            return Err(Problem::on_line(
                row.line,
                format!("{}, but the header names {}", values(record.len()), self.columns.len()),
            )
            .help("correct the line; if many lines are like this, check --delimiter and the quotes"));
        }
        row.content.clear();
        for ((value, opening), name) in record.iter().zip(&self.openings).zip(&self.columns) {
            let text = std::str::from_utf8(value).map_err(|error| not_utf8(value, error).on(row.line, name))?;
            row.content.extend_from_slice(opening);
            push_value(&mut row.content, text, self.numbers);
        }
        row.content.push(b'}');
        row.key.clear();
        row.key.extend_from_slice(record.get(self.key));
        Ok(true)
    }
}

fn next(records: &mut Records<BufReader<Input>>) -> Result<Option<&Record>, Problem> {
    let begin = records.line();
    records.next().map_err(|fault| match fault {
        Fault::Io(error) => Problem::on_line(begin, error.to_string()),
        Fault::OpenQuote(line) => Problem::on_line(line, "a quote is opened here and never closed")
            .help("close it, or double the quotes that belong to a value"),
    })
}

fn values(count: usize) -> String {
    match count {
        1 => "1 value".to_owned(),
        count => format!("{count} values"),
    }
}

/// The names of the header, each one once.
fn columns(header: &Record) -> Result<Vec<String>, Problem> {
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    for (index, name) in header.iter().enumerate() {
        let name = std::str::from_utf8(name)
            .map_err(|error| not_utf8(name, error).on(header.line, &format!("number {}", index + 1)))?;
        if names.iter().any(|other| other == name) {
            return Err(Problem::on_line(header.line, format!("the header names {name:?} twice"))
                .help("give each column a name of its own"));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// A header that is one name with another common delimiter in it was not meant to be one name.
fn check_delimiter(columns: &[String]) -> Result<(), Problem> {
    let [only] = columns else { return Ok(()) };
    match [';', '\t', '|'].into_iter().find(|delimiter| only.contains(*delimiter)) {
        None => Ok(()),
        Some(delimiter) => {
            let shown = delimiter.escape_default();
            Err(Problem::on_line(1, format!("the header is one name with {:?} in it, and no comma", delimiter))
                .help(format!("name the delimiter: --delimiter '{shown}' (or --delimiter ',' if that is the name)")))
        }
    }
}

fn position(columns: &[String], name: &str) -> Result<usize, Problem> {
    columns.iter().position(|column| column == name).ok_or_else(|| {
        let names = columns.iter().map(String::as_str);
        let all = columns.join(", ");
        Problem::new(format!("there is no column {name:?} for the key")).help(match nearest(name, names) {
            Some(near) => format!("did you mean {near}? There are: {all}"),
            None => format!("there are: {all}"),
        })
    })
}

/// A value that is no UTF-8.
struct NotUtf8 {
    byte: u8,
    place: usize,
}

fn not_utf8(value: &[u8], error: std::str::Utf8Error) -> NotUtf8 {
    NotUtf8 { byte: value[error.valid_up_to()], place: error.valid_up_to() + 1 }
}

impl NotUtf8 {
    fn on(&self, line: u64, column: &str) -> Problem {
        Problem::on_line(line, format!("byte {} of the value (0x{:02X}) is not UTF-8", self.place, self.byte))
            .column(Column::Name(column.to_owned()))
            .help("convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: impl Into<Vec<u8>>, options: &CsvOptions) -> Result<Vec<String>, String> {
        let fail = |problem: Problem| match &problem.help {
            Some(help) => format!("{problem} | {help}"),
            None => problem.to_string(),
        };
        let mut rows = CsvRows::new(Input::of(text), options).map_err(fail)?;
        let mut row = Row::default();
        let mut shown = Vec::new();
        while rows.next(&mut row).map_err(fail)? {
            shown.push(format!(
                "{} {} {}",
                row.line,
                String::from_utf8_lossy(&row.key),
                String::from_utf8_lossy(&row.content)
            ));
        }
        Ok(shown)
    }

    fn plain(text: impl Into<Vec<u8>>) -> Result<Vec<String>, String> {
        rows(text, &CsvOptions::default())
    }

    #[test]
    fn quotes_line_ends_and_empty_values() {
        let text = "\u{FEFF}id,name,note\r\n1,\"Smith, \"\"Bo\"\"\",\r\n\r\n2,\"two\r\nlines\",\"\"\r\n007,x,1.50";
        assert_eq!(
            plain(text).unwrap(),
            [
                r#"2 1 {"id":1,"name":"Smith, \"Bo\"","note":""}"#,
                r#"4 2 {"id":2,"name":"two\r\nlines","note":""}"#,
                r#"6 007 {"id":"007","name":"x","note":"1.50"}"#,
            ]
        );
    }

    #[test]
    fn options() {
        let options = CsvOptions { delimiter: Some(b';'), key: Some("b".into()), text: true };
        assert_eq!(rows("a;b\n1;2,5\n", &options).unwrap(), [r#"2 2,5 {"a":"1","b":"2,5"}"#]);
    }

    #[test]
    fn headers() {
        assert_eq!(plain("").unwrap_err(), "there is no header line | the first line of a table names its columns");
        assert_eq!(plain("a,b\n").unwrap(), [""; 0]);
        assert_eq!(plain("a,b").unwrap(), [""; 0]);
        assert_eq!(
            plain("a,b,a\n").unwrap_err(),
            "line 1: the header names \"a\" twice | give each column a name of its own"
        );
        assert_eq!(
            plain("a;b\n1;2\n").unwrap_err(),
            "line 1: the header is one name with ';' in it, and no comma | name the delimiter: --delimiter ';' (or --delimiter ',' if that is the name)"
        );
        let comma = CsvOptions { delimiter: Some(b','), ..CsvOptions::default() };
        assert_eq!(rows("a;b\n1;2\n", &comma).unwrap(), [r#"2 1;2 {"a;b":"1;2"}"#]);
        let key = CsvOptions { key: Some("Id".into()), ..CsvOptions::default() };
        assert_eq!(
            rows("id,name\n", &key).unwrap_err(),
            "there is no column \"Id\" for the key | did you mean id? There are: id, name"
        );
    }

    #[test]
    fn too_few_and_too_many_values() {
        assert_eq!(
            plain("a,b\n1,2\n3\n").unwrap_err(),
            "line 3: 1 value, but the header names 2 | correct the line; if many lines are like this, check --delimiter and the quotes"
        );
        assert!(plain("a,b\n1,2,3\n").unwrap_err().starts_with("line 2: 3 values, but the header names 2"));
    }

    #[test]
    fn what_is_not_utf8() {
        assert_eq!(
            plain(b"id,name\n1,a\n2,Andr\xE9\n").unwrap_err(),
            "line 3, column \"name\": byte 5 of the value (0xE9) is not UTF-8 | convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
        );
        assert!(plain(b"id,n\xE9\n").unwrap_err().starts_with("line 1, column \"number 2\": "));
        // Two halves of one character in neighbouring values are no character.
        assert!(plain(b"a,b\n\xC3,\xA9\n").unwrap_err().starts_with("line 2, column \"a\""));
    }

    #[test]
    fn a_quote_that_is_never_closed() {
        let message = "line 2: a quote is opened here and never closed";
        for text in ["a,b\n1,\"x\n2,y\n", "a,b\n1,\"", "a,b\n\"1,2"] {
            assert!(plain(text).unwrap_err().starts_with(message), "{text:?}: {:?}", plain(text));
        }
        assert!(plain("\"a").unwrap_err().starts_with("line 1: a quote is opened here"));
    }

    #[test]
    fn a_row_without_a_line_end() {
        for text in ["a\nx", "a\nx\n", "a\r\nx\r\n\r\n", "a\n\"x\"", "\n\na\nx"] {
            let rows = plain(text).unwrap();
            assert_eq!(rows.len(), 1, "{text:?}");
            assert!(rows[0].ends_with(r#" x {"a":"x"}"#), "{text:?}");
        }
        assert_eq!(plain("a,b\n1,").unwrap(), [r#"2 1 {"a":1,"b":""}"#]);
    }

    #[test]
    fn many_columns_and_long_values() {
        let names: Vec<String> = (0..500).map(|index| format!("c{index}")).collect();
        let long = "x".repeat(300_000);
        let text = format!("{}\n{long}{}\n", names.join(","), ",".repeat(499));
        let rows = plain(text).unwrap();
        assert!(rows[0].len() > 600_000);
    }
}
