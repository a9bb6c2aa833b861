//! The way of a read: from a unit key to its content.

use std::sync::Arc;

use super::catalog::{GroupingEntry, IndexEntry};
use super::{Access, Shared};
use crate::error::{Error, Result};
use crate::log::Log;
use crate::types::{Birth, Height, Position, VersionKind};
use crate::unit::Unit;

impl Shared {
    /// A unit as it was at `at`.
    pub(crate) fn get(&self, grouping: &str, key: &[u8], at: Height) -> Result<Option<Unit>> {
        let Some(grouping) = self.catalog.read().grouping(grouping) else {
            return Ok(None);
        };
        let Some(version) = self.view().unit(&grouping, key, at)? else {
            return Ok(None);
        };
        let mut unit = Unit {
            key: key.to_vec(),
            height: version.birth.height,
            kind: version.kind,
            content: Vec::new(),
            index_key: Vec::new(),
            birth: version.birth,
        };
        self.read_content(version.position, &mut unit)?;
        Ok(Some(unit))
    }

    /// Reads kind and content of the version at `position`, which must be of the unit with `unit.key`.
    pub(crate) fn read_content(&self, position: Position, unit: &mut Unit) -> Result<()> {
        let body = self.log.read_body(position)?;
        self.check_leads_to(position, body.key() == unit.key)?;
        unit.kind = body.kind();
        unit.content = body.content().to_vec();
        Ok(())
    }

    /// Gives the content of the version at `position`, which must be of the unit with this key, to `visit`.
    pub(crate) fn visit_content<T>(&self, position: Position, key: &[u8], visit: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let body = self.log.read_body(position)?;
        self.check_leads_to(position, body.key() == key)?;
        Ok(visit(body.content()))
    }

    fn check_leads_to(&self, position: Position, unit: bool) -> Result<()> {
        if unit {
            return Ok(());
        }
        Err(Error::Damaged {
            path: self.path.clone(),
            offset: position.offset(),
            what: "an index leads to another unit here; remove the .idx directory to have it made again".to_owned(),
        })
    }

    /// A grouping, with what can be known of its indexes. A follower that cannot look into the manifest says what it knew.
    pub(crate) fn grouping_with_indexes(&self, name: &str) -> Option<Arc<GroupingEntry>> {
        let entry = self.catalog.read().grouping(name)?;
        let is_filling = entry.indexes.iter().any(|index| !index.filled && index.dropped.is_none());
        if is_filling && matches!(self.access, Access::Follow) && self.take_up_manifest().is_ok() {
            return self.catalog.read().grouping(name);
        }
        Some(entry)
    }

    /// The grouping and, by name, its index, for a read at `at`. The flag says whether the index can be used there.
    pub(crate) fn index_for_read(
        &self,
        grouping: &Arc<GroupingEntry>,
        name: &str,
        at: Height,
    ) -> Result<(Arc<GroupingEntry>, IndexEntry, bool)> {
        let find = |grouping: &Arc<GroupingEntry>| {
            let index = grouping.index(name).cloned();
            index.ok_or_else(|| Error::IndexMissing { grouping: grouping.name.clone(), index: name.to_owned() })
        };
        let index = find(grouping)?;
        if index.is_readable_at(at) {
            return Ok((Arc::clone(grouping), index, true));
        }
        if matches!(self.access, Access::Follow) && !index.filled {
            self.take_up_manifest()?;
            if let Some(renewed) = self.catalog.read().by_id(grouping.id) {
                let index = find(&renewed)?;
                let readable = index.is_readable_at(at);
                return Ok((renewed, index, readable));
            }
        }
        Ok((Arc::clone(grouping), index, false))
    }

    /// A unit that a scan found, with its content.
    pub(crate) fn unit_of(
        &self,
        key: &[u8],
        version: (Birth, Position),
        entry: Option<(&[u8], Birth)>,
        keys_only: bool,
    ) -> Result<Unit> {
        let (index_key, birth) = entry.unwrap_or((&[], version.0));
        let mut unit = Unit {
            key: key.to_vec(),
            height: version.0.height,
            kind: VersionKind::Json,
            content: Vec::new(),
            index_key: index_key.to_vec(),
            birth,
        };
        let body_kind = if keys_only {
            self.log.read_body(version.1)?.kind()
        } else {
            self.read_content(version.1, &mut unit)?;
            unit.kind
        };
        unit.kind = body_kind;
        Ok(unit)
    }
}
