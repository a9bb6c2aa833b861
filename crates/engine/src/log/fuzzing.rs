//! The log's decoders over any bytes.

use std::path::Path;

use super::LogPoint;
use super::body::Body;
use super::frame::Frame;
use super::head::Envelope;
use super::header::{LogHeader, PAGE_BYTES};
use super::operation::Operation;
use super::status::Status;
use crate::run::memory::file;
use crate::types::{Height, Timestamp};

/// Reads `bytes` as a first page, as a body, and as frames that follow one another. The frames are of a log that has a
/// fixed id.
pub(crate) fn read_everything(bytes: &[u8]) {
    let _ = LogHeader::decode(Path::new("log"), bytes);
    let _ = Status::read(&*file(bytes.to_vec()), [7; 16]);
    let _ = Body::copied(bytes.to_vec(), 2 * PAGE_BYTES);
    let header = LogHeader::new([7; 16], Timestamp(1));
    let envelope = Envelope::new(&header);
    let mut before = header.base();
    let mut rest = bytes;
    while let Ok(frame) = Frame::parse(rest, envelope, &before) {
        let LogPoint { height, offset, .. } = frame.end();
        assert!(height <= before.height.next() && offset > before.offset, "a frame is one step forward");
        for operation in frame.operations() {
            if let Operation::Version(version) = operation {
                assert!(version.previous.is_none_or(|previous| previous.height < height), "what is replaced is older");
            }
        }
        rest = &rest[(offset - before.offset) as usize..];
        before = frame.end();
    }
    assert!(before.height >= Height::ZERO);
}

/// A log without its first page: some commits, for tests that spoil them.
#[cfg(test)]
pub(crate) fn sample() -> Vec<u8> {
    use super::builder::{CommitMeta, FrameBuilder};
    use crate::types::{Durability, GroupingId, VersionKind};

    let header = LogHeader::new([7; 16], Timestamp(1));
    let envelope = Envelope::new(&header);
    let mut builder = FrameBuilder::new();
    let (mut before, mut log) = (header.base(), Vec::new());
    for number in 1..=4 {
        let meta = CommitMeta {
            height: Height(number),
            now: Timestamp(number),
            durability: Durability::Sync,
            actor: (number == 2).then_some("somebody"),
            commit_id: None,
        };
        builder.begin(&meta).unwrap();
        if number == 1 {
            builder.define_grouping(GroupingId(1), "g").unwrap();
        }
        builder.put(GroupingId(1), VersionKind::Json, b"key", b"{\"a\":1}", [1; 16], None).unwrap();
        builder.put(GroupingId(1), VersionKind::Raw, &[number as u8], b"raw", [2; 16], None).unwrap();
        before = builder.seal(envelope, &before, Height(number - 1));
        log.extend_from_slice(builder.bytes());
    }
    log
}
