//! The point look-up: a version of a unit, by the filter and a walk that copies no key.

use std::cmp::Ordering;

use super::block::{self, Previous, Tail};
use super::number::shared_prefix;
use super::{Births, Run, Section, SectionId, SectionKind};
use crate::error::Result;
use crate::types::{Birth, GroupingId, Height, IndexId, Position, VersionKind};

/// A version that was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundVersion {
    /// The version's height.
    pub height: Height,
    /// Its place in its commit.
    pub place: u32,
    /// What it is.
    pub kind: VersionKind,
    /// Where its body is in the log.
    pub position: Position,
    /// The births of its index entries that differ from its own height and place.
    pub births: Vec<(IndexId, Birth)>,
}

impl Run {
    /// The newest version of a unit whose height is at most `at`. `hash` is the unit key's [hash](super::key_hash).
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn find_version(
        &self,
        grouping: GroupingId,
        unit_key: &[u8],
        hash: u64,
        at: Height,
    ) -> Result<Option<FoundVersion>> {
        match self.section(SectionId::versions(grouping)) {
            Some(versions) if versions.may_contain(hash) => versions.find_version(unit_key, at),
            _ => Ok(None),
        }
    }
}

impl Section<'_> {
    /// The newest version of a unit whose height is at most `at`, in a section of versions; asks no filter.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn find_version(&self, unit_key: &[u8], at: Height) -> Result<Option<FoundVersion>> {
        assert_eq!(self.id().kind, SectionKind::Versions, "not a section of versions");
        let found = self.first(unit_key, Birth::new(at, u32::MAX), |birth| birth.height <= at)?;
        Ok(found.map(|(birth, tail)| FoundVersion {
            height: birth.height,
            place: birth.place,
            kind: tail.kind,
            position: tail.position,
            births: Births::checked(tail.births, birth.height).collect(),
        }))
    }

    /// Whether an entry has this key; asks no filter.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn has_key(&self, key: &[u8]) -> Result<bool> {
        Ok(self.first(key, Birth::MIN, |_| true)?.is_some())
    }

    /// The first entry with this key, from `from` on in the order of the section, whose birth is wanted. The walk to it
    /// copies nothing.
    fn first(&self, key: &[u8], from: Birth, wanted: impl Fn(Birth) -> bool) -> Result<Option<(Birth, Tail<'_>)>> {
        let kind = self.id().kind;
        let mut place = self.find(key, from)?;
        loop {
            let file = self.run().file();
            let wrong = || self.run().damaged(place.parts.start(), "a block's entries cannot be decoded");
            let (start, end) = place.parts.interval(file, place.interval).ok_or_else(wrong)?;
            let mut input = &file[start..end];
            let mut previous = Previous::default();
            // The target is above all that was walked over, and has `matched` bytes in common with the last of it.
            let mut matched = 0;
            while !input.is_empty() {
                let head = block::decode_head(kind, &mut input, &previous).ok_or_else(wrong)?;
                let mut order = Ordering::Less;
                if head.same_key() {
                    if matched == key.len() && matched == previous.key_len {
                        order = Ordering::Equal;
                    }
                } else if head.key_shared < matched {
                    return Ok(None); // it left the target's beginning upwards
                } else if head.key_shared == matched {
                    let rest = &key[matched..];
                    matched += shared_prefix(rest, head.key_rest);
                    order = head.key_rest.cmp(rest);
                }
                match order {
                    Ordering::Greater => return Ok(None),
                    Ordering::Equal if wanted(head.birth) => {
                        let tail = block::decode_tail(kind, &mut input, &mut previous, &head).ok_or_else(wrong)?;
                        return Ok(Some((head.birth, tail)));
                    }
                    _ => {
                        block::decode_tail(kind, &mut input, &mut previous, &head).ok_or_else(wrong)?;
                    }
                }
            }
            // All of the interval is below the target: it is the first of the next one, or not here.
            place.interval += 1;
            if place.interval == place.parts.restarts() {
                place.block += 1;
                if place.block == self.record().blocks {
                    return Ok(None);
                }
                place.parts = self.block(place.block)?;
                place.interval = 0;
            }
        }
    }
}
