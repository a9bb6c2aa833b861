//! The open files of a run unit, and how many connectors use each for what.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::failure::Failure;
use crate::file::{Holding, Identity, SharedFile, at_open, engine};
use crate::request::{OpenMode, Sharing};

/// The open files.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) open: Mutex<HashMap<Identity, OpenFile>>,
}

/// One of them.
pub(crate) struct OpenFile {
    pub(crate) file: Arc<SharedFile>,
    pub(crate) users: Users,
}

/// What a connector uses a file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Writing,
    /// Reading, while no other program has the file.
    ReadingAlone,
    Reading,
}

impl Usage {
    pub(crate) fn of(mode: OpenMode, sharing: Sharing) -> Usage {
        match (mode, sharing) {
            (OpenMode::Input, Sharing::ByMode) => Usage::Reading,
            (OpenMode::Input, Sharing::NoOther) => Usage::ReadingAlone,
            (OpenMode::Output | OpenMode::InputOutput | OpenMode::Extend, _) => Usage::Writing,
        }
    }
}

/// How many connectors use a file, by usage.
#[derive(Default)]
pub(crate) struct Users([usize; 3]);

impl Users {
    pub(crate) fn of(&mut self, usage: Usage) -> &mut usize {
        &mut self.0[usage as usize]
    }

    pub(crate) fn writes(&self) -> bool {
        self.0[Usage::Writing as usize] > 0
    }

    /// How the file must be held for them; `None` when there are none.
    pub(crate) fn holding(&self) -> Option<Holding> {
        let alone = self.writes() || self.0[Usage::ReadingAlone as usize] > 0;
        let any = self.0.iter().any(|count| *count > 0);
        any.then_some(if alone { Holding::Alone } else { Holding::Shared })
    }
}

impl Files {
    /// A connector is closed; with the last one that may write the file is closed for writing, with the last one of all
    /// it is let go of.
    pub(crate) fn close(&self, file: &SharedFile, usage: Usage) -> Result<(), Failure> {
        close_connector(&mut self.open.lock(), file.identity, usage)
    }
}

/// See [`Files::close`], for whoever has the files locked.
pub(crate) fn close_connector(
    open: &mut HashMap<Identity, OpenFile>,
    identity: Identity,
    usage: Usage,
) -> Result<(), Failure> {
    let Some(known) = open.get_mut(&identity) else {
        return Ok(()); // all files were closed
    };
    let before = known.users.holding();
    *known.users.of(usage) -= 1;
    let closed = if known.users.writes() { Ok(()) } else { known.file.chain().close().map_err(engine) };
    match known.users.holding() {
        None => drop(open.remove(&identity)),
        Some(holding) if Some(holding) != before => {
            let held = known.file.hold.take(holding);
            held.map_err(|error| at_open(&known.file.path, OpenMode::Input, &error))?;
        }
        Some(_) => {}
    }
    closed
}
