//! Fields that several commands print, with names that stay as they are.

use data_encoding::{BASE64, HEXLOWER};
use libimmuxdb::VersionKind;
use serde::Serialize;
use serde_json::value::RawValue;

use super::printable::{one_line, printable_bytes, printable_json, printable_text};

/// A unit key: `key` where it is text, else `key_hex`.
#[derive(Clone, Debug, Serialize)]
pub struct KeyFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_hex: Option<String>,
}

impl KeyFields<'_> {
    /// The fields of this unit key.
    #[must_use]
    pub fn new(key: &[u8]) -> KeyFields<'_> {
        let text = std::str::from_utf8(key).ok();
        KeyFields { key: text, key_hex: text.is_none().then(|| HEXLOWER.encode(key)) }
    }
}

/// A unit key, for people.
#[must_use]
pub fn shown_key(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) => printable_text(text),
        Err(_) => printable_bytes(key),
    }
}

/// The content of a version: `content` for JSON, `content_base64` for a raw record, neither for a deletion.
#[derive(Clone, Debug, Serialize)]
pub struct ContentFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_base64: Option<String>,
}

impl ContentFields {
    /// The fields of this content.
    #[must_use]
    pub fn new(kind: VersionKind, content: &[u8]) -> ContentFields {
        let json = match kind {
            VersionKind::Json => std::str::from_utf8(content)
                .ok()
                .and_then(|text| RawValue::from_string(one_line(text).into_owned()).ok()),
            VersionKind::Raw | VersionKind::Deleted => None,
        };
        let plain = json.is_none() && kind != VersionKind::Deleted;
        ContentFields { content_base64: plain.then(|| BASE64.encode(content)), content: json }
    }
}

/// A content, for people; JSON without the white space around it.
#[must_use]
pub fn shown_content(kind: VersionKind, content: &[u8]) -> String {
    match (kind, std::str::from_utf8(content)) {
        (VersionKind::Json, Ok(text)) => printable_json(text.trim_ascii()),
        _ => printable_bytes(content),
    }
}

/// The name of a kind of version.
#[must_use]
pub fn kind_name(kind: VersionKind) -> &'static str {
    match kind {
        VersionKind::Deleted => "deleted",
        VersionKind::Json => "json",
        VersionKind::Raw => "raw",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Both<'a> {
        #[serde(flatten)]
        key: KeyFields<'a>,
        #[serde(flatten)]
        content: ContentFields,
    }

    fn json(key: &[u8], kind: VersionKind, content: &[u8]) -> String {
        serde_json::to_string(&Both { key: KeyFields::new(key), content: ContentFields::new(kind, content) }).unwrap()
    }

    #[test]
    fn json_is_kept_but_for_line_breaks() {
        assert_eq!(
            json(b"k", VersionKind::Json, b"{\n \"a\": 1.50, \"a\": \"\\n\" }"),
            r#"{"key":"k","content":{  "a": 1.50, "a": "\n" }}"#
        );
    }

    #[test]
    fn other_bytes() {
        assert_eq!(json(b"\xff\x00", VersionKind::Raw, b"ab\0"), r#"{"key_hex":"ff00","content_base64":"YWIA"}"#);
        assert_eq!(json(b"", VersionKind::Deleted, b""), r#"{"key":""}"#);
        assert_eq!(json(b"k", VersionKind::Raw, b""), r#"{"key":"k","content_base64":""}"#);
    }

    #[test]
    fn for_people() {
        assert_eq!(shown_key(b"a\\b\n"), "a\\b\\n");
        assert_eq!(shown_key(b"\xff"), "\\xff");
        assert_eq!(shown_content(VersionKind::Raw, b"A\0"), "A\\x00");
        assert_eq!(shown_content(VersionKind::Json, b"{\"a\":\"\\\\\"}"), "{\"a\":\"\\\\\"}");
    }
}
