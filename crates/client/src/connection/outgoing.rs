//! The body of a request.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// Nothing, bytes at once, or pieces that are made while they are sent.
pub(crate) enum Outgoing {
    Empty,
    Full(Bytes),
    Pieces(mpsc::Receiver<Bytes>),
}

impl Outgoing {
    /// The same body once more, where that is possible.
    pub(crate) fn again(&self) -> Option<Outgoing> {
        match self {
            Outgoing::Empty => Some(Outgoing::Empty),
            Outgoing::Full(bytes) => Some(Outgoing::Full(bytes.clone())),
            Outgoing::Pieces(_) => None,
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            Outgoing::Empty => None,
            Outgoing::Full(bytes) => (!bytes.is_empty()).then(|| std::mem::take(bytes)),
            Outgoing::Pieces(pieces) => match pieces.poll_recv(cx) {
                Poll::Ready(piece) => piece,
                Poll::Pending => return Poll::Pending,
            },
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Outgoing::Empty => true,
            Outgoing::Full(bytes) => bytes.is_empty(),
            Outgoing::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Outgoing::Empty => SizeHint::with_exact(0),
            Outgoing::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Outgoing::Pieces(_) => SizeHint::default(),
        }
    }
}
