//! A connector: one SELECT's way to an open file.
//!
//! Its *position* is a place between records in the order of the key of reference: behind the record that was read last,
//! or before the one that START found. It is kept as (key value, birth), not as a record, so nothing that happens to
//! records moves it.
//!
//! ```text
//!   key of reference: town
//!   Bern 3     Brno 1     Brno 7     Graz 2          (the number is the birth: when the record got that value)
//!                     ▲
//!                     position after READ NEXT gave (Brno, 1). Should that record be deleted, or move to Wien:
//!                     READ NEXT gives (Brno, 7), READ PREVIOUS gives (Bern, 3)
//! ```
//!
//! | file | what |
//! |---|---|
//! | `position` | the position, and READ NEXT and PREVIOUS from it |
//! | `find` | READ by a key, START |
//! | `change` | WRITE, REWRITE, DELETE |

mod change;
mod find;
mod position;

use std::sync::Arc;

use libimmuxdb::{Error, Grouping, Walk};

use self::position::Position;
use crate::failure::Failure;
use crate::file::{SharedFile, engine};
use crate::files::{Files, Usage};
use crate::layout::{Key, Layout, index_name};
use crate::request::{Access, OpenMode, OpenRequest};
use crate::settings::DuplicateStatus;
use crate::status::Status;

pub use self::find::Relation;
pub use self::position::Direction;

/// A record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// [`Status::Ok`], [`Status::Duplicate`] or [`Status::RecordLongerThanArea`].
    pub status: Status,
    /// The record's length in bytes; the area holds the beginning of a longer one. The rest of a longer area is as it was.
    pub len: usize,
}

/// One SELECT: a way to a file, with its own mode, position and key of reference.
///
/// Keys are numbered as in the program's layout, from 0 for the primary key. Areas are record areas: the key values that
/// READ, START and DELETE look for are taken from where the keys stand in them.
pub struct Connector {
    mode: OpenMode,
    access: Access,
    duplicate_status: DuplicateStatus,
    layout: Layout,
    /// `None`: the file is missing or empty, and there is nothing to read.
    open: Option<Open>,
    warning: Option<String>,
    /// The key of reference, as the program numbers it.
    reference: usize,
    position: Position,
    /// With `position`: the key value and birth of the entry that it is next to.
    beside: Beside,
    /// The primary key of the record that the last operation read, if it was a READ.
    read_last: Option<Vec<u8>>,
    /// The primary key that was written last, in sequential access.
    written_last: Option<Vec<u8>>,
    /// Room for key values.
    value: Vec<u8>,
}

/// A connector's hold on the file.
struct Open {
    file: Arc<SharedFile>,
    files: Arc<Files>,
    usage: Usage,
    records: Grouping,
    epoch: u64,
    /// The number in the file of each key of the program.
    keys: Vec<usize>,
    /// The walk along the key of reference, and whether it stands at the position: then it only has to step.
    walk: Option<(usize, Walk)>,
    walking: Option<Direction>,
}

#[derive(Default)]
struct Beside {
    key: Vec<u8>,
    birth: libimmuxdb::Birth,
}

impl Connector {
    /// A connector to a file without records.
    pub(crate) fn empty(request: &OpenRequest<'_>) -> Connector {
        Connector {
            mode: request.mode,
            access: request.access,
            duplicate_status: request.settings.duplicate_status,
            layout: request.layout.clone(),
            open: None,
            warning: None,
            reference: 0,
            position: Position::Opened,
            beside: Beside::default(),
            read_last: None,
            written_last: None,
            value: Vec::new(),
        }
    }

    /// A connector to a file, whose keys have these numbers there.
    pub(crate) fn new(
        request: &OpenRequest<'_>,
        usage: Usage,
        file: Arc<SharedFile>,
        files: Arc<Files>,
        keys: Vec<usize>,
        warning: Option<String>,
    ) -> Result<Connector, Failure> {
        let (records, epoch) = file.records().map_err(engine)?;
        let records = records.with(change::options(request.settings));
        let open = Open { file, files, usage, records, epoch, keys, walk: None, walking: None };
        let mut connector = Connector::empty(request);
        connector.warning = warning;
        if request.mode == OpenMode::Extend {
            connector.written_last = open.last_primary_key().map_err(engine)?;
        }
        connector.open = Some(open);
        Ok(connector)
    }

    /// What an operator should know of the opening, if anything: text for standard error.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// How the file is open.
    #[must_use]
    pub fn mode(&self) -> OpenMode {
        self.mode
    }

    /// CLOSE. The file itself is closed with its last connector.
    ///
    /// # Errors
    /// [`Status::IoError`], [`Status::NoSpace`]: something could not be finished; what was acknowledged is in the file.
    pub fn close(mut self) -> Result<Status, Failure> {
        self.let_go().map(|()| Status::Ok)
    }

    fn let_go(&mut self) -> Result<(), Failure> {
        match self.open.take() {
            Some(open) => open.files.close(&open.file, open.usage),
            None => Ok(()),
        }
    }

    /// The next READ must not take the record before this operation for its own.
    fn begin_operation(&mut self) {
        self.read_last = None;
    }

    fn key(&self, number: usize) -> Result<&Key, Failure> {
        let missing = || Failure::new(Status::IoError, format!("the program declares no key {number}"));
        self.layout.keys.get(number).ok_or_else(missing)
    }
}

impl Drop for Connector {
    fn drop(&mut self) {
        // Whoever wants to know calls `close`; what was acknowledged is in the file.
        let _ = self.let_go();
    }
}

impl Open {
    /// Takes up the file's engine, if it is another one by now.
    fn renew(&mut self) -> Result<(), Error> {
        if self.epoch != self.file.epoch() {
            let (records, epoch) = self.file.records()?;
            self.records = records.with(self.records.options());
            self.epoch = epoch;
            self.walk = None;
            self.walking = None;
        }
        Ok(())
    }

    /// The walk along a key of the program.
    fn walk(&mut self, key: usize) -> Result<&mut Walk, Error> {
        let number = self.keys[key];
        let kept = self.walk.take().filter(|(known, _)| *known == number);
        let walk = match kept {
            Some((_, walk)) => walk,
            None => new_walk(&self.records, number)?,
        };
        Ok(&mut self.walk.insert((number, walk)).1)
    }

    fn last_primary_key(&self) -> Result<Option<Vec<u8>>, Error> {
        let mut walk = new_walk(&self.records, 0)?;
        walk.seek(libimmuxdb::Seek::Last);
        Ok(walk.step()?.then(|| walk.key().to_vec()))
    }
}

fn new_walk(records: &Grouping, number: usize) -> Result<Walk, Error> {
    if number == 0 { Ok(Walk::by_unit_key(records)) } else { Walk::by_index(records, &index_name(number)) }
}
