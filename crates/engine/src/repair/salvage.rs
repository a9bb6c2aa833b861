//! One pass through the damaged log: each commit that can be read is committed again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::losses::Losses;
use super::{ACTOR, Clock, Loss, RepairSummary};
use crate::chain::catalog::{Catalog, decode_definition};
use crate::chain::{Condition, Shared, Step};
use crate::error::Error;
use crate::index::IndexDefinition;
use crate::log::{Examined, Fault, Frame, Gap, LocalLog, NewVersion, Operation};
use crate::run::Manifest;
use crate::types::{Birth, Durability, GroupingId, Height, IndexId, VersionKind};
use crate::unit::{Content, WriteOptions};
use crate::verify::Progress;

/// Bytes of log between two reports of progress.
const REPORT_EVERY: u64 = 8 << 20;

/// Why a pass ended early.
pub(super) enum Stop {
    /// These indexes (grouping, name) cannot be unique: a deletion is lost.
    NotUnique(Vec<(String, String)>),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

/// A pass.
pub(super) struct Salvage<'a> {
    log: &'a LocalLog,
    target: &'a Arc<Shared>,
    clock: &'a Clock,
    /// Indexes that are not to be unique any more.
    relaxed: &'a BTreeSet<(String, String)>,
    groupings: BTreeMap<GroupingId, String>,
    indexes: BTreeMap<IndexId, String>,
    pub(super) losses: Losses,
    pub(super) summary: RepairSummary,
}

/// An operation that is to be done again, with what it borrows made its own where the log's form differs.
enum Redo<'a> {
    Version { grouping: String, version: NewVersion<'a> },
    Clear { grouping: String },
    DefineIndex { grouping: String, name: String, definition: IndexDefinition },
    DropIndex { grouping: String, name: String },
}

impl<'a> Salvage<'a> {
    pub(super) fn new(
        log: &'a LocalLog,
        target: &'a Arc<Shared>,
        clock: &'a Clock,
        relaxed: &'a BTreeSet<(String, String)>,
        manifest: Option<&Manifest>,
        losses: Losses,
    ) -> Salvage<'a> {
        // The catalog knows names whose definitions may be lost; the log's own come over them.
        let catalog = manifest.and_then(|manifest| Catalog::decode(&manifest.catalog).ok()).unwrap_or_default();
        let entries = catalog.groupings();
        let groupings = entries.iter().map(|grouping| (grouping.id, grouping.name.clone())).collect();
        let indexes = entries.iter().flat_map(|grouping| &grouping.indexes);
        let indexes = indexes.map(|index| (index.id, index.name.clone())).collect();
        let summary = RepairSummary::default();
        Salvage { log, target, clock, relaxed, groupings, indexes, losses, summary }
    }

    pub(super) fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), Stop> {
        let mut examiner = self.log.examine(self.log.file_bytes()?)?;
        let mut reported = 0;
        loop {
            let done = examiner.at().offset;
            if done - reported >= REPORT_EVERY {
                reported = done;
                progress(Progress { stage: "salvaging", done, total: Some(examiner.limit()) });
            }
            match examiner.step() {
                Examined::Frame { frame, unfit } => {
                    if let Some(unfit) = unfit {
                        self.unfit(&frame, &unfit);
                    }
                    if frame.is_commit() {
                        self.commit(&frame)?;
                    }
                }
                Examined::Gap(gap) => self.gap(&gap),
                Examined::End => break,
            }
        }
        self.summary.height = self.target.visible();
        self.tell_relaxed();
        Ok(())
    }

    fn unfit(&mut self, frame: &Frame<'_>, unfit: &Fault) {
        let loss = Loss {
            height: Some(frame.height()),
            offset: Some(frame.offset()),
            what: format!("{unfit}; the commit was taken as it is"),
            ..Loss::default()
        };
        self.losses.add(loss);
    }

    fn gap(&mut self, gap: &Gap) {
        let from = gap.from.height.next();
        let loss = Loss { offset: Some(gap.from.offset), bytes: Some(gap.to - gap.from.offset), ..Loss::default() };
        match gap.last_lost {
            Some(last) if from <= last => {
                let what = format!("the commits in these bytes are lost: {}", gap.what);
                self.losses.lose_range(from, last, Loss { height: Some(from), last_height: Some(last), what, ..loss });
            }
            Some(_) => self.losses.add(Loss { what: format!("no commit was in these bytes: {}", gap.what), ..loss }),
            None => {
                let what = format!(
                    "nothing whole follows; commits from height {from} on may be lost, or the last one did not come to its \
                     end: {}",
                    gap.what
                );
                self.losses.lose_range(from, Height::MAX, Loss { height: Some(from), what, ..loss });
            }
        }
    }

    /// Takes the heights before `height` that nobody has.
    fn fill_up_to(&mut self, height: Height) -> Result<(), Stop> {
        while self.target.visible().next() < height {
            self.target.commit_nothing(ACTOR)?;
            self.summary.lost += 1;
        }
        Ok(())
    }

    fn commit(&mut self, frame: &Frame<'_>) -> Result<(), Stop> {
        let height = frame.height();
        if height <= self.target.visible() {
            let what = "another commit has this height already; this one was left out".to_owned();
            let (height, offset) = (Some(height), Some(frame.offset()));
            self.losses.add(Loss { height, offset, what, ..Loss::default() });
            return Ok(());
        }
        self.fill_up_to(height)?;
        self.clock.set(frame.time());
        let (redo, whole) = self.operations(frame);
        let mut done = !redo.is_empty();
        if let [Redo::DefineIndex { grouping, name, definition }] = redo.as_slice() {
            let made = self.target.create_index(grouping, name, definition, &mut |_| {});
            done = self.outcome(frame, made.map(drop), &redo)?;
        } else if redo.is_empty() {
            self.target.commit_nothing(ACTOR)?;
        } else {
            let steps: Vec<Step<'_>> = redo.iter().map(Redo::step).collect();
            let options = WriteOptions::durability(Durability::Buffered);
            let committed = self.target.commit(&steps, frame.actor(), options);
            done = self.outcome(frame, committed.map(drop), &redo)?;
        }
        match (whole, done) {
            (true, true) => self.summary.whole += 1,
            (false, true) => self.summary.partly += 1,
            // One that has no operations stands for a lost one already.
            (_, false) => self.summary.lost += 1,
        }
        Ok(())
    }

    /// What became of a commit; `false` when it was refused, and a commit without operations stands for it.
    fn outcome(&mut self, frame: &Frame<'_>, done: Result<(), Error>, redo: &[Redo<'_>]) -> Result<bool, Stop> {
        match done {
            Ok(()) => Ok(true),
            Err(Error::DuplicateKey { index }) => {
                let groupings: BTreeSet<_> = redo.iter().map(|redo| redo.grouping().to_owned()).collect();
                Err(Stop::NotUnique(groupings.into_iter().map(|grouping| (grouping, index.clone())).collect()))
            }
            Err(
                error @ (Error::Invalid(_)
                | Error::InvalidJson(_)
                | Error::TooLarge { .. }
                | Error::GroupingMissing(_)
                | Error::IndexMissing { .. }
                | Error::IndexExists { .. }),
            ) => {
                let what = format!("the commit cannot be done again: {error}");
                let (height, offset) = (Some(frame.height()), Some(frame.offset()));
                self.losses.add(Loss { height, offset, what, ..Loss::default() });
                self.target.commit_nothing(ACTOR)?;
                Ok(false)
            }
            Err(error) => Err(Stop::Error(error)),
        }
    }

    /// The operations of a frame that can be done again, and whether these are all.
    fn operations<'f>(&mut self, frame: &Frame<'f>) -> (Vec<Redo<'f>>, bool) {
        let mut redo = Vec::new();
        let mut whole = true;
        for operation in frame.checked_operations() {
            let operation = match operation {
                Ok(operation) => operation,
                Err(fault) => {
                    whole = false;
                    self.lose_operation(frame, &fault);
                    continue;
                }
            };
            match operation {
                Operation::DefineGrouping { id, name } => {
                    self.groupings.insert(id, name.to_owned());
                }
                Operation::Version(version) => {
                    let grouping = self.grouping(version.grouping);
                    if let Some(previous) = &version.previous {
                        let birth = Birth::new(previous.height, previous.place);
                        self.losses.mention(birth, &grouping, version.key);
                    }
                    redo.push(Redo::Version { grouping, version });
                }
                Operation::ClearGrouping { grouping } => redo.push(Redo::Clear { grouping: self.grouping(grouping) }),
                Operation::DefineIndex { grouping, index, definition } => {
                    let grouping = self.grouping(grouping);
                    match decode_definition(definition) {
                        Ok((name, mut definition)) => {
                            self.indexes.insert(index, name.clone());
                            definition.unique &= !self.relaxed.contains(&(grouping.clone(), name.clone()));
                            redo.push(Redo::DefineIndex { grouping, name, definition });
                        }
                        Err(error) => {
                            whole = false;
                            self.losses.add(Loss {
                                height: Some(frame.height()),
                                grouping: Some(grouping),
                                what: format!("the definition of an index cannot be read: {error}"),
                                ..Loss::default()
                            });
                        }
                    }
                }
                Operation::DropIndex { grouping, index } => {
                    let grouping = self.grouping(grouping);
                    let name = self.indexes.get(&index).cloned().unwrap_or_else(|| format!("index {}", index.0));
                    redo.push(Redo::DropIndex { grouping, name });
                }
            }
        }
        (redo, whole)
    }

    fn lose_operation(&mut self, frame: &Frame<'_>, fault: &Fault) {
        let mut loss = Loss {
            height: Some(frame.height()),
            offset: Some(frame.offset()),
            what: fault.to_string(),
            ..Loss::default()
        };
        let Fault::Body { place, .. } = fault else {
            loss.what = format!("this operation and those after it are lost: {fault}");
            return self.losses.add(loss);
        };
        if let Some((grouping, offset)) = frame.place_of_body(*place) {
            loss.offset = Some(offset);
            loss.grouping = Some(self.grouping(grouping));
        }
        loss.unit = frame.key_as_it_stands(*place).map(<[u8]>::to_vec);
        let unit = if loss.unit.is_some() { " (the unit key is what the damaged bytes say)" } else { "" };
        loss.what = format!("{fault}; the operation is lost{unit}");
        self.losses.lose_operation(Birth::new(frame.height(), *place), loss);
    }

    fn grouping(&mut self, id: GroupingId) -> String {
        let made_up = || format!("lost grouping {}", id.0);
        self.groupings.entry(id).or_insert_with(made_up).clone()
    }

    fn tell_relaxed(&mut self) {
        let catalog = self.target.catalog.read();
        for (grouping, index) in self.relaxed {
            let there = catalog.grouping(grouping).is_some_and(|entry| entry.index(index).is_some());
            if there {
                self.losses.add(Loss {
                    grouping: Some(grouping.clone()),
                    what: format!(
                        "index {index:?} was unique and is not any more, since a value is there twice: a deletion, or another \
                         value, is lost"
                    ),
                    ..Loss::default()
                });
            }
        }
    }
}

impl Redo<'_> {
    fn grouping(&self) -> &str {
        match self {
            Redo::Version { grouping, .. }
            | Redo::Clear { grouping }
            | Redo::DefineIndex { grouping, .. }
            | Redo::DropIndex { grouping, .. } => grouping,
        }
    }

    fn step(&self) -> Step<'_> {
        match self {
            Redo::Version { grouping, version } => {
                let content = Content { kind: version.kind, bytes: version.content };
                let content = Some(content).filter(|content| content.kind != VersionKind::Deleted);
                Step::Unit { grouping, key: version.key, content, condition: Condition::Any }
            }
            Redo::Clear { grouping } => Step::Clear { grouping },
            Redo::DefineIndex { grouping, name, definition } => Step::DefineIndex { grouping, name, definition },
            Redo::DropIndex { grouping, name } => Step::DropIndex { grouping, name },
        }
    }
}
