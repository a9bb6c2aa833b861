//! What goes to standard error: failures that are not in a program's normal course.

use std::io::Write;

/// Writes a line. That standard error is closed is no reason to fail.
pub fn tell(text: &str) {
    let line = format!("immuxfh: {text}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
