//! `/{grouping}/.indexes` and `/{grouping}/.indexes/{name}`: the indexes of a grouping.
//!
//! To make one takes as long as reading all units. The request waits for that, unless it says `Prefer: respond-async`. Several
//! clients may ask for the same index at once: one of them makes it, the others wait.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use immuxdb_client::wire::{IndexItem, IndexList, IndexProgress, Written};
use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Chain, Error, Grouping, Height, IndexInfo};
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::door::{Call, Door};
use super::problem::{Code, Problem};
use super::{answer, lane, media};

/// The largest body with a definition.
const MOST_BODY: usize = 64 << 10;
/// How often to look whether an index that somebody else makes is ready.
const LOOK: Duration = Duration::from_millis(10);
/// How many failures are remembered, of indexes that nobody waited for.
const MOST_FAILURES: usize = 100;

/// An index, by its chain, grouping and name.
type Name = (String, String, String);

/// The indexes that are being made.
#[derive(Default)]
pub(crate) struct Makings {
    makings: Mutex<HashMap<Name, Arc<Making>>>,
    /// Those that failed after their request had been answered.
    failures: Mutex<HashMap<Name, String>>,
}

/// How far one is.
#[derive(Default)]
struct Making {
    units: AtomicU64,
    entries: AtomicU64,
}

/// An index, and how far it is while it is being made.
fn item(door: &Door, grouping: &Grouping, info: &IndexInfo) -> IndexItem {
    let name = name_of(grouping, &info.name);
    let making = door.makings.makings.lock().get(&name).filter(|_| !info.ready).cloned();
    IndexItem {
        grouping: grouping.name().to_owned(),
        index: info.name.clone(),
        definition: info.definition.to_string(),
        since: info.since.0,
        ready: info.ready,
        progress: making.map(|making| IndexProgress {
            units: making.units.load(Ordering::Relaxed),
            entries: making.entries.load(Ordering::Relaxed),
        }),
    }
}

fn name_of(grouping: &Grouping, index: &str) -> Name {
    (grouping.chain().name().to_owned(), grouping.name().to_owned(), index.to_owned())
}

/// Lists them.
pub(crate) async fn list(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let grouping = grouping(&chain, &call.resource.grouping)?;
    let infos = grouping.indexes();
    let indexes = infos.iter().map(|info| item(&call.door, &grouping, info)).collect();
    Ok(answer::object(StatusCode::OK, &IndexList { indexes }))
}

/// Shows one.
pub(crate) async fn get(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let grouping = grouping(&chain, &call.resource.grouping)?;
    let name = &call.resource.index;
    match grouping.index(name) {
        Ok(info) => Ok(answer::object(StatusCode::OK, &item(&call.door, &grouping, &info))),
        Err(error) => {
            let failure = call.door.makings.failures.lock().get(&name_of(&grouping, name)).cloned();
            Err(match failure {
                None => error.into(),
                Some(failure) => {
                    Problem::new(Code::IndexMissing, format!("the index {name:?} was not made: {failure}"))
                        .with("grouping", grouping.name())
                        .with("index", name.as_str())
                        .help("mend what stood in the way, and make it again with PUT")
                }
            })
        }
    }
}

/// Drops one.
pub(crate) async fn delete(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let grouping = grouping(&chain, &call.resource.grouping)?;
    let name = call.resource.index;
    let height = lane::long(move || Ok(grouping.drop_index(&name)?)).await?;
    let mut response = answer::object(StatusCode::OK, &Written { height: height.0, created: None });
    answer::height(response.headers_mut(), height);
    Ok(response)
}

/// Makes one.
pub(crate) async fn put(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    media::check_object(&call.headers)?;
    let is_async = prefers_async(&call.headers);
    let body = call.body.whole(MOST_BODY, &call.door.budget).await?;
    let definition = definition(&body.bytes)?;
    let chain = call.door.chains.to_write(&call.chain).await?;
    let grouping = chain.grouping(&call.resource.grouping)?;
    let index = call.resource.index;
    loop {
        let there = grouping.indexes().into_iter().find(|info| info.name == index);
        match there {
            Some(info) if info.definition != definition => {
                let error = Error::IndexExists { grouping: grouping.name().to_owned(), index };
                return Err(Problem::from(error).with("definition", info.definition.to_string()));
            }
            Some(info) if info.ready => return Ok(made(StatusCode::OK, &call.door, &grouping, &info)),
            Some(info) if is_async => return Ok(accepted(&call.door, &grouping, &info)),
            Some(_) if call.door.stop.begun() => {
                return Err(Problem::new(Code::Stopping, "the server is being stopped; the index is not filled yet")
                    .help("it is filled when the server runs anew"));
            }
            // Somebody else makes it. When it is ready, or gone, we go on.
            Some(_) => tokio::time::sleep(LOOK).await,
            None => match make(&call.door, &grouping, &index, &definition, is_async).await {
                Ok(Some(_)) => {
                    let info = grouping.index(&index)?;
                    return Ok(made(StatusCode::CREATED, &call.door, &grouping, &info));
                }
                // It is defined, and being filled.
                Ok(None) => (),
                Err(Error::IndexExists { .. }) => (),
                Err(error) => return Err(error.into()),
            },
        }
    }
}

/// Makes an index. With `is_async`, it may still be filled when this returns, which `None` says.
async fn make(
    door: &Arc<Door>,
    grouping: &Grouping,
    index: &str,
    definition: &IndexDefinition,
    is_async: bool,
) -> libimmuxdb::Result<Option<Height>> {
    let name = name_of(grouping, index);
    let waited_for = Arc::new(AtomicU64::new(1));
    let work = {
        let (door, grouping, definition) = (Arc::clone(door), grouping.clone(), definition.clone());
        let (name, waited_for) = (name.clone(), Arc::clone(&waited_for));
        move || {
            let making = Arc::new(Making::default());
            door.makings.makings.lock().insert(name.clone(), Arc::clone(&making));
            let result = grouping.create_index(&name.2, definition, &mut |progress| {
                making.units.store(progress.units, Ordering::Relaxed);
                making.entries.store(progress.entries, Ordering::Relaxed);
            });
            let mut makings = door.makings.makings.lock();
            if makings.get(&name).is_some_and(|known| Arc::ptr_eq(known, &making)) {
                makings.remove(&name);
            }
            drop(makings);
            let mut failures = door.makings.failures.lock();
            failures.remove(&name);
            // Where somebody else made it meanwhile, there is no failure to tell of.
            if let Err(error) = &result
                && !matches!(error, Error::IndexExists { .. })
                && waited_for.load(Ordering::Acquire) == 0
            {
                tracing::warn!(chain = name.0, grouping = name.1, index = name.2, "an index was not made: {error}");
                if failures.len() < MOST_FAILURES {
                    failures.insert(name, error.to_string());
                }
            }
            result
        }
    };
    let mut task = tokio::task::spawn_blocking(work);
    loop {
        let done = match is_async {
            true => tokio::time::timeout(LOOK, &mut task).await.ok(),
            false => Some((&mut task).await),
        };
        match done {
            Some(Ok(result)) => return result.map(Some),
            Some(Err(error)) => return Err(Error::Invalid(format!("the index was not made: {error}"))),
            None if grouping.index(index).is_ok() => {
                waited_for.store(0, Ordering::Release);
                return Ok(None);
            }
            None => (),
        }
    }
}

fn grouping(chain: &Arc<Chain>, name: &str) -> Result<Grouping, Problem> {
    let grouping = chain.grouping(name)?;
    match chain.has_grouping(name) {
        true => Ok(grouping),
        false => Err(Error::GroupingMissing(name.to_owned()).into()),
    }
}

fn definition(body: &[u8]) -> Result<IndexDefinition, Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        definition: String,
    }
    let help = "send {\"definition\": \"json:FIELD,-FIELD unique\"} or {\"definition\": \"raw:OFFSET+LENGTH\"}; \
                further words are sparse and filler=0x20";
    if body.trim_ascii().first() == Some(&b'[') && serde_json::from_slice::<IgnoredAny>(body).is_ok() {
        // An array would be taken for the fields in their order.
        return Err(Problem::new(Code::BadDefinition, "the body is no object").help(help));
    }
    let body: Body = serde_json::from_slice(body).map_err(|error| {
        let code = if error.is_data() { Code::BadDefinition } else { Code::InvalidJson };
        Problem::new(code, format!("the body is no definition of an index: {error}")).help(help)
    })?;
    let definition: IndexDefinition = body
        .definition
        .parse()
        .map_err(|error: Error| Problem::new(Code::BadDefinition, error.to_string()).help(help))?;
    definition.validate().map_err(|error| Problem::new(Code::BadDefinition, error.to_string()).help(help))?;
    Ok(definition)
}

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const RESPOND_ASYNC: &str = "respond-async";

fn prefers_async(headers: &HeaderMap) -> bool {
    let preferences = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    preferences.flat_map(|value| value.split([',', ';'])).any(|name| name.trim().eq_ignore_ascii_case(RESPOND_ASYNC))
}

fn made(status: StatusCode, door: &Door, grouping: &Grouping, info: &IndexInfo) -> Response {
    let mut response = answer::object(status, &item(door, grouping, info));
    answer::height(response.headers_mut(), info.since);
    response
}

fn accepted(door: &Door, grouping: &Grouping, info: &IndexInfo) -> Response {
    let mut response = made(StatusCode::ACCEPTED, door, grouping, info);
    response.headers_mut().insert(PREFERENCE_APPLIED, HeaderValue::from_static(RESPOND_ASYNC));
    response
}
