//! A file that takes the place of another one, once it is complete.
//!
//! OPEN OUTPUT drops the old records when it begins, as COBOL has it. A tool that loads records need not: it writes to a new
//! file beside the old one, which stays as it is until the last record is there.
//!
//! ```text
//!   NAME   .NAME.new-PID-N                 held; the new file has the old one's mode, group and owner
//!   NAME   .NAME.new-PID-N   + records     whatever goes wrong by now, NAME is as it was
//!   NAME = .NAME.new-PID-N                 its index goes, the new index is renamed, then the file
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::file::{
    Hold, Place, at_open, engine_at_open, index_directory, make_beside, name_beside, options, remove_index,
    remove_left_behind,
};
use crate::layout::Layout;
use crate::maker::Maker;
use crate::request::OpenMode;
use crate::settings::Settings;
use crate::tool::{hold_alone, is_foreign};

/// The new file. Dropped before [`Replacement::put_in_place`], it goes, and the old one stays.
pub struct Replacement {
    place: Place,
    beside: PathBuf,
    warning: Option<String>,
    /// Nobody opens the old file meanwhile: what they would write would be lost.
    _hold: Hold,
}

impl Replacement {
    /// Makes an empty file with this layout beside the one at `path`, which must be there.
    ///
    /// # Errors
    /// [`crate::Status::FileHeld`] when a program has the file open; [`crate::Status::IoError`] when it is not ours; those
    /// of opening.
    pub fn of(path: &Path, layout: &Layout, settings: &Settings) -> Result<Replacement, Failure> {
        let place = Place::of(path, OpenMode::Output)?;
        let hold = hold_alone(&place)?;
        match hold.maker().map_err(|error| at_open(place.path(), OpenMode::Output, &error))? {
            Maker::ImmuxDb | Maker::Empty => {}
            maker => return Err(is_foreign(place.path(), maker)),
        }
        remove_left_behind(place.path());
        let beside = name_beside(place.path());
        let mut replacement = Replacement { place, beside, warning: None, _hold: hold };
        let made = make_beside(replacement.place.path(), &replacement.beside, layout, &options(settings));
        let made = made.map_err(|error| engine_at_open(&replacement.beside, OpenMode::Output, error))?;
        replacement.warning = made.warning;
        Ok(replacement)
    }

    /// The new file, to be opened with [`OpenMode::InputOutput`] and closed again.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.beside
    }

    /// What an operator should know of it: an owner or group that could not be kept.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Puts the new file in the place of the old one. It survives power loss then.
    ///
    /// # Errors
    /// Those of the disk; the old file is as it was then.
    pub fn put_in_place(self) -> Result<(), Failure> {
        let path = self.place.path();
        let io = |error: io::Error| at_open(path, OpenMode::Output, &error);
        fs::File::open(&self.beside).and_then(|file| file.sync_all()).map_err(io)?;
        remove_index(path).map_err(|error| engine_at_open(path, OpenMode::Output, error))?;
        // An index that does not come along is made again, and one without its file fits no other.
        let _ = fs::rename(index_directory(&self.beside), index_directory(path));
        fs::rename(&self.beside, path).map_err(io)?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        fs::File::open(directory).and_then(|directory| directory.sync_all()).map_err(io)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // In its place it has this name no more.
        let _ = fs::remove_file(&self.beside);
        let _ = remove_index(&self.beside);
    }
}
