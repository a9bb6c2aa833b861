//! `IMMUX_TRACE=FILE`: a line for each operation, appended to the file.
//!
//! ```text
//!   4711 CUSTFILE READ-NEXT key=2 00 3
//!   |    |        |         |     |  microseconds
//!   |    |        |         |     status
//!   |    |        |         key of the statement, where it has one
//!   |    |        operation
//!   |    the name in ASSIGN
//!   process
//! ```
//!
//! A line that begins with `#` is a note. Several processes may write to one file: each line is one `write`. When the
//! variable is not set, an operation pays for one look at a flag.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;
use std::time::Instant;

use crate::message;

/// The file that lines go to.
pub struct Trace {
    file: File,
}

/// The trace of this process, if the variable is set.
#[must_use]
pub fn trace() -> Option<&'static Trace> {
    static TRACE: OnceLock<Option<Trace>> = OnceLock::new();
    TRACE.get_or_init(Trace::from_environment).as_ref()
}

impl Trace {
    fn from_environment() -> Option<Trace> {
        let path = std::env::var_os("IMMUX_TRACE").filter(|path| !path.is_empty())?;
        match OpenOptions::new().append(true).create(true).open(&path) {
            Ok(file) => Some(Trace { file }),
            Err(error) => {
                message::tell(&format!("IMMUX_TRACE: cannot write to {}: {error}", path.to_string_lossy()));
                None
            }
        }
    }

    /// Writes the line of an operation that began at `start`.
    pub fn operation(&self, name: &str, operation: &str, key: Option<usize>, status: [u8; 2], start: Instant) {
        let key = key.map_or(String::new(), |key| format!(" key={key}"));
        let status = String::from_utf8_lossy(&status);
        let name = if name.is_empty() { "-" } else { name };
        self.line(&format!(
            "{} {name} {operation}{key} {status} {}\n",
            std::process::id(),
            start.elapsed().as_micros()
        ));
    }

    /// Writes a note.
    pub fn note(&self, text: &str) {
        self.line(&format!("# {text}\n"));
    }

    fn line(&self, line: &str) {
        // A trace that cannot be written is no reason to disturb the program.
        let _ = (&self.file).write_all(line.as_bytes());
    }
}
