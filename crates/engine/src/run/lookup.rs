//! The point look-up: a version of a unit, by the filter and a walk that copies no key.

use std::cmp::Ordering;

use super::block::{self, Previous};
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
        const KIND: SectionKind = SectionKind::Versions;
        assert_eq!(self.id().kind, KIND, "not a section of versions");
        let newest = Birth::new(at, u32::MAX);
        let mut place = self.find(unit_key, newest)?;
        loop {
            let file = self.run().file();
            let wrong = || self.run().damaged(place.parts.start(), "a block's entries cannot be decoded");
            let (start, end) = place.parts.interval(file, place.interval).ok_or_else(wrong)?;
            let mut input = &file[start..end];
            let mut previous = Previous::default();
            // The target is above all that was walked over, and has `matched` bytes in common with the last of it.
            let mut matched = 0;
            while !input.is_empty() {
                let head = block::decode_head(KIND, &mut input, &previous).ok_or_else(wrong)?;
                let mut order = Ordering::Less;
                if head.same_key() {
                    if matched == unit_key.len() && matched == previous.key_len {
                        order = Ordering::Equal;
                    }
                } else if head.key_shared < matched {
                    return Ok(None); // it left the target's beginning upwards
                } else if head.key_shared == matched {
                    let rest = &unit_key[matched..];
                    matched += shared_prefix(rest, head.key_rest);
                    order = head.key_rest.cmp(rest);
                }
                match order {
                    Ordering::Greater => return Ok(None),
                    Ordering::Equal if head.birth.height <= at => {
                        let tail = block::decode_tail(KIND, &mut input, &mut previous, &head).ok_or_else(wrong)?;
                        return Ok(Some(FoundVersion {
                            height: head.birth.height,
                            place: head.birth.place,
                            kind: tail.kind,
                            position: tail.position,
                            births: Births::checked(tail.births, head.birth.height).collect(),
                        }));
                    }
                    _ => {
                        block::decode_tail(KIND, &mut input, &mut previous, &head).ok_or_else(wrong)?;
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
