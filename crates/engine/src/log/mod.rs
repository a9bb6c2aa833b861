//! The log: the only truth of a chain.
//!
//! A commit is one *frame*, appended with one write. Everything else that the engine keeps can be derived from the frames
//! again: the log is the database, and the rest is its index.
//!
//! ```text
//! a log        | page 0: header, status slots | frame | frame | frame | …
//!
//! a frame      | head                                              | body | body | …
//!              | lengths, checksum, height, time, chain value,     |
//!              | operation header, operation header, …             |
//!
//! a body       | checksum, way back to the frame, lengths, salt, unit key, content |
//! ```
//!
//! Three numbers make a frame trustworthy, each against something else:
//!
//! | number | covers | against |
//! |---|---|---|
//! | head checksum | the head; seeded with log id, generation and offset | torn writes, and bytes that belong elsewhere |
//! | body checksum | one body | the same, for content; apart, so that a body can be erased in place |
//! | chain value | the heads of all frames before | histories that went different ways, and frames that were skipped |
//!
//! A *position* (the place of a body) is what index entries hold. The body leads back to its frame, so that key, content,
//! height, time and actor of a version are all found from eight bytes.
//!
//! | file | what |
//! |---|---|
//! | `header`, `status` | the first page |
//! | `head`, `operation`, `body` | the parts of a frame, written and read |
//! | `builder`, `frame` | whole frames, written and read |
//! | `reader` | frames one after another |
//! | `windows` | the log, mapped |
//! | `local` | appending, syncing, reading |
//! | `turn` | who syncs for all |
//! | `opening` | the lock and the first page |
//! | `recovery` | where does the log end? |
//! | `transfer` | whole frames, read from one log and written to a copy of it |
//! | `examine` | all that can be read of a damaged log |
//!
//! The bytes are laid down in `docs/FORMAT.md`.

mod body;
mod builder;
mod examine;
mod fault;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod head;
mod header;
mod local;
mod opening;
mod operation;
mod reader;
mod recovery;
mod status;
#[cfg(test)]
mod tests;
mod transfer;
pub(crate) mod turn;
mod windows;

pub(crate) use body::Body;
pub(crate) use builder::{CommitMeta, FrameBuilder};
pub(crate) use examine::{Examined, Gap};
pub(crate) use fault::Fault;
pub(crate) use frame::Frame;
use head::Envelope;
pub(crate) use head::FrameMeta;
pub(crate) use header::{LogHeader, PAGE_BYTES};
pub(crate) use local::LocalLog;
pub(crate) use opening::Opening;
pub(crate) use operation::{NewVersion, Operation, Previous};
pub(crate) use reader::FrameReader;
pub(crate) use status::Writer;
pub(crate) use transfer::LogCopy;

use crate::error::Result;
use crate::types::{Height, Position, Timestamp};

/// A place between two frames, with what the next one is checked against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPoint {
    /// The height of the last commit before it.
    pub height: Height,
    /// Where the next frame begins.
    pub offset: u64,
    /// The chain value that the next frame has.
    pub chain: u64,
    /// The time of the last frame before it.
    pub time: Timestamp,
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Appended {
    /// The commit is in the log, which now ends here.
    At(LogPoint),
    /// Nothing happened: somebody else's commit has the height that was expected.
    Conflict {
        /// The newest height.
        newest: Height,
    },
}

/// What the engine asks of a log, whether that is a local file or, later, a replicated stream.
///
/// Positions and offsets are the log's own business: what it gave out is handed back to it, and nothing is computed
/// from them.
pub(crate) trait Log: Send + Sync {
    /// The log's end.
    fn newest(&self) -> LogPoint;

    /// The height up to which commits survive power loss.
    fn durable_height(&self) -> Height;

    /// Appends a commit at the height that it was built for, if that is the next one. When it returns, what its
    /// durability promises holds up to `Process`; for `Sync` call [`Log::sync`] with its height.
    ///
    /// # Errors
    /// [`NoSpace`](crate::Error::NoSpace): the commit did not happen. [`Io`](crate::Error::Io): whether it happened is
    /// known when the log is opened the next time, and until then every write gives
    /// [`Poisoned`](crate::Error::Poisoned). [`ReadOnly`](crate::Error::ReadOnly).
    fn append(&self, frame: &mut FrameBuilder) -> Result<Appended>;

    /// Makes all commits up to `through` survive power loss, unless they do already. Threads that call it at the same
    /// time share one sync. Gives the point up to which everything is durable.
    ///
    /// # Errors
    /// As [`Log::append`].
    fn sync(&self, through: Height) -> Result<LogPoint>;

    /// The body at a position. It borrows the log's bytes wherever it can.
    ///
    /// # Errors
    /// [`Damaged`](crate::Error::Damaged) when there is no such body, or it is not what was written.
    fn read_body(&self, position: Position) -> Result<Body<'_>>;

    /// What the head of the frame at `offset` says, which is [`Body::frame_offset`].
    ///
    /// # Errors
    /// [`Damaged`](crate::Error::Damaged).
    fn frame_meta(&self, offset: u64) -> Result<FrameMeta>;

    /// The frames from a point up to the log's end as it is now.
    ///
    /// # Errors
    /// As [`Log::append`], since what is still in memory is written first.
    fn frames(&self, from: LogPoint) -> Result<FrameReader>;
}
