//! From an operation to a request, and from its answer to a value or an error: what all operations of the client share.
//!
//! ```text
//!  Call: method, target, body, condition ──► send ──► ask ──► json
//!                                             │        │       └ a value of a type
//!                                             │        └ a success; what refuses becomes an error
//!                                             └ any answer of a server that speaks our version
//! ```

use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::connection::{Answer, Outgoing};
use crate::error::{Error, Result};
use crate::target::Target;
use crate::types::{Condition, Durability};
use crate::wire;

/// An answer that is not a list is at most this long: the largest content, and some fields.
pub(crate) const ANSWER_BYTES: usize = 65 << 20;
/// The description of an error is cut off here.
const REFUSAL_BYTES: usize = 1 << 20;

/// A request under construction.
pub(crate) struct Call {
    method: Method,
    target: Target,
    pub(crate) body: Outgoing,
    pub(crate) content_type: Option<&'static str>,
    condition: Condition,
    /// Whether the answer may take as long as it likes.
    patient: bool,
}

impl Call {
    /// A request to read.
    pub(crate) fn get(target: Target) -> Call {
        Call::write(Method::GET, target)
    }

    /// A request without a body, so far.
    pub(crate) fn write(method: Method, target: Target) -> Call {
        Call { method, target, body: Outgoing::Empty, content_type: None, condition: Condition::Any, patient: false }
    }

    /// The same, if a condition holds.
    pub(crate) fn when(self, condition: Condition) -> Call {
        Call { condition, ..self }
    }

    /// The same, whose answer may take as long as it likes.
    pub(crate) fn patient(self) -> Call {
        Call { patient: true, ..self }
    }
}

impl Client {
    /// The target with the durability that is wanted, or the client's.
    pub(crate) fn durable(&self, target: Target, durability: Option<Durability>) -> Target {
        target.with_some("durability", durability.or(self.durability).map(Durability::name))
    }

    /// Sends, and gives the answer whatever its status.
    pub(crate) async fn send(&self, call: Call) -> Result<Answer> {
        let target = match &*self.chain {
            crate::builder::DEFAULT_CHAIN => call.target,
            chain => call.target.with("chain", chain),
        };
        let mut request = Request::new(call.body);
        *request.method_mut() = call.method;
        *request.uri_mut() = Uri::from(target.finish()?);
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.pool.address.header.clone());
        if let Some(token) = &self.token {
            headers.insert(header::AUTHORIZATION, token.clone());
        }
        if let Some(name) = call.content_type {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(name));
        }
        match call.condition {
            Condition::Any => (),
            Condition::Absent => {
                headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("*"));
            }
            Condition::At(height) => {
                headers.insert(header::IF_MATCH, HeaderValue::from(height));
            }
        }
        let patience = if call.patient { None } else { self.timeout };
        let answer = self.pool.send(request, patience).await?;
        match answer.headers.get(wire::VERSION_HEADER).map(HeaderValue::as_bytes) {
            Some(b"1") => Ok(answer),
            Some(other) => Err(self.protocol(&format!("its version is {}", String::from_utf8_lossy(other)))),
            None => {
                Err(self.protocol(&format!("it has no header {} (status {})", wire::VERSION_HEADER, answer.status)))
            }
        }
    }

    /// Sends, and gives the answer if it is not a refusal.
    pub(crate) async fn ask(&self, call: Call) -> Result<Answer> {
        let answer = self.send(call).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(refusal(answer).await) }
    }

    /// Sends, and reads the answer as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T> {
        let answer = self.ask(call).await?;
        self.value(&answer.body.all(ANSWER_BYTES).await?)
    }

    /// A body as JSON.
    pub(crate) fn value<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T> {
        serde_json::from_slice(body).map_err(|error| self.protocol(&format!("its answer has another form ({error})")))
    }

    /// The height of the snapshot that was read; 0 where the answer names none.
    pub(crate) fn height(&self, headers: &HeaderMap) -> Result<u64> {
        match headers.get(wire::HEIGHT_HEADER) {
            None => Ok(0),
            Some(height) => height
                .to_str()
                .ok()
                .and_then(|height| height.parse().ok())
                .ok_or_else(|| self.protocol("its height is no number")),
        }
    }

    /// The answer is none of our servers.
    pub(crate) fn protocol(&self, what: &str) -> Error {
        Error::Protocol { server: self.pool.address.authority.clone(), what: what.to_owned() }
    }
}

/// The error that an answer describes.
pub(crate) async fn refusal(answer: Answer) -> Error {
    let (status, server) = (answer.status, answer.body.server());
    match answer.body.all(REFUSAL_BYTES).await {
        Err(error) => error,
        Ok(body) => refusal_of(status, &body).unwrap_or_else(|| Error::Protocol {
            server,
            what: format!("status {status} comes without an error's description"),
        }),
    }
}

/// The error that a body describes, if it does.
pub(crate) fn refusal_of(status: StatusCode, body: &[u8]) -> Option<Error> {
    let wire::Refusal { error } = serde_json::from_slice(body).ok()?;
    Some(Error::refused(status.as_u16(), error))
}
