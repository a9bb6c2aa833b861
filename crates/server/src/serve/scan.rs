//! `/{grouping}`: units in order, as lines.

use std::io::Write as _;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use immuxdb_client::wire::{Counted, End};
use libimmuxdb::index::{IndexDefinition, decode_key};
use libimmuxdb::{Chain, Scan, Snapshot, Unit, Units};
use serde_json::Value;

use super::cursor::{self, Ordering};
use super::door::Call;
use super::parameters::Parameters;
use super::problem::{Code, Problem};
use super::stream::{self, CHUNK, Lines};
use super::{answer, lane, line};
use crate::index_value::{index_key, index_prefix};
use crate::moment::Moment;

/// The parameters that there are.
const PARAMETERS: [&str; 12] =
    ["index", "from", "to", "through", "prefix", "value", "order", "limit", "at", "cursor", "keys_only", "count"];

/// Lists units, or counts them.
pub(crate) async fn get(mut call: Call) -> Result<Response, Problem> {
    let request = Request::parse(&mut call.parameters)?;
    call.check_parameters(&PARAMETERS)?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let grouping = call.resource.grouping;
    let door = call.door;
    let (opened, count) = lane::long(move || {
        let opened = request.open(&chain, &grouping)?;
        let count = match request.count {
            true => Some(opened.snapshot.count(&grouping, opened.scan.clone())?),
            false => None,
        };
        Ok((opened, count))
    })
    .await?;
    let mut headers = HeaderMap::new();
    answer::height(&mut headers, opened.snapshot.height());
    if let Some(count) = count {
        let counted = Counted { count, height: opened.snapshot.height().0 };
        let mut response = answer::object(StatusCode::OK, &counted);
        response.headers_mut().extend(headers);
        return Ok(response);
    }
    stream::response(&door, headers, opened.lines()?).await
}

/// What the parameters ask for.
struct Request {
    index: Option<String>,
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    through: Option<Vec<u8>>,
    prefix: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    backward: bool,
    limit: Option<u64>,
    at: Option<Moment>,
    cursor: Option<String>,
    keys_only: bool,
    count: bool,
}

impl Request {
    fn parse(parameters: &mut Parameters) -> Result<Request, Problem> {
        let bad = |message: &str, help: &'static str| Err(Problem::new(Code::BadParameter, message).help(help));
        let request = Request {
            index: parameters.text("index")?,
            from: parameters.bytes("from"),
            to: parameters.bytes("to"),
            through: parameters.bytes("through"),
            prefix: parameters.bytes("prefix"),
            value: parameters.bytes("value"),
            backward: match parameters.text("order")?.as_deref() {
                None | Some("asc") => false,
                Some("desc") => true,
                Some(other) => return bad(&format!("the parameter order is {other:?}"), "expected asc or desc"),
            },
            limit: parameters.value("limit", "a number")?,
            at: parameters.moment("at")?,
            cursor: parameters.text("cursor")?,
            keys_only: parameters.flag("keys_only")?,
            count: parameters.flag("count")?,
        };
        let bounds = [&request.from, &request.to, &request.through, &request.prefix];
        if request.value.is_some() && bounds.iter().any(|bound| bound.is_some()) {
            return bad("value excludes from, to, through and prefix", "give the value, or bounds");
        }
        if request.value.is_some() && request.index.is_none() {
            return bad("value needs an index", "name the index with ?index=, or read the unit at /GROUPING/KEY");
        }
        if request.to.is_some() && request.through.is_some() {
            return bad("to and through exclude each other", "give one of them");
        }
        Ok(request)
    }

    fn open(&self, chain: &Arc<Chain>, grouping: &str) -> Result<Opened, Problem> {
        // A name that cannot be is another error than one that is not there.
        let handle = chain.grouping(grouping)?;
        if !chain.has_grouping(grouping) {
            return Err(libimmuxdb::Error::GroupingMissing(grouping.to_owned()).into());
        }
        let index = self.index.as_ref().map(|name| handle.index(name)).transpose()?;
        let definition = index.as_ref().map(|index| index.definition.clone());
        let mut scan = self.bounds(definition.as_ref())?;
        let ordering = Ordering {
            chain: chain.name().to_owned(),
            grouping: grouping.to_owned(),
            index: index.map_or(0, |index| index.id.0),
            backward: self.backward,
        };
        let at = self.at.map(|at| at.height(chain)).transpose()?;
        let resumed = self.cursor.as_deref().map(|text| cursor::decode(&ordering, text)).transpose()?;
        let snapshot = match (resumed, at) {
            (Some((height, _)), Some(at)) if height != at => {
                let message = format!("the cursor belongs to height {height}, not to {at}");
                return Err(Problem::new(Code::CursorMismatch, message).help("leave at out: a cursor has its height"));
            }
            (Some((height, cursor)), _) => {
                scan = scan.resume(cursor);
                chain.snapshot_at(height)?
            }
            (None, Some(at)) => chain.snapshot_at(at)?,
            (None, None) => chain.snapshot()?,
        };
        let limit = self.limit;
        if self.count {
            // A count has no end at which it could go on.
            scan = limit.map_or(scan.clone(), |limit| scan.limit(limit));
        }
        Ok(Opened { snapshot, scan, definition, ordering, limit, keys_only: self.keys_only })
    }

    fn bounds(&self, definition: Option<&IndexDefinition>) -> Result<Scan, Problem> {
        let bound = |value: &[u8], whole: bool| -> Result<Vec<u8>, Problem> {
            let Some(definition) = definition else {
                return Ok(value.to_owned());
            };
            let text = std::str::from_utf8(value).map_err(|_| {
                Problem::new(Code::BadParameter, "a value of an index is not UTF-8")
                    .help("bytes of a raw index are written as {\"hex\": \"00ff\"}")
            })?;
            let key = if whole { index_key(definition, text) } else { index_prefix(definition, text) };
            key.map_err(|failure| {
                Problem::new(Code::BadParameter, failure.what).help(
                    "a value of an index is JSON, or else text; for several fields an array, such as [10, \"text\"]",
                )
            })
        };
        let mut scan = match &self.index {
            None => Scan::units(),
            Some(name) => Scan::index(name.as_str()),
        };
        if let Some(value) = &self.value {
            scan = scan.prefix(bound(value, true)?);
        }
        if let Some(value) = &self.from {
            scan = scan.from(bound(value, true)?);
        }
        if let Some(value) = &self.to {
            scan = scan.to(bound(value, true)?);
        }
        if let Some(value) = &self.through {
            let key = bound(value, true)?;
            scan = match definition {
                Some(_) => scan.through(key),
                // Other than an index key, a unit key is not complete in itself: the next one after it has a zero byte more.
                None => scan.to([key, vec![0]].concat()),
            };
        }
        if let Some(value) = &self.prefix {
            scan = scan.prefix(bound(value, false)?);
        }
        if self.backward {
            scan = scan.backward();
        }
        Ok(if self.keys_only { scan.keys_only() } else { scan })
    }
}

/// A scan that can begin.
struct Opened {
    snapshot: Snapshot,
    scan: Scan,
    definition: Option<IndexDefinition>,
    ordering: Ordering,
    limit: Option<u64>,
    keys_only: bool,
}

impl Opened {
    fn lines(self) -> Result<UnitLines, Problem> {
        let units = self.snapshot.scan(&self.ordering.grouping, self.scan)?;
        let Opened { definition, ordering, limit, keys_only, .. } = self;
        Ok(UnitLines { units, definition, ordering, limit, keys_only, count: 0, cursor: None })
    }
}

/// Units as lines.
struct UnitLines {
    units: Units,
    definition: Option<IndexDefinition>,
    ordering: Ordering,
    limit: Option<u64>,
    keys_only: bool,
    count: u64,
    /// Where to go on, when the limit ended the scan.
    cursor: Option<String>,
}

impl UnitLines {
    fn line(&self, unit: &Unit, chunk: &mut Vec<u8>) -> Result<(), Problem> {
        chunk.push(b'{');
        if let Some(definition) = &self.definition {
            let mut values = decode_key(definition, &unit.index_key)?;
            let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
            // Writing to memory does not fail.
            let _ = write!(chunk, "\"value\":{value},");
        }
        line::key(chunk, &unit.key);
        let _ = write!(chunk, ",\"height\":{},\"kind\":\"{}\"", unit.height, crate::output::kind_name(unit.kind));
        if !self.keys_only {
            line::content(chunk, unit.kind, &unit.content);
        }
        chunk.extend_from_slice(b"}\n");
        Ok(())
    }
}

impl Lines for UnitLines {
    fn fill(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Problem> {
        while chunk.len() < CHUNK {
            if self.limit == Some(self.count) {
                let cursor = self.units.cursor().cloned();
                if let (Some(cursor), Some(next)) = (cursor, self.units.next()) {
                    next?;
                    self.cursor = Some(cursor::encode(&self.ordering, self.units.height(), &cursor));
                }
                return Ok(false);
            }
            let Some(unit) = self.units.next().transpose()? else {
                return Ok(false);
            };
            self.line(&unit, chunk)?;
            self.count += 1;
        }
        Ok(true)
    }

    fn end(&self, chunk: &mut Vec<u8>) {
        let end = End {
            count: self.count,
            height: self.units.height().0,
            cursor: self.cursor.clone(),
            used_index: self.units.used_index(),
        };
        stream::end_line(chunk, &end);
    }
}
