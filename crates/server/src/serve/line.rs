//! Fields of lines, written straight into a chunk: the same that the command line prints with `--json` (see
//! [`crate::output`]), but without a look at each content, since the engine has checked it when it was written.

use data_encoding::{BASE64, HEXLOWER};
use libimmuxdb::VersionKind;
use memchr::memchr3;

/// `"key":"…"`, or `"key_hex":"…"` for what is no text.
pub(crate) fn key(chunk: &mut Vec<u8>, key: &[u8]) {
    match std::str::from_utf8(key) {
        Ok(text) => {
            chunk.extend_from_slice(b"\"key\":");
            string(chunk, text);
        }
        Err(_) => {
            chunk.extend_from_slice(b"\"key_hex\":\"");
            chunk.extend_from_slice(HEXLOWER.encode(key).as_bytes());
            chunk.push(b'"');
        }
    }
}

/// `,"content":…` for JSON, `,"content_base64":"…"` for a raw record, nothing for a deletion.
pub(crate) fn content(chunk: &mut Vec<u8>, kind: VersionKind, content: &[u8]) {
    match kind {
        VersionKind::Deleted => (),
        VersionKind::Json => {
            chunk.extend_from_slice(b",\"content\":");
            one_line(chunk, content);
        }
        VersionKind::Raw => {
            chunk.extend_from_slice(b",\"content_base64\":\"");
            let start = chunk.len();
            chunk.resize(start + BASE64.encode_len(content.len()), 0);
            BASE64.encode_mut(content, &mut chunk[start..]);
            chunk.push(b'"');
        }
    }
}

/// Line breaks and tabs stand between the tokens of JSON only; they become spaces.
fn one_line(chunk: &mut Vec<u8>, mut content: &[u8]) {
    while let Some(at) = memchr3(b'\n', b'\r', b'\t', content) {
        chunk.extend_from_slice(&content[..at]);
        chunk.push(b' ');
        let is_pair = content[at..].starts_with(b"\r\n");
        content = &content[at + 1 + usize::from(is_pair)..];
    }
    chunk.extend_from_slice(content);
}

/// A text as a JSON string.
fn string(chunk: &mut Vec<u8>, text: &str) {
    let plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\' && byte != 0x7f);
    if plain {
        chunk.push(b'"');
        chunk.extend_from_slice(text.as_bytes());
        chunk.push(b'"');
    } else if serde_json::to_writer(chunk, text).is_err() {
        unreachable!("a text can be written to memory as JSON");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{ContentFields, KeyFields};

    #[test]
    fn the_same_as_the_command_line() {
        for bytes in [&b"plain"[..], b"", b"a\"b\\c\n\0\x7f", "zürich".as_bytes(), b"\xff\x00"] {
            let mut chunk = Vec::new();
            key(&mut chunk, bytes);
            let expected = serde_json::to_string(&KeyFields::new(bytes)).unwrap();
            assert_eq!(format!("{{{}}}", String::from_utf8(chunk).unwrap()), expected);
        }
        for (kind, bytes) in [
            (VersionKind::Json, &b"{\r\n\t\"a\": 1.50,\n\n\r\"b\":\"\\n\"}"[..]),
            (VersionKind::Json, b"1"),
            (VersionKind::Raw, b"ab\0"),
            (VersionKind::Raw, b""),
        ] {
            let mut chunk = Vec::new();
            content(&mut chunk, kind, bytes);
            let expected = serde_json::to_string(&ContentFields::new(kind, bytes)).unwrap();
            assert_eq!(format!("{{{}}}", std::str::from_utf8(&chunk[1..]).unwrap()), expected);
        }
        let mut chunk = Vec::new();
        content(&mut chunk, VersionKind::Deleted, b"");
        assert!(chunk.is_empty());
    }
}
