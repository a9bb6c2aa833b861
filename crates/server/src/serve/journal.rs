//! `/{grouping}/{key}/.journal`: the versions of a unit, newest first.

use std::io::Write as _;

use axum::http::HeaderMap;
use axum::response::Response;
use immuxdb_client::wire::End;
use libimmuxdb::{Height, Version, Versions};

use super::door::Call;
use super::problem::Problem;
use super::stream::{self, CHUNK, Lines};
use super::{answer, lane, line, unit};
use crate::moment::time_text;
use crate::output::kind_name;

/// Lists them.
pub(crate) async fn get(mut call: Call) -> Result<Response, Problem> {
    let key = call.key()?;
    let limit = call.parameters.value("limit", "a number")?.unwrap_or(u64::MAX);
    call.check_parameters(&["key", "key_hex", "limit"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let grouping = call.resource.grouping;
    let lines = lane::long(move || {
        let height = chain.height();
        let mut versions = chain.grouping(&grouping)?.inspect(&key)?;
        // One that is committed meanwhile is beyond the height of the answer.
        let first = versions.find(|version| !matches!(version, Ok(version) if version.height > height)).transpose()?;
        let first = first.ok_or_else(|| {
            unit::missing(&grouping, &key, None)
                .help("GET /GROUPING lists the units there are; nothing was ever written to this one")
        })?;
        Ok(VersionLines { first: Some(first), versions, height, limit, count: 0 })
    })
    .await?;
    let mut headers = HeaderMap::new();
    answer::height(&mut headers, lines.height);
    stream::response(&call.door, headers, lines).await
}

/// Versions as lines.
struct VersionLines {
    first: Option<Version>,
    versions: Versions,
    height: Height,
    limit: u64,
    count: u64,
}

impl Lines for VersionLines {
    fn fill(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Problem> {
        while chunk.len() < CHUNK {
            if self.count == self.limit {
                return Ok(false);
            }
            let version = match self.first.take() {
                Some(version) => version,
                None => match self.versions.next() {
                    Some(version) => version?,
                    None => return Ok(false),
                },
            };
            // Writing to memory does not fail.
            let _ = write!(
                chunk,
                "{{\"height\":{},\"time\":\"{}\",\"kind\":\"{}\",\"size\":{}",
                version.height,
                time_text(version.time),
                kind_name(version.kind),
                version.content.len()
            );
            line::content(chunk, version.kind, &version.content);
            chunk.extend_from_slice(b"}\n");
            self.count += 1;
        }
        Ok(true)
    }

    fn end(&self, chunk: &mut Vec<u8>) {
        let end = End { count: self.count, height: self.height.0, cursor: None, used_index: true };
        stream::end_line(chunk, &end);
    }
}
