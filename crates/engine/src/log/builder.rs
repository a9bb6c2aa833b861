//! Building frames.
//!
//! Operation headers and bodies are collected apart, since the head stands before all bodies and its length is known
//! only at the end; the log then puts the frame together with what only it knows: offset, time and chain value.

use super::LogPoint;
use super::body::{self, SALT_BYTES};
use super::head::{Envelope, HeadFields, begin_head, seal_head};
use super::operation::{self, DEFINITION_BYTES, Previous};
use crate::error::{Error, Result};
use crate::limits;
use crate::planted;
use crate::types::{Birth, Durability, GroupingId, Height, IndexId, Position, Timestamp, VersionKind};
use crate::varint;

/// What a commit says of itself, besides its operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommitMeta<'a> {
    /// The height that the commit is to have: the one after the log's newest.
    pub height: Height,
    /// The clock's time. The frame gets the time of the frame before it if that is later.
    pub now: Timestamp,
    /// The durability that is asked for.
    pub durability: Durability,
    /// Who makes the commit: 1 to [`limits::NAME_BYTES`] bytes.
    pub actor: Option<&'a str>,
    /// An id by which the committer can recognise its commit.
    pub commit_id: Option<[u8; 16]>,
}

/// Buffers in which one commit after another is put together.
#[derive(Debug, Default)]
pub(crate) struct FrameBuilder {
    height: Height,
    now: Timestamp,
    durability: Durability,
    actor: Vec<u8>,
    commit_id: Option<[u8; 16]>,
    count: u32,
    headers: Vec<u8>,
    /// Bodies from behind their `back` on, one after another.
    rests: Vec<u8>,
    bodies: Vec<StagedBody>,
    /// The whole frame, once it is sealed.
    frame: Vec<u8>,
    /// Where it stands, once it is sealed.
    sealed: Option<(Envelope, LogPoint)>,
}

#[derive(Clone, Copy, Debug)]
struct StagedBody {
    place: u32,
    rest_bytes: u32,
    /// Where the body begins in the frame, once it is sealed.
    in_frame: u32,
}

/// Bytes that a builder keeps from one commit to the next.
const KEPT_BYTES: usize = 4 << 20;
/// The most bytes of a head before its operation headers.
const HEAD_BYTES: usize = 38 + 5 + 10 + 16 + 2 + limits::NAME_BYTES;
/// The most bytes of a body before its rest: checksum and `back`.
const BODY_HEAD_BYTES: usize = 4 + 4;

impl FrameBuilder {
    /// An empty builder; call [`FrameBuilder::begin`] next.
    pub fn new() -> FrameBuilder {
        FrameBuilder::default()
    }

    /// Begins a commit and forgets the one before.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::Invalid`]: the actor's name.
    pub fn begin(&mut self, meta: &CommitMeta<'_>) -> Result<()> {
        for buffer in [&mut self.headers, &mut self.rests, &mut self.frame] {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES);
        }
        self.bodies.clear();
        self.bodies.shrink_to(KEPT_BYTES / size_of::<StagedBody>());
        self.actor.clear();
        self.count = 0;
        self.sealed = None;
        self.height = meta.height;
        self.now = meta.now;
        self.durability = meta.durability;
        self.commit_id = meta.commit_id;
        if let Some(actor) = meta.actor {
            check_name("actor", actor)?;
            self.actor.extend_from_slice(actor.as_bytes());
        }
        Ok(())
    }

    /// The height that the commit is to have.
    pub fn height(&self) -> Height {
        self.height
    }

    /// The durability that is asked for.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// The number of operations so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Adds a put of `kind` Json or Raw; gives its place in the commit.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: key, content or commit. Nothing was added then.
    pub fn put(
        &mut self,
        grouping: GroupingId,
        kind: VersionKind,
        key: &[u8],
        content: &[u8],
        salt: [u8; SALT_BYTES],
        previous: Option<&Previous<&[(IndexId, Birth)]>>,
    ) -> Result<u32> {
        assert!(kind != VersionKind::Deleted, "a put has content");
        self.version(grouping, kind, key, content, salt, previous)
    }

    /// Adds a delete; gives its place in the commit.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: key or commit. Nothing was added then.
    pub fn delete(
        &mut self,
        grouping: GroupingId,
        key: &[u8],
        salt: [u8; SALT_BYTES],
        previous: Option<&Previous<&[(IndexId, Birth)]>>,
    ) -> Result<u32> {
        self.version(grouping, VersionKind::Deleted, key, &[], salt, previous)
    }

    fn version(
        &mut self,
        grouping: GroupingId,
        kind: VersionKind,
        key: &[u8],
        content: &[u8],
        salt: [u8; SALT_BYTES],
        previous: Option<&Previous<&[(IndexId, Birth)]>>,
    ) -> Result<u32> {
        check_size("unit key", key.len(), limits::UNIT_KEY_BYTES)?;
        check_size("content", content.len(), limits::CONTENT_BYTES)?;
        let births = previous.map_or(0, |p| p.births.len());
        assert!(births <= limits::INDEXES_PER_GROUPING, "too many births");
        let place = self.reserve(
            5 * varint::MAX_BYTES + births * 3 * varint::MAX_BYTES + body::OVERHEAD_BYTES + key.len() + content.len(),
        )?;
        let start = self.rests.len();
        body::put_rest(&mut self.rests, kind, place, key, content, salt);
        let rest_bytes = self.rests.len() - start;
        self.bodies.push(StagedBody { place, rest_bytes: rest_bytes as u32, in_frame: 0 });
        let out = &mut self.headers;
        out.push(if kind == VersionKind::Deleted { operation::DELETE } else { operation::PUT });
        let flags_at = out.len();
        out.push(if kind == VersionKind::Raw { operation::FLAG_RAW } else { 0 });
        put_id(out, grouping.0);
        varint::put(out, rest_bytes as u64);
        if let Some(previous) = previous {
            assert!(
                previous.height < self.height && previous.height > Height::ZERO,
                "the version before has height {}, the commit {}",
                previous.height,
                self.height
            );
            varint::put(out, self.height.0 - previous.height.0);
            varint::put(out, previous.position.to_bits());
            varint::put(out, u64::from(previous.place));
            if !previous.births.is_empty() {
                varint::put(out, previous.births.len() as u64);
                for (index, birth) in previous.births {
                    assert!(birth.height < self.height, "an entry born in the future");
                    varint::put(out, u64::from(index.0));
                    varint::put(out, birth.height.0);
                    varint::put(out, u64::from(birth.place));
                }
                out[flags_at] |= operation::FLAG_BIRTHS;
            }
            out[flags_at] |= operation::FLAG_PREVIOUS;
        }
        Ok(place)
    }

    /// Adds the definition of a grouping; gives its place in the commit.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::Invalid`]: the name, or the commit. Nothing was added then.
    pub fn define_grouping(&mut self, id: GroupingId, name: &str) -> Result<u32> {
        check_name("grouping name", name)?;
        let place = self.reserve(2 * varint::MAX_BYTES + name.len())?;
        let out = &mut self.headers;
        out.push(operation::DEFINE_GROUPING);
        put_id(out, id.0);
        varint::put(out, name.len() as u64);
        out.extend_from_slice(name.as_bytes());
        Ok(place)
    }

    /// Adds the definition of an index; gives its place in the commit.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: the definition, or the commit. Nothing was added then.
    pub fn define_index(&mut self, grouping: GroupingId, index: IndexId, definition: &[u8]) -> Result<u32> {
        check_size("index definition", definition.len(), DEFINITION_BYTES)?;
        let place = self.reserve(3 * varint::MAX_BYTES + definition.len())?;
        let out = &mut self.headers;
        out.push(operation::DEFINE_INDEX);
        put_id(out, grouping.0);
        put_id(out, index.0);
        varint::put(out, definition.len() as u64);
        out.extend_from_slice(definition);
        Ok(place)
    }

    /// Adds the end of an index; gives its place in the commit.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: the commit. Nothing was added then.
    pub fn drop_index(&mut self, grouping: GroupingId, index: IndexId) -> Result<u32> {
        let place = self.reserve(2 * varint::MAX_BYTES)?;
        self.headers.push(operation::DROP_INDEX);
        put_id(&mut self.headers, grouping.0);
        put_id(&mut self.headers, index.0);
        Ok(place)
    }

    /// Adds the deletion of every unit of a grouping; gives its place in the commit. It comes before the commit's puts
    /// to the grouping.
    ///
    /// # Errors
    /// [`Error::TooLarge`]: the commit. Nothing was added then.
    pub fn clear_grouping(&mut self, grouping: GroupingId) -> Result<u32> {
        let place = self.reserve(varint::MAX_BYTES)?;
        self.headers.push(operation::CLEAR_GROUPING);
        put_id(&mut self.headers, grouping.0);
        Ok(place)
    }

    /// Counts an operation of at most `bytes` more bytes, if it fits.
    fn reserve(&mut self, bytes: usize) -> Result<u32> {
        assert!(self.sealed.is_none(), "the commit was appended already");
        let place = self.count;
        if place as usize >= limits::OPERATIONS_PER_COMMIT {
            return Err(Error::Invalid(format!("a commit has at most {} operations", limits::OPERATIONS_PER_COMMIT)));
        }
        let so_far = HEAD_BYTES + self.headers.len() + self.rests.len() + (self.bodies.len() + 1) * BODY_HEAD_BYTES;
        check_size("commit", so_far + 1 + bytes, limits::FRAME_BYTES)?;
        self.count += 1;
        Ok(place)
    }

    /// Puts the frame together for the place after `before`; gives the point after it.
    pub(super) fn seal(&mut self, envelope: Envelope, before: &LogPoint, synced: Height) -> LogPoint {
        assert_eq!(self.height, before.height.next(), "the commit's height");
        let frame = &mut self.frame;
        frame.clear();
        frame.reserve(HEAD_BYTES + self.headers.len() + self.rests.len() + self.bodies.len() * BODY_HEAD_BYTES);
        let mut time = self.now.max(before.time);
        if planted::is(planted::Fault::TimeRunsBackwards) {
            time = self.now;
        }
        let fields = HeadFields {
            durability: self.durability,
            height: self.height,
            time,
            chain: before.chain,
            count: self.count,
            synced,
            commit_id: self.commit_id,
            actor: (!self.actor.is_empty()).then_some(self.actor.as_slice()),
        };
        begin_head(frame, false, &fields);
        frame.extend_from_slice(&self.headers);
        let head_bytes = frame.len();
        let mut rests = self.rests.as_slice();
        for staged in &mut self.bodies {
            let (rest, after) = rests.split_at(staged.rest_bytes as usize);
            rests = after;
            staged.in_frame = frame.len() as u32;
            body::put(frame, rest);
        }
        let chain = seal_head(frame, head_bytes, &envelope, before.offset);
        self.sealed = Some((envelope, *before));
        LogPoint { height: self.height, offset: before.offset + frame.len() as u64, chain, time }
    }

    /// The frame, once it is sealed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.frame
    }

    /// Where the body of the operation at `place` is, once the frame is appended; `None` when it has none.
    pub fn position(&self, place: u32) -> Option<Position> {
        let at = self.bodies.binary_search_by_key(&place, |b| b.place).ok()?;
        self.sealed.map(|(envelope, before)| envelope.position(before.offset + u64::from(self.bodies[at].in_frame)))
    }
}

fn put_id(out: &mut Vec<u8>, id: u32) {
    assert!(id > 0, "ids count from 1");
    varint::put(out, u64::from(id));
}

fn check_size(what: &'static str, actual: usize, limit: usize) -> Result<()> {
    if actual > limit {
        return Err(Error::TooLarge { what, actual, limit });
    }
    Ok(())
}

fn check_name(what: &'static str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::Invalid(format!("the {what} is empty")));
    }
    check_size(what, name.len(), limits::NAME_BYTES)
}
