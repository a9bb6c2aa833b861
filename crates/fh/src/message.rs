//! What goes to standard error: failures that are not in a program's normal course.

use std::io::Write;

use immuxdb_isam::{Failure, Status};

/// Writes a line. That standard error is closed is no reason to fail.
pub fn tell(text: &str) {
    let line = format!("immuxfh: {text}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Writes what was wrong, if there is more to say than the status, and programs do not expect it in their normal course.
pub fn tell_failure(failure: &Failure) {
    let expected = failure.status == Status::FileMissing || matches!(failure.status.code()[0], b'0' | b'1' | b'2');
    if let (Some(text), false) = (&failure.message, expected) {
        tell(&format!("{text} (status {})", failure.status));
    }
}
