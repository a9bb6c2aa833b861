//! The bytes of a file on their way to a reader of rows.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Bytes that one row may take in a file; content of more than [`libimmuxdb::limits::CONTENT_BYTES`] is refused by the engine anyway.
/// The rest is for the buffers of readers that read ahead, and for quotes.
pub const MAXIMUM_RECORD_BYTES: u64 = 2 * libimmuxdb::limits::CONTENT_BYTES as u64;

/// How far an input has been read, and whether it should stop; shared between the input, the reader of rows and the command.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    bytes: Arc<AtomicU64>,
    row_begin: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// Bytes read so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The flag that, once set, makes the input end with an error.
    #[must_use]
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the input should stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A row is complete: the next one may take [`MAXIMUM_RECORD_BYTES`] from here on.
    pub fn row_done(&self) {
        self.row_begin.store(self.bytes(), Ordering::Relaxed);
    }

    fn row_bytes(&self) -> u64 {
        self.bytes() - self.row_begin.load(Ordering::Relaxed)
    }
}

/// Why an input ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputError {
    /// The user stopped it.
    Stopped,
    /// A row goes on for more than [`MAXIMUM_RECORD_BYTES`].
    RowTooLong,
    /// The text is UTF-16.
    Utf16,
}

impl std::fmt::Display for InputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InputError::Stopped => f.write_str("reading was stopped"),
            InputError::RowTooLong => {
                write!(f, "one row goes on for more than {MAXIMUM_RECORD_BYTES} bytes; a quote may not be closed")
            }
            InputError::Utf16 => {
                f.write_str("the text is UTF-16; convert it, for example with `iconv -f UTF-16 -t UTF-8`")
            }
        }
    }
}

impl std::error::Error for InputError {}

impl From<InputError> for io::Error {
    fn from(error: InputError) -> io::Error {
        io::Error::other(error)
    }
}

/// A file or standard input.
pub struct Input {
    source: Source,
    length: Option<u64>,
    progress: Progress,
    /// What was read to look at the beginning, and is still to be given out.
    peeked: Vec<u8>,
    given: usize,
}

enum Source {
    /// A regular file: reading it never waits.
    File(File),
    /// A pipe, a terminal, a device.
    Stream(File),
    #[cfg(test)]
    Memory(io::Cursor<Vec<u8>>),
}

impl Input {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// The file can't be opened or read, or is UTF-16.
    pub fn open(path: &Path) -> io::Result<Input> {
        let file = if path == Path::new("-") {
            // Not `std::io::Stdin`, whose buffer may hold bytes while `poll` sees none.
            File::from(io::stdin().as_fd().try_clone_to_owned()?)
        } else {
            File::open(path)?
        };
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            Err(io::ErrorKind::IsADirectory.into())
        } else if metadata.is_file() {
            Input::new(Source::File(file), Some(metadata.len()))
        } else {
            Input::new(Source::Stream(file), None)
        }
    }

    #[cfg(test)]
    pub(super) fn of(bytes: impl Into<Vec<u8>>) -> Input {
        Input::new(Source::Memory(io::Cursor::new(bytes.into())), None).unwrap()
    }

    fn new(source: Source, length: Option<u64>) -> io::Result<Input> {
        let mut input = Input { source, length, progress: Progress::default(), peeked: Vec::new(), given: 0 };
        input.peek(3)?;
        if input.peeked.starts_with(b"\xFF\xFE") || input.peeked.starts_with(b"\xFE\xFF") {
            return Err(InputError::Utf16.into());
        }
        if input.peeked.starts_with(b"\xEF\xBB\xBF") {
            input.given = 3;
        }
        Ok(input)
    }

    /// Bytes of the file; `None` for what is no regular file.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// How far it has been read.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// The first byte that is no white space, within the first bytes.
    ///
    /// # Errors
    /// The input can't be read.
    pub fn first_byte(&mut self) -> io::Result<Option<u8>> {
        const AHEAD: usize = 4096;
        let mut wanted = 0;
        loop {
            let first = self.peeked[self.given..].iter().find(|byte| !byte.is_ascii_whitespace());
            if first.is_some() || wanted >= AHEAD || self.peeked.len() < wanted {
                return Ok(first.copied());
            }
            wanted = self.peeked.len() + 64;
            self.peek(wanted)?;
        }
    }

    /// Reads until `wanted` bytes have been peeked at or the input ends.
    fn peek(&mut self, wanted: usize) -> io::Result<()> {
        while self.peeked.len() < wanted {
            let mut bytes = [0; 64];
            match self.source.read(&mut bytes, &self.progress)? {
                0 => break,
                count => self.peeked.extend_from_slice(&bytes[..count]),
            }
        }
        Ok(())
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.progress.stopped() {
            return Err(InputError::Stopped.into());
        }
        if self.progress.row_bytes() > MAXIMUM_RECORD_BYTES {
            return Err(InputError::RowTooLong.into());
        }
        if self.given < self.peeked.len() {
            let count = into.len().min(self.peeked.len() - self.given);
            into[..count].copy_from_slice(&self.peeked[self.given..self.given + count]);
            self.given += count;
            return Ok(count);
        }
        self.source.read(into, &self.progress)
    }
}

impl Source {
    fn read(&mut self, into: &mut [u8], progress: &Progress) -> io::Result<usize> {
        let count = loop {
            let result = match self {
                Source::File(file) => file.read(into),
                Source::Stream(stream) => {
                    wait_for(&*stream, progress)?;
                    stream.read(into)
                }
                #[cfg(test)]
                Source::Memory(cursor) => cursor.read(into),
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                result => break result?,
            }
        };
        progress.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Waits for input, and for the order to stop: a signal does not end a `read` that waits for a terminal or a pipe.
fn wait_for(source: impl AsFd, progress: &Progress) -> io::Result<()> {
    const PATIENCE_MS: u8 = 100;
    loop {
        if progress.stopped() {
            return Err(InputError::Stopped.into());
        }
        let mut descriptors = [PollFd::new(source.as_fd(), PollFlags::POLLIN)];
        match poll(&mut descriptors, PollTimeout::from(PATIENCE_MS)) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => (),
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &mut Input) -> String {
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_byte_order_mark_is_dropped() {
        assert_eq!(text(&mut Input::of("\u{FEFF}a,b")), "a,b");
        assert_eq!(text(&mut Input::of("a")), "a");
        assert_eq!(text(&mut Input::of("")), "");
    }

    #[test]
    fn the_first_byte_is_only_looked_at() {
        let mut input = Input::of("\u{FEFF}  \n\t[1]");
        assert_eq!(input.first_byte().unwrap(), Some(b'['));
        assert_eq!(text(&mut input), "  \n\t[1]");
        assert_eq!(Input::of("  ").first_byte().unwrap(), None);
        let blank = format!("{}x", " ".repeat(200));
        assert_eq!(Input::of(blank).first_byte().unwrap(), Some(b'x'));
    }

    #[test]
    fn utf16_is_named() {
        let error = Input::new(Source::Memory(io::Cursor::new(b"\xFF\xFEa\0".to_vec())), None).err().unwrap();
        assert!(error.to_string().contains("UTF-16"));
    }

    #[test]
    fn a_stopped_input_ends_with_an_error() {
        let mut input = Input::of("a");
        input.progress().stop_flag().store(true, Ordering::Relaxed);
        assert_eq!(input.read(&mut [0; 8]).unwrap_err().to_string(), "reading was stopped");
    }

    #[test]
    fn a_row_without_end_is_an_error() {
        let mut input = Input::of("abc");
        let progress = input.progress();
        progress.bytes.store(MAXIMUM_RECORD_BYTES + 1, Ordering::Relaxed);
        assert!(input.read(&mut [0; 8]).is_err());
        progress.row_done();
        assert!(input.read(&mut [0; 8]).is_ok());
    }
}
