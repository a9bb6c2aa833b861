//! What is missing in the new log, collected until it is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Loss;
use crate::chain::catalog::Catalog;
use crate::run::{Manifest, Run, SectionKind, file_name};
use crate::storage::{OpenMode, Storage};
use crate::types::{Birth, Height};

/// So many units are told of at most.
const MOST_UNITS: usize = 100_000;

/// The losses so far.
#[derive(Clone, Default)]
pub(super) struct Losses {
    list: Vec<Loss>,
    /// Ranges of heights whose commits are lost, ascending.
    ranges: Vec<(Height, Height)>,
    /// Single operations that are lost, and whether their unit was told.
    operations: BTreeSet<Birth>,
    /// The units of lost commits, by grouping.
    units: BTreeMap<(Height, u32), (String, Vec<u8>)>,
}

impl Losses {
    pub(super) fn note(&mut self, what: String) {
        self.list.push(Loss { what, ..Loss::default() });
    }

    pub(super) fn add(&mut self, loss: Loss) {
        self.list.push(loss);
    }

    /// The commits from one height to another are lost.
    pub(super) fn lose_range(&mut self, from: Height, to: Height, loss: Loss) {
        if from <= to {
            self.ranges.push((from, to));
        }
        self.list.push(loss);
    }

    /// An operation is lost.
    pub(super) fn lose_operation(&mut self, birth: Birth, loss: Loss) {
        self.operations.insert(birth);
        self.list.push(loss);
    }

    /// A later version says that a unit had a version of this birth.
    pub(super) fn mention(&mut self, birth: Birth, grouping: &str, unit: &[u8]) {
        if self.is_lost(birth) && self.units.len() < MOST_UNITS {
            self.units.insert((birth.height, birth.place), (grouping.to_owned(), unit.to_vec()));
        }
    }

    fn is_lost(&self, birth: Birth) -> bool {
        let below = self.ranges.partition_point(|(from, _)| *from <= birth.height);
        let in_range = below.checked_sub(1).is_some_and(|at| birth.height <= self.ranges[at].1);
        in_range || self.operations.contains(&birth)
    }

    /// Asks the runs of the damaged log which units the lost commits wrote to. What cannot be read there is left out.
    pub(super) fn add_units_of_runs(&mut self, storage: &dyn Storage, directory: &Path, manifest: Option<&Manifest>) {
        if self.ranges.is_empty() && self.operations.is_empty() {
            return;
        }
        let Some((manifest, catalog)) = manifest.and_then(|m| Some((m, Catalog::decode(&m.catalog).ok()?))) else {
            return;
        };
        for entry in &manifest.runs {
            let path = directory.join(file_name(entry.number));
            let Ok(run) =
                storage.open(&path, OpenMode::Read).map_err(drop).and_then(|f| Run::open(f, &path).map_err(drop))
            else {
                continue;
            };
            for section in run.sections().filter(|section| section.id().kind == SectionKind::Versions) {
                let id = section.id().grouping;
                let name = catalog.by_id(id).map_or_else(|| id.0.to_string(), |grouping| grouping.name.clone());
                let mut cursor = run.cursor(section);
                let mut moved = cursor.seek_first();
                while moved.is_ok() && cursor.valid() {
                    self.mention(cursor.birth(), &name, cursor.key());
                    moved = cursor.next();
                }
            }
        }
    }

    /// Tells all of them: as they were met, then the units. Gives their number.
    pub(super) fn tell(self, tell: &mut dyn FnMut(Loss)) -> u64 {
        let count = self.list.len() + self.units.len();
        self.list.into_iter().for_each(&mut *tell);
        for ((height, place), (grouping, unit)) in self.units {
            tell(Loss {
                height: Some(height),
                grouping: Some(grouping),
                unit: Some(unit),
                what: format!("this unit was written, or deleted, by operation {place} of the commit, which is lost"),
                ..Loss::default()
            });
        }
        count as u64
    }
}
