//! The body of a request: read with limits on its size and its slowness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Version, header};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use prometheus_client::metrics::counter::Counter;

use super::budget::{Budget, SMALL, Share};
use super::door::Door;
use super::problem::{Code, Problem};

/// In each stretch of `body_timeout`, a body brings at least this many bytes, or its end.
const LEAST_PROGRESS: usize = 16 << 10;
/// Of a body that is refused, so much is read all the same, so that a client that is still sending sees the answer.
const MOST_DRAINED: usize = 64 << 20;
/// … and for so long.
const LONGEST_DRAIN: Duration = Duration::from_secs(5);

/// A body that is being read.
pub(crate) struct RequestBody {
    body: Body,
    /// The length that the client announced.
    length: Option<u64>,
    timeout: Duration,
    stretch: Option<(Instant, usize)>,
    /// Whether it was read to its end.
    ended: bool,
    is_http2: bool,
    /// Whether what is left of it should be read when it is dropped.
    drain: bool,
    /// Set when something of it stays unread: the connection can't be used for another request then.
    unread: Arc<AtomicBool>,
    received: Counter,
}

/// A body that was read as a whole, and its share of memory.
pub(crate) struct WholeBody {
    pub(crate) bytes: Bytes,
    _share: Share,
}

impl RequestBody {
    pub(crate) fn new(body: Body, headers: &HeaderMap, version: Version, door: &Door) -> RequestBody {
        let length = body.size_hint().exact();
        // Who waits for "100 Continue" has not begun to send. HTTP/2 can refuse a single body.
        let is_http2 = version >= Version::HTTP_2;
        let drain = !is_http2 && !headers.contains_key(header::EXPECT);
        RequestBody {
            ended: body.is_end_stream(),
            body,
            length,
            timeout: door.limits.body_timeout,
            stretch: None,
            is_http2,
            drain,
            unread: Arc::default(),
            received: door.metrics.received.clone(),
        }
    }

    /// Tells, once the body is dropped, whether something of it stays unread.
    pub(crate) fn unread(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.unread)
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// It does not come in time, or is broken off.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let (begin, got) = *self.stretch.get_or_insert_with(|| (Instant::now(), 0));
        loop {
            let left = self.timeout.saturating_sub(begin.elapsed());
            let frame = match tokio::time::timeout(left, self.body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    self.drain = false;
                    return Err(self.slow());
                }
            };
            let frame = match frame {
                None => {
                    self.ended = true;
                    return Ok(None);
                }
                Some(Ok(frame)) => frame,
                Some(Err(error)) => {
                    self.drain = false;
                    return Err(Problem::new(Code::BadBody, format!("the body can't be read to its end: {error}"))
                        .help("send as many bytes as Content-Length says, and a whole gzip stream if it is one"));
                }
            };
            // Whoever waited to be asked has begun to send.
            self.drain = !self.is_http2;
            if let Ok(bytes) = frame.into_data() {
                self.received.inc_by(bytes.len() as u64);
                let got = got + bytes.len();
                self.stretch = if got >= LEAST_PROGRESS { None } else { Some((begin, got)) };
                return Ok(Some(bytes));
            }
        }
    }

    fn slow(&self) -> Problem {
        let seconds = self.timeout.as_secs_f64();
        Problem::new(Code::SlowBody, format!("less than {LEAST_PROGRESS} bytes of the body came in {seconds} s"))
            .help("send the body without long pauses; several small requests are better than a slow one")
    }

    /// Reads all of it, if it has at most `most` bytes.
    ///
    /// # Errors
    /// It is larger; those of [`RequestBody::next`]; there is no memory for it.
    pub(crate) async fn whole(mut self, most: usize, budget: &Arc<Budget>) -> Result<WholeBody, Problem> {
        if self.length.is_some_and(|length| length > most as u64) {
            return Err(too_large(most));
        }
        let mut share = budget.share();
        let mut reserved = self.length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        share.grow(reserved).await?;
        let Some(first) = self.next().await? else {
            return Ok(WholeBody { bytes: Bytes::new(), _share: share });
        };
        if first.len() > most {
            return Err(too_large(most));
        }
        if self.body.is_end_stream() {
            self.ended = true;
            return Ok(WholeBody { bytes: first, _share: share });
        }
        let mut bytes = Vec::with_capacity(reserved.max(first.len()));
        bytes.extend_from_slice(&first);
        reserved = reserved.max(SMALL);
        while let Some(piece) = self.next().await? {
            if bytes.len() + piece.len() > most {
                return Err(too_large(most));
            }
            if bytes.len() + piece.len() > reserved {
                // The vector grows to twice its size.
                let more = (bytes.len() + piece.len()).max(SMALL) * 2;
                share.grow(more).await?;
                reserved = more;
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(WholeBody { bytes: bytes.into(), _share: share })
    }
}

fn too_large(most: usize) -> Problem {
    Problem::new(Code::BodyTooLarge, format!("the body has more than {most} bytes"))
        .with("limit", most)
        .help("write many units with POST /GROUPING/.bulk, whose body may have any length")
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if !self.drain {
            self.unread.store(true, Ordering::Relaxed);
            return;
        }
        // The answer is under way. To close the connection now would take it away from a client that is still sending.
        let mut body = std::mem::take(&mut self.body);
        tokio::spawn(tokio::time::timeout(LONGEST_DRAIN, async move {
            let mut left = MOST_DRAINED;
            while let Some(Ok(frame)) = body.frame().await {
                let length = frame.data_ref().map_or(0, Bytes::len);
                match left.checked_sub(length) {
                    Some(rest) => left = rest,
                    None => break,
                }
            }
        }));
    }
}
