//! The door: what stands between a connection and a resource.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::response::Response;
use immuxdb_client::wire;
use libimmuxdb::Durability;
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use super::body::RequestBody;
use super::budget::Budget;
use super::chains::Chains;
use super::connection::{Visit, guarded};
use super::indexes::Makings;
use super::lane::Lane;
use super::metrics::Metrics;
use super::parameters::Parameters;
use super::problem::{Code, Problem};
use super::resource::{Kind, Resource};
use super::stop::Stop;
use super::{
    answer, bulk, health, indexes, journal, listing, metrics, openapi, proofs, revert, scan, site, target, unit,
};

/// What all requests share.
pub(crate) struct Door {
    pub(crate) chains: Arc<Chains>,
    pub(crate) lane: Lane,
    pub(crate) budget: Arc<Budget>,
    pub(crate) limits: Limits,
    pub(crate) stop: Stop,
    /// Of commits that do not ask for another one.
    pub(crate) durability: Durability,
    /// The token that requests must have.
    pub(crate) token: Option<String>,
    pub(crate) makings: Makings,
    pub(crate) metrics: Metrics,
    /// Room for requests at work.
    pub(crate) room: Arc<Semaphore>,
}

/// See the settings of the same names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_body: usize,
    pub(crate) max_connections: usize,
    pub(crate) header_timeout: Duration,
    pub(crate) body_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) stop_timeout: Duration,
}

/// A request on its way to a resource.
pub(crate) struct Call {
    pub(crate) door: Arc<Door>,
    /// The chain that the parameters name.
    pub(crate) chain: String,
    pub(crate) resource: Resource,
    pub(crate) parameters: Parameters,
    pub(crate) headers: HeaderMap,
    pub(crate) body: RequestBody,
}

impl Call {
    /// The unit's key, from the path or the parameters.
    pub(crate) fn key(&mut self) -> Result<Vec<u8>, Problem> {
        match self.resource.key.take() {
            Some(key) => Ok(key),
            None => self.parameters.key(),
        }
    }

    /// Refuses parameters that nobody asked for; `known` are those of the resource.
    pub(crate) fn check_parameters(&self, known: &[&str]) -> Result<(), Problem> {
        self.parameters.end(&[&["chain"], known].concat())
    }
}

impl Door {
    /// Answers a request.
    pub(crate) async fn answer(self: Arc<Self>, request: Request) -> Response {
        let begin = Instant::now();
        let (mut parts, body) = request.into_parts();
        let visit = parts.extensions.remove::<Arc<Visit>>();
        let version = parts.version;
        let stay = visit.as_ref().map(|visit| visit.begin(version));
        let is_head = parts.method == Method::HEAD;
        let body = RequestBody::new(body, &parts.headers, version, &self);
        let unread = body.unread();
        let room = Arc::clone(&self.room).try_acquire_owned();
        let mut kind = None;
        let result = match &room {
            Ok(_) => self.let_in(&parts.method, &parts.uri, parts.headers, body, &mut kind).await,
            Err(_) => Err(Problem::new(Code::Overloaded, "there are as many requests at work as the server takes")
                .help("try again later, or send fewer requests at once")),
        };
        // Who may use the connection again should be told when that can't be.
        let closes = self.stop.begun() || unread.load(Ordering::Relaxed);
        let mut response = result.unwrap_or_else(|problem| problem.response());
        let headers = response.headers_mut();
        headers.insert(answer::WIRE, HeaderValue::from(wire::VERSION));
        if closes && version < Version::HTTP_2 {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if is_head {
            without_body(&mut response);
        }
        self.metrics.answered(kind, &parts.method, response.status(), begin.elapsed());
        let sent = self.metrics.sent.clone();
        response.map(|body| guarded(body, (room.ok(), stay), Some(sent)))
    }

    async fn let_in(
        self: &Arc<Self>,
        method: &Method,
        uri: &Uri,
        headers: HeaderMap,
        body: RequestBody,
        kind: &mut Option<Kind>,
    ) -> Result<Response, Problem> {
        let path = uri.path();
        let is_health = path == "/.health";
        if self.stop.begun() && !is_health {
            return Err(Problem::new(Code::Stopping, "the server is being stopped").help("try again when it runs anew"));
        }
        if !is_health {
            self.check_token(&headers)?;
            if self.token.is_none() {
                site::check(uri, &headers)?;
            }
        }
        let resource = target::parse(path)?;
        *kind = Some(resource.kind);
        let methods = resource.kind.methods();
        if !methods.contains(method) {
            return Err(Problem::new(Code::MethodNotAllowed, format!("{method} is not for {path}"))
                .help("the header Allow lists the methods that are")
                .allow(methods));
        }
        let mut parameters = Parameters::parse(uri.query())?;
        let chain = parameters.chain()?;
        let call = Call { door: Arc::clone(self), chain, resource, parameters, headers, body };
        match (call.resource.kind, method.as_str()) {
            (Kind::Unit, "PUT") => unit::put(call).await,
            (Kind::Unit, "DELETE") => unit::delete(call).await,
            (Kind::Unit, _) => unit::get(call).await,
            (Kind::Journal, _) => journal::get(call).await,
            (Kind::Revert, _) => revert::post(call).await,
            (Kind::Scan, _) => scan::get(call).await,
            (Kind::Bulk, _) => bulk::post(call).await,
            (Kind::Indexes, _) => indexes::list(call).await,
            (Kind::Index, "PUT") => indexes::put(call).await,
            (Kind::Index, "DELETE") => indexes::delete(call).await,
            (Kind::Index, _) => indexes::get(call).await,
            (Kind::Groupings, _) => listing::groupings(call).await,
            (Kind::Chains, _) => listing::chains(call).await,
            (Kind::Stats, _) => listing::stats(call).await,
            (Kind::UnitProof, _) => proofs::unit(call).await,
            (Kind::Root, _) => proofs::root(call).await,
            (Kind::Extension, _) => proofs::extension(call).await,
            (Kind::Health, _) => health::get(&call),
            (Kind::Metrics, _) => metrics::get(call).await,
            (Kind::OpenApi, _) => openapi::get(&call),
        }
    }

    /// Whether a request has the token, if there must be one.
    pub(crate) fn check_token(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let given = given.and_then(|given| {
            let (scheme, token) = given.split_at_checked(7)?;
            scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
        });
        match given {
            Some(given) if bool::from(given.ct_eq(token.as_bytes())) => Ok(()),
            Some(_) => Err(Problem::new(Code::Unauthorized, "the token is not the one of this server")
                .help("send the server's setting `token` as Authorization: Bearer TOKEN")),
            None => Err(Problem::new(Code::Unauthorized, "this server needs a token")
                .help("send the server's setting `token` as Authorization: Bearer TOKEN")),
        }
    }
}

/// The answer to HEAD has the headers of the one to GET.
fn without_body(response: &mut Response) {
    let body = std::mem::take(response.body_mut());
    if let Some(length) = http_body::Body::size_hint(&body).exact()
        && response.status() != StatusCode::NOT_MODIFIED
    {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    *response.body_mut() = Body::empty();
}
