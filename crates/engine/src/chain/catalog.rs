//! What a chain knows of its groupings and indexes, with the heights from which it is so.
//!
//! The definitions are commits in the log. The catalog is their sum, and a copy of it stands in the manifest, so that
//! opening need not read the whole log. Because everything in it carries a height, a catalog that knows of later
//! commits than a frame that is being replayed still answers rightly for that frame.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::{IndexDefinition, KeyExtractor};
use crate::planted;
use crate::types::{GroupingId, Height, IndexId};
use crate::varint;

/// One index of one grouping.
#[derive(Clone, Debug)]
pub(crate) struct IndexEntry {
    pub(crate) id: IndexId,
    pub(crate) name: String,
    pub(crate) definition: IndexDefinition,
    /// The commit that defined it: later commits maintain it.
    pub(crate) since: Height,
    /// The commit that dropped it.
    pub(crate) dropped: Option<Height>,
    /// Whether the units that were there at `since` have their entries.
    pub(crate) filled: bool,
}

impl IndexEntry {
    /// Whether the commit at `height` adds to this index.
    pub(crate) fn is_maintained_at(&self, height: Height) -> bool {
        self.since < height && self.dropped.is_none_or(|dropped| height < dropped)
    }

    /// Whether a read at `height` can use this index.
    pub(crate) fn is_readable_at(&self, height: Height) -> bool {
        self.filled && self.since <= height && self.dropped.is_none()
    }
}

/// One grouping. Immutable: a change makes another one.
pub(crate) struct GroupingEntry {
    pub(crate) id: GroupingId,
    pub(crate) name: String,
    pub(crate) created: Height,
    /// The heights at which it was cleared, ascending.
    pub(crate) clears: Vec<Height>,
    /// All indexes that ever were, by id.
    pub(crate) indexes: Vec<IndexEntry>,
    /// Extracts the keys of the indexes that the next commit maintains.
    pub(crate) extractor: KeyExtractor,
}

impl GroupingEntry {
    pub(crate) fn new(
        id: GroupingId,
        name: String,
        created: Height,
        clears: Vec<Height>,
        indexes: Vec<IndexEntry>,
    ) -> Result<GroupingEntry> {
        let live = indexes.iter().filter(|index| index.dropped.is_none());
        let definitions: Vec<_> = live.map(|index| (index.id, index.definition.clone())).collect();
        let extractor = KeyExtractor::new(&definitions)?;
        Ok(GroupingEntry { id, name, created, clears, indexes, extractor })
    }

    /// The newest clear at or below `height`: what is older is not visible there.
    pub(crate) fn floor(&self, height: Height) -> Height {
        let above = self.clears.partition_point(|clear| *clear <= height);
        above.checked_sub(1).map_or(Height::ZERO, |at| self.clears[at])
    }

    /// Whether any index is maintained by commits now.
    pub(crate) fn has_indexes(&self) -> bool {
        self.indexes.iter().any(|index| index.dropped.is_none())
    }

    /// The index that has this name now.
    pub(crate) fn index(&self, name: &str) -> Option<&IndexEntry> {
        self.indexes.iter().find(|index| index.dropped.is_none() && index.name == name)
    }

    /// The index with this id.
    pub(crate) fn index_by_id(&self, id: IndexId) -> Option<&IndexEntry> {
        let at = self.indexes.binary_search_by_key(&id, |index| index.id).ok()?;
        Some(&self.indexes[at])
    }

    fn changed(&self, change: impl FnOnce(&mut Vec<Height>, &mut Vec<IndexEntry>)) -> Result<Arc<GroupingEntry>> {
        let (mut clears, mut indexes) = (self.clears.clone(), self.indexes.clone());
        change(&mut clears, &mut indexes);
        GroupingEntry::new(self.id, self.name.clone(), self.created, clears, indexes).map(Arc::new)
    }
}

/// All groupings of a chain.
#[derive(Default)]
pub(crate) struct Catalog {
    groupings: Vec<Arc<GroupingEntry>>,
    by_name: HashMap<String, GroupingId>,
    next_index: u32,
}

impl Catalog {
    /// The grouping with this name.
    pub(crate) fn grouping(&self, name: &str) -> Option<Arc<GroupingEntry>> {
        self.by_id(*self.by_name.get(name)?)
    }

    /// The grouping with this id.
    pub(crate) fn by_id(&self, id: GroupingId) -> Option<Arc<GroupingEntry>> {
        self.groupings.get((id.0 as usize).checked_sub(1)?).cloned()
    }

    /// All groupings, by id.
    pub(crate) fn groupings(&self) -> &[Arc<GroupingEntry>] {
        &self.groupings
    }

    /// The id of the next grouping to be defined.
    pub(crate) fn next_grouping(&self) -> GroupingId {
        GroupingId(self.groupings.len() as u32 + 1)
    }

    /// The id of the next index to be defined.
    pub(crate) fn next_index(&self) -> IndexId {
        IndexId(self.next_index + 1)
    }

    /// A grouping was defined. Known ones are left alone, since a replay may tell what the manifest told already.
    pub(crate) fn define_grouping(&mut self, id: GroupingId, name: &str, at: Height) -> Result<()> {
        if self.by_id(id).is_some() {
            return Ok(());
        }
        if id != self.next_grouping() || self.by_name.contains_key(name) {
            return Err(Error::Invalid(format!("grouping {name:?} cannot have number {}", id.0)));
        }
        self.by_name.insert(name.to_owned(), id);
        let entry = GroupingEntry::new(id, name.to_owned(), at, Vec::new(), Vec::new())?;
        self.groupings.push(Arc::new(entry));
        Ok(())
    }

    /// An index was defined. One that came to be with its grouping has nothing to be filled with.
    pub(crate) fn define_index(&mut self, grouping: GroupingId, mut index: IndexEntry) -> Result<()> {
        self.next_index = self.next_index.max(index.id.0);
        index.filled |= self.by_id(grouping).is_some_and(|grouping| grouping.created == index.since);
        self.change(grouping, |_, indexes| {
            if let Err(at) = indexes.binary_search_by_key(&index.id, |known| known.id) {
                indexes.insert(at, index);
            }
        })
    }

    /// An index was dropped.
    pub(crate) fn drop_index(&mut self, grouping: GroupingId, id: IndexId, at: Height) -> Result<()> {
        self.change_index(grouping, id, |index| index.dropped = Some(at))
    }

    /// An index got the entries of the units that were there.
    pub(crate) fn index_filled(&mut self, id: IndexId) -> Result<()> {
        let has_it = |grouping: &&Arc<GroupingEntry>| grouping.index_by_id(id).is_some_and(|index| !index.filled);
        match self.groupings.iter().find(has_it).map(|grouping| grouping.id) {
            Some(grouping) => self.change_index(grouping, id, |index| index.filled = true),
            None => Ok(()),
        }
    }

    /// Says so of an index, if it is the one that was defined at `since`.
    pub(crate) fn index_filled_if(&mut self, id: IndexId, since: Height) -> Result<()> {
        let same = |grouping: &Arc<GroupingEntry>| grouping.index_by_id(id).is_some_and(|index| index.since == since);
        if self.groupings.iter().any(same) { self.index_filled(id) } else { Ok(()) }
    }

    /// The filled indexes, with the heights of their definitions.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (IndexId, Height)> {
        let indexes = self.groupings.iter().flat_map(|grouping| &grouping.indexes);
        indexes.filter(|index| index.filled).map(|index| (index.id, index.since))
    }

    /// The catalog as it was after the commit at `height`; which indexes are filled is another question.
    pub(crate) fn up_to(&self, height: Height) -> Result<Catalog> {
        let mut catalog = Catalog::default();
        for grouping in self.groupings.iter().filter(|grouping| grouping.created <= height) {
            let clears = grouping.clears.iter().copied().filter(|clear| *clear <= height).collect();
            let mut indexes = grouping.indexes.clone();
            indexes.retain(|index| index.since <= height);
            for index in &mut indexes {
                index.dropped = index.dropped.filter(|dropped| *dropped <= height);
                if planted::is(planted::Fault::DropForgotten) {
                    index.dropped = None;
                }
                index.filled = index.since == grouping.created;
                catalog.next_index = catalog.next_index.max(index.id.0);
            }
            let entry = GroupingEntry::new(grouping.id, grouping.name.clone(), grouping.created, clears, indexes)?;
            catalog.by_name.insert(grouping.name.clone(), grouping.id);
            catalog.groupings.push(Arc::new(entry));
        }
        Ok(catalog)
    }

    /// The newest height that anything in it happened at.
    pub(crate) fn newest_height(&self) -> Height {
        let indexes = self.groupings.iter().flat_map(|grouping| &grouping.indexes);
        let of_indexes = indexes.flat_map(|index| [Some(index.since), index.dropped]).flatten();
        let of_groupings =
            self.groupings.iter().flat_map(|grouping| [Some(grouping.created), grouping.clears.last().copied()]);
        of_indexes.chain(of_groupings.flatten()).max().unwrap_or_default()
    }

    /// A grouping was cleared.
    pub(crate) fn clear(&mut self, grouping: GroupingId, at: Height) -> Result<()> {
        self.change(grouping, |clears, _| {
            if clears.last().is_none_or(|last| *last < at) {
                clears.push(at);
            }
        })
    }

    fn change_index(&mut self, grouping: GroupingId, id: IndexId, change: impl FnOnce(&mut IndexEntry)) -> Result<()> {
        self.change(grouping, |_, indexes| {
            if let Ok(at) = indexes.binary_search_by_key(&id, |index| index.id) {
                change(&mut indexes[at]);
            }
        })
    }

    fn change(
        &mut self,
        grouping: GroupingId,
        change: impl FnOnce(&mut Vec<Height>, &mut Vec<IndexEntry>),
    ) -> Result<()> {
        let at = (grouping.0 as usize).wrapping_sub(1);
        let entry = self
            .groupings
            .get_mut(at)
            .ok_or_else(|| Error::Invalid(format!("there is no grouping number {}", grouping.0)))?;
        *entry = entry.changed(change)?;
        Ok(())
    }

    /// The bytes that the manifest keeps.
    ///
    /// Version 1, then, as varints unless said otherwise: the newest index id, the count of groupings, and for each
    /// (ids from 1) its name, creation height, clears, and indexes: id, name, definition, height, drop height (0: none),
    /// filled (0 or 1). Lists and byte strings begin with their length.
    ///
    /// `filled` is an index that is filled as soon as these bytes count.
    pub(crate) fn encode(&self, filled: Option<IndexId>) -> Vec<u8> {
        let mut out = vec![CATALOG_VERSION];
        varint::put(&mut out, u64::from(self.next_index));
        varint::put(&mut out, self.groupings.len() as u64);
        for grouping in &self.groupings {
            put_bytes(&mut out, grouping.name.as_bytes());
            varint::put(&mut out, grouping.created.0);
            varint::put(&mut out, grouping.clears.len() as u64);
            for clear in &grouping.clears {
                varint::put(&mut out, clear.0);
            }
            varint::put(&mut out, grouping.indexes.len() as u64);
            for index in &grouping.indexes {
                varint::put(&mut out, u64::from(index.id.0));
                put_bytes(&mut out, index.name.as_bytes());
                put_bytes(&mut out, &index.definition.encode());
                varint::put(&mut out, index.since.0);
                varint::put(&mut out, index.dropped.map_or(0, |height| height.0));
                varint::put(&mut out, u64::from(index.filled || filled == Some(index.id)));
            }
        }
        out
    }

    /// The catalog of [`Catalog::encode`]; no bytes are the empty catalog.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Catalog> {
        if bytes.is_empty() {
            return Ok(Catalog::default());
        }
        decode(bytes).ok_or_else(|| Error::Invalid("the manifest's catalog cannot be read".to_owned()))
    }
}

/// Whether the bytes are those of a catalog, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn decode_catalog(bytes: &[u8]) -> bool {
    let Ok(catalog) = Catalog::decode(bytes) else {
        return false;
    };
    let again = Catalog::decode(&catalog.encode(None));
    assert!(again.is_ok_and(|again| again.encode(None) == catalog.encode(None)), "it can be written and read again");
    true
}

const CATALOG_VERSION: u8 = 1;

fn decode(bytes: &[u8]) -> Option<Catalog> {
    let (version, mut rest) = bytes.split_first()?;
    if *version != CATALOG_VERSION {
        return None;
    }
    let input = &mut rest;
    let mut catalog = Catalog { next_index: get_u32(input)?, ..Catalog::default() };
    for id in 1..=varint::get(input)? {
        let name = get_text(input)?;
        let created = Height(varint::get(input)?);
        let mut clears = Vec::new();
        for _ in 0..varint::get(input)? {
            clears.push(Height(varint::get(input)?));
        }
        let mut indexes = Vec::new();
        for _ in 0..varint::get(input)? {
            indexes.push(IndexEntry {
                id: IndexId(get_u32(input)?),
                name: get_text(input)?,
                definition: IndexDefinition::decode(get_bytes(input)?).ok()?,
                since: Height(varint::get(input)?),
                dropped: Some(Height(varint::get(input)?)).filter(|height| *height != Height::ZERO),
                filled: varint::get(input)? == 1,
            });
        }
        let id = GroupingId(u32::try_from(id).ok()?);
        catalog.by_name.insert(name.clone(), id);
        catalog.groupings.push(Arc::new(GroupingEntry::new(id, name, created, clears, indexes).ok()?));
    }
    input.is_empty().then_some(catalog)
}

/// What the log keeps of an index's definition: the name (its length, its bytes), then the definition's own form.
pub(crate) fn encode_definition(name: &str, definition: &IndexDefinition) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, name.as_bytes());
    out.extend_from_slice(&definition.encode());
    out
}

/// The name and definition of [`encode_definition`].
pub(crate) fn decode_definition(mut bytes: &[u8]) -> Result<(String, IndexDefinition)> {
    let name = get_text(&mut bytes);
    let name = name.ok_or_else(|| Error::Invalid("an index's definition in the log has no name".to_owned()))?;
    Ok((name, IndexDefinition::decode(bytes)?))
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    varint::put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn get_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(varint::get(input)?).ok()?;
    let (bytes, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(bytes)
}

fn get_text(input: &mut &[u8]) -> Option<String> {
    String::from_utf8(get_bytes(input)?.to_vec()).ok()
}

fn get_u32(input: &mut &[u8]) -> Option<u32> {
    u32::try_from(varint::get(input)?).ok()
}
