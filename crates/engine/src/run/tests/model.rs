//! Entries with owned keys, in ordered maps: what a run should say.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use crate::run::memory::Memory;
use crate::run::{Cursor, Mark, Run, RunMeta, RunWriter, SectionId, SectionKind};
use crate::types::{Birth, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};

pub(super) const GROUPING: GroupingId = GroupingId(3);
pub(super) const INDEX: IndexId = IndexId(2);

/// An entry of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) key: Vec<u8>,
    pub(super) birth: Birth,
    pub(super) unit: Vec<u8>,
    pub(super) version: Birth,
    pub(super) position: Position,
    pub(super) end: Height,
    pub(super) kind: VersionKind,
    pub(super) births: Vec<(IndexId, Birth)>,
}

impl Owned {
    pub(super) fn new(key: &[u8], birth: Birth) -> Owned {
        Owned {
            key: key.to_vec(),
            birth,
            unit: Vec::new(),
            version: birth,
            position: Position::default(),
            end: Height::ZERO,
            kind: VersionKind::Deleted,
            births: Vec::new(),
        }
    }

    /// What is left of the entry in a section of this kind.
    pub(super) fn normal(mut self, kind: SectionKind) -> Owned {
        let plain = Owned::new(&self.key, self.birth);
        if matches!(kind, SectionKind::Versions | SectionKind::Kills) {
            self.unit = plain.unit;
            self.version = plain.version;
        }
        if matches!(kind, SectionKind::Versions | SectionKind::Live) {
            self.end = plain.end;
        }
        if kind != SectionKind::Versions {
            self.kind = plain.kind;
            self.births = plain.births;
        }
        if kind == SectionKind::Kills {
            self.position = plain.position;
        }
        self
    }
}

pub(super) fn compare(kind: SectionKind, a: (&[u8], Birth), b: (&[u8], Birth)) -> Ordering {
    let births = a.1.cmp(&b.1);
    a.0.cmp(b.0).then(if kind == SectionKind::Versions { births.reverse() } else { births })
}

/// Sorts as the section would, and keeps one of those with the same key and birth.
pub(super) fn sorted(kind: SectionKind, entries: Vec<Owned>) -> Vec<Owned> {
    let mut entries: Vec<Owned> = entries.into_iter().map(|e| e.normal(kind)).collect();
    entries.sort_by(|a, b| compare(kind, (&a.key, a.birth), (&b.key, b.birth)));
    entries.dedup_by(|a, b| a.key == b.key && a.birth == b.birth);
    entries
}

pub(super) fn section_id(kind: SectionKind) -> SectionId {
    match kind {
        SectionKind::Versions => SectionId::versions(GROUPING),
        SectionKind::Live => SectionId::live(GROUPING, INDEX),
        SectionKind::Kills => SectionId::kills(GROUPING, INDEX),
        SectionKind::Past => SectionId::past(GROUPING, INDEX),
    }
}

pub(super) fn meta(start: u64, end: u64) -> RunMeta {
    RunMeta {
        log_id: *b"sixteen bytes id",
        generation: 0,
        start: Height(start),
        end: Height(end),
        end_offset: 4096 + 100 * end,
        end_chain: end * 7,
        end_time: Timestamp(end * 11),
    }
}

pub(super) fn push(writer: &mut RunWriter, kind: SectionKind, e: &Owned) {
    match kind {
        SectionKind::Versions => writer.push_version(&e.key, e.birth, e.kind, e.position, &e.births),
        SectionKind::Live => writer.push_live(&e.key, e.birth, &e.unit, e.version, e.position),
        SectionKind::Kills => writer.push_kill(&e.key, e.birth, e.end),
        SectionKind::Past => writer.push_past(&e.key, e.birth, e.end, &e.unit, e.version, e.position),
    }
    .unwrap();
}

/// Writes a run of these sections, whose entries are sorted.
pub(super) fn write(
    storage: &Memory,
    path: &str,
    meta: RunMeta,
    marks: &[Mark],
    sections: &[(SectionId, Vec<Owned>)],
) -> Arc<Run> {
    let mut writer = RunWriter::create(storage, Path::new(path), meta).unwrap();
    for &mark in marks {
        writer.push_mark(mark).unwrap();
    }
    for (id, entries) in sections {
        writer.begin_section(*id).unwrap();
        for entry in entries {
            push(&mut writer, id.kind, entry);
        }
    }
    let summary = writer.finish().unwrap();
    let run = storage.run(path);
    assert_eq!(summary.meta, *run.meta());
    assert_eq!(summary.counts, *run.counts());
    assert_eq!(summary.bytes, run.bytes());
    verify(&run).unwrap();
    run
}

/// Reads and checks every byte of a run.
pub(super) fn verify(run: &Arc<Run>) -> crate::Result<()> {
    run.marks()?;
    for section in run.sections() {
        let record = *section.record();
        for page in 0..record.filter_pages() as usize {
            if !section.page_passes(page) {
                return Err(run.damaged(record.filter_at as usize, "a page of a filter does not fit its checksum"));
            }
        }
        let mut cursor = run.cursor(section);
        cursor.seek_first()?;
        let mut entries = 0;
        while cursor.valid() {
            entries += 1;
            cursor.next()?;
        }
        if entries != record.entries {
            return Err(run.damaged(record.blocks_at as usize, "a section has another number of entries"));
        }
    }
    Ok(())
}

/// The entry at which a cursor stands.
pub(super) fn at(cursor: &Cursor) -> Option<Owned> {
    cursor.valid().then(|| {
        let kind = cursor.id().kind;
        let (height, place, position) = cursor.version();
        let entry = cursor.entry();
        assert_eq!(entry.key, cursor.key());
        assert_eq!(entry.births.collect::<Vec<_>>(), cursor.births_of_any());
        if kind == SectionKind::Versions {
            assert_eq!(cursor.unit_key(), cursor.key());
        }
        Owned {
            key: cursor.key().to_vec(),
            birth: cursor.birth(),
            unit: entry.unit.to_vec(),
            version: Birth::new(height, place),
            position,
            end: cursor.end(),
            kind: cursor.kind(),
            births: cursor.births_of_any(),
        }
    })
}

impl Cursor {
    fn births_of_any(&self) -> Vec<(IndexId, Birth)> {
        if self.id().kind == SectionKind::Versions { self.births().collect() } else { Vec::new() }
    }
}

/// All entries of a section.
pub(super) fn all(run: &Arc<Run>, id: SectionId) -> Vec<Owned> {
    let Some(section) = run.section(id) else {
        return Vec::new();
    };
    let mut cursor = run.cursor(section);
    cursor.seek_first().unwrap();
    let mut entries = Vec::new();
    while let Some(entry) = at(&cursor) {
        entries.push(entry);
        cursor.next().unwrap();
    }
    assert_eq!(entries.len() as u64, section.record().entries);
    entries
}
