//! Lists: a table for people, one JSON object a line for programs.

use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets};
use serde::Serialize;

use super::Output;
use crate::failure::Result;

/// Rows that a table collects before it prints them: they decide the columns' widths. So a list of any length is printed in bounded
/// memory, and its begin is seen early.
const PAGE_ROWS: usize = 200;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    name: &'static str,
    align: Align,
}

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left: text.
    Left,
    /// To the right: numbers.
    Right,
}

impl Column {
    /// A column of text.
    #[must_use]
    pub fn text(name: &'static str) -> Column {
        Column { name, align: Align::Left }
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(name: &'static str) -> Column {
        Column { name, align: Align::Right }
    }
}

/// A list that is being printed.
pub struct List<'o> {
    output: &'o mut Output,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// The columns' widths so far; empty before the first page.
    widths: Vec<u16>,
}

impl<'o> List<'o> {
    pub(super) fn new(output: &'o mut Output, columns: Vec<Column>) -> List<'o> {
        List { output, columns, rows: Vec::new(), widths: Vec::new() }
    }

    /// Prints an item: as JSON, or as a row of these cells.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn item(&mut self, item: &impl Serialize, cells: impl FnOnce() -> Vec<String>) -> Result<()> {
        if self.output.json {
            return self.output.object(item);
        }
        self.rows.push(cells());
        match self.rows.len() {
            PAGE_ROWS => self.page(),
            _ => Ok(()),
        }
    }

    /// Ends the list.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn end(mut self) -> Result<()> {
        if self.output.json || (self.rows.is_empty() && !self.widths.is_empty()) {
            return Ok(());
        }
        self.page()
    }

    fn page(&mut self) -> Result<()> {
        let first = self.widths.is_empty();
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        // Cells hold no control characters: so a cell is cut wherever the width ends, not between words.
        table.set_delimiter('\0');
        match self.output.width {
            Some(width) => {
                table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
                table.set_content_arrangement(ContentArrangement::Dynamic);
            }
            None => {
                table.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        if first {
            table.set_header(self.columns.iter().map(|column| Cell::new(column.name).add_attribute(Attribute::Bold)));
        }
        for cells in self.rows.drain(..) {
            let cells = cells.into_iter().map(|cell| match self.output.width {
                Some(width) => cut(cell, width),
                None => cell,
            });
            let mut row = Row::from(cells);
            row.max_height(1);
            table.add_row(row);
        }
        for (index, column) in self.columns.iter().enumerate() {
            let Some(target) = table.column_mut(index) else {
                continue;
            };
            // Two spaces between columns; none after the last one.
            let gap = if index + 1 < self.columns.len() { 2 } else { 0 };
            target.set_padding((0, gap));
            target.set_cell_alignment(match column.align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
            if let Some(width) = self.widths.get(index) {
                target.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(*width + gap)));
            }
        }
        for (index, width) in table.column_max_content_widths().into_iter().enumerate() {
            match self.widths.get_mut(index) {
                Some(widest) => *widest = width.max(*widest),
                None => self.widths.push(width),
            }
        }
        for line in table.lines() {
            self.output.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// The begin of a text that is too long to be shown anyway, so that a table does not have to arrange all of it.
fn cut(mut text: String, width: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(width + 1) {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::printed;
    use super::*;

    fn list(json: bool, width: Option<usize>, rows: &[(&str, u32, &str)]) -> String {
        printed(json, width, |output| {
            let mut list = output.list(vec![Column::text("key"), Column::number("height"), Column::text("content")]);
            for (key, height, content) in rows {
                list.item(&serde_json::json!({"key": key, "height": height}), || {
                    vec![(*key).to_owned(), height.to_string(), (*content).to_owned()]
                })?;
            }
            list.end()
        })
    }

    #[test]
    fn tables() {
        assert_eq!(list(false, None, &[]), "key  height  content\n");
        assert_eq!(
            list(false, None, &[("a", 1, "{}"), ("longer", 12345, "{\"a\": 1}")]),
            "key     height  content\n\
             a            1  {}\n\
             longer   12345  {\"a\": 1}\n"
        );
    }

    #[test]
    fn only_a_terminal_cuts() {
        let long = "x".repeat(200);
        assert!(list(false, None, &[("a", 1, &long)]).contains(&long));
        let cut = list(false, Some(30), &[("a", 1, &long), ("b", 2, "short")]);
        assert_eq!(
            cut,
            "key  height  content\n\
             a         1  xxxxxxxxxxxxxxxx…\n\
             b         2  short\n"
        );
    }

    #[test]
    fn objects() {
        assert_eq!(list(true, None, &[]), "");
        assert_eq!(
            list(true, None, &[("a", 1, ""), ("b", 2, "")]),
            "{\"height\":1,\"key\":\"a\"}\n{\"height\":2,\"key\":\"b\"}\n"
        );
    }

    #[test]
    fn long_lists_come_in_pages_of_one_width() {
        let rows: Vec<(&str, u32, &str)> = (0..1000).map(|height| ("key", height, "x")).collect();
        let printed = list(false, None, &rows);
        assert_eq!(printed.lines().count(), 1001);
        let widths: std::collections::BTreeSet<usize> = printed.lines().skip(1).map(str::len).collect();
        assert_eq!(widths.len(), 1);
    }
}
