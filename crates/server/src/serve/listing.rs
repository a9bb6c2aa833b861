//! `/.groupings`, `/.chains`, `/.stats`: what there is.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use libimmuxdb::Scan;
use serde::Serialize;

use super::door::Call;
use super::problem::Problem;
use super::{answer, lane};
use crate::door::chain_stats;

/// The groupings of a chain.
pub(crate) async fn groupings(mut call: Call) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Item {
        grouping: String,
        indexes: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        units: Option<u64>,
    }
    #[derive(Serialize)]
    struct Groupings {
        groupings: Vec<Item>,
    }
    let count = call.parameters.flag("count")?;
    call.check_parameters(&["count"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let groupings = lane::long(move || {
        let snapshot = chain.snapshot()?;
        let items = chain.groupings().into_iter().map(|info| {
            let indexes = chain.grouping(&info.name)?.indexes().len();
            let units = if count { Some(snapshot.count(&info.name, Scan::units())?) } else { None };
            Ok(Item { grouping: info.name, indexes, units })
        });
        items.collect::<Result<_, Problem>>()
    })
    .await?;
    Ok(answer::object(StatusCode::OK, &Groupings { groupings }))
}

/// The chains of the store.
pub(crate) async fn chains(call: Call) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Item {
        chain: String,
    }
    #[derive(Serialize)]
    struct Chains {
        chains: Vec<Item>,
    }
    call.check_parameters(&[])?;
    let chains = Arc::clone(&call.door.chains);
    let names = lane::long(move || chains.names()).await?;
    let chains = names.into_iter().map(|chain| Item { chain }).collect();
    Ok(answer::object(StatusCode::OK, &Chains { chains }))
}

/// Sizes and counts of a chain.
pub(crate) async fn stats(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let statistics = lane::long(move || Ok(answer::text(&chain_stats(&chain)?))).await?;
    Ok(answer::json(StatusCode::OK, statistics))
}
