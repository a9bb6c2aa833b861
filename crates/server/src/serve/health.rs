//! `/.health`: whether the server can do its work, for those who watch over it.
//!
//! | status | HTTP | when |
//! |---|---|---|
//! | `ok` | 200 | |
//! | `degraded` | 200 | damage was found in a chain, which can only be read; the others are well |
//! | `poisoned` | 503 | an I/O error stopped writing to a chain; a restart recovers it |
//! | `stopping` | 503 | the server is being stopped |
//!
//! It needs no token; but without one, chains are not named.

use axum::http::StatusCode;
use axum::response::Response;
use immuxdb_client::wire::VERSION;
use libimmuxdb::{Chain, Error};
use serde::Serialize;

use super::answer;
use super::door::Call;
use super::problem::Problem;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Degraded,
    Poisoned,
    Stopping,
}

#[derive(Serialize)]
struct Health {
    status: Status,
    wire: u32,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chains: Option<Vec<ChainHealth>>,
}

/// That of a chain that is open.
#[derive(Serialize)]
struct ChainHealth {
    chain: String,
    status: Status,
    height: u64,
    /// The newest height that is known to survive power loss.
    synced_height: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl ChainHealth {
    fn of(chain: &Chain) -> ChainHealth {
        let trouble = chain.trouble();
        let status = match &trouble {
            None => Status::Ok,
            Some(Error::ReadOnly(_)) => Status::Degraded,
            Some(_) => Status::Poisoned,
        };
        ChainHealth {
            chain: chain.name().to_owned(),
            status,
            height: chain.height().0,
            synced_height: chain.synced_height().0,
            problem: trouble.map(|trouble| trouble.to_string()),
        }
    }
}

/// Says how it is.
pub(crate) fn get(call: &Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let door = &call.door;
    let chains: Vec<ChainHealth> = door.chains.open().iter().map(|chain| ChainHealth::of(chain)).collect();
    let worst = chains.iter().map(|chain| chain.status).max().unwrap_or(Status::Ok);
    let status = if door.stop.begun() { Status::Stopping } else { worst };
    let code = match status {
        Status::Ok | Status::Degraded => StatusCode::OK,
        Status::Poisoned | Status::Stopping => StatusCode::SERVICE_UNAVAILABLE,
    };
    let is_trusted = door.check_token(&call.headers).is_ok();
    let health =
        Health { status, wire: VERSION, version: env!("CARGO_PKG_VERSION"), chains: is_trusted.then_some(chains) };
    Ok(answer::object(code, &health))
}
