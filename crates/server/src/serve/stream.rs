//! Answers of any length in bounded memory: lines, made by the engine as fast as the client takes them.
//!
//! ```text
//!  blocking pool             task               connection
//!  fill a chunk (64 KiB) ──► send, or wait ──► write
//!        ▲                      │
//!        └──────────────────────┘   a client that takes nothing for `write_timeout` is given up;
//!                                   one that goes away ends the task
//! ```
//!
//! No thread waits for a client: between two chunks a scan is nothing but a place. At most three chunks are in memory, and
//! chunks that are larger, since a unit is, take their share of the [budget](super::budget).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use http_body::Frame;
use immuxdb_client::wire::{End, NDJSON};
use serde::Serialize;
use tokio::sync::mpsc;

use super::answer;
use super::budget::Share;
use super::door::Door;
use super::lane;
use super::problem::Problem;

/// Bytes after which a chunk is handed over.
pub(crate) const CHUNK: usize = 64 << 10;

/// What makes lines.
pub(crate) trait Lines: Send + 'static {
    /// Appends whole lines, until there are [`CHUNK`] bytes or nothing is left; says whether there is more.
    ///
    /// # Errors
    /// Nothing more can be read.
    fn fill(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Problem>;

    /// Appends the line that ends a stream that is whole.
    fn end(&self, chunk: &mut Vec<u8>);
}

/// A piece of the answer, and its share of memory.
type Piece = (Bytes, Option<Share>);

/// Answers with the lines.
///
/// # Errors
/// The first of them can't be read.
pub(crate) async fn response(door: &Arc<Door>, headers: HeaderMap, lines: impl Lines) -> Result<Response, Problem> {
    let (first, lines) = lane::long(move || fill(lines)).await?;
    let body = match lines {
        None => Body::from(first),
        Some(lines) => {
            let (sender, receiver) = mpsc::channel(1);
            tokio::spawn(produce(Arc::clone(door), sender, first, lines));
            Body::new(Chunks { receiver, share: None })
        }
    };
    let mut response = answer::body(StatusCode::OK, NDJSON, body);
    response.headers_mut().extend(headers);
    Ok(response)
}

/// Fills a chunk; gives the source back if there is more.
fn fill<L: Lines>(mut lines: L) -> Result<(Vec<u8>, Option<L>), Problem> {
    let mut chunk = Vec::with_capacity(CHUNK + CHUNK / 4);
    if lines.fill(&mut chunk)? {
        return Ok((chunk, Some(lines)));
    }
    lines.end(&mut chunk);
    Ok((chunk, None))
}

async fn produce<L: Lines>(door: Arc<Door>, sender: mpsc::Sender<Piece>, first: Vec<u8>, lines: L) {
    let (mut chunk, mut rest) = (first, Some(lines));
    loop {
        let mut share = door.budget.share();
        if let Err(problem) = share.grow(chunk.capacity().saturating_sub(2 * CHUNK)).await {
            (chunk, rest) = ((problem.text() + "\n").into_bytes(), None);
        }
        // The connection is gone, or it is stuck: whoever waits for the rest gets an error from `Chunks`.
        match tokio::time::timeout(door.limits.write_timeout, sender.send((chunk.into(), Some(share)))).await {
            Ok(Ok(())) => (),
            Ok(Err(_)) | Err(_) => return,
        }
        let Some(lines) = rest.take() else {
            // An empty piece says that this was all.
            let _ = tokio::time::timeout(door.limits.write_timeout, sender.send((Bytes::new(), None))).await;
            return;
        };
        (chunk, rest) = match lane::long(move || fill(lines)).await {
            Ok(filled) => filled,
            Err(problem) => ((problem.text() + "\n").into_bytes(), None),
        };
    }
}

/// The body of the answer.
struct Chunks {
    receiver: mpsc::Receiver<Piece>,
    /// Of the chunk that is being written.
    share: Option<Share>,
}

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let piece = ready!(self.receiver.poll_recv(context));
        self.share = None;
        Poll::Ready(match piece {
            Some((bytes, _)) if bytes.is_empty() => None,
            Some((bytes, share)) => {
                self.share = share;
                Some(Ok(Frame::data(bytes)))
            }
            None => Some(Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "the answer was not read"))),
        })
    }
}

/// The line that ends a stream.
pub(crate) fn end_line(chunk: &mut Vec<u8>, end: &End) {
    #[derive(Serialize)]
    struct Line<'a> {
        end: &'a End,
    }
    chunk.extend_from_slice(answer::text(&Line { end }).as_bytes());
    chunk.push(b'\n');
}
