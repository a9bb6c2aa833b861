//! The derived part as it lies on the disk: the manifest, its catalog, its runs, each looked at for itself.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::report::{Part, Report};
use crate::chain::catalog::Catalog;
use crate::error::{Error, Result};
use crate::log::{Frame, LogHeader, LogPoint};
use crate::run::{Manifest, Mark, Marks, Run, RunEntry, SectionId, file_name};
use crate::storage::{OpenMode, Storage};
use crate::types::{GroupingId, Height};

/// How often a manifest is read anew because a writer replaced its runs meanwhile.
const ATTEMPTS: usize = 16;
/// Bytes that are read at a time to find out whether the device gives them.
const CHUNK_BYTES: usize = 1 << 20;

/// The derived part.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) path: PathBuf,
    pub(super) catalog: Option<Catalog>,
    /// Oldest first.
    pub(super) runs: Vec<Looked>,
    /// Whether all runs of the manifest are there.
    pub(super) whole: bool,
}

/// A run that was looked at.
pub(super) struct Looked {
    pub(super) run: Arc<Run>,
    /// Sections whose entries are not to be trusted.
    pub(super) bad: BTreeSet<SectionId>,
}

impl Looked {
    /// Whether the run's stretch has this height.
    pub(super) fn has(&self, height: Height) -> bool {
        let meta = self.run.meta();
        meta.start <= height && height <= meta.end
    }
}

impl Derived {
    /// Loads manifest and runs, and looks at each of them. `None`: there is no derived part.
    pub(super) fn load(
        storage: &dyn Storage,
        directory: &Path,
        header: &LogHeader,
        report: &mut Report<'_>,
    ) -> Result<Option<Derived>> {
        let path = directory.join("manifest");
        for attempt in 1.. {
            let manifest = match Manifest::load(storage, directory) {
                Ok(Some(manifest)) => manifest,
                Ok(None) => return Ok(None),
                Err(Error::Damaged { path, offset, what }) => {
                    report.fault(Part::Manifest, &path, Some(offset), None, what);
                    return Ok(Some(Derived { path, ..Derived::default() }));
                }
                Err(Error::Format { path, what }) => {
                    report.fault(Part::Manifest, &path, None, None, what);
                    return Ok(Some(Derived { path, ..Derived::default() }));
                }
                Err(error) => return Err(error),
            };
            if manifest.log_id != header.log_id || manifest.generation != header.generation {
                let what = "the manifest belongs to another log; the next writer makes the index again";
                report.fault(Part::Manifest, &path, None, None, what);
                return Ok(Some(Derived { path, ..Derived::default() }));
            }
            let mut opened = Vec::new();
            for entry in &manifest.runs {
                opened.push(open_run(storage, &directory.join(file_name(entry.number)), entry)?);
            }
            let replaced = || Ok::<_, Error>(Manifest::load(storage, directory)?.as_ref() != Some(&manifest));
            if attempt < ATTEMPTS && opened.iter().any(Result::is_err) && replaced()? {
                continue;
            }
            let mut derived = Derived { path, ..Derived::default() };
            derived.whole = opened.iter().all(Result::is_ok);
            for run in opened {
                match run {
                    Ok(run) => derived.runs.push(Looked { run, bad: BTreeSet::new() }),
                    Err(Error::Damaged { path, offset, what }) => {
                        report.fault(Part::Run, &path, Some(offset), None, what);
                    }
                    Err(Error::Format { path, what }) => report.fault(Part::Run, &path, None, None, what),
                    Err(Error::Io { path, source }) => report.fault(Part::Run, &path, None, None, source.to_string()),
                    Err(error) => return Err(error),
                }
            }
            match Catalog::decode(&manifest.catalog) {
                Ok(catalog) => derived.catalog = Some(catalog),
                Err(error) => report.fault(Part::Manifest, &derived.path, None, None, error.to_string()),
            }
            derived.look(report);
            return Ok(Some(derived));
        }
        unreachable!("the last attempt ends the loop");
    }

    /// Looks at all of each run.
    fn look(&mut self, report: &mut Report<'_>) {
        let total = self.runs.iter().map(|looked| looked.run.bytes()).sum();
        let mut before = 0;
        let mut end_before = Height::ZERO;
        for Looked { run, bad } in &mut self.runs {
            let mut faults = Vec::new();
            run.inspect(&mut |done| report.progress("reading the runs", before + done, Some(total)), &mut |fault| {
                faults.push(fault);
            });
            before += run.bytes();
            for fault in faults {
                bad.extend(fault.section);
                report.fault(Part::Run, run.path(), Some(fault.offset), None, fault.what);
            }
            let meta = run.meta();
            if !meta.is_empty_stretch() {
                if self.whole && meta.start != end_before.next() {
                    let what =
                        format!("the run begins at height {}, and {} follows here", meta.start, end_before.next());
                    report.fault(Part::Run, run.path(), None, Some(meta.start), what);
                }
                end_before = meta.end;
            }
        }
    }

    /// The height up to which there are runs.
    pub(super) fn covered(&self) -> Height {
        let stretches = self.runs.iter().map(|looked| looked.run.meta()).filter(|meta| !meta.is_empty_stretch());
        stretches.map(|meta| meta.end).max().unwrap_or_default()
    }

    /// Whether the versions of a grouping can be read in all runs.
    pub(super) fn versions_are_sound(&self, grouping: GroupingId) -> bool {
        self.whole && !self.runs.iter().any(|looked| looked.bad.contains(&SectionId::versions(grouping)))
    }

    /// Compares the catalog with the one that the log adds up to. It may know of fewer commits beyond the runs' end, and
    /// of none that the log does not have.
    pub(super) fn compare_catalog(&self, truth: &Catalog, report: &mut Report<'_>) -> Result<()> {
        let Some(catalog) = &self.catalog else {
            return Ok(());
        };
        let covered = self.covered();
        if catalog.up_to(covered)?.encode(None) != truth.up_to(covered)?.encode(None) {
            let what = "the catalog in it is not what the definitions and clears in the log add up to";
            report.fault(Part::Manifest, &self.path, None, Some(covered), what);
            return Ok(());
        }
        for grouping in catalog.groupings() {
            let known = truth.by_id(grouping.id).filter(|known| {
                known.name == grouping.name
                    && known.created == grouping.created
                    && grouping.clears.iter().all(|clear| known.clears.contains(clear))
                    && grouping.indexes.iter().all(|index| {
                        known.index_by_id(index.id).is_some_and(|known| {
                            (&known.name, &known.definition, known.since)
                                == (&index.name, &index.definition, index.since)
                                && (index.dropped.is_none() || index.dropped == known.dropped)
                        })
                    })
            });
            if known.is_none() {
                let what = format!("the catalog in it has a grouping {:?} that is not the log's", grouping.name);
                report.fault(Part::Manifest, &self.path, None, Some(grouping.created), what);
            }
        }
        Ok(())
    }
}

fn open_run(storage: &dyn Storage, path: &Path, entry: &RunEntry) -> Result<Result<Arc<Run>>> {
    let file = match storage.open(path, OpenMode::Read) {
        Ok(file) => file,
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Err(Error::Io { path: path.to_owned(), source }));
        }
        Err(error) => return Err(Error::io(path, error)),
    };
    // Mapped, a part that the device does not give would end the process.
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut offset = 0;
    loop {
        match file.read_at(&mut chunk, offset) {
            Ok(0) => break,
            Ok(read) => offset += read as u64,
            Err(error) => {
                let what = format!("the device does not give these bytes: {error}");
                return Ok(Err(Error::Damaged { path: path.to_owned(), offset, what }));
            }
        }
    }
    Ok(Run::open(file, path).and_then(|run| {
        if run.summary() == entry.summary {
            return Ok(run);
        }
        let what = "the run is not the one that the manifest names (heights, counts or length differ)".to_owned();
        Err(Error::Damaged { path: path.to_owned(), offset: 0, what })
    }))
}

/// Places in the log that others name: ends of runs, marks, the status slot. Each must be there.
pub(super) struct Points<'a> {
    /// By offset.
    ends: Vec<(LogPoint, Option<&'a Path>)>,
    next_end: usize,
    marks: Vec<(&'a Path, Marks<'a>, usize)>,
    log: PathBuf,
    /// Whether all that was passed was there.
    pub(super) fit: bool,
}

impl<'a> Points<'a> {
    pub(super) fn new(derived: Option<&'a Derived>, slot: Option<LogPoint>, log: &Path) -> Points<'a> {
        let runs = || derived.into_iter().flat_map(|derived| &derived.runs);
        let point_of = |looked: &'a Looked| {
            let meta = looked.run.meta();
            let point =
                LogPoint { height: meta.end, offset: meta.end_offset, chain: meta.end_chain, time: meta.end_time };
            (point, Some(looked.run.path()))
        };
        let mut ends: Vec<_> = runs().map(point_of).chain(slot.map(|slot| (slot, None))).collect();
        ends.sort_by_key(|(point, _)| point.offset);
        let marks_of = |looked: &'a Looked| Some((looked.run.path(), looked.run.marks().ok()?, 0));
        let marks = runs().filter_map(marks_of).collect();
        Points { ends, next_end: 0, marks, log: log.to_owned(), fit: true }
    }

    /// Takes note of a frame. Where commits before it are `lost`, little can be said.
    pub(super) fn pass(&mut self, frame: &Frame<'_>, lost: bool, report: &mut Report<'_>) {
        if lost {
            return;
        }
        self.ends_up_to(frame.end(), report);
        if !frame.is_commit() {
            return;
        }
        let (height, end) = (frame.height(), frame.end());
        for (path, marks, next) in &mut self.marks {
            while *next < marks.len() && marks.get(*next).height <= height {
                let mark = marks.get(*next);
                *next += 1;
                if mark != (Mark { height, end_offset: end.offset, time: end.time }) {
                    let what = format!(
                        "a mark says that height {} ends at offset {} of the log; it does not",
                        mark.height, mark.end_offset
                    );
                    report.fault(Part::Run, path, None, Some(mark.height), what);
                }
            }
        }
    }

    fn ends_up_to(&mut self, here: LogPoint, report: &mut Report<'_>) {
        while let Some((point, path)) = self.ends.get(self.next_end).filter(|(point, _)| point.offset <= here.offset) {
            self.next_end += 1;
            let same = (point.height, point.offset, point.chain) == (here.height, here.offset, here.chain);
            if same || point.offset <= crate::log::PAGE_BYTES {
                continue;
            }
            match path {
                Some(path) => {
                    self.fit = false;
                    let what = format!(
                        "the run ends at height {} and offset {} of a history that is not this log's; the next writer makes \
                         it again",
                        point.height, point.offset
                    );
                    report.fault(Part::Run, path, None, Some(point.height), what);
                }
                None => {
                    let what = format!(
                        "the status slot says that height {} ended at offset {}; no such frame does",
                        point.height, point.offset
                    );
                    report.fault(Part::Log, &self.log, Some(512), Some(point.height), what);
                }
            }
        }
    }

    /// The log ended.
    pub(super) fn finish(&mut self, end: LogPoint, lost: bool, report: &mut Report<'_>) {
        if lost {
            return;
        }
        for (point, path) in self.ends.split_off(self.next_end) {
            if let Some(path) = path {
                self.fit = false;
                let what = format!("the run goes up to height {}; the log ends at height {}", point.height, end.height);
                report.fault(Part::Run, path, None, Some(point.height), what);
            }
        }
    }
}
