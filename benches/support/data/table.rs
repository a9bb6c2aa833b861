//! Cells become JSON objects, in the way of `immuxdb load`: a value is a number only where printing the number gives the text back. So `576` is a
//! number, but `700.00` and `007` stay text, and nothing of a file is lost.

use super::Rows;

/// A table under way.
pub(super) struct Table {
    /// For each column, what stands before its value: `{"first":` or `,"next":`.
    before: Vec<Vec<u8>>,
    object: Vec<u8>,
    rows: Rows,
}

impl Table {
    pub(super) fn new<'c>(columns: impl Iterator<Item = &'c str>) -> Table {
        let before = columns
            .enumerate()
            .map(|(place, column)| {
                let mut text = vec![if place == 0 { b'{' } else { b',' }];
                write_text(&mut text, column);
                text.push(b':');
                text
            })
            .collect();
        Table { before, object: Vec::new(), rows: Rows::default() }
    }

    /// Adds a row; its first cell is the unit key.
    pub(super) fn push<'c>(&mut self, cells: impl Iterator<Item = &'c str>) {
        self.object.clear();
        let mut key: &[u8] = b"";
        for (place, (before, cell)) in self.before.iter().zip(cells).enumerate() {
            if place == 0 {
                key = cell.as_bytes();
            }
            self.object.extend_from_slice(before);
            if is_number(cell) {
                self.object.extend_from_slice(cell.as_bytes());
            } else {
                write_text(&mut self.object, cell);
            }
        }
        self.object.push(b'}');
        self.rows.push(key, &self.object);
    }

    pub(super) fn into_rows(self) -> Rows {
        self.rows
    }
}

fn is_number(cell: &str) -> bool {
    cell.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.'))
        && serde_json::from_str::<serde_json::Number>(cell).is_ok_and(|number| number.to_string() == cell)
}

fn write_text(to: &mut Vec<u8>, text: &str) {
    to.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_prints_back_is_a_number() {
        for number in ["0", "-1", "576", "46.7", "0.29", "100.0", "18446744073709551615"] {
            assert!(is_number(number), "{number}");
        }
        for text in [
            "",
            "?",
            "007",
            "700.00",
            "+1",
            "1e5",
            "1e16",
            "-0",
            "1.",
            ".5",
            "NaN",
            "931107 00:00:00",
            "18446744073709551616",
        ] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn text_is_escaped() {
        let mut table = Table::new(["a\"b", "c"].into_iter());
        table.push(["x\n", "1"].into_iter());
        let rows = table.into_rows();
        assert_eq!(rows.get(0).1, br#"{"a\"b":"x\n","c":1}"#);
    }
}
