//! A line of a bulk body:
//!
//! ```json
//! {"key":"ada","content":{"name":"Ada"}}
//! {"op":"insert","key_hex":"00ff","content_base64":"AAEC"}
//! {"op":"delete","key":"bob","if_match":42}
//! {"key":"eve","kind":"json","content_base64":"ewogIm5hbWUiOiAiRXZlIgp9"}
//! ```
//!
//! Content in base64 is a raw record, unless `kind` says that it is JSON: so JSON with line breaks stays as it is, byte for byte.
//!
//! Lines of a scan are such lines too: their heights and values are not looked at, and the end line is passed over.

use std::borrow::Cow;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use libimmuxdb::{Content, Height};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::super::problem::{Code, Problem};

/// What a line asks for.
pub(super) struct Operation<'t> {
    /// The line's number, from 1.
    pub(super) line: u64,
    pub(super) key: Vec<u8>,
    pub(super) change: Change<'t>,
}

/// What is to become of the unit.
pub(super) enum Change<'t> {
    Put(Bytes<'t>),
    Insert(Bytes<'t>),
    /// A new version, if the unit is at this height.
    PutAt(Height, Bytes<'t>),
    Delete,
    DeleteAt(Height),
}

/// The content of a version.
pub(super) enum Bytes<'t> {
    Json(Cow<'t, [u8]>),
    Raw(Vec<u8>),
}

impl Bytes<'_> {
    pub(super) fn content(&self) -> Content<'_> {
        match self {
            Bytes::Json(text) => Content::json(text),
            Bytes::Raw(bytes) => Content::raw(bytes),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'t> {
    #[serde(default)]
    op: Op,
    key: Option<Cow<'t, str>>,
    key_hex: Option<Cow<'t, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    content: Option<&'t RawValue>,
    content_base64: Option<Cow<'t, str>>,
    if_match: Option<u64>,
    kind: Option<Kind>,
    // What lines of a scan have.
    #[serde(rename = "height")]
    _height: Option<IgnoredAny>,
    #[serde(rename = "value")]
    _value: Option<IgnoredAny>,
    end: Option<IgnoredAny>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Op {
    #[default]
    Put,
    Insert,
    Delete,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Json,
    Raw,
}

/// Also `null` is a content.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'t> Operation<'t> {
    /// What the text of line number `line` asks for; `None` for an end line.
    pub(super) fn parse(line: u64, text: &'t [u8]) -> Result<Option<Operation<'t>>, Problem> {
        if text.first() != Some(&b'{') && serde_json::from_slice::<IgnoredAny>(text).is_ok() {
            // An array would be taken for the fields in their order.
            return Err(bad("the line is no object"));
        }
        let parsed: Line<'t> = serde_json::from_slice(text).map_err(|error| {
            let code = if error.is_data() { Code::BadLine } else { Code::InvalidJson };
            let what = error.to_string();
            // The place is within the line, which is told anyway.
            let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
            Problem::new(code, format!("{what}, at byte {} of the line", error.column())).help(HELP)
        })?;
        if parsed.end.is_some() {
            return Ok(None);
        }
        let key = match (parsed.key, parsed.key_hex) {
            (Some(key), None) => key.into_owned().into_bytes(),
            (None, Some(hex)) => {
                HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map_err(|_| bad("key_hex is not hexadecimal"))?
            }
            (None, None) => return Err(bad("there is no key")),
            (Some(_), Some(_)) => return Err(bad("there are both key and key_hex")),
        };
        let content = match (parsed.content, parsed.content_base64) {
            (Some(_), None) if parsed.kind == Some(Kind::Raw) => {
                return Err(bad("a raw record stands in content_base64"));
            }
            (Some(content), None) => Some(Bytes::Json(content.get().as_bytes().into())),
            (None, Some(text)) => {
                let bytes = BASE64.decode(text.as_bytes()).map_err(|_| bad("content_base64 is not base64"))?;
                Some(if parsed.kind == Some(Kind::Json) { Bytes::Json(bytes.into()) } else { Bytes::Raw(bytes) })
            }
            (None, None) => None,
            (Some(_), Some(_)) => return Err(bad("there are both content and content_base64")),
        };
        let change = match (parsed.op, content, parsed.if_match.map(Height)) {
            (Op::Put, Some(content), None) => Change::Put(content),
            (Op::Put, Some(content), Some(height)) => Change::PutAt(height, content),
            (Op::Insert, Some(content), None) => Change::Insert(content),
            (Op::Delete, None, None) => Change::Delete,
            (Op::Delete, None, Some(height)) => Change::DeleteAt(height),
            (Op::Delete, Some(_), _) => return Err(bad("a delete has no content")),
            (Op::Insert, Some(_), Some(_)) => return Err(bad("an insert has no if_match")),
            (Op::Put | Op::Insert, None, _) => return Err(bad("there is no content")),
        };
        Ok(Some(Operation { line, key, change }))
    }
}

const HELP: &str = "a line is like {\"key\":\"1\",\"content\":{}}, with key_hex for other bytes, content_base64 for a raw \
                    record (or, with \"kind\":\"json\", for JSON), \"op\":\"put\", \"insert\" or \"delete\", and \"if_match\":HEIGHT";

fn bad(what: &str) -> Problem {
    Problem::new(Code::BadLine, what).help(HELP)
}
