//! Bytes as text, and back.
//!
//! | written | means |
//! |---|---|
//! | `ada` | the UTF-8 bytes |
//! | `0x00ff` | these bytes |
//! | `<x*1000>` | `x` a thousand times, anywhere in a text |
//! | `raw:abc` | (only shown) a raw content |

use std::fmt::Write as _;

use libimmuxdb::VersionKind;

/// Runs of one character that are at least as long are shown as `<x*32>`.
const LONG: usize = 32;

/// The text with `<x*3>` written out.
pub fn expand(text: &str) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        expanded.push_str(before);
        let repetition = from.find('>').and_then(|end| {
            let (what, count) = from[1..end].split_once('*')?;
            Some((what.repeat(count.parse().ok()?), end))
        });
        match repetition {
            Some((repeated, end)) => {
                expanded.push_str(&repeated);
                rest = &from[end + 1..];
            }
            None => {
                expanded.push('<');
                rest = &from[1..];
            }
        }
    }
    expanded + rest
}

/// The bytes that a text means.
pub fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let Some(digits) = text.strip_prefix("0x") else {
        return Ok(expand(text).into_bytes());
    };
    let digits = expand(digits);
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{text} has half a byte"));
    }
    let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).map(|at| byte(at).ok_or_else(|| format!("{text} is no hex"))).collect()
}

/// A key as text.
pub fn show(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok("") => "\"\"".to_owned(),
        Ok(text) if !text.chars().any(char::is_control) && !text.starts_with("0x") => contract(text),
        _ => {
            let mut hex = String::from("0x");
            for byte in bytes {
                let _ = write!(hex, "{byte:02x}");
            }
            hex
        }
    }
}

/// A content as text.
pub fn show_content(kind: VersionKind, content: &[u8]) -> String {
    match kind {
        VersionKind::Deleted => "deleted".to_owned(),
        VersionKind::Json => contract(&String::from_utf8_lossy(content)),
        VersionKind::Raw => format!("raw:{}", show(content)),
    }
}

/// The text with long repetitions of one character written as `<x*1000>`.
pub fn contract(text: &str) -> String {
    let mut contracted = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|character| character != first).unwrap_or(rest.len());
        let count = end / first.len_utf8();
        if count >= LONG {
            let _ = write!(contracted, "<{first}*{count}>");
        } else {
            contracted.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    contracted
}
