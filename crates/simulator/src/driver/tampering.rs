//! What people do to files while nobody has them open: remove derived ones, and put old copies back.

use std::path::{Path, PathBuf};

use super::session::{CHAIN, ROOT};
use super::{Driver, Outcome};
use crate::disk::Saved;
use crate::model::Model;

/// A backup of a chain that was closed.
struct Copy {
    log: Saved,
    index: Option<Saved>,
    model: Model,
}

/// The backups.
#[derive(Default)]
pub(super) struct Copies {
    taken: Vec<Copy>,
}

const MOST_COPIES: usize = 4;

pub(super) fn log() -> PathBuf {
    Path::new(ROOT).join(CHAIN).join("log")
}

pub(super) fn index() -> PathBuf {
    Path::new(ROOT).join(CHAIN).join("log.idx")
}

impl Driver {
    /// Sometimes: does something to the files. The store is not open.
    pub(super) fn tamper(&mut self) -> Outcome {
        type Kind = fn(&mut Driver) -> Outcome;
        let kind: Kind = self.random.weighted(&[
            (54, (|_| Ok(())) as Kind),
            (10, Driver::take_copy),
            (2, Driver::remove_store),
            (5, Driver::remove_index),
            (5, Driver::remove_index_file),
            (4, Driver::damage_index_file),
            (4, Driver::put_old_index_back),
            (2, Driver::put_old_log_back),
            (10, Driver::rot),
            (4, Driver::go_two_ways),
        ]);
        kind(self)
    }

    pub(super) fn tampered(&mut self, what: impl Into<String>) {
        let what = what.into();
        // Nobody may be reading meanwhile.
        if let Some(reader) = self.reader.take() {
            reader.end(&self.disk);
        }
        self.say(|| format!("-- tampering: {what}"));
        self.coverage.count(format!("tampering: {what}"));
    }

    pub(super) fn replace(&self, path: &Path, saved: Option<&Saved>) -> Outcome {
        self.disk.replace(path, saved).map_err(|error| format!("{} cannot be replaced: {error}", path.display()))
    }

    /// Copies the chain's files, if it was closed in peace.
    fn take_copy(&mut self) -> Outcome {
        let (Ok(log), true) = (self.disk.save(&log()), self.ledger.is_settled()) else {
            return Ok(());
        };
        self.tampered("a copy is taken");
        if self.copies.taken.len() == MOST_COPIES {
            let nth = self.random.index(MOST_COPIES);
            self.copies.taken.remove(nth);
        }
        let index = self.disk.save(&index()).ok();
        self.copies.taken.push(Copy { log, index, model: self.ledger.model.clone() });
        Ok(())
    }

    /// Begins anew: the making of a store, too, can be interrupted.
    fn remove_store(&mut self) -> Outcome {
        self.tampered("the store is removed");
        self.replace(Path::new(ROOT), None)?;
        self.ledger.replaced(Model::default());
        self.copies = Copies::default();
        Ok(())
    }

    fn remove_index(&mut self) -> Outcome {
        if self.disk.save(&index()).is_err() {
            return Ok(());
        }
        self.tampered("the index is removed");
        self.replace(&index(), None)
    }

    /// A file of the index, and its bytes.
    pub(super) fn some_index_file(&mut self) -> Option<(PathBuf, Vec<u8>)> {
        let Ok(Saved::Directory(files)) = self.disk.save(&index()) else {
            return None;
        };
        let files: Vec<_> = files.into_iter().collect();
        let (name, saved) = files.get(self.random.index(files.len().max(1)))?;
        match saved {
            Saved::File(bytes) => Some((index().join(name), bytes.clone())),
            Saved::Directory(_) => None,
        }
    }

    fn remove_index_file(&mut self) -> Outcome {
        let Some((path, _)) = self.some_index_file() else {
            return Ok(());
        };
        self.tampered("a file of the index is removed");
        self.say(|| format!("   {}", path.display()));
        self.replace(&path, None)
    }

    fn damage_index_file(&mut self) -> Outcome {
        let Some((path, mut bytes)) = self.some_index_file() else {
            return Ok(());
        };
        if bytes.is_empty() {
            return Ok(());
        }
        let at = self.random.index(bytes.len());
        self.tampered("a file of the index is cut short");
        self.say(|| format!("   {} at {at}", path.display()));
        bytes.truncate(at);
        self.replace(&path, Some(&Saved::File(bytes)))
    }

    fn put_old_index_back(&mut self) -> Outcome {
        if self.copies.taken.is_empty() {
            return Ok(());
        }
        let nth = self.random.index(self.copies.taken.len());
        let copy = self.copies.taken[nth].index.clone();
        self.tampered("an old copy of the index is put back");
        self.replace(&index(), copy.as_ref())
    }

    /// An old log, beside the index of the log that was there, or its own, or none.
    fn put_old_log_back(&mut self) -> Outcome {
        if self.copies.taken.is_empty() {
            return Ok(());
        }
        let nth = self.random.index(self.copies.taken.len());
        let Copy { log: old, index: its_own, model } = &self.copies.taken[nth];
        let (old, its_own, model) = (old.clone(), its_own.clone(), model.clone());
        self.replace(&log(), Some(&old))?;
        match self.random.below(4) {
            0 => {
                self.tampered("an old copy of log and index is put back");
                self.replace(&index(), its_own.as_ref())?;
            }
            _ => self.tampered("an old copy of the log is put back, beside the newer index"),
        }
        self.ledger.replaced(model);
        Ok(())
    }
}
