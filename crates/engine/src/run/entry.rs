//! What a run is made of: one event of an index, or one version of a unit.

use crate::types::{Birth, Height, IndexId, Position, VersionKind};
use crate::varint;

/// One event, as it is written and read. What a section's kind does not have is zero or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key: the unit key of a version, else the index key.
    pub key: &'a [u8],
    /// The birth; of a version, its own height and place.
    pub birth: Birth,
    /// Live, Past: the unit.
    pub unit: &'a [u8],
    /// Live, Past: the version that the hint leads to.
    pub version: Birth,
    /// Versions, Live, Past: where the version's body is.
    pub position: Position,
    /// Kills, Past: the height at which the entry ended.
    pub end: Height,
    /// Versions: what the version is.
    pub kind: VersionKind,
    /// Versions: the births that differ from the version's own.
    pub births: Births<'a>,
}

/// The births of a version's index entries where they differ from the version's own height and place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Births<'a> {
    bytes: &'a [u8],
    version: Height,
}

impl<'a> Births<'a> {
    /// Births in their stored form, after a check that it is well formed.
    pub(super) fn check(bytes: &'a [u8], version: Height) -> Option<Births<'a>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            decode_birth(&mut rest, version)?;
        }
        Some(Births { bytes, version })
    }

    pub(super) fn encoded(&self) -> &'a [u8] {
        self.bytes
    }

    /// Stored births, checked before.
    pub(super) fn checked(bytes: &'a [u8], version: Height) -> Births<'a> {
        Births { bytes, version }
    }
}

impl Iterator for Births<'_> {
    type Item = (IndexId, Birth);

    fn next(&mut self) -> Option<(IndexId, Birth)> {
        decode_birth(&mut self.bytes, self.version)
    }
}

/// Stores births; heights are stored as distances back from the version's.
pub(super) fn encode_births(out: &mut Vec<u8>, births: impl IntoIterator<Item = (IndexId, Birth)>, version: Height) {
    for (index, birth) in births {
        varint::put(out, u64::from(index.0));
        varint::put(out, version.0.wrapping_sub(birth.height.0));
        varint::put(out, u64::from(birth.place));
    }
}

fn decode_birth(bytes: &mut &[u8], version: Height) -> Option<(IndexId, Birth)> {
    let index = varint::get_u32(bytes)?;
    let height = version.0.wrapping_sub(varint::get(bytes)?);
    let place = varint::get_u32(bytes)?;
    Some((IndexId(index), Birth::new(Height(height), place)))
}
