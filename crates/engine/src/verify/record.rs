//! The records that are sorted: what the log says, so that bytes order like sections of runs.
//!
//! | record | key | value |
//! |---|---|---|
//! | version | grouping, unit key, birth descending | kind, position, births, the version before as the frame names it |
//! | event | grouping, index, index key, birth, live or kill | live: the version's position, the unit key; kill: the end |

use crate::types::{Birth, GroupingId, Height, IndexId, Position, VersionKind};
use crate::varint;

/// A list of births, as versions and frames have it.
pub(super) type Births = Vec<(IndexId, Birth)>;

/// A version, as the log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) kind: VersionKind,
    pub(super) position: Position,
    pub(super) births: Births,
    pub(super) previous: Option<Previous>,
}

/// The version before, as a frame names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Previous {
    pub(super) birth: Birth,
    pub(super) position: Position,
    pub(super) births: Births,
}

/// What happened to an index entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    Live { position: Position, unit: &'a [u8] },
    Kill { end: Height },
}

/// Appends bytes so that their end orders before any longer bytes.
fn put_key(out: &mut Vec<u8>, key: &[u8]) {
    for byte in key {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

fn take_key(rest: &mut &[u8], key: &mut Vec<u8>) -> Option<()> {
    key.clear();
    loop {
        match rest.split_first()? {
            (0, after) if after.first() == Some(&0xff) => {
                key.push(0);
                *rest = &after[1..];
            }
            (0, after) => {
                *rest = after.get(1..)?;
                return Some(());
            }
            (byte, after) => {
                key.push(*byte);
                *rest = after;
            }
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

/// Puts the key of a version into `out`.
pub(super) fn version_key(out: &mut Vec<u8>, grouping: GroupingId, unit: &[u8], birth: Birth) {
    out.clear();
    out.extend_from_slice(&grouping.0.to_be_bytes());
    put_key(out, unit);
    out.extend_from_slice(&(!birth.height.0).to_be_bytes());
    out.extend_from_slice(&(!birth.place).to_be_bytes());
}

/// The grouping, unit key (into `unit`) and birth of a version's key.
pub(super) fn read_version_key(mut key: &[u8], unit: &mut Vec<u8>) -> Option<(GroupingId, Birth)> {
    let grouping = GroupingId(u32::from_be_bytes(take(&mut key)?));
    take_key(&mut key, unit)?;
    let height = Height(!u64::from_be_bytes(take(&mut key)?));
    Some((grouping, Birth::new(height, !u32::from_be_bytes(take(&mut key)?))))
}

/// Puts the key of an event into `out`.
pub(super) fn event_key(out: &mut Vec<u8>, grouping: GroupingId, index: IndexId, key: &[u8], birth: Birth, live: bool) {
    out.clear();
    out.extend_from_slice(&grouping.0.to_be_bytes());
    out.extend_from_slice(&index.0.to_be_bytes());
    put_key(out, key);
    out.extend_from_slice(&birth.height.0.to_be_bytes());
    out.extend_from_slice(&birth.place.to_be_bytes());
    out.push(u8::from(!live));
}

/// The grouping, index, index key (into `into`) and birth of an event's key.
pub(super) fn read_event_key(mut key: &[u8], into: &mut Vec<u8>) -> Option<(GroupingId, IndexId, Birth)> {
    let grouping = GroupingId(u32::from_be_bytes(take(&mut key)?));
    let index = IndexId(u32::from_be_bytes(take(&mut key)?));
    take_key(&mut key, into)?;
    let height = Height(u64::from_be_bytes(take(&mut key)?));
    Some((grouping, index, Birth::new(height, u32::from_be_bytes(take(&mut key)?))))
}

impl Event<'_> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        match self {
            Event::Live { position, unit } => {
                out.push(0);
                out.extend_from_slice(&position.to_bits().to_le_bytes());
                out.extend_from_slice(unit);
            }
            Event::Kill { end } => {
                out.push(1);
                varint::put(out, end.0);
            }
        }
    }

    pub(super) fn decode(value: &[u8]) -> Option<Event<'_>> {
        match value.split_first()? {
            (0, mut unit) => {
                let position = Position::from_bits(u64::from_le_bytes(take(&mut unit)?));
                Some(Event::Live { position, unit })
            }
            (_, mut end) => Some(Event::Kill { end: Height(varint::get(&mut end)?) }),
        }
    }
}

fn put_birth(out: &mut Vec<u8>, birth: Birth) {
    varint::put(out, birth.height.0);
    varint::put(out, u64::from(birth.place));
}

fn get_birth(rest: &mut &[u8]) -> Option<Birth> {
    Some(Birth::new(Height(varint::get(rest)?), varint::get_u32(rest)?))
}

fn put_births(out: &mut Vec<u8>, births: &[(IndexId, Birth)]) {
    varint::put(out, births.len() as u64);
    for (index, birth) in births {
        varint::put(out, u64::from(index.0));
        put_birth(out, *birth);
    }
}

fn get_births(rest: &mut &[u8]) -> Option<Births> {
    let count = varint::get(rest)?;
    (0..count).map(|_| Some((IndexId(varint::get_u32(rest)?), get_birth(rest)?))).collect()
}

impl Version {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(self.kind as u8);
        varint::put(out, self.position.to_bits());
        put_births(out, &self.births);
        if let Some(previous) = &self.previous {
            put_birth(out, previous.birth);
            varint::put(out, previous.position.to_bits());
            put_births(out, &previous.births);
        }
    }

    pub(super) fn decode(value: &[u8]) -> Option<Version> {
        let (kind, mut rest) = value.split_first()?;
        let kind = VersionKind::from_byte(*kind)?;
        let position = Position::from_bits(varint::get(&mut rest)?);
        let births = get_births(&mut rest)?;
        let previous = if rest.is_empty() {
            None
        } else {
            let birth = get_birth(&mut rest)?;
            let position = Position::from_bits(varint::get(&mut rest)?);
            Some(Previous { birth, position, births: get_births(&mut rest)? })
        };
        Some(Version { kind, position, births, previous })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_like_sections_and_come_back() {
        let keys: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"\0a", b"a", b"a\0"];
        let births = [Birth::new(Height(1), 0), Birth::new(Height(1), 3), Birth::new(Height(300), 0)];
        let (mut events, mut versions, mut out, mut key) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for wanted in keys {
            for birth in births {
                event_key(&mut out, GroupingId(2), IndexId(3), wanted, birth, true);
                assert_eq!(read_event_key(&out, &mut key), Some((GroupingId(2), IndexId(3), birth)));
                assert_eq!(key, wanted);
                events.push(out.clone());
            }
            for birth in births.iter().rev() {
                version_key(&mut out, GroupingId(2), wanted, *birth);
                assert_eq!(read_version_key(&out, &mut key), Some((GroupingId(2), *birth)));
                assert_eq!(key, wanted);
                versions.push(out.clone());
            }
        }
        assert!(events.is_sorted() && versions.is_sorted());
        let previous = Previous {
            birth: births[1],
            position: Position::new(1, 5),
            births: vec![(IndexId(1), births[0]), (IndexId(4), births[2])],
        };
        for previous in [None, Some(previous)] {
            let version =
                Version { kind: VersionKind::Raw, position: Position::new(0, 4096), births: Vec::new(), previous };
            version.encode(&mut out);
            assert_eq!(Version::decode(&out), Some(version));
        }
    }
}
