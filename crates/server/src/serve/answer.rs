//! The parts that answers have in common.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use immuxdb_client::wire;
use libimmuxdb::Height;
use serde::Serialize;

/// On each answer: the version of this protocol.
pub(crate) const WIRE: HeaderName = HeaderName::from_static(wire::VERSION_HEADER);
/// On reads and writes: the height that was read at, or written.
const HEIGHT: HeaderName = HeaderName::from_static(wire::HEIGHT_HEADER);

/// JSON that is text already.
pub(crate) fn json(status: StatusCode, text: impl Into<Body>) -> Response {
    body(status, "application/json", text)
}

/// A body of some type.
pub(crate) fn body(status: StatusCode, content_type: &'static str, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// An object.
pub(crate) fn object(status: StatusCode, object: &impl Serialize) -> Response {
    json(status, text(object))
}

/// An object's text.
pub(crate) fn text(object: &impl Serialize) -> String {
    match serde_json::to_string(object) {
        Ok(text) => text,
        Err(error) => unreachable!("our own objects can be written as JSON: {error}"),
    }
}

/// A unit's version as an entity tag.
pub(crate) fn tag(headers: &mut HeaderMap, version: Height) {
    if let Ok(value) = HeaderValue::try_from(format!("\"{version}\"")) {
        headers.insert(header::ETAG, value);
    }
}

/// The height that was read at, or written.
pub(crate) fn height(headers: &mut HeaderMap, height: Height) {
    headers.insert(HEIGHT, HeaderValue::from(height.0));
}
