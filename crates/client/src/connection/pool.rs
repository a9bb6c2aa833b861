//! The connections that are open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, Request};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::{Address, Answer, Outgoing};
use crate::error::{Error, Result};

/// Connections to one server.
pub(crate) struct Pool {
    pub(crate) address: Address,
    connect_timeout: Duration,
    /// The one that was used last is used next, so that the others may grow old and go.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    sender: SendRequest<Outgoing>,
    since: Instant,
}

impl Pool {
    /// More than this are closed rather than kept.
    const MOST_IDLE: usize = 64;
    /// After this a connection is not used again: servers and what is between close silent ones.
    const IDLE_AT_MOST: Duration = Duration::from_secs(50);

    /// After this it is found out first whether the server has closed it. Within it that is so unlikely that it is not worth the time.
    const LOOK_FIRST: Duration = Duration::from_millis(5);

    pub(crate) fn new(address: Address, connect_timeout: Duration) -> Pool {
        Pool { address, connect_timeout, idle: Mutex::new(Vec::new()) }
    }

    /// A pool for the same server.
    pub(crate) fn separate(&self) -> Pool {
        Pool::new(self.address.clone(), self.connect_timeout)
    }

    /// Sends a request and waits for the head of its answer, at most for `patience`.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request<Outgoing>,
        patience: Option<Duration>,
    ) -> Result<Answer> {
        let Some(patience) = patience else {
            return self.exchange(request, None).await;
        };
        match timeout(patience, self.exchange(request, Some(patience))).await {
            Ok(result) => result,
            Err(_) => Err(Error::TimedOut { server: self.address.authority.clone(), waited: patience }),
        }
    }

    async fn exchange(self: &Arc<Self>, mut request: Request<Outgoing>, patience: Option<Duration>) -> Result<Answer> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        loop {
            let (mut sender, used) = match self.take_idle().await {
                Some(sender) => (sender, true),
                None => (self.connect().await?, false),
            };
            let copy = if used && is_read { again(&request) } else { None };
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(Answer::new(response, sender, Arc::clone(self), patience)),
                Err(mut error) => match (error.take_message(), copy) {
                    // Nothing of it went out.
                    (Some(unsent), _) if used => request = unsent,
                    // The server closed the connection while it was idle, or before it answered: reading twice is no harm.
                    (None, Some(copy)) => request = copy,
                    _ => {
                        return Err(Error::Broken {
                            server: self.address.authority.clone(),
                            source: error.into_error(),
                        });
                    }
                },
            }
        }
    }

    async fn take_idle(&self) -> Option<SendRequest<Outgoing>> {
        loop {
            let Idle { mut sender, since } = self.idle.lock().pop()?;
            let idle = since.elapsed();
            if idle > Self::LOOK_FIRST {
                // The connection may have been closed while nothing ran here: once for the news to come in, once to act on them.
                yield_now().await;
                yield_now().await;
            }
            if idle < Self::IDLE_AT_MOST && sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    /// Takes back a connection whose answer has been read.
    pub(super) fn put_idle(&self, sender: SendRequest<Outgoing>) {
        let mut idle = self.idle.lock();
        if idle.len() < Self::MOST_IDLE && !sender.is_closed() {
            idle.push(Idle { sender, since: Instant::now() });
        }
    }

    async fn connect(&self) -> Result<SendRequest<Outgoing>> {
        let Address { host, port, authority, .. } = &self.address;
        let failed = |source| Error::Connect { server: authority.clone(), source };
        let stream = match timeout(self.connect_timeout, TcpStream::connect((host.as_str(), *port))).await {
            Ok(stream) => stream.map_err(failed)?,
            Err(_) => return Err(failed(std::io::ErrorKind::TimedOut.into())),
        };
        // A request is one write: waiting for more to send would only delay it.
        stream.set_nodelay(true).map_err(failed)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|source| Error::Broken { server: authority.clone(), source })?;
        // Its errors come out at the request that is under way.
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// A copy of a request, where its body can be sent twice.
fn again(request: &Request<Outgoing>) -> Option<Request<Outgoing>> {
    let body = request.body().again()?;
    let mut copy = Request::new(body);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}
