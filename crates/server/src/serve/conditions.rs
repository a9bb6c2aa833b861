//! `If-Match` and `If-None-Match`: what must be true of a unit for its write to happen, or for its read to be worth while.
//!
//! An entity tag is the height of the unit's version, in quotation marks; where only a height can stand, they may be left
//! out.

use axum::http::{HeaderMap, HeaderName, header};
use libimmuxdb::Height;

use super::problem::{Code, Problem};

/// The condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Any,
    /// The unit's version is that of this height.
    At(Height),
    /// There is no such unit.
    Absent,
}

impl Condition {
    /// What the headers of a write ask for.
    pub(crate) fn of_write(headers: &HeaderMap) -> Result<Condition, Problem> {
        let at = expected(headers)?;
        let Some(absent) = text(headers, &header::IF_NONE_MATCH)? else {
            return Ok(at.map_or(Condition::Any, Condition::At));
        };
        if absent != "*" {
            return Err(bad("If-None-Match", absent, "on a write it can only be *, for a unit that is not there"));
        }
        match at {
            Some(_) => {
                Err(Problem::new(Code::BadHeader, "If-Match and If-None-Match exclude each other")
                    .help("give one of them"))
            }
            None => Ok(Condition::Absent),
        }
    }
}

/// The height of `If-Match`.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Option<Height>, Problem> {
    let Some(given) = text(headers, &header::IF_MATCH)? else {
        return Ok(None);
    };
    let height = unquoted(given).parse().ok().map(Height);
    let help = "write the height that the unit must be at, as its ETag says, such as \"42\"";
    height.map(Some).ok_or_else(|| bad("If-Match", given, help))
}

/// Whether a reader has this version already.
pub(crate) fn is_known(headers: &HeaderMap, version: Height) -> Result<bool, Problem> {
    let Some(given) = text(headers, &header::IF_NONE_MATCH)? else {
        return Ok(false);
    };
    let version = version.to_string();
    Ok(given.split(',').map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || unquoted(tag) == version
    }))
}

fn unquoted(tag: &str) -> &str {
    tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag)
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    match (value.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text.trim())),
        _ => Err(Problem::new(Code::BadHeader, format!("the header {name} is no text, or is given twice"))
            .help("give it once, with a height")),
    }
}

fn bad(name: &str, given: &str, help: &'static str) -> Problem {
    Problem::new(Code::BadHeader, format!("the header {name} is {given}")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn of_writes() {
        let write = |pairs: &[(&'static str, &str)]| Condition::of_write(&headers(pairs));
        assert_eq!(write(&[]).unwrap(), Condition::Any);
        assert_eq!(write(&[("if-match", "7")]).unwrap(), Condition::At(Height(7)));
        assert_eq!(write(&[("if-match", "\"7\"")]).unwrap(), Condition::At(Height(7)));
        assert_eq!(write(&[("if-none-match", "*")]).unwrap(), Condition::Absent);
        for wrong in ["*", "W/\"7\"", "\"7\", \"8\"", "seven", "-1", ""] {
            assert_eq!(write(&[("if-match", wrong)]).unwrap_err().code, Code::BadHeader, "{wrong}");
        }
        assert!(write(&[("if-none-match", "\"7\"")]).is_err());
        assert!(write(&[("if-none-match", "*"), ("if-match", "7")]).is_err());
        assert!(write(&[("if-match", "7"), ("if-match", "8")]).is_err());
    }

    #[test]
    fn of_reads() {
        let read = |value: &str| is_known(&headers(&[("if-none-match", value)]), Height(7)).unwrap();
        assert!(read("\"7\"") && read("W/\"7\"") && read("*") && read("\"6\", \"7\""));
        assert!(!read("\"8\"") && !read("\"77\""));
        assert!(!is_known(&HeaderMap::new(), Height(7)).unwrap());
    }
}
