//! `/{grouping}/{key}/.revert?to=`: a new version whose content is that of an earlier height.

use axum::http::StatusCode;
use axum::response::Response;
use immuxdb_client::wire::Reverted;
use libimmuxdb::{Content, Error, VersionKind};

use super::door::Call;
use super::lane::Length;
use super::problem::{Code, Problem};
use super::{answer, conditions, unit};

/// Reverts the unit.
pub(crate) async fn post(mut call: Call) -> Result<Response, Problem> {
    let key = call.key()?;
    let options = call.parameters.durability()?;
    let to = call.parameters.moment("to")?.ok_or_else(|| {
        Problem::new(Code::BadParameter, "the parameter to is missing").help("give a height or a time, such as ?to=42")
    })?;
    let expected = conditions::expected(&call.headers)?;
    call.check_parameters(&["key", "key_hex", "to", "durability"])?;
    let chain = call.door.chains.to_read(&call.chain).await?;
    let name = call.resource.grouping;
    let length = match unit::length_of_write(&call.door, options, 0) {
        Length::Short if expected.is_none() => Length::Short,
        _ => Length::Long,
    };
    let revert = move || {
        let grouping = chain.grouping(&name)?.with(options);
        let to = to.height(&chain)?;
        let reverted = match expected {
            None => grouping.revert(&key, to),
            Some(expected) => match chain.snapshot_at(to)?.get(&name, &key)? {
                Some(then) => {
                    let content = match then.kind {
                        VersionKind::Json => Content::json(&then.content),
                        VersionKind::Raw | VersionKind::Deleted => Content::raw(&then.content),
                    };
                    grouping.compare_and_set(&key, expected, content)
                }
                None => grouping.compare_and_delete(&key, expected),
            },
        };
        match reverted {
            Err(Error::UnitMissing) => Err(unit::missing(&name, &key, None)),
            reverted => Ok((reverted?, to)),
        }
    };
    let (committed, to) = call.door.lane.run(length, revert).await?;
    call.door.metrics.commits.inc();
    let mut response = answer::object(StatusCode::OK, &Reverted { height: committed.height.0, to: to.0 });
    answer::height(response.headers_mut(), committed.height);
    Ok(response)
}
