//! An answer, whose body is read piece by piece.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use tokio::time::{Sleep, sleep};

use super::{Outgoing, Pool};
use crate::error::{Error, Result};

/// The head of an answer, and its body to be read.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// The body of an answer. Its connection is used again when all has been read, and closed when this is dropped before.
pub(crate) struct Body {
    incoming: Incoming,
    sender: Option<SendRequest<Outgoing>>,
    pool: Arc<Pool>,
    /// How long to wait for the next piece.
    patience: Option<Duration>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Answer {
    pub(super) fn new(
        response: Response<Incoming>,
        sender: SendRequest<Outgoing>,
        pool: Arc<Pool>,
        patience: Option<Duration>,
    ) -> Answer {
        let (head, incoming) = response.into_parts();
        let mut body = Body { incoming, sender: Some(sender), pool, patience, alarm: None };
        if body.incoming.is_end_stream() {
            body.release();
        }
        Answer { status: head.status, headers: head.headers, body }
    }
}

impl Body {
    /// The next piece; `None` at the end.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        loop {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    self.alarm = None;
                    if let Ok(bytes) = frame.into_data() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Poll::Ready(Some(Err(source))) => {
                    self.sender = None;
                    return Poll::Ready(Some(Err(Error::Broken { server: self.server(), source })));
                }
                Poll::Ready(None) => {
                    self.release();
                    return Poll::Ready(None);
                }
                Poll::Pending => break,
            }
        }
        let Some(patience) = self.patience else {
            return Poll::Pending;
        };
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep(patience)));
        match alarm.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                self.sender = None;
                Poll::Ready(Some(Err(Error::TimedOut { server: self.server(), waited: patience })))
            }
        }
    }

    /// The whole, of at most `limit` bytes.
    pub(crate) async fn all(mut self, limit: usize) -> Result<Vec<u8>> {
        let expected = usize::try_from(self.incoming.size_hint().lower()).unwrap_or(limit);
        let mut all = Vec::with_capacity(expected.min(limit));
        while let Some(piece) = poll_fn(|cx| self.poll_piece(cx)).await {
            let piece = piece?;
            if all.len() + piece.len() > limit {
                return Err(Error::Protocol {
                    server: self.server(),
                    what: format!("the answer has more than {limit} bytes"),
                });
            }
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// Host and port, for messages.
    pub(crate) fn server(&self) -> String {
        self.pool.address.authority.clone()
    }

    fn release(&mut self) {
        if let Some(sender) = self.sender.take() {
            self.pool.put_idle(sender);
        }
    }
}
