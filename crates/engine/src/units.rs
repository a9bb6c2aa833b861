//! What scans give out, one after another.

use std::sync::Arc;

use crate::chain::catalog::GroupingEntry;
use crate::chain::{Chain, FallbackScan, IndexScan, Range, UnitScan, VersionScan};
use crate::error::Result;
use crate::scan::{Cursor, Scan};
use crate::types::Height;
use crate::unit::{Unit, Version};

enum Source {
    Nothing,
    Units(UnitScan),
    Index(IndexScan),
    Fallback(FallbackScan),
}

/// The units that a scan gives, in its order. Memory is bounded, whatever the scan's length; nothing is held in between
/// that would keep others from writing or from letting go of files.
pub struct Units {
    chain: Arc<Chain>,
    source: Source,
    left: u64,
    keys_only: bool,
    cursor: Option<Cursor>,
    height: Height,
}

impl Units {
    pub(crate) fn new(chain: &Arc<Chain>, grouping: &str, at: Height, scan: Scan) -> Result<Units> {
        let shared = chain.shared();
        let known = shared.catalog.read().grouping(grouping);
        let has = |entry: &GroupingEntry| scan.index.as_ref().is_none_or(|name| entry.index(name).is_some());
        let source = match (known, &scan.index) {
            (Some(entry), _) if at < entry.created && has(&entry) => Source::Nothing,
            (None, Some(name)) => {
                return Err(crate::Error::IndexMissing { grouping: grouping.to_owned(), index: name.clone() });
            }
            (None, None) => Source::Nothing,
            (Some(entry), None) => {
                if scan.is_empty() {
                    Source::Nothing
                } else {
                    Source::Units(UnitScan::new(shared, entry, at, Range::of(&scan))?)
                }
            }
            (Some(entry), Some(name)) => {
                let (entry, index, readable) = shared.index_for_read(&entry, name, at)?;
                let range = Range::of(&scan);
                if scan.is_empty() {
                    Source::Nothing
                } else if readable {
                    Source::Index(IndexScan::new(shared, entry, index.id, at, range)?)
                } else {
                    Source::Fallback(FallbackScan::new(shared, entry, &index, at, range)?)
                }
            }
        };
        Ok(Units {
            chain: Arc::clone(chain),
            source,
            left: scan.limit.unwrap_or(u64::MAX),
            keys_only: scan.keys_only,
            cursor: scan.resume,
            height: at,
        })
    }

    /// The height at which the scan reads.
    #[must_use]
    pub fn height(&self) -> Height {
        self.height
    }

    /// Where to go on later: after the unit that was given last.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// Whether the scan goes through an index or by unit key; `false` when it asked for an index that cannot tell of this
    /// height, so that all units are read and sorted in portions.
    #[must_use]
    pub fn used_index(&self) -> bool {
        !matches!(self.source, Source::Fallback(_))
    }

    fn step(&mut self) -> Result<Option<Unit>> {
        let shared = self.chain.shared();
        let unit = match &mut self.source {
            Source::Nothing => return Ok(None),
            Source::Units(scan) => match scan.next()? {
                Some(found) if self.keys_only => Unit {
                    key: scan.key().to_vec(),
                    height: found.birth.height,
                    kind: found.kind,
                    content: Vec::new(),
                    index_key: Vec::new(),
                    birth: found.birth,
                },
                Some(found) => shared.unit_of(scan.key(), (found.birth, found.position), None, false)?,
                None => return Ok(None),
            },
            Source::Index(scan) => {
                if !scan.next()? {
                    return Ok(None);
                }
                let version = scan.version()?;
                let entry = scan.entry();
                shared.unit_of(&entry.unit_key, version, Some((&entry.key, entry.birth)), self.keys_only)?
            }
            Source::Fallback(scan) => match scan.next()? {
                Some(entry) => {
                    let version = (entry.version, entry.position);
                    shared.unit_of(&entry.unit_key, version, Some((&entry.key, entry.birth)), self.keys_only)?
                }
                None => return Ok(None),
            },
        };
        let key = if matches!(self.source, Source::Units(_)) { &unit.key } else { &unit.index_key };
        match &mut self.cursor {
            Some(cursor) => {
                cursor.key.clone_from(key);
                cursor.birth = unit.birth;
            }
            None => self.cursor = Some(Cursor { key: key.clone(), birth: unit.birth }),
        }
        Ok(Some(unit))
    }

    /// Counts what is left, without reading contents.
    pub(crate) fn count_rest(&mut self) -> Result<u64> {
        let mut count = 0;
        while self.left > count {
            let more = match &mut self.source {
                Source::Nothing => false,
                Source::Units(scan) => scan.next()?.is_some(),
                Source::Index(scan) => scan.next()?,
                Source::Fallback(scan) => scan.next()?.is_some(),
            };
            if !more {
                break;
            }
            count += 1;
        }
        self.left = 0;
        Ok(count)
    }
}

impl Iterator for Units {
    type Item = Result<Unit>;

    fn next(&mut self) -> Option<Result<Unit>> {
        if self.left == 0 {
            return None;
        }
        let unit = self.step().transpose();
        self.left = match &unit {
            Some(Ok(_)) => self.left - 1,
            Some(Err(_)) | None => 0,
        };
        unit
    }
}

/// The versions of a unit, newest first.
pub struct Versions {
    scan: Option<VersionScan>,
}

impl Versions {
    pub(crate) fn new(scan: Option<VersionScan>) -> Versions {
        Versions { scan }
    }
}

impl Iterator for Versions {
    type Item = Result<Version>;

    fn next(&mut self) -> Option<Result<Version>> {
        let version = self.scan.as_mut()?.next().transpose();
        if !matches!(version, Some(Ok(_))) {
            self.scan = None;
        }
        version
    }
}
