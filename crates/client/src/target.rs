//! From names and keys to the target of a request: the path and the query.
//!
//! A unit key is any bytes, and a path is none: `.` and `..` would be resolved on the way, an empty segment swallowed, a slash taken for a
//! border. So each byte that is no letter, digit, `-`, `_`, `.` or `~` is percent-encoded, and keys that a path can't carry go into the query:
//!
//! | key | target |
//! |---|---|
//! | `ada` | `/people/ada` |
//! | `a/b` and a NUL | `/people/a%2Fb%00` |
//! | empty, `..`, `.hidden` | `/people/.unit?key=`, `/people/.unit?key=..`, `/people/.unit?key=.hidden` |
//!
//! Names that begin with a dot belong to the server (`/.health`, `/people/.indexes`).

use std::fmt::Display;

use http::uri::PathAndQuery;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::error::{Error, Result};

/// All but the characters that RFC 3986 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The longest target that HTTP libraries take, in bytes; the server's does too.
const TARGET_BYTES: usize = 65_534;

/// A target under construction.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    text: String,
    has_query: bool,
}

impl Target {
    /// One of the server's own paths, such as `/.chains`.
    pub(crate) fn of_server(path: &str) -> Target {
        debug_assert!(path.starts_with("/."));
        Target { text: path.to_owned(), has_query: false }
    }

    /// A grouping.
    pub(crate) fn of_grouping(grouping: &str) -> Result<Target> {
        if grouping.is_empty() {
            return Err(Error::Invalid("the name of a grouping is empty".to_owned()));
        }
        if grouping.starts_with('.') {
            return Err(Error::Invalid(format!(
                "the grouping {grouping:?} can't be reached by HTTP, where names that begin with a dot belong to the server"
            )));
        }
        let mut target = Target { text: String::with_capacity(64), has_query: false };
        target.segment(grouping.as_bytes());
        Ok(target)
    }

    /// Something of a grouping, such as `.bulk`.
    pub(crate) fn below_grouping(grouping: &str, what: &str) -> Result<Target> {
        let mut target = Target::of_grouping(grouping)?;
        target.segment(what.as_bytes());
        Ok(target)
    }

    /// An index.
    pub(crate) fn of_index(grouping: &str, index: &str) -> Result<Target> {
        if index.is_empty() || index == "." || index == ".." {
            return Err(Error::Invalid(format!("an index named {index:?} can't be reached by HTTP")));
        }
        let mut target = Target::below_grouping(grouping, ".indexes")?;
        target.segment(index.as_bytes());
        Ok(target)
    }

    /// A unit, or something of it, such as `.journal`.
    pub(crate) fn of_unit(grouping: &str, key: &[u8], what: Option<&str>) -> Result<Target> {
        let mut target = Target::of_grouping(grouping)?;
        let in_query = key.first().is_none_or(|first| *first == b'.');
        target.segment(if in_query { b".unit" } else { key });
        if let Some(what) = what {
            target.segment(what.as_bytes());
        }
        Ok(if in_query { target.with("key", key) } else { target })
    }

    fn segment(&mut self, bytes: &[u8]) {
        self.text.push('/');
        self.text.extend(percent_encode(bytes, RESERVED));
    }

    /// The same with a parameter.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Target {
        self.text.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        self.text.push_str(name);
        self.text.push('=');
        self.text.extend(percent_encode(value.as_ref(), RESERVED));
        self
    }

    /// The same with a parameter, where there is a value for it.
    pub(crate) fn with_some(self, name: &str, value: Option<impl AsRef<[u8]>>) -> Target {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The same with a parameter that is a number or a name.
    pub(crate) fn with_text(self, name: &str, value: Option<impl Display>) -> Target {
        self.with_some(name, value.map(|value| value.to_string()))
    }

    /// The whole, as a request has it.
    pub(crate) fn finish(self) -> Result<PathAndQuery> {
        let length = self.text.len();
        if length > TARGET_BYTES {
            return Err(Error::Invalid(format!(
                "keys and bounds of this request take {length} bytes as percent-encoded text; at most {TARGET_BYTES} are possible (longer keys are written by bulk)"
            )));
        }
        PathAndQuery::try_from(self.text).map_err(|error| Error::Invalid(format!("the target is no target: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(key: &[u8]) -> String {
        Target::of_unit("people", key, None).unwrap().finish().unwrap().to_string()
    }

    #[test]
    fn any_key_has_a_target_that_nobody_normalizes() {
        for (key, target) in [
            (&b"ada"[..], "/people/ada"),
            (b"A-Za.z_0~9", "/people/A-Za.z_0~9"),
            (b"a/b", "/people/a%2Fb"),
            (b"%2F", "/people/%252F"),
            (b"\0\xff \"?#&=+", "/people/%00%FF%20%22%3F%23%26%3D%2B"),
            ("zürich".as_bytes(), "/people/z%C3%BCrich"),
            (b"", "/people/.unit?key="),
            (b".", "/people/.unit?key=."),
            (b"..", "/people/.unit?key=.."),
            (b".bulk", "/people/.unit?key=.bulk"),
        ] {
            assert_eq!(unit(key), target);
        }
        for byte in 0..=255 {
            let target = unit(&[b'k', byte]);
            let encoded = target.strip_prefix("/people/").unwrap();
            assert_eq!(percent_encoding::percent_decode_str(encoded).collect::<Vec<u8>>(), [b'k', byte]);
        }
    }

    #[test]
    fn parameters_follow_each_other() {
        let target =
            Target::of_unit("a b", b"", Some(".journal")).unwrap().with_text("limit", Some(3)).with("chain", "ü");
        assert_eq!(target.finish().unwrap().as_str(), "/a%20b/.unit/.journal?key=&limit=3&chain=%C3%BC");
        let target = Target::of_server("/.chains").with_some("at", None::<&str>);
        assert_eq!(target.finish().unwrap().as_str(), "/.chains");
    }

    #[test]
    fn what_has_no_target_says_so() {
        assert!(Target::of_grouping(".x").unwrap_err().to_string().contains("begin with a dot"));
        assert!(Target::of_grouping("").unwrap_err().to_string().contains("empty"));
        assert!(Target::of_index("people", "..").is_err());
        let long = Target::of_unit("people", &[0; 30_000], None).unwrap().finish().unwrap_err();
        assert!(long.to_string().contains("90008 bytes"), "{long}");
    }
}
