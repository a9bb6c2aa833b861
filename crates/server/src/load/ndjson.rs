//! One JSON object a line.

use std::io::{BufRead, BufReader};

use super::json::KeyField;
use super::{Input, Problem, Progress, Row, Rows};

/// The rows of a file with one JSON object a line. Empty lines are left out.
pub struct NdjsonRows {
    reader: BufReader<Input>,
    progress: Progress,
    key: KeyField,
    text: Vec<u8>,
    line: u64,
}

impl NdjsonRows {
    /// The rows of `input`, with the field at the path `key` as unit key (without one: the first field of the first object).
    #[must_use]
    pub fn new(input: Input, key: Option<&str>) -> NdjsonRows {
        NdjsonRows {
            progress: input.progress(),
            reader: BufReader::with_capacity(64 << 10, input),
            key: KeyField::new(key),
            text: Vec::new(),
            line: 0,
        }
    }
}

impl Rows for NdjsonRows {
    fn next(&mut self, row: &mut Row) -> Result<bool, Problem> {
        loop {
            self.text.clear();
            self.line += 1;
            let count = self
                .reader
                .read_until(b'\n', &mut self.text)
                .map_err(|error| Problem::on_line(self.line, error.to_string()))?;
            if count == 0 {
                return Ok(false);
            }
            self.progress.row_done();
            let text = self.text.trim_ascii();
            if !text.is_empty() {
                let indent = self.text.len() - self.text.trim_ascii_start().len();
                self.key.fill(row, text, self.line, indent as u64 + 1)?;
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: impl Into<Vec<u8>>, key: Option<&str>) -> Result<Vec<String>, String> {
        let mut rows = NdjsonRows::new(Input::of(text), key);
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
    fn lines_are_kept_byte_for_byte() {
        let text = "\u{FEFF}{\"id\": 1.50,  \"a\":[1]}\r\n\n  {\"a\":null,\"id\":\"z\\u00fcrich\"}  \n{\"id\":3}";
        assert_eq!(
            rows(text, None).unwrap(),
            [r#"1 1.50 {"id": 1.50,  "a":[1]}"#, r#"3 zürich {"a":null,"id":"z\u00fcrich"}"#, r#"4 3 {"id":3}"#,]
        );
    }

    #[test]
    fn keys() {
        let text = "{\"a\":{\"b\":{\"c\":7}},\"d\":8}\n";
        assert_eq!(rows(text, Some("d")).unwrap(), [r#"1 8 {"a":{"b":{"c":7}},"d":8}"#]);
        assert_eq!(rows(text, Some("a.b.c")).unwrap(), [r#"1 7 {"a":{"b":{"c":7}},"d":8}"#]);
        assert_eq!(rows(text, Some("a.b")).unwrap_err(), "line 1: the field \"a.b\" is an object, which is no key");
        assert_eq!(rows(text, Some("a.x")).unwrap_err(), "line 1: there is no field \"a.x\" for the key");
        assert_eq!(rows(text, Some("d.x")).unwrap_err(), "line 1: there is no field \"d.x\" for the key");
        assert_eq!(
            rows("{\"id\":1}\n{\"name\":2}\n", None).unwrap_err(),
            "line 2: there is no field \"id\" for the key"
        );
        assert_eq!(rows("{}", None).unwrap_err(), "line 1: the object has no field for the key");
        assert_eq!(rows("{\"a\":1,\"a\":2}", None).unwrap(), ["1 2 {\"a\":1,\"a\":2}"]);
        for (value, kind) in [("null", "null"), ("true", "a boolean"), ("[1]", "an array")] {
            assert_eq!(
                rows(format!("{{\"a\":{value}}}"), None).unwrap_err(),
                format!("line 1: the field \"a\" is {kind}, which is no key")
            );
        }
    }

    #[test]
    fn bad_lines() {
        let bad = |line: &str| rows(format!("{{\"id\":1}}\n{line}\n"), None).unwrap_err();
        assert_eq!(bad("{\"id\":2,}"), "line 2, column 9: this is not valid JSON: trailing comma");
        assert_eq!(bad("{\"id\":"), "line 2, column 6: this is not valid JSON: EOF while parsing a value");
        assert_eq!(bad("{\"id\":2} x"), "line 2, column 10: this is not valid JSON: trailing characters");
        assert_eq!(bad("[1,2]"), "line 2: this is not a JSON object");
        assert_eq!(bad("hello"), "line 2, column 1: this is not valid JSON: expected value");
        assert_eq!(bad("  {\"a\" 1}"), "line 2, column 8: this is not valid JSON: expected `:`");
        assert_eq!(
            rows(b"{\"id\":1,\"a\":\"\xE9\"}".to_vec(), None).unwrap_err(),
            "line 1, column 14: the byte 0xE9 is not UTF-8"
        );
    }

    #[test]
    fn nesting_without_end_is_no_stack_without_end() {
        let deep = format!("{{\"id\":1,\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(rows(deep, None).unwrap().len(), 1);
    }
}
