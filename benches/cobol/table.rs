//! How figures stand side by side.

use crate::bench::number;

/// A table of seconds, with the ratio of the last column to the first, and the program's own work.
pub struct Table {
    /// What it looks like so far.
    pub text: String,
    ratio: bool,
    widths: Vec<usize>,
}

impl Table {
    /// The width of the first column.
    const FIRST: usize = 24;

    /// A table with these columns; `ratio` asks for the one that compares.
    pub fn new<'n>(heading: &str, columns: impl Iterator<Item = &'n str>, ratio: bool) -> Table {
        let names: Vec<&str> = columns.chain(ratio.then_some("times")).chain(["nothing"]).collect();
        let widths: Vec<usize> = names.iter().map(|name| name.len().max(9) + 2).collect();
        let mut text = format!("\n{heading}; seconds\n{:1$}", "", Table::FIRST);
        for (name, width) in names.iter().zip(&widths) {
            text += &format!("{name:>width$}");
        }
        Table { text, ratio, widths }
    }

    /// One row: the seconds of each column, and of the handler that does nothing.
    pub fn row(&mut self, name: &str, seconds: &[f64], nothing: f64) {
        let ratio = match (self.ratio, seconds) {
            (true, [first, .., last]) => Some(number(last / first)),
            _ => None,
        };
        let cells = seconds.iter().map(|value| number(*value)).chain(ratio).chain([number(nothing)]);
        self.text += &format!("\n{name:<width$}", width = Table::FIRST);
        for (cell, width) in cells.zip(&self.widths) {
            self.text += &format!("{cell:>width$}");
        }
    }
}
