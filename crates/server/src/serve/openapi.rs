//! `/.openapi.json`: the door in the words of OpenAPI 3.1. A test holds it against the router, the codes, and real answers.

use axum::http::StatusCode;
use axum::response::Response;

use super::answer;
use super::door::Call;
use super::problem::Problem;

/// The document.
pub(crate) const DOCUMENT: &str = include_str!("openapi.json");

/// Gives it.
pub(crate) fn get(call: &Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    Ok(answer::json(StatusCode::OK, DOCUMENT))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::super::problem::Code;
    use super::super::resource::Kind;
    use super::*;

    fn document() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    #[test]
    fn has_the_paths_and_methods_of_the_router() {
        let ours: BTreeSet<(String, String)> = Kind::ALL
            .iter()
            .flat_map(|kind| kind.paths().iter().map(move |path| (kind, path)))
            .flat_map(|(kind, path)| kind.methods().iter().map(move |method| (path, method)))
            .map(|(path, method)| ((*path).to_owned(), method.as_str().to_lowercase()))
            .collect();
        let document = document();
        let theirs: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, operations)| operations.as_object().unwrap().keys().map(move |method| (path, method)))
            .map(|(path, method)| (path.clone(), method.clone()))
            .collect();
        assert_eq!(theirs, ours);
    }

    #[test]
    fn has_all_codes() {
        let document = document();
        let codes = document["components"]["schemas"]["Code"]["oneOf"].as_array().unwrap();
        let theirs: Vec<(&str, &str)> =
            codes.iter().map(|code| (code["const"].as_str().unwrap(), code["description"].as_str().unwrap())).collect();
        let ours: Vec<(&str, String)> = Code::ALL
            .iter()
            .map(|code| (code.text(), format!("{}: {}", code.status().as_u16(), code.meaning())))
            .collect();
        assert_eq!(theirs, ours.iter().map(|(code, meaning)| (*code, meaning.as_str())).collect::<Vec<_>>());
    }

    #[test]
    fn the_guide_has_all_codes() {
        let guide = include_str!("../../../../docs/HTTP.md");
        for code in Code::ALL {
            let row = format!("| {} | `{}` | {} |", code.status().as_u16(), code.text(), code.meaning());
            assert!(guide.contains(&row), "docs/HTTP.md has no row {row}");
        }
    }
}
