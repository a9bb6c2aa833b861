//! Bytes of other people, fit for a terminal: nothing in them can move the cursor or change a setting.

use std::borrow::Cow;
use std::fmt::Write;

/// Raw bytes as text: a backslash is doubled, control characters are escaped, and so is what is no UTF-8.
#[must_use]
pub fn printable_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                _ => push(&mut text, character),
            }
        }
        for byte in chunk.invalid() {
            push_byte(&mut text, *byte);
        }
    }
    text
}

/// Text with its control characters escaped.
#[must_use]
pub fn printable_text(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    text.chars().for_each(|character| push(&mut printable, character));
    printable
}

/// JSON text, still JSON and meaning the same: line breaks and tabs (which stand between tokens only) become spaces, control
/// characters (which stand in strings only) are escaped.
#[must_use]
pub fn printable_json(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        if is_unsafe(character) {
            // Writing to a string does not fail.
            let _ = write!(printable, "\\u{:04x}", u32::from(character));
        } else {
            printable.push(character);
        }
    }
    printable
}

/// JSON text without its line breaks.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r', '\t']) {
        text.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ").into()
    } else {
        text.into()
    }
}

fn push(printable: &mut String, character: char) {
    match character {
        '\n' => printable.push_str("\\n"),
        '\r' => printable.push_str("\\r"),
        '\t' => printable.push_str("\\t"),
        _ if character.is_ascii_control() => push_byte(printable, character as u8),
        _ if is_unsafe(character) => {
            let _ = write!(printable, "\\u{{{:x}}}", u32::from(character));
        }
        _ => printable.push(character),
    }
}

/// Characters that drive a terminal, and those that turn the direction of what follows and so make a line look like another one.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_byte(printable: &mut String, byte: u8) {
    let _ = write!(printable, "\\x{byte:02x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes() {
        assert_eq!(printable_bytes(b"plain text"), "plain text");
        assert_eq!(printable_bytes("zürich".as_bytes()), "zürich");
        assert_eq!(
            printable_bytes(b"a\\b\n\r\t\0\x1b[31m\x7f\xff\xc3"),
            "a\\\\b\\n\\r\\t\\x00\\x1b[31m\\x7f\\xff\\xc3"
        );
        assert_eq!(printable_bytes("\u{9b}\u{202e}".as_bytes()), "\\u{9b}\\u{202e}");
    }

    #[test]
    fn json() {
        assert_eq!(printable_json("{\n\t\"a\": \"b\\n\"\r\n}"), "{  \"a\": \"b\\n\" }");
        assert_eq!(printable_json("\"\u{9b}31m\""), "\"\\u009b31m\"");
    }
}
