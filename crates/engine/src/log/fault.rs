//! What can be wrong with bytes that should be a frame.

use crate::types::{Height, Timestamp};

/// Why bytes are not a frame that belongs at their place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the frame needs {need} bytes and the log has {have} more")]
    Cut { need: u64, have: u64 },
    #[error("a frame cannot have a length of {0} bytes")]
    FrameLength(u32),
    #[error("a frame of {frame} bytes cannot have a head of {head}")]
    HeadLength { head: u32, frame: u32 },
    #[error("the checksum of the frame's head is wrong")]
    HeadChecksum,
    #[error("a frame of kind {0} is not known")]
    FrameKind(u8),
    #[error("the frame's flags {0:#04x} are not known")]
    FrameFlags(u8),
    #[error("the frame has height {found}, and {expected} follows here")]
    Height { expected: Height, found: Height },
    #[error("the frame's time {} is before {}", .found.0, .before.0)]
    Time { before: Timestamp, found: Timestamp },
    #[error("the frame does not follow the one before it (chain value)")]
    ChainValue,
    #[error("the frame's {0} is cut, padded or out of range")]
    HeadField(&'static str),
    #[error("operation {place}: kind {kind} is not known")]
    OperationKind { place: u32, kind: u8 },
    #[error("operation {place}: its {what} is cut, padded or out of range")]
    OperationField { place: u32, what: &'static str },
    #[error("{0} bytes follow the last operation header")]
    HeadTail(usize),
    #[error("{0} bytes follow the last body")]
    BodyTail(usize),
    #[error("operation {place}: {fault}")]
    Body { place: u32, fault: BodyFault },
}

/// Why bytes are not a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyFault {
    #[error("the body needs {need} bytes, and {have} are there")]
    Cut { need: usize, have: usize },
    #[error("the body's {0} is cut, padded or out of range")]
    Field(&'static str),
    #[error("the checksum of the body is wrong")]
    Checksum,
    #[error("the body's {0} is not what its operation header says")]
    Disagrees(&'static str),
}
