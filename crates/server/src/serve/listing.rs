//! `/.groupings`, `/.chains`, `/.stats`: what there is.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use immuxdb_client::wire::{ChainItem, ChainList, GroupingItem, GroupingList};
use libimmuxdb::Scan;

use super::door::Call;
use super::problem::Problem;
use super::{answer, lane};
use crate::door::chain_stats;

/// The groupings of a chain.
pub(crate) async fn groupings(mut call: Call) -> Result<Response, Problem> {
    let count = call.parameters.flag("count")?;
    call.check_parameters(&["count"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let groupings = lane::long(move || {
        let snapshot = chain.snapshot()?;
        let items = chain.groupings().into_iter().map(|info| {
            let indexes = chain.grouping(&info.name)?.indexes().len() as u64;
            let units = if count { Some(snapshot.count(&info.name, Scan::units())?) } else { None };
            Ok(GroupingItem { grouping: info.name, indexes, units })
        });
        items.collect::<Result<_, Problem>>()
    })
    .await?;
    Ok(answer::object(StatusCode::OK, &GroupingList { groupings }))
}

/// The chains of the store.
pub(crate) async fn chains(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let chains = Arc::clone(&call.door.chains);
    let names = lane::long(move || chains.names()).await?;
    let chains = names.into_iter().map(|chain| ChainItem { chain }).collect();
    Ok(answer::object(StatusCode::OK, &ChainList { chains }))
}

/// Sizes and counts of a chain.
pub(crate) async fn stats(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let statistics = lane::long(move || Ok(answer::text(&chain_stats(&chain)?))).await?;
    Ok(answer::json(StatusCode::OK, statistics))
}
