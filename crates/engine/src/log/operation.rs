//! Operations: what a commit does, one after another.
//!
//! A put or delete names the version that it replaces, with that version's place in the log and the births of its index
//! entries. So replaying a log looks nothing up: the old keys are read from the previous body.

use std::iter::FusedIterator;

use super::body::{MAX_BODY_BYTES, SALT_BYTES};
use super::fault::Fault;
use super::head::{take, take_name};
use crate::limits;
use crate::types::{Birth, GroupingId, Height, IndexId, Position, VersionKind};
use crate::varint;

pub(super) const PUT: u8 = 1;
pub(super) const DELETE: u8 = 2;
pub(super) const DEFINE_GROUPING: u8 = 16;
pub(super) const DEFINE_INDEX: u8 = 17;
pub(super) const DROP_INDEX: u8 = 18;
pub(super) const CLEAR_GROUPING: u8 = 19;

pub(super) const FLAG_RAW: u8 = 0b001;
pub(super) const FLAG_PREVIOUS: u8 = 0b010;
pub(super) const FLAG_BIRTHS: u8 = 0b100;

/// Bytes of an index definition.
pub(crate) const DEFINITION_BYTES: usize = 64 << 10;

/// The version that a put or delete replaces. `B` is what holds its births.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Previous<B> {
    /// Its height, below that of the commit.
    pub height: Height,
    /// Its place in its commit.
    pub place: u32,
    /// Where its body is.
    pub position: Position,
    /// The births of its keys, for each index in which one is older than the version: as many as it has keys there, in
    /// the order of the keys.
    pub births: B,
}

/// One operation of a frame.
#[derive(Clone, Debug)]
pub(crate) enum Operation<'a> {
    /// A unit has a new version: a put, or with [`VersionKind::Deleted`] a delete.
    Version(NewVersion<'a>),
    /// A grouping came to be.
    DefineGrouping { id: GroupingId, name: &'a str },
    /// An index came to be.
    DefineIndex { grouping: GroupingId, index: IndexId, definition: &'a [u8] },
    /// An index is no longer used.
    DropIndex { grouping: GroupingId, index: IndexId },
    /// Every unit of a grouping was deleted.
    ClearGrouping { grouping: GroupingId },
}

/// A put or a delete.
#[derive(Clone, Debug)]
pub(crate) struct NewVersion<'a> {
    /// The operation's place in its commit.
    pub place: u32,
    /// The grouping of the unit.
    pub grouping: GroupingId,
    /// What the version is.
    pub kind: VersionKind,
    /// The unit key.
    pub key: &'a [u8],
    /// The content; of a deletion, nothing.
    pub content: &'a [u8],
    /// The body's salt.
    pub salt: &'a [u8; SALT_BYTES],
    /// Where the body is.
    pub position: Position,
    /// The version that this one replaces, if there was one.
    pub previous: Option<Previous<Births<'a>>>,
}

/// The births of a previous version, read as they are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Births<'a> {
    bytes: &'a [u8],
    left: u32,
}

impl<'a> Births<'a> {
    /// Takes a count and as many births from the front of `rest`, each below the height `end`.
    fn take(rest: &mut &'a [u8], end: Height) -> Option<Births<'a>> {
        let left = varint::get_u32(rest).filter(|count| (1..=limits::INDEXES_PER_GROUPING as u32).contains(count))?;
        let bytes = *rest;
        for _ in 0..left {
            let (_, birth) = birth(rest)?;
            if birth.height >= end {
                return None;
            }
        }
        let bytes = &bytes[..bytes.len() - rest.len()];
        Some(Births { bytes, left })
    }
}

fn birth(rest: &mut &[u8]) -> Option<(IndexId, Birth)> {
    let index = varint::get_u32(rest)?;
    let height = varint::get(rest)?;
    let place = varint::get_u32(rest)?;
    Some((IndexId(index), Birth::new(Height(height), place)))
}

impl Iterator for Births<'_> {
    type Item = (IndexId, Birth);

    fn next(&mut self) -> Option<(IndexId, Birth)> {
        self.left = self.left.checked_sub(1)?;
        birth(&mut self.bytes)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Births<'_> {}
impl FusedIterator for Births<'_> {}

/// An operation as its header gives it; a version's key and content are in its body.
#[derive(Clone, Debug)]
pub(super) enum Header<'a> {
    Version {
        grouping: GroupingId,
        kind: VersionKind,
        /// Bytes of the body after its `back`.
        body_rest: usize,
        previous: Option<Previous<Births<'a>>>,
    },
    Other(Operation<'a>),
}

/// Takes the header of operation `place` of the commit at `height` from the front of `rest`.
pub(super) fn take_header<'a>(rest: &mut &'a [u8], place: u32, height: Height) -> Result<Header<'a>, Fault> {
    let field = |what| Fault::OperationField { place, what };
    let kind = take(rest, 1).ok_or(field("kind"))?[0];
    let grouping = |rest: &mut &'a [u8]| {
        let id = varint::get_u32(rest).filter(|id| *id > 0);
        id.map(GroupingId).ok_or(field("grouping"))
    };
    let index = |rest: &mut &'a [u8]| {
        let id = varint::get_u32(rest).filter(|id| *id > 0);
        id.map(IndexId).ok_or(field("index"))
    };
    Ok(Header::Other(match kind {
        PUT | DELETE => {
            let flags = take(rest, 1).ok_or(field("flags"))?[0];
            let known = FLAG_PREVIOUS | FLAG_BIRTHS | if kind == PUT { FLAG_RAW } else { 0 };
            if flags & !known != 0 || flags & (FLAG_PREVIOUS | FLAG_BIRTHS) == FLAG_BIRTHS {
                return Err(field("flags"));
            }
            let grouping = grouping(rest)?;
            let body_rest =
                varint::get(rest).filter(|len| *len <= MAX_BODY_BYTES as u64).ok_or(field("body length"))? as usize;
            let previous = if flags & FLAG_PREVIOUS == 0 {
                None
            } else {
                Some(take_previous(rest, height, flags).ok_or(field("previous version"))?)
            };
            let kind = match kind {
                DELETE => VersionKind::Deleted,
                _ if flags & FLAG_RAW != 0 => VersionKind::Raw,
                _ => VersionKind::Json,
            };
            return Ok(Header::Version { grouping, kind, body_rest, previous });
        }
        DEFINE_GROUPING => {
            Operation::DefineGrouping { id: grouping(rest)?, name: take_name(rest).ok_or(field("name"))? }
        }
        DEFINE_INDEX => {
            let grouping = grouping(rest)?;
            let index = index(rest)?;
            let definition = varint::get(rest)
                .filter(|len| *len <= DEFINITION_BYTES as u64)
                .and_then(|len| take(rest, len as usize))
                .ok_or(field("definition"))?;
            Operation::DefineIndex { grouping, index, definition }
        }
        DROP_INDEX => Operation::DropIndex { grouping: grouping(rest)?, index: index(rest)? },
        CLEAR_GROUPING => Operation::ClearGrouping { grouping: grouping(rest)? },
        kind => return Err(Fault::OperationKind { place, kind }),
    }))
}

fn take_previous<'a>(rest: &mut &'a [u8], height: Height, flags: u8) -> Option<Previous<Births<'a>>> {
    let back = varint::get(rest).filter(|back| (1..height.0).contains(back))?;
    let previous = Height(height.0 - back);
    let position = Position::from_bits(varint::get(rest)?);
    let place = varint::get_u32(rest)?;
    let births = if flags & FLAG_BIRTHS == 0 { Births::default() } else { Births::take(rest, height)? };
    Some(Previous { height: previous, place, position, births })
}
