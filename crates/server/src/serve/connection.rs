//! One connection: HTTP/1.1 or HTTP/2, whichever its first bytes are. It is watched, since clients may be silent, slow or
//! stuck:
//!
//! | what the client does | what ends it |
//! |---|---|
//! | connects, and says nothing; or is idle between requests | `idle_timeout` |
//! | begins a request's head, and does not end it | `header_timeout` (seen at the latest after twice that) |
//! | does not read | `write_timeout` |
//!
//! When the server stops, an idle connection is left open for a short while: whoever uses it then is told so, which is
//! kinder than a broken connection.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Version;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use prometheus_client::metrics::counter::Counter;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tower::Service as _;

use super::door::Limits;
use super::stop::Stop;

/// The largest head of a request: a key of 64 KiB can hardly be longer, percent-encoded, than a target may be.
const HEAD_BYTES: usize = 128 << 10;
/// How long an idle connection is kept when the server stops.
const FAREWELL: Duration = Duration::from_millis(500);
/// How often a connection looks whether it may end, when the server stops.
const TICK: Duration = Duration::from_millis(50);
/// Requests at once on an HTTP/2 connection.
const STREAMS: u32 = 100;
/// Bytes that an HTTP/2 client may send ahead: of one body, and of all bodies of the connection.
const WINDOWS: (u32, u32) = (256 << 10, 1 << 20);

/// Serves a connection until it ends.
pub(crate) async fn serve(stream: TcpStream, router: Router, limits: Limits, stop: Stop) {
    let visit = Arc::new(Visit::new());
    let socket = Socket { stream, visit: Arc::clone(&visit), stuck: None, limits };
    let service = service_fn({
        let visit = Arc::clone(&visit);
        move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&visit));
            router.clone().call(request)
        }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().max_buf_size(HEAD_BYTES).timer(hyper_util::rt::TokioTimer::new()).header_read_timeout(None);
    builder
        .http2()
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .max_header_list_size(HEAD_BYTES as u32)
        .max_send_buf_size(64 << 10);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(socket), service));
    let mut farewell: Option<Instant> = None;
    loop {
        let Some(patience) = visit.patience(&limits) else {
            tracing::debug!("ended a connection that was silent");
            return;
        };
        tokio::select! {
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!("a connection broke off: {error}");
                }
                return;
            }
            () = stop.wait(), if farewell.is_none() => farewell = Some(Instant::now()),
            () = tokio::time::sleep(if farewell.is_some() { patience.min(TICK) } else { patience }) => {
                if farewell.is_some_and(|begin| begin.elapsed() >= FAREWELL) && visit.is_quiet() {
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// What a client does on its connection.
pub(crate) struct Visit {
    opened: Instant,
    /// Requests at work.
    requests: AtomicUsize,
    /// Milliseconds after `opened` at which the last request ended, or the next one's first byte came.
    since: AtomicU64,
    /// Whether a request's head has begun to come.
    head: AtomicBool,
    is_http2: AtomicBool,
}

impl Visit {
    fn new() -> Visit {
        Visit {
            opened: Instant::now(),
            requests: AtomicUsize::new(0),
            since: AtomicU64::new(0),
            head: AtomicBool::new(false),
            is_http2: AtomicBool::new(false),
        }
    }

    /// A request is at work until the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>, version: Version) -> Stay {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.head.store(false, Ordering::Relaxed);
        if version == Version::HTTP_2 {
            self.is_http2.store(true, Ordering::Relaxed);
        }
        Stay { visit: Arc::clone(self) }
    }

    fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }

    /// Whether nothing is at work, and no request has begun to come.
    fn is_quiet(&self) -> bool {
        self.is_idle() && !self.head.load(Ordering::Relaxed)
    }

    fn mark(&self) {
        self.since.store(self.opened.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Bytes came. Between requests they begin a head; HTTP/2 has other things to say then.
    fn received(&self) {
        if self.is_idle() && !self.is_http2.load(Ordering::Relaxed) && !self.head.swap(true, Ordering::Relaxed) {
            self.mark();
        }
    }

    /// How long to wait before looking again; `None` when it took too long.
    fn patience(&self, limits: &Limits) -> Option<Duration> {
        if !self.is_idle() {
            return Some(limits.header_timeout);
        }
        let limit = if self.head.load(Ordering::Relaxed) { limits.header_timeout } else { limits.idle_timeout };
        let since = Duration::from_millis(self.since.load(Ordering::Relaxed));
        let left = limit.checked_sub(self.opened.elapsed().saturating_sub(since)).filter(|left| !left.is_zero())?;
        // A millisecond more, since times are whole ones.
        Some(left.min(limits.header_timeout) + Duration::from_millis(1))
    }
}

/// A request at work.
pub(crate) struct Stay {
    visit: Arc<Visit>,
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.visit.mark();
        self.visit.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that keeps something until it was written, or given up; its bytes are counted.
pub(crate) fn guarded(body: Body, guard: impl Send + Unpin + 'static, sent: Option<Counter>) -> Body {
    Body::new(Guarded { body, _guard: guard, sent })
}

struct Guarded<G> {
    body: Body,
    _guard: G,
    sent: Option<Counter>,
}

impl<G: Unpin> http_body::Body for Guarded<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let (Poll::Ready(Some(Ok(frame))), Some(sent)) = (&frame, &self.sent) {
            sent.inc_by(frame.data_ref().map_or(0, Bytes::len) as u64);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A socket that fails when nothing can be written for too long.
struct Socket {
    stream: TcpStream,
    visit: Arc<Visit>,
    /// Runs while the client does not read.
    stuck: Option<Pin<Box<Sleep>>>,
    limits: Limits,
}

impl Socket {
    fn watch<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let timeout = self.limits.write_timeout;
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        match stuck.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        let before = buffer.filled().len();
        let result = Pin::new(&mut socket.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            socket.visit.received();
        }
        result
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let written = Pin::new(&mut socket.stream).poll_write(context, bytes);
        socket.watch(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let written = Pin::new(&mut socket.stream).poll_write_vectored(context, slices);
        socket.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
