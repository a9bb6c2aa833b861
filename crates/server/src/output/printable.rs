//! Bytes of other people, fit for a terminal: nothing in them can move the cursor or change a setting.

use std::fmt::Write;

/// Raw bytes as text: a backslash is doubled, control characters are escaped, and so is what is no UTF-8.
#[must_use]
pub fn printable_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push(&mut text, chunk.valid(), true);
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
    push(&mut printable, text, false);
    printable
}

/// JSON text on one line. Line breaks and tabs stand between its tokens only, where a space means the same.
#[must_use]
pub fn printable_json(text: &str) -> String {
    printable_text(&one_line(text))
}

/// JSON text without its line breaks.
pub(super) fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\n', '\r', '\t']) {
        text.replace(['\n', '\r', '\t'], " ").into()
    } else {
        text.into()
    }
}

fn push(printable: &mut String, text: &str, double_backslash: bool) {
    for character in text.chars() {
        match character {
            '\\' if double_backslash => printable.push_str("\\\\"),
            '\n' => printable.push_str("\\n"),
            '\r' => printable.push_str("\\r"),
            '\t' => printable.push_str("\\t"),
            '\0'..='\x7f' if character.is_control() => push_byte(printable, character as u8),
            _ if character.is_control() || turns_text(character) => {
                // Writing to a string does not fail.
                let _ = write!(printable, "\\u{{{:x}}}", u32::from(character));
            }
            _ => printable.push(character),
        }
    }
}

fn push_byte(printable: &mut String, byte: u8) {
    let _ = write!(printable, "\\x{byte:02x}");
}

/// Characters that turn the direction of what follows, and so can make a line look like another one.
fn turns_text(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
        assert_eq!(
            printable_bytes("\u{9b}\u{202e}".as_bytes()),
            "\\u{9b}\\u{202e}"
        );
    }

    #[test]
    fn json() {
        assert_eq!(
            printable_json("{\n\t\"a\": \"b\\n\"\r\n}"),
            "{  \"a\": \"b\\n\"  }"
        );
        assert_eq!(printable_json("\"\u{9b}31m\""), "\"\\u{9b}31m\"");
    }
}
