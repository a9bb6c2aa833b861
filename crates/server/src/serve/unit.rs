//! `/{grouping}/{key}` and `/{grouping}/.unit?key=`: one unit.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use immuxdb_client::wire::Written;
use libimmuxdb::{Committed, Content, Durability, Height, Unit, VersionKind, WriteOptions};

use super::answer;
use super::budget::SMALL;
use super::conditions::{self, Condition};
use super::connection::guarded;
use super::door::Call;
use super::lane::Length;
use super::media::{self, Media};
use super::problem::{Code, Problem};
use crate::output::shown_key;

/// Reads it.
pub(crate) async fn get(mut call: Call) -> Result<Response, Problem> {
    let key = call.key()?;
    let at = call.parameters.moment("at")?;
    call.check_parameters(&["key", "key_hex", "at"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let (door, grouping, headers) = (call.door, call.resource.grouping, call.headers);
    let read = move || {
        let snapshot = match at {
            None => chain.snapshot()?,
            Some(at) => chain.snapshot_at(at.height(&chain)?)?,
        };
        let unit = snapshot.get(&grouping, &key)?;
        let unit = unit.ok_or_else(|| missing(&grouping, &key, at.map(|_| snapshot.height())));
        Ok((snapshot.height(), unit))
    };
    let (height, unit) = door.lane.run(Length::Short, read).await?;
    let unit = match unit {
        Ok(unit) => unit,
        Err(problem) => {
            // When it was not there is worth knowing, too.
            let mut response = problem.response();
            answer::height(response.headers_mut(), height);
            return Ok(response);
        }
    };
    if conditions::is_known(&headers, unit.height)? {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        dress(response.headers_mut(), &unit, height);
        return Ok(response);
    }
    let mut share = door.budget.share();
    share.grow(unit.content.len()).await?;
    let content_type = match unit.kind {
        VersionKind::Json => "application/json",
        VersionKind::Raw | VersionKind::Deleted => "application/octet-stream",
    };
    let mut response = answer::body(StatusCode::OK, content_type, Body::empty());
    dress(response.headers_mut(), &unit, height);
    let is_small = unit.content.len() <= SMALL;
    let content = Body::from(unit.content);
    *response.body_mut() = if is_small { content } else { guarded(content, share, None) };
    Ok(response)
}

fn dress(headers: &mut HeaderMap, unit: &Unit, height: Height) {
    answer::tag(headers, unit.height);
    answer::height(headers, height);
}

/// Writes it.
pub(crate) async fn put(mut call: Call) -> Result<Response, Problem> {
    let key = call.key()?;
    let options = call.parameters.durability()?;
    let condition = Condition::of_write(&call.headers)?;
    let media = media::of_unit(&call.headers)?;
    call.check_parameters(&["key", "key_hex", "durability"])?;
    let body = call.body.whole(call.door.limits.max_body, &call.door.budget).await?;
    let chain = call.door.chains.to_write(&call.chain).await?;
    let length = length_of_write(&call.door, options, body.bytes.len());
    let grouping = call.resource.grouping;
    let write = move || {
        let grouping = chain.grouping(&grouping)?.with(options);
        let content = match media {
            Media::Json => Content::json(&body.bytes),
            Media::Raw => Content::raw(&body.bytes),
        };
        Ok(match condition {
            Condition::Any => grouping.put(&key, content)?,
            Condition::At(height) => grouping.compare_and_set(&key, height, content)?,
            Condition::Absent => grouping.insert(&key, content)?,
        })
    };
    let committed = call.door.lane.run(length, write).await?;
    call.door.metrics.commits.inc();
    let created = committed.created > 0;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = written(status, &committed, Some(created));
    answer::tag(response.headers_mut(), committed.height);
    Ok(response)
}

/// Deletes it.
pub(crate) async fn delete(mut call: Call) -> Result<Response, Problem> {
    let key = call.key()?;
    let options = call.parameters.durability()?;
    let condition = Condition::of_write(&call.headers)?;
    if condition == Condition::Absent {
        return Err(Problem::new(Code::BadHeader, "If-None-Match: * is not for DELETE").help("leave it out"));
    }
    call.check_parameters(&["key", "key_hex", "durability"])?;
    // To delete what is not there makes no chain.
    let chain = call.door.chains.to_read(&call.chain).await?;
    let length = length_of_write(&call.door, options, 0);
    let name = call.resource.grouping;
    let write = move || {
        let grouping = chain.grouping(&name)?.with(options);
        let deleted = match condition {
            Condition::At(height) => grouping.compare_and_delete(&key, height),
            _ => grouping.delete(&key),
        };
        match deleted {
            Err(libimmuxdb::Error::UnitMissing) => Err(missing(&name, &key, None)),
            deleted => Ok(deleted?),
        }
    };
    let committed = call.door.lane.run(length, write).await?;
    call.door.metrics.commits.inc();
    Ok(written(StatusCode::OK, &committed, None))
}

/// How long a commit of so many bytes may take.
pub(crate) fn length_of_write(door: &super::door::Door, options: WriteOptions, bytes: usize) -> Length {
    match options.durability.unwrap_or(door.durability) {
        Durability::Sync => Length::Long,
        Durability::Process | Durability::Buffered => Length::of_bytes(bytes),
    }
}

/// A commit happened.
pub(crate) fn written(status: StatusCode, committed: &Committed, created: Option<bool>) -> Response {
    let mut response = answer::object(status, &Written { height: committed.height.0, created });
    answer::height(response.headers_mut(), committed.height);
    response
}

/// There is no such unit (at that height).
pub(crate) fn missing(grouping: &str, key: &[u8], at: Option<Height>) -> Problem {
    let at = at.map_or_else(String::new, |height| format!(" at height {height}"));
    Problem::new(Code::UnitMissing, format!("there is no unit {} in {grouping}{at}", shown_key(key)))
        .with("grouping", grouping)
        .help("its .journal shows whether there was one; GET /GROUPING lists the units there are")
}
