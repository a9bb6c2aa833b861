//! All files that a process has open, and how one is opened.
//!
//! ```text
//!   look      what is at the path: nothing, an empty file, a file
//!   hold      the lock between programs; then look again, since the path may lead elsewhere by now
//!   match     the program's layout with the file's
//!   share     one engine for all connectors of the run unit
//! ```

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use libimmuxdb::{Chain, StoreOptions};

use crate::connector::Connector;
use crate::failure::Failure;
use crate::file::{
    Hold, Holding, Identity, Place, SharedFile, There, at_open, engine, engine_at_open, is_denied, open_chain, options,
    read_layout, remove_index, replace, write_layout,
};
use crate::files::{Files, OpenFile, Usage, Users, close_connector};
use crate::holders::held;
use crate::layout::match_keys;
use crate::maker::Maker;
use crate::request::{OpenMode, OpenRequest, Sharing};
use crate::status::Status;
use crate::tool::{hold_alone, is_foreign, missing};

/// All files of a run unit: a process. Of each file there is one engine, by device and inode, which its connectors share;
/// so a run unit never locks itself out and sees its own writes. Safe to use from any thread.
#[derive(Default)]
pub struct RunUnit {
    files: Arc<Files>,
}

/// How often a file may be replaced under our hands before we give up.
const ATTEMPTS: usize = 16;

/// What one attempt to open came to.
enum Attempt {
    Opened(Arc<SharedFile>, Option<String>),
    /// The file has no records, and is only read.
    Empty,
    /// The path leads elsewhere by now.
    Again,
}

impl RunUnit {
    /// The process's own.
    pub fn global() -> &'static RunUnit {
        static GLOBAL: OnceLock<RunUnit> = OnceLock::new();
        GLOBAL.get_or_init(RunUnit::default)
    }

    /// Opens a file: [`Status::Ok`], or [`Status::OptionalMissing`] with a connector all the same.
    ///
    /// # Errors
    /// [`Status::FileMissing`], [`Status::NoPermission`], [`Status::AttributesClash`], [`Status::FileHeld`] (at once,
    /// when another process holds the file), [`Status::BadName`], [`Status::NoSpace`], [`Status::IoError`].
    pub fn open(&self, request: &OpenRequest<'_>) -> Result<(Connector, Status), Failure> {
        self.open_sharing(request, Sharing::ByMode)
    }

    /// As [`RunUnit::open`], with a SHARING phrase.
    ///
    /// # Errors
    /// As [`RunUnit::open`].
    pub fn open_sharing(&self, request: &OpenRequest<'_>, sharing: Sharing) -> Result<(Connector, Status), Failure> {
        let clash = |what: String| clash(request.path, &what);
        request.layout.validate().map_err(clash)?;
        let place = Place::of(request.path, request.mode)?;
        let usage = Usage::of(request.mode, sharing);
        let opening = Opening { request, place: &place, options: options(request.settings), usage };
        let mut open = self.files.open.lock();
        for _ in 0..ATTEMPTS {
            let (attempt, status) = match place.look(request.mode)? {
                There::Nothing => match request.mode {
                    OpenMode::Output => (opening.create(&mut open)?, Status::Ok),
                    OpenMode::Input if request.optional => (Attempt::Empty, Status::OptionalMissing),
                    OpenMode::InputOutput | OpenMode::Extend if request.optional => {
                        (opening.create(&mut open)?, Status::OptionalMissing)
                    }
                    _ => return Err(missing(&place)),
                },
                There::File { identity, len } => match open.get_mut(&identity) {
                    Some(known) => (opening.open_again(known)?, Status::Ok),
                    None => (opening.open_there(&mut open, identity, len)?, Status::Ok),
                },
            };
            match attempt {
                Attempt::Again => {}
                Attempt::Empty => return Ok((Connector::empty(request), status)),
                Attempt::Opened(file, warning) => {
                    let keys = match_keys(request.layout, &file.layout, request.settings.strict_keys);
                    let connector = keys.map_err(clash).and_then(|keys| {
                        Connector::new(request, usage, Arc::clone(&file), Arc::clone(&self.files), keys, warning)
                    });
                    if connector.is_err() {
                        // The connector was counted; what fails now is only the consequence.
                        let _ = close_connector(&mut open, file.identity, usage);
                    }
                    return Ok((connector?, status));
                }
            }
        }
        let what = format!("{} was replaced again and again while it was being opened", place.path().display());
        Err(Failure::new(Status::IoError, what))
    }

    /// DELETE FILE: removes the file at `path` and what is derived from it. A symbolic link stays.
    ///
    /// # Errors
    /// [`Status::FileMissing`]; [`Status::AlreadyOpen`] when the run unit has it open, [`Status::FileHeld`] when another
    /// process has; [`Status::NoPermission`]; [`Status::IoError`] when it is not ours.
    pub fn remove(&self, path: &Path) -> Result<Status, Failure> {
        let place = Place::of(path, OpenMode::InputOutput)?;
        let open = self.files.open.lock();
        if let There::File { identity, .. } = place.look(OpenMode::InputOutput)?
            && open.contains_key(&identity)
        {
            return Err(Status::AlreadyOpen.into());
        }
        let io = |error: io::Error| at_open(place.path(), OpenMode::InputOutput, &error);
        let hold = hold_alone(&place)?;
        match hold.maker().map_err(io)? {
            Maker::ImmuxDb | Maker::Empty => {}
            maker => return Err(is_foreign(place.path(), maker)),
        }
        std::fs::remove_file(place.path()).map_err(io)?;
        // What stays behind is of no file, and ignored.
        let _ = remove_index(place.path());
        Ok(Status::Ok)
    }

    /// Closes all files, at the end of the process. Connectors that are left cannot write any more.
    ///
    /// # Errors
    /// The first failure; all files are closed nevertheless.
    pub fn close_all(&self) -> Result<(), Failure> {
        let files: Vec<OpenFile> = self.files.open.lock().drain().map(|(_, file)| file).collect();
        files.iter().map(|open| open.file.chain().close().map_err(engine)).fold(Ok(()), Result::and)
    }
}

/// One OPEN.
struct Opening<'a> {
    request: &'a OpenRequest<'a>,
    place: &'a Place,
    options: StoreOptions,
    usage: Usage,
}

impl Opening<'_> {
    fn path(&self) -> &Path {
        self.place.path()
    }

    fn io(&self, error: &io::Error) -> Failure {
        at_open(self.path(), self.request.mode, error)
    }

    fn engine(&self, error: libimmuxdb::Error) -> Failure {
        engine_at_open(self.path(), self.request.mode, error)
    }

    fn held(&self) -> Failure {
        held(self.path())
    }

    fn reads_only(&self) -> bool {
        self.request.mode == OpenMode::Input
    }

    /// A file that is not there.
    fn create(&self, open: &mut HashMap<Identity, OpenFile>) -> Result<Attempt, Failure> {
        let hold = match Hold::create(self.path()) {
            Ok(hold) => hold,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Attempt::Again),
            Err(error) => return Err(self.io(&error)),
        };
        if !hold.take(Holding::Alone).map_err(|error| self.io(&error))? {
            return Err(self.held());
        }
        let made = self.begin(hold);
        if made.is_err() {
            // It was not there before. If it stays, it is an empty file.
            let _ = std::fs::remove_file(self.path());
        }
        Ok(self.opened(open, made?, None))
    }

    /// Gives a file that this process holds alone, and that is empty, the program's layout.
    fn begin(&self, hold: Hold) -> Result<SharedFile, Failure> {
        let identity = hold.identity().map_err(|error| self.io(&error))?;
        let chain = open_chain(self.path(), self.request.mode, &self.options)?;
        write_layout(&chain, self.request.layout).map_err(|error| self.engine(error))?;
        Ok(SharedFile::new(self.path(), identity, self.request.layout.clone(), hold, chain))
    }

    /// A file that the run unit has open already.
    fn open_again(&self, known: &mut OpenFile) -> Result<Attempt, Failure> {
        let file = Arc::clone(&known.file);
        if !self.reads_only() {
            let keys = match_keys(self.request.layout, &file.layout, self.request.settings.strict_keys);
            keys.map_err(|what| clash(self.path(), &what))?;
            if !known.users.writes() {
                self.open_for_more(&file)?;
            }
            if self.request.mode == OpenMode::Output {
                self.clear(&file.chain())?;
            }
        }
        if self.usage == Usage::ReadingAlone && known.users.holding() != Some(Holding::Alone) {
            self.hold_for_reading(&file.hold)?;
        }
        *known.users.of(self.usage) += 1;
        Ok(Attempt::Opened(file, None))
    }

    /// Makes a file that was open for input one that can be written to.
    fn open_for_more(&self, file: &SharedFile) -> Result<(), Failure> {
        if !file.hold.writable() {
            return Err(self.io(&io::ErrorKind::PermissionDenied.into()));
        }
        if !file.hold.take(Holding::Alone).map_err(|error| self.io(&error))? {
            return Err(self.held());
        }
        match open_chain(self.path(), self.request.mode, &self.options) {
            Ok(chain) => {
                file.change(chain);
                Ok(())
            }
            Err(failure) => {
                file.hold.take(Holding::Shared).map_err(|error| self.io(&error))?;
                Err(failure)
            }
        }
    }

    /// Holds a file for reading. One that may not be written to cannot be held alone.
    fn hold_for_reading(&self, hold: &Hold) -> Result<(), Failure> {
        let alone = self.usage == Usage::ReadingAlone && hold.writable();
        let holding = if alone { Holding::Alone } else { Holding::Shared };
        match hold.take(holding) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.held()),
            Err(error) => Err(self.io(&error)),
        }
    }

    /// A file that the run unit has not open.
    fn open_there(
        &self,
        open: &mut HashMap<Identity, OpenFile>,
        identity: Identity,
        len: u64,
    ) -> Result<Attempt, Failure> {
        let io = |error: io::Error| self.io(&error);
        let hold = match Hold::open(self.path()) {
            Ok(hold) => hold,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Attempt::Again),
            Err(error) => return Err(self.io(&error)),
        };
        if !self.reads_only() && !hold.writable() {
            return Err(self.io(&io::ErrorKind::PermissionDenied.into()));
        }
        if self.reads_only() {
            self.hold_for_reading(&hold)?;
        } else if !hold.take(Holding::Alone).map_err(io)? {
            return Err(self.held());
        }
        let same = hold.identity().map_err(io)? == identity;
        if !same || !matches!(self.place.look(self.request.mode)?, There::File { identity: now, .. } if now == identity)
        {
            return Ok(Attempt::Again);
        }
        if self.request.mode == OpenMode::Output {
            return self.start_anew(open, hold);
        }
        if len == 0 {
            return self.open_empty(open, hold);
        }
        let maker = hold.maker().map_err(io)?;
        if maker != Maker::ImmuxDb {
            return Err(is_foreign(self.path(), maker));
        }
        let chain = open_chain(self.path(), self.request.mode, &self.options)?;
        match read_layout(&chain).map_err(|error| self.engine(error))? {
            Some(Ok(layout)) => {
                let file = SharedFile::new(self.path(), identity, layout, hold, chain);
                Ok(self.opened(open, file, None))
            }
            Some(Err(what)) => Err(Failure::new(Status::AttributesClash, format!("{}: {what}", self.path().display()))),
            None if chain.height().0 > 0 => {
                let what = format!(
                    "{} is a log of ImmuxDB without the layout of an indexed file; open it with `immuxdb` instead",
                    self.path().display()
                );
                Err(Failure::new(Status::AttributesClash, what))
            }
            None => {
                drop(chain);
                self.open_empty(open, hold)
            }
        }
    }

    /// An empty file (`touch CUSTFILE`) has no records, and no layout before somebody opens it for more than input.
    fn open_empty(&self, open: &mut HashMap<Identity, OpenFile>, hold: Hold) -> Result<Attempt, Failure> {
        if self.reads_only() {
            return Ok(Attempt::Empty);
        }
        let file = self.begin(hold)?;
        Ok(self.opened(open, file, None))
    }

    /// OPEN OUTPUT of a file that this process holds alone.
    fn start_anew(&self, open: &mut HashMap<Identity, OpenFile>, hold: Hold) -> Result<Attempt, Failure> {
        let path = self.path();
        let ours = hold.maker().map_err(|error| self.io(&error))? == Maker::ImmuxDb;
        if self.request.settings.keep_history && ours {
            return self.empty_in_place(open, hold);
        }
        let replaced = match replace(path, self.request.layout, &self.options) {
            Ok(replaced) => replaced,
            Err(libimmuxdb::Error::Io { source, .. }) if is_denied(&source) && ours => {
                return self.empty_in_place(open, hold);
            }
            Err(error) => return Err(self.engine(error)),
        };
        drop(hold);
        let chain = open_chain(path, self.request.mode, &self.options)?;
        let identity = replaced.hold.identity().map_err(|error| self.io(&error))?;
        let file = SharedFile::new(path, identity, self.request.layout.clone(), replaced.hold, chain);
        Ok(self.opened(open, file, replaced.warning))
    }

    /// Removes all records by a commit, which keeps their history.
    fn empty_in_place(&self, open: &mut HashMap<Identity, OpenFile>, hold: Hold) -> Result<Attempt, Failure> {
        let identity = hold.identity().map_err(|error| self.io(&error))?;
        let chain = open_chain(self.path(), self.request.mode, &self.options)?;
        let layout = match read_layout(&chain).map_err(|error| self.engine(error))? {
            Some(layout) => layout.map_err(|what| clash(self.path(), &what))?,
            None => {
                drop(chain);
                return self.open_empty(open, hold);
            }
        };
        if layout != *self.request.layout {
            match_keys(self.request.layout, &layout, true).map_err(|what| {
                let what =
                    format!("{what}; a file that keeps its history (or whose directory or index may not be written to) keeps its keys");
                clash(self.path(), &what)
            })?;
        }
        self.clear(&chain)?;
        let file = SharedFile::new(self.path(), identity, layout, hold, chain);
        Ok(self.opened(open, file, None))
    }

    fn clear(&self, chain: &Arc<Chain>) -> Result<(), Failure> {
        let records = chain.grouping(crate::file::RECORDS).map_err(|error| self.engine(error))?;
        records.clear().map_err(|error| self.engine(error))?;
        Ok(())
    }

    /// Counts the connector that is going to be.
    fn opened(&self, open: &mut HashMap<Identity, OpenFile>, file: SharedFile, warning: Option<String>) -> Attempt {
        let file = Arc::new(file);
        let mut users = Users::default();
        *users.of(self.usage) += 1;
        open.insert(file.identity, OpenFile { file: Arc::clone(&file), users });
        Attempt::Opened(file, warning)
    }
}

fn clash(path: &Path, what: &str) -> Failure {
    Failure::new(Status::AttributesClash, format!("{}: {what}", path.display()))
}
