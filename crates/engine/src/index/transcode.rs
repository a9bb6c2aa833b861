//! From JSON text to key bytes, without a value in between.
//!
//! The text was validated before, so that faults cannot occur. Bytes are written as in value.rs, which does the same for
//! values in memory; a test holds the two together.

use std::borrow::Cow;
use std::ops::Range;

use super::json::{self, Fault, Quoted, Scanner};
use super::number;
use super::value::{end_string, put_characters, put_string, tag};

/// Appends the key bytes of a JSON value.
///
/// Writing stops soon after `out` is longer than `limit`; the caller checks that.
///
/// # Panics
/// When `text` is not JSON.
pub(super) fn put_json(out: &mut Vec<u8>, text: &[u8], limit: usize) {
    let mut scanner = Scanner::new(text);
    out.push(tag_at(&scanner));
    match put_payload(out, &mut scanner, text, limit) {
        Ok(()) => debug_assert_eq!(scanner.at(), text.len()),
        Err(fault) => unreachable!("the text was validated before: {fault:?}"),
    }
}

/// The tag of the value before which the scanner stands.
fn tag_at(scanner: &Scanner<'_>) -> u8 {
    match scanner.peek() {
        b'"' => tag::STRING,
        b'{' => tag::OBJECT,
        b'[' => tag::ARRAY,
        b't' | b'f' => tag::BOOLEAN,
        b'n' => tag::NULL,
        _ => tag::NUMBER,
    }
}

fn put_payload<'a>(out: &mut Vec<u8>, scanner: &mut Scanner<'a>, text: &'a [u8], limit: usize) -> Result<(), Fault> {
    match scanner.peek() {
        b'"' => {
            let string = scanner.string()?;
            // The longest escapes of one byte have 6: this one is over the limit, so a part of it shows that as well.
            if string.text.len() / 6 > limit {
                out.resize(out.len().max(limit + 1), 0);
                return Ok(());
            }
            put_quoted(out, string)
        }
        b'{' => put_object(out, scanner, text, limit),
        b'[' => {
            scanner.array(|scanner| {
                if out.len() > limit {
                    return scanner.value();
                }
                out.push(tag_at(scanner));
                put_payload(out, scanner, text, limit)
            })?;
            out.push(tag::END);
            Ok(())
        }
        first @ (b't' | b'f') => {
            out.push(u8::from(first == b't'));
            scanner.value()
        }
        b'n' => scanner.value(),
        _ => {
            let start = scanner.at();
            scanner.number()?;
            put_number(out, &text[start..scanner.at()]);
            Ok(())
        }
    }
}

fn put_quoted(out: &mut Vec<u8>, string: Quoted<'_>) -> Result<(), Fault> {
    if string.escaped {
        put_characters(out, &unquote(string)?);
    } else {
        // Without escapes there are no control characters.
        out.extend_from_slice(string.text);
    }
    end_string(out);
    Ok(())
}

/// The characters of a string.
pub(super) fn unquote(string: Quoted<'_>) -> Result<Cow<'_, [u8]>, Fault> {
    if !string.escaped {
        return Ok(Cow::Borrowed(string.text));
    }
    let mut characters = Vec::with_capacity(string.text.len());
    let mut rest = string.text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        characters.extend_from_slice(&rest[..at]);
        let (character, len) = json::unescape(&rest[at..])?;
        characters.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + len..];
    }
    characters.extend_from_slice(rest);
    Ok(Cow::Owned(characters))
}

/// Writes the fields as they come, and puts them in order afterwards, if they are not.
fn put_object<'a>(out: &mut Vec<u8>, scanner: &mut Scanner<'a>, text: &'a [u8], limit: usize) -> Result<(), Fault> {
    let start = out.len();
    let mut fields: Vec<(Cow<'a, [u8]>, Range<usize>)> = Vec::new();
    scanner.object(|scanner, name| {
        if out.len() > limit {
            return scanner.value();
        }
        let name = unquote(name)?;
        let start = out.len();
        out.push(tag_at(scanner));
        put_string(out, &name);
        put_payload(out, scanner, text, limit)?;
        fields.push((name, start..out.len()));
        Ok(())
    })?;
    if !fields.is_sorted_by(|one, next| one.0 < next.0) {
        // Of fields with the same name, the last counts.
        fields.reverse();
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        fields.dedup_by(|later, kept| later.0 == kept.0);
        let unordered = out.split_off(start);
        for (_, range) in fields {
            out.extend_from_slice(&unordered[range.start - start..range.end - start]);
        }
    }
    out.push(tag::END);
    Ok(())
}

/// Writes a number: an integer that an `i64` or a `u64` holds exactly; anything else as the nearest double.
fn put_number(out: &mut Vec<u8>, text: &[u8]) {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() <= 19 {
        let mut magnitude = 0u64;
        let whole = digits.iter().all(|byte| {
            let digit = byte.wrapping_sub(b'0');
            // The first 19 digits cannot overflow, and what a point or an exponent leaves here is thrown away.
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit));
            digit <= 9
        });
        if whole && magnitude < 1 << 53 {
            let magnitude = magnitude as i64;
            return number::put_small(out, if negative { -magnitude } else { magnitude });
        }
    }
    match std::str::from_utf8(text).map(str::parse::<i128>) {
        Ok(Ok(integer)) if number::is_exact(integer) => {
            number::put_integer(out, integer);
        }
        _ => number::put_double(out, json::double(text)),
    }
}
