//! Whole frames, checked.

use super::LogPoint;
use super::body::{self, Parts};
use super::fault::{BodyFault, Fault};
use super::head::{Envelope, FrameHead, FrameKind};
use super::header::PAGE_BYTES;
use super::operation::{Header, NewVersion, Operation, take_header};
use crate::types::{Durability, GroupingId, Height, Position, Timestamp, VersionKind};

/// A frame that is whole, belongs where it stands, and whose checksums are right.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'a> {
    head: FrameHead<'a>,
    bytes: &'a [u8],
    envelope: Envelope,
    offset: u64,
    end: LogPoint,
}

impl<'a> Frame<'a> {
    /// The frame at the front of `bytes`, which follow `before`.
    ///
    /// # Errors
    /// The first thing that is wrong. [`Fault::Cut`]: there may be more to come.
    pub fn parse(bytes: &'a [u8], envelope: Envelope, before: &LogPoint) -> Result<Frame<'a>, Fault> {
        let head = FrameHead::parse(bytes, &envelope, before.offset)?;
        let end = head.follows(before)?;
        let have = bytes.len() as u64;
        let bytes =
            bytes.get(..head.frame_bytes as usize).ok_or(Fault::Cut { need: u64::from(head.frame_bytes), have })?;
        let frame = Frame { head, bytes, envelope, offset: before.offset, end };
        frame.check_operations()?;
        Ok(frame)
    }

    /// The frame at the front of `bytes`, of which only the head need be whole, and what is wrong with how it follows
    /// `before`.
    ///
    /// # Errors
    /// The head is not whole, or bytes are missing.
    pub fn examine(
        bytes: &'a [u8],
        envelope: Envelope,
        before: &LogPoint,
    ) -> Result<(Frame<'a>, Option<Fault>), Fault> {
        let head = FrameHead::parse(bytes, &envelope, before.offset)?;
        let have = bytes.len() as u64;
        let bytes =
            bytes.get(..head.frame_bytes as usize).ok_or(Fault::Cut { need: u64::from(head.frame_bytes), have })?;
        let unfit = head.follows(before).err();
        let end = head.end(before.offset);
        Ok((Frame { head, bytes, envelope, offset: before.offset, end }, unfit))
    }

    /// The operations, each checked. What stands behind a bad operation header cannot be told apart, and is left out; behind
    /// a bad body all goes on.
    pub fn checked_operations(&self) -> impl Iterator<Item = Result<Operation<'a>, Fault>> {
        let mut operations = self.operations();
        let body_tail = self.bytes.len();
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let item = operations.step(true).or_else(|| {
                ended = true;
                match (operations.headers.len(), body_tail - operations.body.min(body_tail)) {
                    (0, 0) => None,
                    (0, tail) => Some(Err(Fault::BodyTail(tail))),
                    (tail, _) => Some(Err(Fault::HeadTail(tail))),
                }
            });
            ended |= matches!(&item, Some(Err(fault)) if !matches!(fault, Fault::Body { .. }));
            item
        })
    }

    /// The grouping of the operation at `place`, and where its body begins in the log; `None` when it has no body, or its
    /// header cannot be reached.
    pub fn place_of_body(&self, place: u32) -> Option<(GroupingId, u64)> {
        let mut headers = self.head.operations;
        let mut body = self.head.bytes.len();
        for at in 0..self.head.count {
            if let Header::Version { grouping, body_rest, .. } = take_header(&mut headers, at, self.head.height).ok()? {
                if at == place {
                    return Some((grouping, self.offset + body as u64));
                }
                body += body::len(body, body_rest);
            }
        }
        None
    }

    /// What the bad body of the operation at `place` says of its unit key, which need not be true; `None` when not even
    /// its lengths make sense.
    pub fn key_as_it_stands(&self, place: u32) -> Option<&'a [u8]> {
        let (_, offset) = self.place_of_body(place)?;
        let bytes = self.bytes.get((offset - self.offset) as usize..)?;
        bytes.get(Parts::parse(bytes).ok()?.key)
    }

    /// All of the frame's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    fn check_operations(&self) -> Result<(), Fault> {
        let mut operations = self.operations();
        while let Some(operation) = operations.step(true) {
            operation?;
        }
        if !operations.headers.is_empty() {
            return Err(Fault::HeadTail(operations.headers.len()));
        }
        let body_tail = self.bytes.len() - operations.body;
        if body_tail != 0 {
            return Err(Fault::BodyTail(body_tail));
        }
        Ok(())
    }

    /// What the frame is.
    pub fn kind(&self) -> FrameKind {
        self.head.kind
    }

    /// Whether the frame is a commit (and not an open record, which has no operations).
    pub fn is_commit(&self) -> bool {
        self.head.kind == FrameKind::Commit
    }

    /// The commit's height; of an open record, the height before it.
    pub fn height(&self) -> Height {
        self.head.height
    }

    /// The durability that was asked for.
    pub fn durability(&self) -> Durability {
        self.head.durability
    }

    /// When the commit happened.
    pub fn time(&self) -> Timestamp {
        self.head.time
    }

    /// Who made the commit.
    pub fn actor(&self) -> Option<&'a str> {
        self.head.actor
    }

    /// Where the frame begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The point after the frame.
    pub fn end(&self) -> LogPoint {
        self.end
    }

    /// The operations in their order.
    pub fn operations(&self) -> Operations<'a> {
        Operations {
            headers: self.head.operations,
            frame: self.bytes,
            body: self.head.bytes.len(),
            envelope: self.envelope,
            offset: self.offset,
            height: self.head.height,
            place: 0,
            count: self.head.count,
        }
    }
}

/// The operations of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Operations<'a> {
    headers: &'a [u8],
    frame: &'a [u8],
    /// Where the next body begins in the frame.
    body: usize,
    envelope: Envelope,
    offset: u64,
    height: Height,
    place: u32,
    count: u32,
}

impl<'a> Operations<'a> {
    fn step(&mut self, check: bool) -> Option<Result<Operation<'a>, Fault>> {
        if self.place == self.count {
            return None;
        }
        let place = self.place;
        self.place += 1;
        let header = match take_header(&mut self.headers, place, self.height) {
            Ok(header) => header,
            Err(fault) => return Some(Err(fault)),
        };
        Some(match header {
            Header::Other(operation) => Ok(operation),
            Header::Version { grouping, kind, body_rest, previous } => {
                if check
                    && let Some(previous) = &previous
                    && !self.is_before(previous.position)
                {
                    let what = "previous version's position";
                    return Some(Err(Fault::OperationField { place, what }));
                }
                let at = self.body;
                self.parts(place, kind, body_rest, check)
                    .map(|(body, parts)| {
                        Operation::Version(NewVersion {
                            place,
                            grouping,
                            kind,
                            salt: parts.salt(body),
                            key: &body[parts.key],
                            content: &body[parts.content],
                            position: self.envelope.position(self.offset + at as u64),
                            previous,
                        })
                    })
                    .map_err(|fault| Fault::Body { place, fault })
            }
        })
    }

    /// Whether a position can be that of a body in a frame before this one.
    fn is_before(&self, position: Position) -> bool {
        position.generation() == self.envelope.position(0).generation()
            && (PAGE_BYTES..self.offset).contains(&position.offset())
    }

    /// Takes the next body, which has `rest` bytes after its `back`.
    fn parts(
        &mut self,
        place: u32,
        kind: VersionKind,
        rest: usize,
        check: bool,
    ) -> Result<(&'a [u8], Parts), BodyFault> {
        let at = self.body;
        let need = body::len(at, rest);
        // Also when the body is bad: the head says where the next one is.
        self.body += need;
        let bytes = self.frame.get(at..).unwrap_or_default();
        let bytes = bytes.get(..need).ok_or(BodyFault::Cut { need, have: bytes.len() })?;
        let parts = Parts::parse(bytes)?;
        if check {
            let agrees = |same: bool, what| {
                if same { Ok(()) } else { Err(BodyFault::Disagrees(what)) }
            };
            agrees(parts.len() == need, "length")?;
            parts.check(bytes)?;
            agrees(parts.back == at as u64, "way back to the frame")?;
            agrees(parts.place == place, "place")?;
            agrees(parts.kind == kind, "kind")?;
        }
        Ok((bytes, parts))
    }
}

impl<'a> Iterator for Operations<'a> {
    type Item = Operation<'a>;

    fn next(&mut self) -> Option<Operation<'a>> {
        match self.step(false)? {
            Ok(operation) => Some(operation),
            Err(fault) => unreachable!("parsing the frame checked its operations: {fault}"),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.count - self.place) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Operations<'_> {}
