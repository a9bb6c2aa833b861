//! What a body is, by its `Content-Type`.

use axum::http::{HeaderMap, header};

use super::problem::{Code, Problem};

/// What the content of a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Raw,
}

/// What `curl -d` sends unless it is told otherwise; there it is hardly ever meant.
const FORM: &str = "application/x-www-form-urlencoded";

/// Of a unit's content.
pub(crate) fn of_unit(headers: &HeaderMap) -> Result<Media, Problem> {
    check_encoding(headers)?;
    let help = "set Content-Type: application/json for JSON, or application/octet-stream for other bytes \
                (curl -d sets a form's type unless you add -H)";
    match essence(headers)?.as_deref() {
        None => Ok(Media::Json),
        Some("application/octet-stream") => Ok(Media::Raw),
        Some(name) if is_json(name) => Ok(Media::Json),
        Some(name) => Err(unsupported(name, help)),
    }
}

/// Checks that a body is an object of JSON.
pub(crate) fn check_object(headers: &HeaderMap) -> Result<(), Problem> {
    check_encoding(headers)?;
    match essence(headers)? {
        Some(name) if !is_json(&name) => Err(unsupported(&name, "set Content-Type: application/json")),
        _ => Ok(()),
    }
}

/// Checks that a body has a JSON object on each line.
pub(crate) fn check_lines(headers: &HeaderMap) -> Result<(), Problem> {
    check_encoding(headers)?;
    let help = "set Content-Type: application/x-ndjson, and send line breaks as they are (curl --data-binary, not -d)";
    match essence(headers)?.as_deref() {
        None
        | Some("application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines") => {
            Ok(())
        }
        Some(name) => Err(unsupported(name, help)),
    }
}

/// What was gzip is plain by now, and the header gone.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    match encodings.find(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        Some(encoding) => {
            let encoding = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
            Err(Problem::new(Code::UnsupportedEncoding, format!("the Content-Encoding {encoding} is not known"))
                .help("send the body as it is, or with gzip"))
        }
        None => Ok(()),
    }
}

fn is_json(name: &str) -> bool {
    name == "application/json" || name.split_once('/').is_some_and(|(_, subtype)| subtype.ends_with("+json"))
}

/// The type without its parameters, in small letters.
fn essence(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Problem::new(Code::BadHeader, "the header Content-Type is given twice").help("give it once"));
    }
    let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
    let (name, parameters) = text.split_once(';').unwrap_or((&text, ""));
    let charset = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("charset="));
    if charset.is_some_and(|charset| !matches!(charset.trim_matches('"'), "utf-8" | "utf8" | "us-ascii")) {
        return Err(unsupported(&text, "send text as UTF-8"));
    }
    Ok(Some(name.trim().to_owned()))
}

fn unsupported(name: &str, help: &'static str) -> Problem {
    let what = if name == FORM { " (a form)" } else { "" };
    Problem::new(Code::UnsupportedMediaType, format!("the Content-Type {name}{what} is not one for this resource"))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(content_type: &str) -> HeaderMap {
        [(header::CONTENT_TYPE, content_type.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn units() {
        for json in ["application/json", "Application/JSON; charset=UTF-8", "application/ld+json", "text/x+json"] {
            assert_eq!(of_unit(&headers(json)).unwrap(), Media::Json, "{json}");
        }
        assert_eq!(of_unit(&HeaderMap::new()).unwrap(), Media::Json);
        assert_eq!(of_unit(&headers("application/octet-stream")).unwrap(), Media::Raw);
        for other in [FORM, "text/plain", "application/json; charset=latin1", "json", ""] {
            assert_eq!(of_unit(&headers(other)).unwrap_err().code, Code::UnsupportedMediaType, "{other}");
        }
    }

    #[test]
    fn encodings() {
        let mut headers = headers("application/json");
        headers.insert(header::CONTENT_ENCODING, "br".parse().unwrap());
        assert_eq!(of_unit(&headers).unwrap_err().code, Code::UnsupportedEncoding);
        headers.insert(header::CONTENT_ENCODING, "Identity".parse().unwrap());
        assert_eq!(of_unit(&headers).unwrap(), Media::Json);
        headers.append(header::CONTENT_ENCODING, "br".parse().unwrap());
        assert_eq!(of_unit(&headers).unwrap_err().code, Code::UnsupportedEncoding);
    }

    #[test]
    fn one_type_only() {
        let mut headers = headers("application/json");
        headers.append(header::CONTENT_TYPE, "application/octet-stream".parse().unwrap());
        assert_eq!(of_unit(&headers).unwrap_err().code, Code::BadHeader);
    }
}
