//! Looking at all of a run: whether its parts are what was written, and say of each other what is so.
//!
//! Reading trusts the directory's counts, the block index and the filters, since each was checked against its CRC. Here
//! they are compared with the entries themselves: a filter must let every key through, the block index must lead to the
//! first entry of every block, counts and heights must be those of the entries.

use std::sync::Arc;

use super::file::HEADER;
use super::{Cursor, Run, SectionId, filter, key_hash};
use crate::error::{Error, Result};
use crate::types::Birth;

/// Something that is wrong with a run.
pub struct RunFault {
    /// The section that it is in; its entries are not to be trusted.
    pub section: Option<SectionId>,
    /// Where in the file.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

impl Run {
    /// Looks at all of the run, section by section, and tells what is wrong. `step` is told the bytes done.
    pub fn inspect(self: &Arc<Self>, step: &mut dyn FnMut(u64), found: &mut dyn FnMut(RunFault)) {
        if let Err(error) = self.marks() {
            found(fault(None, &error));
        }
        self.inspect_seams(found);
        let mut totals = [0; 4];
        for section in self.sections() {
            let id = section.id();
            totals[id.kind as usize] += section.record().entries;
            let mut wrong = |offset: u64, what: String| found(RunFault { section: Some(id), offset, what });
            for page in 0..section.record().filter_pages() as usize {
                if !section.page_passes(page) {
                    let at = section.record().filter_at;
                    wrong(at, format!("page {page} of a filter does not fit its checksum"));
                }
            }
            let mut cursor = self.cursor(section);
            if let Err(error) = inspect_entries(&mut cursor, self, &mut wrong) {
                found(fault(Some(id), &error));
            }
            step(section.record().index_at + section.record().index_len);
        }
        let counts = self.counts();
        if totals != [counts.versions, counts.live, counts.kills, counts.past] {
            let what = "the footer's counts are not those of the sections".to_owned();
            found(RunFault { section: None, offset: self.bytes(), what });
        }
    }

    /// Whether the parts lie one behind another, with nothing but zeroes between them.
    fn inspect_seams(&self, found: &mut dyn FnMut(RunFault)) {
        let mut at = self.marks_end();
        let mut seam = |from: u64, to: u64| {
            let between = self.file().get(from as usize..to as usize);
            if between.is_none_or(|bytes| bytes.len() >= filter::LINE || bytes.iter().any(|byte| *byte != 0)) {
                let what = "bytes that belong to no part are not zero, or too many".to_owned();
                found(RunFault { section: None, offset: from, what });
            }
        };
        seam(HEADER as u64 - 4, HEADER as u64);
        for section in self.sections() {
            let record = section.record();
            seam(at, record.blocks_at);
            at = record.index_at + record.index_len;
            if record.filter_lines > 0 {
                seam(at, record.filter_at);
                at = record.filter_at + record.filter_lines * filter::LINE as u64 + 4 * record.filter_pages();
            }
        }
        seam(at, self.directory_at());
    }
}

fn fault(section: Option<SectionId>, error: &Error) -> RunFault {
    match error {
        Error::Damaged { offset, what, .. } => RunFault { section, offset: *offset, what: what.clone() },
        other => RunFault { section, offset: 0, what: other.to_string() },
    }
}

/// Walks over the entries of a section; an error is damage that ends the walk.
fn inspect_entries(cursor: &mut Cursor, run: &Arc<Run>, wrong: &mut dyn FnMut(u64, String)) -> Result<()> {
    let id = cursor.id();
    let Some(section) = run.section(id) else {
        unreachable!("the cursor stands in this section");
    };
    let record = *section.record();
    let mut by_index = run.cursor(section);
    let (mut entries, mut keys) = (0_u64, 0_u64);
    let (mut lowest, mut highest) = (u64::MAX, 0);
    let mut last: Option<(Vec<u8>, Birth)> = None;
    let mut block = None;
    cursor.seek_first()?;
    while cursor.valid() {
        let (key, birth) = (cursor.key(), cursor.birth());
        entries += 1;
        lowest = lowest.min(birth.height.0);
        highest = highest.max(birth.height.max(cursor.end()).0);
        let same_key = last.as_ref().is_some_and(|(before, _)| before == key);
        if let Some((before, born)) = &last
            && id.kind.compare((before, *born), (key, birth)).is_ge()
        {
            wrong(cursor.offset(), format!("an entry of birth {} is out of order", birth.height));
        }
        if !same_key {
            keys += 1;
            if !section.may_contain(key_hash(key)) {
                wrong(record.filter_at, "the filter does not know a key that is there".to_owned());
            }
        }
        if block != Some(cursor.offset()) {
            block = Some(cursor.offset());
            by_index.seek(key, birth)?;
            if !by_index.valid() || (by_index.key(), by_index.birth()) != (key, birth) {
                wrong(cursor.offset(), "the block index does not lead to the first entry of this block".to_owned());
            }
        }
        let room = last.get_or_insert_with(|| (Vec::new(), birth));
        room.0.clear();
        room.0.extend_from_slice(key);
        room.1 = birth;
        cursor.next()?;
    }
    let said = (record.entries, record.distinct_keys, record.lowest_height, record.highest_height);
    if said != (entries, keys, lowest, highest) {
        wrong(
            record.index_at,
            format!(
                "the directory says {} entries of {} keys, heights {} to {}; there are {entries} of {keys}, {lowest} to \
                 {highest}",
                said.0, said.1, said.2, said.3
            ),
        );
    }
    Ok(())
}
