//! An indexed file without a program: what tools need to show, copy, check and mend one.

use std::path::Path;
use std::sync::Arc;

use libimmuxdb::{Chain, Error, Grouping, Scan, Units, Versions};

use crate::connector::Direction;
use crate::failure::Failure;
use crate::file::{
    FILE_OPTIONS, Hold, Holding, Place, RECORDS, There, at_open, engine, engine_at_open, open_chain, read_layout,
    remove_index,
};
use crate::holders::held;
use crate::layout::{Layout, index_name};
use crate::maker::Maker;
use crate::request::OpenMode;
use crate::status::Status;

/// An indexed file, opened to look at it: without a lock, also while a program writes to it.
pub struct IndexedFile {
    layout: Layout,
    chain: Arc<Chain>,
    records: Grouping,
}

impl IndexedFile {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`Status::FileMissing`], [`Status::NoPermission`]; [`Status::IoError`] with a message when it is not an indexed file
    /// of ImmuxDB, or damaged before its layout.
    pub fn open(path: &Path) -> Result<IndexedFile, Failure> {
        let place = Place::of(path, OpenMode::Input)?;
        if let There::Nothing = place.look(OpenMode::Input)? {
            return Err(missing(&place));
        }
        let chain = Chain::open_file_read_only(place.path(), &FILE_OPTIONS);
        let chain = chain.map_err(|error| match error {
            Error::Format { .. } | Error::Damaged { offset: 0, .. } => not_ours(&place, error),
            error => engine_at_open(place.path(), OpenMode::Input, error),
        })?;
        let layout = match read_layout(&chain).map_err(engine)? {
            Some(Ok(layout)) => layout,
            Some(Err(what)) => return Err(Failure::new(Status::AttributesClash, what)),
            None => {
                let what = format!("{} has no records and no layout yet", place.path().display());
                return Err(Failure::new(Status::AttributesClash, what));
            }
        };
        let records = chain.grouping(RECORDS).map_err(engine)?;
        Ok(IndexedFile { layout, chain, records })
    }

    /// Its keys and record lengths.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its chain: heights, times, sizes, what was found when it was opened.
    #[must_use]
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// The grouping of its records: unit key is the primary key, content the record.
    #[must_use]
    pub fn grouping(&self) -> &Grouping {
        &self.records
    }

    /// How many records there are now. It walks over all of them.
    ///
    /// # Errors
    /// [`Status::IoError`].
    pub fn count(&self) -> Result<u64, Failure> {
        self.records.count(Scan::units()).map_err(engine)
    }

    /// The records as they are now, in the order of a key; those that a sparse key leaves out are left out.
    ///
    /// # Errors
    /// [`Status::IoError`], also for a key that there is not.
    pub fn scan(&self, key: usize, direction: Direction) -> Result<Units, Failure> {
        let scan = if key == 0 { Scan::units() } else { Scan::index(index_name(key)) };
        let scan = if direction == Direction::Previous { scan.backward() } else { scan };
        self.records.scan(scan).map_err(engine)
    }

    /// The versions of the record with a primary key, newest first.
    ///
    /// # Errors
    /// [`Status::IoError`].
    pub fn history(&self, primary: &[u8]) -> Result<Versions, Failure> {
        self.records.inspect(primary).map_err(engine)
    }

    /// Makes what is derived from a file anew, from its log. No program may have it open.
    ///
    /// # Errors
    /// [`Status::FileHeld`]; those of [`IndexedFile::open`]; [`Status::NoSpace`].
    pub fn rebuild(path: &Path) -> Result<(), Failure> {
        let place = Place::of(path, OpenMode::InputOutput)?;
        let hold = hold_alone(&place)?;
        let maker = hold.maker().map_err(|error| at_open(place.path(), OpenMode::InputOutput, &error))?;
        if maker != Maker::ImmuxDb {
            return Err(is_foreign(place.path(), maker));
        }
        let at = |error| engine_at_open(place.path(), OpenMode::InputOutput, error);
        remove_index(place.path()).map_err(at)?;
        let chain = open_chain(place.path(), OpenMode::InputOutput, &FILE_OPTIONS)?;
        chain.close().map_err(engine)
    }
}

/// Holds the file at a place, which must be there, for this process alone.
pub(crate) fn hold_alone(place: &Place) -> Result<Hold, Failure> {
    let io = |error: std::io::Error| at_open(place.path(), OpenMode::InputOutput, &error);
    if let There::Nothing = place.look(OpenMode::InputOutput)? {
        return Err(missing(place));
    }
    let hold = Hold::open(place.path()).map_err(io)?;
    if !hold.writable() {
        return Err(io(std::io::ErrorKind::PermissionDenied.into()));
    }
    if !hold.take(Holding::Alone).map_err(io)? {
        return Err(held(place.path()));
    }
    Ok(hold)
}

pub(crate) fn missing(place: &Place) -> Failure {
    Failure::new(Status::FileMissing, format!("{}: there is no such file", place.path().display()))
}

/// The failure of whoever expected a file of ours.
pub(crate) fn is_foreign(path: &Path, maker: Maker) -> Failure {
    let what = format!(
        "{} is {maker}, not an indexed file of ImmuxDB; export its records with the program that made it, and load them \
         with `immuxdb file load`",
        path.display()
    );
    Failure::new(Status::IoError, what)
}

fn not_ours(place: &Place, error: Error) -> Failure {
    match Maker::of(place.path()) {
        Ok(Maker::ImmuxDb) | Err(_) => engine_at_open(place.path(), OpenMode::Input, error),
        Ok(maker) => is_foreign(place.path(), maker),
    }
}
