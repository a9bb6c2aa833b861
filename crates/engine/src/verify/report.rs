//! What a verification found.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::types::Height;

/// Which kind of file a fault is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The log: the only truth. What is wrong there is lost.
    Log,
    /// The manifest, with the catalog in it. Made again from the log.
    Manifest,
    /// A run. Made again from the log.
    Run,
}

impl Part {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Log => "log",
            Part::Manifest => "manifest",
            Part::Run => "run",
        }
    }
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of file.
    pub part: Part,
    /// The file.
    pub path: PathBuf,
    /// Where in the file, in bytes, where that can be said.
    pub offset: Option<u64>,
    /// The commit that it concerns, where that can be said.
    pub height: Option<Height>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        match (self.offset, self.height) {
            (Some(offset), Some(height)) => write!(f, ", offset {offset}, height {height}")?,
            (Some(offset), None) => write!(f, ", offset {offset}")?,
            (None, Some(height)) => write!(f, ", height {height}")?,
            (None, None) => {}
        }
        write!(f, ": {}", self.what)
    }
}

/// How far a verification has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, such as "reading the log".
    pub stage: &'static str,
    /// How much of it is done, in bytes or entries.
    pub done: u64,
    /// All of it, where that is known.
    pub total: Option<u64>,
}

/// What was verified, and how it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The newest height that was there.
    pub height: Height,
    /// Bytes of the log that were read.
    pub log_bytes: u64,
    /// Commits that are whole.
    pub commits: u64,
    /// Versions of units in them.
    pub versions: u64,
    /// Runs that the manifest names.
    pub runs: u64,
    /// The height up to which there are runs.
    pub covered: Height,
    /// Entries of runs that were compared with the log.
    pub compared: u64,
    /// Faults that were found; those beyond the limit were counted and not told.
    pub faults: u64,
    /// What a reader should know and is no fault.
    pub notes: Vec<String>,
}

/// Takes faults in, and passes on as many as are wanted.
pub(super) struct Report<'a> {
    pub(super) found: u64,
    most: u64,
    tell: &'a mut dyn FnMut(Fault),
    progress: &'a mut dyn FnMut(Progress),
}

impl<'a> Report<'a> {
    pub(super) fn new(most: u64, tell: &'a mut dyn FnMut(Fault), progress: &'a mut dyn FnMut(Progress)) -> Report<'a> {
        Report { found: 0, most, tell, progress }
    }

    pub(super) fn fault(
        &mut self,
        part: Part,
        path: &Path,
        offset: Option<u64>,
        height: Option<Height>,
        what: impl Into<String>,
    ) {
        self.found += 1;
        if self.found <= self.most {
            (self.tell)(Fault { part, path: path.to_owned(), offset, height, what: what.into() });
        }
    }

    pub(super) fn progress(&mut self, stage: &'static str, done: u64, total: Option<u64>) {
        (self.progress)(Progress { stage, done, total });
    }
}

/// A key, to be shown: as text where it is text, and not without end.
pub(super) fn shown(key: &[u8]) -> String {
    const MOST: usize = 60;
    let text = key[..key.len().min(MOST)].escape_ascii();
    if key.len() > MOST { format!("\"{text}…\"") } else { format!("\"{text}\"") }
}
