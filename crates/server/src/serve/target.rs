//! From a raw request target to what it names.
//!
//! The path is split at its slashes first, and each segment is percent-decoded to bytes then: so `%2F` is a slash *in* a key,
//! `%2e%2e` is the key `..`, and `%00` and bytes that are no UTF-8 are keys like all others. Nothing is normalised.
//!
//! A segment that begins with a dot, written as a dot, is one of ours (`.unit`, `.bulk` …).

use super::problem::{Code, Problem};
use super::resource::{Kind, Resource};

/// What to do about a path that leads nowhere.
const HELP: &str = "paths are /GROUPING, /GROUPING/KEY and names of ours that begin with a dot, see /.openapi.json; \
                    a slash in a key is written %2F";

/// The resource that a path names.
pub(crate) fn parse(path: &str) -> Result<Resource, Problem> {
    let nowhere = |why: &str| Problem::new(Code::NoSuchPath, format!("there is nothing at {path}{why}")).help(HELP);
    let Some(rest) = path.strip_prefix('/') else {
        return Err(nowhere(""));
    };
    let segments: Vec<&str> = rest.splitn(5, '/').collect();
    let (first, rest) = match segments.split_first() {
        Some((first, rest)) if !first.is_empty() => (*first, rest),
        _ => return Err(nowhere("")),
    };
    let of = |kind| Resource { kind, grouping: String::new(), key: None, index: String::new() };
    if first.starts_with('.') {
        let kind = match (first, rest) {
            (".groupings", []) => Kind::Groupings,
            (".chains", []) => Kind::Chains,
            (".stats", []) => Kind::Stats,
            (".root", []) => Kind::Root,
            (".extension", []) => Kind::Extension,
            (".health", []) => Kind::Health,
            (".metrics", []) => Kind::Metrics,
            (".openapi.json", []) => Kind::OpenApi,
            _ => return Err(nowhere("; a grouping whose name begins with a dot can't be reached over HTTP")),
        };
        return Ok(of(kind));
    }
    let grouping = name("grouping", first)?;
    if grouping.starts_with('.') {
        return Err(Problem::new(Code::BadName, format!("the grouping {grouping:?} can't be reached over HTTP"))
            .help("names that begin with a dot are reserved; the library and the command line on the store reach it"));
    }
    let in_grouping = |kind| Resource { grouping: grouping.clone(), ..of(kind) };
    let unit = |kind, key: &str| match key {
        ".unit" => Ok(in_grouping(kind)),
        "" => Err(nowhere("; the empty key is reached by /GROUPING/.unit?key=")),
        _ if key.starts_with('.') => {
            Err(nowhere("; a key that begins with a dot is reached by /GROUPING/.unit?key=, or with the dot as %2e"))
        }
        _ => Ok(Resource { key: Some(decode(key, false)?), ..in_grouping(kind) }),
    };
    match rest {
        [] => Ok(in_grouping(Kind::Scan)),
        [".bulk"] => Ok(in_grouping(Kind::Bulk)),
        [".indexes"] => Ok(in_grouping(Kind::Indexes)),
        [".indexes", index] if !index.is_empty() => {
            Ok(Resource { index: name("index", index)?, ..in_grouping(Kind::Index) })
        }
        [key] => unit(Kind::Unit, key),
        [key, ".journal"] => unit(Kind::Journal, key),
        [key, ".proof"] => unit(Kind::UnitProof, key),
        [key, ".revert"] => unit(Kind::Revert, key),
        _ => Err(nowhere("; a key is one segment")),
    }
}

fn name(what: &str, segment: &str) -> Result<String, Problem> {
    String::from_utf8(decode(segment, false)?).map_err(|_| {
        Problem::new(Code::BadName, format!("the {what} {segment} is not UTF-8")).help("names are UTF-8 text")
    })
}

/// Percent-decodes. In a query, a plus is a space, as browsers and most libraries write it.
pub(crate) fn decode(text: &str, in_query: bool) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'%' => {
                let digits = rest.split_first_chunk::<2>().and_then(|([high, low], after)| {
                    rest = after;
                    Some((digit(*high)? << 4) | digit(*low)?)
                });
                bytes.push(digits.ok_or_else(|| {
                    Problem::new(Code::BadEscape, format!("{text} has a percent sign without two hexadecimal digits"))
                        .help("a percent sign itself is written %25")
                })?);
            }
            b'+' if in_query => bytes.push(b' '),
            byte => bytes.push(*byte),
        }
    }
    Ok(bytes)
}

fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> Vec<u8> {
        parse(path).unwrap().key.unwrap()
    }

    #[test]
    fn keys_are_bytes_as_written() {
        assert_eq!(key("/g/a"), b"a");
        assert_eq!(key("/g/a%2Fb"), b"a/b");
        assert_eq!(key("/g/%2e%2E"), b"..");
        assert_eq!(key("/g/%00%ff%25"), b"\x00\xff%");
        assert_eq!(key("/g/a+b"), b"a+b");
        assert_eq!(key("/g/%2eunit"), b".unit");
        assert_eq!(key("/g/zürich"), "zürich".as_bytes());
        assert_eq!(key("/g/k/.journal"), b"k");
    }

    #[test]
    fn resources() {
        for (path, kind) in [
            ("/g", Kind::Scan),
            ("/g/k", Kind::Unit),
            ("/g/.unit", Kind::Unit),
            ("/g/.unit/.journal", Kind::Journal),
            ("/g/k/.revert", Kind::Revert),
            ("/g/k/.proof", Kind::UnitProof),
            ("/g/.unit/.proof", Kind::UnitProof),
            ("/.root", Kind::Root),
            ("/.extension", Kind::Extension),
            ("/g/.bulk", Kind::Bulk),
            ("/g/.indexes", Kind::Indexes),
            ("/g/.indexes/.i", Kind::Index),
            ("/.health", Kind::Health),
        ] {
            assert_eq!(parse(path).unwrap().kind, kind, "{path}");
        }
        assert_eq!(parse("/a%20b/.indexes/x%2Fy").unwrap().index, "x/y");
        assert_eq!(parse("/a%20b").unwrap().grouping, "a b");
    }

    #[test]
    fn what_leads_nowhere() {
        for path in
            ["", "*", "/", "//", "//k", "/g/", "/g//", "/g/a/b", "/g/a/b/c/d/e/f", "/g/..", "/g/.", "/g/.nothing"]
        {
            assert_eq!(parse(path).unwrap_err().code, Code::NoSuchPath, "{path}");
        }
        for path in ["/.", "/..", "/.nothing", "/.health/x", "/g/.indexes/", "/g/.bulk/x", "/g/k/.journal/"] {
            assert_eq!(parse(path).unwrap_err().code, Code::NoSuchPath, "{path}");
        }
        for path in ["/%2ehidden", "/%ff", "/g/.indexes/%ff"] {
            assert_eq!(parse(path).unwrap_err().code, Code::BadName, "{path}");
        }
        for path in ["/g/%", "/g/%2", "/g/%zz", "/%+1"] {
            assert_eq!(parse(path).unwrap_err().code, Code::BadEscape, "{path}");
        }
    }
}
