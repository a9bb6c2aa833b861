//! `/.root`, `/.extension`, `/{grouping}/{key}/.proof`: what a client needs to check the server.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use libimmuxdb::proof::Proof;
use libimmuxdb::{Chain, Error, Height};

use super::door::Call;
use super::problem::{Code, Problem};
use super::unit as units;
use super::{answer, lane};
use crate::moment::Moment;

/// The height that is meant: that of a moment, or the newest.
fn height_of(chain: &Arc<Chain>, at: Option<Moment>) -> Result<Height, Problem> {
    Ok(match at {
        Some(at) => at.height(chain)?,
        None => chain.height(),
    })
}

/// The root at a height.
pub(crate) async fn root(mut call: Call) -> Result<Response, Problem> {
    let at = call.parameters.moment("at")?;
    call.check_parameters(&["at"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let root = lane::long(move || Ok(chain.root(height_of(&chain, at)?)?)).await?;
    let mut response = answer::object(StatusCode::OK, &root);
    answer::height(response.headers_mut(), Height(root.height));
    Ok(response)
}

/// That one height's history begins with another's.
pub(crate) async fn extension(mut call: Call) -> Result<Response, Problem> {
    let from: Option<u64> = call.parameters.value("from", "a height")?;
    let to: Option<u64> = call.parameters.value("to", "a height")?;
    let from = from.ok_or_else(|| {
        Problem::new(Code::BadParameter, "the parameter from is missing").help("give the older root's height, ?from=42")
    })?;
    call.check_parameters(&["from", "to"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let proof = lane::long(move || {
        let new = to.map_or_else(|| chain.height(), Height);
        Ok(chain.prove_extends(Height(from), new)?)
    })
    .await?;
    let mut response = answer::object(StatusCode::OK, &Proof::Extension(proof.clone()));
    answer::height(response.headers_mut(), Height(proof.new_height));
    Ok(response)
}

/// What a unit was given.
pub(crate) async fn unit(mut call: Call) -> Result<Response, Problem> {
    let key = call.key()?;
    let at = call.parameters.moment("at")?;
    call.check_parameters(&["key", "key_hex", "at"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let grouping = call.resource.grouping;
    let proof = lane::long(move || {
        let height = height_of(&chain, at)?;
        match chain.prove(&grouping, &key, height) {
            Err(Error::UnitMissing) => Err(units::missing(&grouping, &key, Some(height))),
            proof => Ok(proof?),
        }
    })
    .await?;
    let height = Height(proof.height);
    let mut response = answer::object(StatusCode::OK, &Proof::Unit(Box::new(proof)));
    answer::height(response.headers_mut(), height);
    Ok(response)
}
