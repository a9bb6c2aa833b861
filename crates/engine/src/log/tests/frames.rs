//! Encoding and decoding frames, without a file.

use proptest::prelude::*;

use super::super::body::{Parts, SALT_BYTES};
use super::super::fault::Fault;
use super::super::head::{Envelope, FrameHead, FrameKind};
use super::super::header::LogHeader;
use super::*;
use crate::types::{Birth, IndexId};

fn header() -> LogHeader {
    LogHeader::new(LOG_ID, Timestamp(1_000))
}

fn head_of(frame: &[u8], offset: u64) -> FrameMeta {
    FrameHead::parse(frame, &Envelope::new(&header()), offset).unwrap().meta()
}

/// A frame with one of everything.
fn sample() -> (Vec<u8>, LogPoint, LogPoint) {
    let envelope = Envelope::new(&header());
    let before = LogPoint { height: Height(41), offset: 5_000, ..header().base() };
    let mut frame = FrameBuilder::new();
    frame
        .begin(&CommitMeta { durability: Durability::Sync, actor: Some("anna"), commit_id: Some([9; 16]), ..meta(42) })
        .unwrap();
    frame.define_grouping(GroupingId(2), "people").unwrap();
    frame.define_index(GroupingId(2), IndexId(3), b"by name").unwrap();
    frame.drop_index(GroupingId(2), IndexId(1)).unwrap();
    frame.clear_grouping(GroupingId(300)).unwrap();
    frame.put(GROUPING, VersionKind::Json, b"k1", b"{}", [1; 16], None).unwrap();
    // Two keys in the second index, of which one came with the version.
    let births = [
        (IndexId(1), Birth::new(Height(7), 2)),
        (IndexId(2), Birth::new(Height(40), 5)),
        (IndexId(2), Birth::new(Height(39), 0)),
    ];
    let previous = Previous { height: Height(40), place: 5, position: Position::new(0, 4_200), births: &births[..] };
    frame.put(GROUPING, VersionKind::Raw, b"k2", b"raw", [2; 16], Some(&previous)).unwrap();
    let previous = Previous { births: &births[..0], ..previous };
    frame.delete(GROUPING, b"k3", [3; 16], Some(&previous)).unwrap();
    let end = frame.seal(envelope, &before, Height(40));
    let have_bodies: Vec<u32> = (0..frame.count()).filter(|&place| frame.position(place).is_some()).collect();
    assert_eq!(have_bodies, [4, 5, 6]);
    (frame.bytes().to_vec(), before, end)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.chunks(16).fold(String::new(), |mut out, line| {
        for byte in line {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\n');
        out
    })
}

#[test]
fn the_bytes_of_a_frame_are_these() {
    let (bytes, _, end) = sample();
    assert_eq!(hex(&bytes), GOLDEN, "\n{}", hex(&bytes));
    assert_eq!(end.chain, 0xa654_1a98_7f1e_c8ad);
}

const GOLDEN: &str = "cd00000075000000f9e3b5fd010e2a00
0000000000001204000000000000b877
55a943f1847407020909090909090909
090909090909090904616e6e61100206
70656f706c65110203076279206e616d
6512020113ac02010001180107011902
e8200503010702022805022700020201
1602e82005a7783c9575010402020101
01010101010101010101010101016b31
7b7d2cb82ffd92010205020302020202
0202020202020202020202026b327261
77c7ddec6eb101000602000303030303
03030303030303030303036b33
";

#[test]
fn everything_in_a_frame_comes_back() {
    let (bytes, before, end) = sample();
    let frame = Frame::parse(&bytes, Envelope::new(&header()), &before).unwrap();
    assert_eq!(frame.end(), end);
    assert_eq!(frame.offset(), 5_000);
    assert_eq!(
        head_of(&bytes, before.offset),
        FrameMeta {
            kind: FrameKind::Commit,
            height: Height(42),
            time: Timestamp(1_042),
            durability: Durability::Sync,
            synced: Height(40),
            commit_id: Some([9; 16]),
            actor: Some("anna".to_owned()),
        }
    );
    let operations: Vec<_> = frame.operations().collect();
    assert!(matches!(operations[0], Operation::DefineGrouping { id: GroupingId(2), name: "people" }));
    assert!(matches!(
        operations[1],
        Operation::DefineIndex { grouping: GroupingId(2), index: IndexId(3), definition: b"by name" }
    ));
    assert!(matches!(operations[2], Operation::DropIndex { grouping: GroupingId(2), index: IndexId(1) }));
    assert!(matches!(operations[3], Operation::ClearGrouping { grouping: GroupingId(300) }));
    let versions: Vec<_> = operations[4..]
        .iter()
        .map(|operation| match operation {
            Operation::Version(version) => version,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(versions.len(), 3);
    let read = |i: usize| (versions[i].place, versions[i].kind, versions[i].key, versions[i].content);
    assert_eq!(read(0), (4, VersionKind::Json, &b"k1"[..], &b"{}"[..]));
    assert_eq!(read(1), (5, VersionKind::Raw, &b"k2"[..], &b"raw"[..]));
    assert_eq!(read(2), (6, VersionKind::Deleted, &b"k3"[..], &b""[..]));
    assert!(versions[0].previous.is_none());
    let previous = versions[1].previous.unwrap();
    assert_eq!((previous.height, previous.place), (Height(40), 5));
    assert_eq!(previous.position, Position::new(0, 4_200));
    let births: Vec<_> = previous.births.collect();
    let expected = [(1, 7, 2), (2, 40, 5), (2, 39, 0)];
    assert_eq!(births, expected.map(|(index, height, place)| (IndexId(index), Birth::new(Height(height), place))));
    assert_eq!(versions[2].previous.unwrap().births.count(), 0);
}

#[test]
fn a_commit_of_one_record_costs_at_most_64_bytes() {
    let mut frame = FrameBuilder::new();
    frame.begin(&meta(1)).unwrap();
    let (key, content) = ([b'k'; 20], [b'c'; 300]);
    frame.put(GROUPING, VersionKind::Raw, &key, &content, [0; 16], None).unwrap();
    frame.seal(Envelope::new(&header()), &header().base(), Height(0));
    let overhead = frame.bytes().len() - key.len() - content.len() - SALT_BYTES;
    assert_eq!(overhead, 55);
}

#[test]
fn no_flipped_bit_and_no_cut_passes_for_the_frame() {
    let (bytes, before, _) = sample();
    let envelope = Envelope::new(&header());
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Frame::parse(&flipped, envelope, &before).is_err(), "bit {bit}");
    }
    for len in 0..bytes.len() {
        let fault = Frame::parse(&bytes[..len], envelope, &before).unwrap_err();
        assert!(matches!(fault, Fault::Cut { .. }), "{len}: {fault}");
    }
}

#[test]
fn a_frame_elsewhere_or_after_another_is_refused() {
    let (bytes, before, _) = sample();
    let envelope = Envelope::new(&header());
    let parse = |envelope, before: LogPoint| Frame::parse(&bytes, envelope, &before).unwrap_err();
    let moved = LogPoint { offset: 5_001, ..before };
    assert_eq!(parse(envelope, moved), Fault::HeadChecksum);
    let mut other = header();
    other.generation = 1;
    assert_eq!(parse(Envelope::new(&other), before), Fault::HeadChecksum);
    other = LogHeader::new([0; 16], Timestamp(0));
    assert_eq!(parse(Envelope::new(&other), before), Fault::HeadChecksum);
    let gap = LogPoint { height: Height(40), ..before };
    assert!(matches!(parse(envelope, gap), Fault::Height { .. }));
    let late = LogPoint { time: Timestamp(1_043), ..before };
    assert!(matches!(parse(envelope, late), Fault::Time { .. }));
    let fork = LogPoint { chain: 1, ..before };
    assert_eq!(parse(envelope, fork), Fault::ChainValue);
}

/// Sets the checksum of a head that was tampered with, so that decoding goes on.
fn reseal(bytes: &mut [u8], offset: u64) {
    let head = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]) as usize;
    if (40..=bytes.len()).contains(&head) {
        let crc = Envelope::new(&header()).head_checksum(offset, &bytes[..head]);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    }
}

#[test]
fn limits_are_checked_before_anything_is_added() {
    let mut frame = FrameBuilder::new();
    frame.begin(&meta(1)).unwrap();
    let put = |frame: &mut FrameBuilder, key: usize, content: usize| {
        frame.put(GROUPING, VersionKind::Raw, &vec![0; key], &vec![0; content], [0; 16], None)
    };
    use crate::limits::{CONTENT_BYTES, UNIT_KEY_BYTES};
    assert!(put(&mut frame, UNIT_KEY_BYTES + 1, 0).is_err());
    assert!(put(&mut frame, 0, CONTENT_BYTES + 1).is_err());
    assert!(frame.define_grouping(GroupingId(1), "").is_err());
    assert!(frame.define_grouping(GroupingId(1), &"n".repeat(256)).is_err());
    assert_eq!(frame.count(), 0);
    for _ in 0..3 {
        put(&mut frame, 1, CONTENT_BYTES).unwrap();
    }
    let error = put(&mut frame, 1, CONTENT_BYTES).unwrap_err();
    assert!(matches!(error, crate::Error::TooLarge { what: "commit", .. }), "{error}");
    assert_eq!(frame.count(), 3);
    let end = frame.seal(Envelope::new(&header()), &header().base(), Height(0));
    let parsed = Frame::parse(frame.bytes(), Envelope::new(&header()), &header().base()).unwrap();
    assert_eq!(parsed.end(), end);
}

/// Height, place and offset of a version, and births as index, height and place.
type Replaced = (u64, u32, u64, Vec<(u32, u64, u32)>);

#[derive(Clone, Debug)]
struct Write {
    kind: VersionKind,
    grouping: u32,
    key: Vec<u8>,
    content: Vec<u8>,
    salt: [u8; 16],
    previous: Option<Replaced>,
}

const HEIGHT: u64 = 1 << 40;
const OFFSET: u64 = 1 << 35;

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let kind = prop_oneof![Just(VersionKind::Json), Just(VersionKind::Raw), Just(VersionKind::Deleted)];
    let births = prop::collection::vec((1u32.., 0..HEIGHT, any::<u32>()), 0..5);
    let previous = prop::option::of((1..HEIGHT, any::<u32>(), 4096..OFFSET, births));
    let bytes = |max| prop::collection::vec(any::<u8>(), 0..max);
    let write = (kind, 1u32.., bytes(300), bytes(2000), any::<[u8; 16]>(), previous).prop_map(
        |(kind, grouping, key, content, salt, previous)| Write {
            kind,
            grouping,
            key,
            content: if kind == VersionKind::Deleted { Vec::new() } else { content },
            salt,
            previous,
        },
    );
    prop::collection::vec(write, 0..12)
}

proptest! {
    #[test]
    fn commits_come_back(
        writes in writes(),
        actor in prop::option::of("[a-zä]{1,40}"),
        commit_id: Option<[u8; 16]>,
        synced in 0..HEIGHT,
    ) {
        let envelope = Envelope::new(&header());
        let before = LogPoint { height: Height(HEIGHT - 1), offset: OFFSET, ..header().base() };
        let mut frame = FrameBuilder::new();
        let meta = CommitMeta { actor: actor.as_deref(), commit_id, ..meta(HEIGHT) };
        frame.begin(&meta).unwrap();
        for write in &writes {
            let births: Vec<_> = write.previous.iter().flat_map(|p| &p.3)
                .map(|&(index, height, place)| (IndexId(index), Birth::new(Height(height), place)))
                .collect();
            let previous = write.previous.as_ref().map(|&(height, place, offset, _)| Previous {
                height: Height(height),
                place,
                position: Position::new(0, offset),
                births: births.as_slice(),
            });
            let grouping = GroupingId(write.grouping);
            match write.kind {
                VersionKind::Deleted =>
                    frame.delete(grouping, &write.key, write.salt, previous.as_ref()).unwrap(),
                kind => frame
                    .put(grouping, kind, &write.key, &write.content, write.salt, previous.as_ref())
                    .unwrap(),
            };
        }
        let end = frame.seal(envelope, &before, Height(synced));
        let parsed = Frame::parse(frame.bytes(), envelope, &before).unwrap();
        prop_assert_eq!(parsed.end(), end);
        let head = head_of(frame.bytes(), OFFSET);
        prop_assert_eq!(head.actor, actor);
        prop_assert_eq!(head.commit_id, commit_id);
        prop_assert_eq!(head.synced, Height(synced));
        prop_assert_eq!(parsed.operations().len(), writes.len());
        for (place, (operation, write)) in parsed.operations().zip(&writes).enumerate() {
            let Operation::Version(version) = operation else { panic!("{operation:?}") };
            prop_assert_eq!(version.place as usize, place);
            prop_assert_eq!(version.grouping.0, write.grouping);
            prop_assert_eq!(version.kind, write.kind);
            prop_assert_eq!(version.key, &write.key);
            prop_assert_eq!(version.content, &write.content);
            prop_assert_eq!(Some(version.position), frame.position(version.place));
            prop_assert_eq!(version.previous.is_some(), write.previous.is_some());
            if let (Some(read), Some((height, place, offset, births))) = (version.previous, &write.previous) {
                prop_assert_eq!((read.height.0, read.place, read.position.offset()), (*height, *place, *offset));
                let births: Vec<_> = births.iter()
                    .map(|&(index, height, place)| (IndexId(index), Birth::new(Height(height), place)))
                    .collect();
                prop_assert_eq!(read.births.collect::<Vec<_>>(), births);
            }
            let start = (version.position.offset() - OFFSET) as usize;
            let bytes = &frame.bytes()[start..];
            let parts = Parts::parse(bytes).unwrap();
            prop_assert_eq!(&bytes[parts.key.start - SALT_BYTES..parts.key.start], &write.salt);
            let body = Body::mapped(bytes, version.position.offset()).unwrap();
            prop_assert_eq!(body.key(), &write.key);
            prop_assert_eq!(body.frame_offset(), OFFSET);
        }
    }

    #[test]
    fn any_bytes_are_decoded_without_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let before = header().base();
        let envelope = Envelope::new(&header());
        prop_assert!(Frame::parse(&bytes, envelope, &before).is_err());
        let _ = Body::mapped(&bytes, 5_000);
        if bytes.len() >= 40 {
            // With sound lengths and checksum the fields behind them are reached.
            let len = bytes.len() as u32;
            bytes[..4].copy_from_slice(&len.to_le_bytes());
            let head = 40 + u32::from(bytes[4]) % (len - 39);
            bytes[4..8].copy_from_slice(&head.to_le_bytes());
            bytes[12..38].copy_from_slice(&sample().0[12..38]);
            bytes[38] %= 8;
            reseal(&mut bytes, before.offset);
            let _ = Frame::parse(&bytes, envelope, &before);
        }
    }

    #[test]
    fn tampered_frames_are_decoded_without_a_panic(
        changes in prop::collection::vec((12usize..400, any::<u8>()), 1..4),
    ) {
        let (mut bytes, before, _) = sample();
        for (at, byte) in changes {
            let len = bytes.len();
            bytes[at % len] = byte;
        }
        reseal(&mut bytes, before.offset);
        if let Ok(frame) = Frame::parse(&bytes, Envelope::new(&header()), &before) {
            prop_assert_eq!(frame.operations().count(), 7);
        }
    }
}
