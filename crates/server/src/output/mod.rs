//! What commands print: tables and sentences for people, one JSON object a line for programs (`--json`).
//!
//! | | people | `--json` |
//! |---|---|---|
//! | a list | a table, cut to the terminal's width; never cut where standard output is no terminal | one object a line |
//! | what happened | a sentence | one object |
//! | content, JSON | as it is, control characters escaped | field `content`, as it is, on one line |
//! | content, raw | as text with escapes (`\n`, `\x00`) | field `content_base64` |
//! | a unit key | as text with escapes | field `key`; `key_hex` where it is no text |
//!
//! Everything goes through [`Output`], which holds the lock of standard output, buffers, and knows which of the two is wanted.

mod fields;
mod list;
mod printable;

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;

pub use fields::{ContentFields, KeyFields, kind_name, shown_content, shown_key};
pub use list::{Align, Column, List};
pub use printable::{printable_bytes, printable_json, printable_text};

use crate::failure::{Failure, Result};

/// Standard output.
pub struct Output {
    writer: BufWriter<Box<dyn Write>>,
    json: bool,
    /// Columns of the terminal; `None` when there is none.
    width: Option<usize>,
}

impl Output {
    /// Standard output, locked until the end.
    #[must_use]
    pub fn standard(json: bool) -> Output {
        let width = match io::stdout().is_terminal() {
            true => comfy_table::Table::new().width().map(usize::from),
            false => None,
        };
        Output::new(Box::new(io::stdout().lock()), json, width)
    }

    fn new(writer: Box<dyn Write>, json: bool, width: Option<usize>) -> Output {
        Output { writer: BufWriter::with_capacity(64 << 10, writer), json, width }
    }

    /// Whether JSON is wanted.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Prints what happened: `item` as JSON, or the sentence.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn say(&mut self, item: &impl Serialize, sentence: impl fmt::Display) -> Result<()> {
        if self.json { self.object(item) } else { self.line(sentence) }
    }

    /// Prints a line.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn line(&mut self, line: impl fmt::Display) -> Result<()> {
        writeln!(self.writer, "{line}").map_err(|error| Failure::output(&error))
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(|error| Failure::output(&error))
    }

    /// Begins a list with these columns (which JSON ignores).
    pub fn list(&mut self, columns: Vec<Column>) -> List<'_> {
        List::new(self, columns)
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn flush(&mut self) -> Result<()> {
        self.writer.flush().map_err(|error| Failure::output(&error))
    }

    /// Prints an item as JSON.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn object(&mut self, item: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.writer, item).map_err(|error| Failure::output(&error.into()))?;
        self.bytes(b"\n")
    }
}

/// Says something on standard error, beside the output. When that fails, it is not worth an error.
pub fn note(text: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "note: {text}");
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// What was printed by `print`, at a terminal of that width.
    pub(crate) fn printed(json: bool, width: Option<usize>, print: impl FnOnce(&mut Output) -> Result<()>) -> String {
        #[derive(Clone, Default)]
        struct Sink(Rc<RefCell<Vec<u8>>>);
        impl Write for Sink {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.borrow_mut().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let sink = Sink::default();
        let mut output = Output::new(Box::new(sink.clone()), json, width);
        print(&mut output).unwrap();
        output.flush().unwrap();
        String::from_utf8(sink.0.take()).unwrap()
    }

    #[test]
    fn a_sentence_or_an_object() {
        let say = |output: &mut Output| output.say(&serde_json::json!({"height": 7}), "at height 7");
        assert_eq!(printed(false, None, say), "at height 7\n");
        assert_eq!(printed(true, None, say), "{\"height\":7}\n");
    }

    #[test]
    fn an_output_that_is_closed_is_no_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut output = Output::new(Box::new(Closed), false, None);
        output.line("x").unwrap();
        assert_eq!(output.flush().unwrap_err().exit.code(), 0);
        let mut output = Output::new(Box::new(Closed), true, None);
        let long = "x".repeat(1 << 20);
        assert_eq!(output.say(&long, "").unwrap_err().exit.code(), 0);
    }
}
