//! The files that programs of this process have open.
//!
//! The FCD has room for eight bytes of ours, the handle: the number of a slot here, and a mark that no other use of the
//! slot has. So a handle is found without a search, and one that is not ours (or is of a file that was closed) is noticed.

use std::sync::atomic::{AtomicUsize, Ordering};

use immuxdb_isam::Connector;
use parking_lot::Mutex;

use crate::fcd::Fcd;
use crate::libcob::file::CobFile;

/// The most files that a process may have open.
pub const MAX_OPEN: usize = 10_000;

/// The table of the process. It is locked for the length of an operation, never while libcob runs.
pub static TABLE: Mutex<Table> = Mutex::new(Table::new());

/// How many files are open: for a fork, which must not wait for the table.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// How many files are open.
pub fn open_count() -> usize {
    OPEN.load(Ordering::Relaxed)
}

/// An open file.
pub struct OpenFile {
    /// The way to it.
    pub connector: Connector,
    /// Its name in ASSIGN, for messages.
    pub name: String,
    /// The length of the record area.
    pub area_len: usize,
    /// The shortest record.
    pub min_len: usize,
    /// How many keys the program declares.
    pub key_count: usize,
    /// The program's file, where OPEN was interposed and its records have lengths of their own.
    pub varying: Option<CobFile>,
}

/// What a slot holds.
enum State {
    Free,
    Open(Box<OpenFile>),
    /// Closed: libcob may still think that it is open.
    Closed {
        with_lock: bool,
    },
}

struct Slot {
    /// Tells one use of the slot from the others.
    mark: u32,
    /// Address of the FCD.
    fcd: usize,
    /// Address of the program's `cob_file`, or 0 if it is not known.
    file: usize,
    state: State,
}

/// Slots by number.
pub struct Table {
    slots: Vec<Slot>,
    next_mark: u32,
}

/// How a file stands, by its FCD or its `cob_file`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Never opened, as far as we know.
    Unknown,
    /// Open.
    Open,
    /// Closed.
    Closed,
    /// Closed WITH LOCK: it cannot be opened again.
    ClosedWithLock,
}

impl Table {
    const fn new() -> Table {
        Table { slots: Vec::new(), next_mark: 1 }
    }

    fn index_of(&self, fcd: Fcd) -> Option<usize> {
        let handle = fcd.handle();
        // A slot's number is kept plus one, so that no handle is zero.
        let index = usize::try_from((handle & 0xffff_ffff).checked_sub(1)?).ok()?;
        let slot = self.slots.get(index)?;
        (u64::from(slot.mark) == handle >> 32 && slot.fcd == fcd.address()).then_some(index)
    }

    /// The open file of an FCD.
    pub fn find(&mut self, fcd: Fcd) -> Option<&mut OpenFile> {
        let index = self.index_of(fcd)?;
        match &mut self.slots[index].state {
            State::Open(open) => Some(open),
            State::Free | State::Closed { .. } => None,
        }
    }

    /// How the file of an FCD stands.
    pub fn standing(&self, fcd: Fcd) -> Standing {
        self.index_of(fcd).map_or(Standing::Unknown, |index| self.slots[index].standing())
    }

    /// How the file of a `cob_file` stands.
    pub fn standing_of(&self, file: CobFile) -> Standing {
        self.index_of_file(file).map_or(Standing::Unknown, |index| self.slots[index].standing())
    }

    fn index_of_file(&self, file: CobFile) -> Option<usize> {
        self.slots.iter().position(|slot| slot.file == file.address() && !matches!(slot.state, State::Free))
    }

    /// Whether another file can be opened.
    pub fn is_full(&self) -> bool {
        open_count() >= MAX_OPEN
    }

    /// Takes a file that was opened, and sets the FCD's handle. Gives what else was open under this FCD's address, or for
    /// the same `cob_file`: the program that it belonged to is gone.
    pub fn insert(&mut self, fcd: Fcd, file: Option<CobFile>, open: OpenFile) -> Vec<OpenFile> {
        let file = file.map_or(0, CobFile::address);
        let mut left = Vec::new();
        for slot in &mut self.slots {
            if slot.fcd == fcd.address() || (file != 0 && slot.file == file) {
                left.extend(slot.free());
            }
        }
        let mark = self.next_mark;
        self.next_mark = self.next_mark.checked_add(1).unwrap_or(1);
        let slot = Slot { mark, fcd: fcd.address(), file, state: State::Open(Box::new(open)) };
        let index = match self.slots.iter().position(|slot| matches!(slot.state, State::Free)) {
            Some(index) => {
                self.slots[index] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
        };
        OPEN.fetch_add(1, Ordering::Relaxed);
        fcd.set_handle(u64::from(mark) << 32 | (index as u64 + 1));
        left
    }

    /// Takes the open file of an FCD out, for CLOSE; the table remembers that it was there.
    pub fn close(&mut self, fcd: Fcd, with_lock: bool) -> Option<OpenFile> {
        let index = self.index_of(fcd)?;
        self.slots[index].leave(State::Closed { with_lock })
    }

    /// Takes the open file of a `cob_file` out, for CANCEL. The table still remembers that it was there: an EXTERNAL
    /// file lives on, and the next module that is cancelled closes it again.
    pub fn close_file(&mut self, file: CobFile) -> Option<OpenFile> {
        let index = self.index_of_file(file)?;
        self.slots[index].leave(State::Closed { with_lock: false })
    }

    /// Takes all open files out.
    pub fn take_all(&mut self) -> Vec<OpenFile> {
        self.slots.drain(..).filter_map(|mut slot| slot.free()).collect()
    }
}

impl Slot {
    fn standing(&self) -> Standing {
        match self.state {
            State::Free => Standing::Unknown,
            State::Open(_) => Standing::Open,
            State::Closed { with_lock: false } => Standing::Closed,
            State::Closed { with_lock: true } => Standing::ClosedWithLock,
        }
    }

    fn free(&mut self) -> Option<OpenFile> {
        self.leave(State::Free)
    }

    fn leave(&mut self, then: State) -> Option<OpenFile> {
        match std::mem::replace(&mut self.state, then) {
            State::Open(open) => {
                OPEN.fetch_sub(1, Ordering::Relaxed);
                Some(*open)
            }
            State::Free | State::Closed { .. } => None,
        }
    }
}
