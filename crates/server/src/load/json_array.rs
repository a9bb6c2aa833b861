//! One JSON array of objects, of any length: each element is cut out and read by itself, so that memory holds one of them.

use std::io::{BufRead, BufReader};

use super::json::KeyField;
use super::{Column, Input, Problem, Progress, Row, Rows};

/// The rows of a file that is one JSON array of objects.
pub struct JsonArrayRows {
    bytes: Bytes,
    progress: Progress,
    key: KeyField,
    element: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before `[`.
    Begin,
    /// After `[`: an element or `]`.
    First,
    /// After an element: `,` or `]`.
    Between,
    /// After `]`.
    End,
}

impl JsonArrayRows {
    /// The rows of `input`, with the field at the path `key` as unit key (without one: the first field of the first object).
    #[must_use]
    pub fn new(input: Input, key: Option<&str>) -> JsonArrayRows {
        JsonArrayRows {
            progress: input.progress(),
            bytes: Bytes { reader: BufReader::with_capacity(64 << 10, input), line: 1, column: 1 },
            key: KeyField::new(key),
            element: Vec::new(),
            state: State::Begin,
        }
    }
}

impl Rows for JsonArrayRows {
    fn next(&mut self, row: &mut Row) -> Result<bool, Problem> {
        loop {
            let byte = self.bytes.skip_space()?;
            match (self.state, byte) {
                (State::Begin, Some(b'[')) => {
                    self.bytes.advance()?;
                    self.state = State::First;
                }
                (State::Begin, _) => {
                    return Err(self
                        .bytes
                        .problem("this is not a JSON array: `[` was expected")
                        .help("for one object a line, use --format ndjson"));
                }
                (State::First | State::Between, Some(b']')) => {
                    self.bytes.advance()?;
                    self.state = State::End;
                }
                (State::Between, Some(b',')) => {
                    self.bytes.advance()?;
                    return match self.bytes.skip_space()? {
                        Some(b']') => Err(self.bytes.problem("a comma stands before the array's end")),
                        Some(b',') => Err(self.bytes.problem("an element was expected")),
                        _ => self.element(row).map(|()| true),
                    };
                }
                (State::Between, Some(_)) => {
                    return Err(self.bytes.problem("`,` or `]` was expected after an element"));
                }
                (State::First, Some(b',')) => {
                    return Err(self.bytes.problem("an element was expected"));
                }
                (State::First, Some(_)) => return self.element(row).map(|()| true),
                (State::First | State::Between, None) => {
                    return Err(self.bytes.problem("the file ends before the array does"));
                }
                (State::End, None) => return Ok(false),
                (State::End, Some(_)) => {
                    return Err(self.bytes.problem("something stands after the array's end"));
                }
            }
        }
    }
}

impl JsonArrayRows {
    fn element(&mut self, row: &mut Row) -> Result<(), Problem> {
        let (line, column) = (self.bytes.line, self.bytes.column);
        self.element.clear();
        if !self.bytes.take_value(&mut self.element)? {
            return Err(Problem::on_line(line, "the file ends within the element that begins here")
                .column(Column::Byte(column)));
        }
        self.progress.row_done();
        self.state = State::Between;
        self.key.fill(row, self.element.trim_ascii_end(), line, column)
    }
}

/// Bytes, and where they stand.
struct Bytes {
    reader: BufReader<Input>,
    line: u64,
    column: u64,
}

impl Bytes {
    fn problem(&self, what: &str) -> Problem {
        Problem::on_line(self.line, what).column(Column::Byte(self.column))
    }

    fn peek(&mut self) -> Result<Option<u8>, Problem> {
        let line = self.line;
        let buffer = self.reader.fill_buf().map_err(|error| Problem::on_line(line, error.to_string()))?;
        Ok(buffer.first().copied())
    }

    /// Steps over one byte.
    fn advance(&mut self) -> Result<(), Problem> {
        if let Some(byte) = self.peek()? {
            step(&mut self.line, &mut self.column, &[byte]);
            self.reader.consume(1);
        }
        Ok(())
    }

    /// The first byte that is no white space, which is not consumed; `None` at the end.
    fn skip_space(&mut self) -> Result<Option<u8>, Problem> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.advance()?,
                other => return Ok(other),
            }
        }
    }

    /// Appends the value that begins here to `value`: up to the bracket that closes it, or, for what is no object or array, up to
    /// the comma or bracket that follows. Whether it is valid is for others to find out. `false` when the input ends before it.
    fn take_value(&mut self, value: &mut Vec<u8>) -> Result<bool, Problem> {
        let mut depth = 0_u64;
        let mut in_string = false;
        let mut escaped = false;
        loop {
            let line = self.line;
            let buffer = self.reader.fill_buf().map_err(|error| Problem::on_line(line, error.to_string()))?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let mut end = None;
            for (index, byte) in buffer.iter().enumerate() {
                if in_string {
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => in_string = false,
                        _ => (),
                    }
                    continue;
                }
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth > 1 => depth -= 1,
                    b'}' | b']' if depth == 1 => end = Some(index + 1),
                    b',' | b']' if depth == 0 => end = Some(index),
                    _ => (),
                }
                if end.is_some() {
                    break;
                }
            }
            let count = end.unwrap_or(buffer.len());
            value.extend_from_slice(&buffer[..count]);
            step(&mut self.line, &mut self.column, &buffer[..count]);
            self.reader.consume(count);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

fn step(line: &mut u64, column: &mut u64, over: &[u8]) {
    for byte in over {
        if *byte == b'\n' {
            *line += 1;
            *column = 1;
        } else {
            *column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: impl Into<Vec<u8>>) -> Result<Vec<String>, String> {
        let mut rows = JsonArrayRows::new(Input::of(text), None);
        let mut row = Row::default();
        let mut shown = Vec::new();
        while rows.next(&mut row).map_err(|problem| problem.to_string())? {
            shown.push(format!(
                "{} {} {}",
                row.line,
                String::from_utf8_lossy(&row.key),
                String::from_utf8_lossy(&row.content)
            ));
        }
        Ok(shown)
    }

    #[test]
    fn elements_are_kept_byte_for_byte() {
        let text =
            "\u{FEFF} [ {\"id\":1, \"a\":\"]},[\\\"\"},\n{\n  \"id\": \"two\",\n  \"b\": [{}, []]\n} ,{\"id\":3}\n]\n ";
        assert_eq!(
            rows(text).unwrap(),
            [r#"1 1 {"id":1, "a":"]},[\""}"#, "2 two {\n  \"id\": \"two\",\n  \"b\": [{}, []]\n}", r#"5 3 {"id":3}"#,]
        );
        assert_eq!(rows("[]").unwrap(), [""; 0]);
    }

    #[test]
    fn elements_that_are_longer_than_the_buffer() {
        let long = "x".repeat(200_000);
        let text = format!("[{{\"id\":1,\"a\":\"{long}\"}},{{\"id\":2}}]");
        let rows = rows(text).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].len(), 200_000 + "1 1 {\"id\":1,\"a\":\"\"}".len());
    }

    #[test]
    fn what_is_wrong_and_where() {
        for (text, message) in [
            ("{\"id\":1}", "line 1, column 1: this is not a JSON array: `[` was expected"),
            ("", "line 1, column 1: this is not a JSON array: `[` was expected"),
            ("[\n{\"id\":1},\n{\"id\":2,}\n]", "line 3, column 9: this is not valid JSON: trailing comma"),
            ("[\n  {\"id\":1,\n   \"a\": x}\n]", "line 3, column 9: this is not valid JSON: expected value"),
            ("[{\"id\":1} {\"id\":2}]", "line 1, column 11: `,` or `]` was expected after an element"),
            ("[{\"id\":1},]", "line 1, column 11: a comma stands before the array's end"),
            ("[,]", "line 1, column 2: an element was expected"),
            ("[{\"id\":1}", "line 1, column 10: the file ends before the array does"),
            ("[{\"id\":1},", "line 1, column 11: the file ends within the element that begins here"),
            ("[\n{\"id\":1", "line 2, column 1: the file ends within the element that begins here"),
            ("[{\"id\":1}] x", "line 1, column 12: something stands after the array's end"),
            ("[1, 2]", "line 1: this is not a JSON object"),
            ("[{\"id\":1}, tru]", "line 1, column 14: this is not valid JSON: EOF while parsing a value"),
            ("[{\"id\":1]]", "line 1, column 9: this is not valid JSON: expected `,` or `}`"),
        ] {
            assert_eq!(rows(text).unwrap_err(), message, "{text:?}");
        }
    }
}
