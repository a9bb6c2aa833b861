//! Keys as they are written on the command line.
//!
//! ```text
//!   1:10,11:12:dup,25:4+40:6:sparse=SPACE
//!   ──┬─ ────┬──── ──────────┬───────────
//!     │      │               └ alternate: bytes 25-28 and 40-45; records with only spaces there are left out
//!     │      └ alternate: bytes 11-22, with duplicates
//!     └ record key: bytes 1-10
//! ```
//!
//! Bytes are counted from 1, as people count columns and as sort utilities do.

use immuxdb_isam::{Key, KeyPart};

/// What to say of the form.
pub const HELP: &str = "\
Keys are separated by commas; the first is the record key. A key is POSITION:LENGTH, counted from 1, with
  +POSITION:LENGTH  for each further part of a split key
  :dup              with duplicates
  :sparse=CHARACTER records that have only this character there are left out (SUPPRESS WHEN);
                    SPACE, ZERO, NULL, HIGH, a character, or hexadecimal like 0x2a
For example: 1:10,11:12:dup,25:4+40:6:sparse=SPACE";

/// The keys of a text in this form.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse(text: &str) -> Result<Vec<Key>, String> {
    let keys: Vec<Key> = text.split(',').map(|key| parse_key(key.trim())).collect::<Result<_, _>>()?;
    match keys.first() {
        Some(primary) if primary.duplicates || primary.sparse.is_some() => {
            Err("the first key is the record key, which has no duplicates and is never left out".to_owned())
        }
        _ => Ok(keys),
    }
}

fn parse_key(text: &str) -> Result<Key, String> {
    let wrong = |what: &str| format!("{what} in the key {text:?}; expected one like 1:10 or 25:4+40:6:dup");
    let mut key = Key { parts: Vec::new(), duplicates: false, sparse: None };
    // The numbers end at the first colon after a length.
    let mut rest = Some(text);
    while let Some(part) = rest {
        let (position, after) = part.split_once(':').ok_or_else(|| wrong("a length is missing"))?;
        let end = after.find([':', '+']).unwrap_or(after.len());
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0);
        let position = number(position).ok_or_else(|| wrong("a position is no number from 1"))?;
        let len = number(&after[..end]).ok_or_else(|| wrong("a length is no number from 1"))?;
        key.parts.push(KeyPart { offset: position - 1, len });
        let options = &after[end..];
        rest = options.strip_prefix('+');
        if rest.is_none() {
            parse_options(options, &mut key).map_err(|what| wrong(&what))?;
        }
    }
    Ok(key)
}

/// `:dup:sparse=SPACE`, in either order.
fn parse_options(options: &str, key: &mut Key) -> Result<(), String> {
    let mut rest = options;
    while let Some(option) = rest.strip_prefix(':') {
        if let Some(value) = option.strip_prefix("sparse=") {
            // The character may itself be a colon.
            let end = value.char_indices().skip(1).find(|(_, c)| *c == ':').map_or(value.len(), |(at, _)| at);
            let (value, after) = value.split_at(end);
            key.sparse = Some(sparse_byte(value).ok_or_else(|| format!("{value:?} is no character"))?);
            rest = after;
        } else {
            let (word, after) = option.split_at(option.find(':').unwrap_or(option.len()));
            if word != "dup" {
                return Err(format!("{word:?} is unknown"));
            }
            key.duplicates = true;
            rest = after;
        }
    }
    Ok(())
}

fn sparse_byte(text: &str) -> Option<u8> {
    match text.to_ascii_uppercase().as_str() {
        "SPACE" | "SPACES" => Some(b' '),
        "ZERO" | "ZEROS" | "ZEROES" => Some(b'0'),
        "NULL" | "NULLS" | "LOW-VALUE" | "LOW-VALUES" => Some(0),
        "HIGH" | "HIGH-VALUE" | "HIGH-VALUES" => Some(0xff),
        other => match (other.strip_prefix("0X"), text.as_bytes()) {
            (Some(digits), _) => u8::from_str_radix(digits, 16).ok(),
            (None, &[byte]) => Some(byte),
            (None, _) => None,
        },
    }
}

/// A key in the form that [`parse`] reads.
#[must_use]
pub fn text(key: &Key) -> String {
    let parts: Vec<String> = key.parts.iter().map(|part| format!("{}:{}", part.offset + 1, part.len)).collect();
    let duplicates = if key.duplicates { ":dup" } else { "" };
    let sparse = match key.sparse {
        None => String::new(),
        Some(b' ') => ":sparse=SPACE".to_owned(),
        Some(b'0') => ":sparse=ZERO".to_owned(),
        Some(0) => ":sparse=NULL".to_owned(),
        Some(0xff) => ":sparse=HIGH".to_owned(),
        Some(byte) => format!(":sparse={byte:#04x}"),
    };
    format!("{}{duplicates}{sparse}", parts.join("+"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back() {
        let written = "1:10,11:12:dup,25:4+40:6:sparse=SPACE,7:1:dup:sparse=0x2a,8:1:sparse=ZERO";
        let keys = parse(written).unwrap();
        assert_eq!(keys[2].parts, [KeyPart { offset: 24, len: 4 }, KeyPart { offset: 39, len: 6 }]);
        assert_eq!((keys[2].duplicates, keys[2].sparse), (false, Some(b' ')));
        let texts: Vec<String> = keys.iter().map(text).collect();
        assert_eq!(texts.join(","), written);
        assert_eq!(parse("1:1,2:1:sparse=::dup").unwrap()[1], parse("1:1,2:1:dup:sparse=0x3a").unwrap()[1]);
        assert_eq!(parse("1:1, 2:1:sparse=*").unwrap()[1].sparse, Some(b'*'));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, what) in [
            ("", "a length is missing"),
            ("10", "a length is missing"),
            ("0:10", "a position is no number from 1"),
            ("1:x", "a length is no number from 1"),
            ("1:0", "a length is no number from 1"),
            ("1:10+", "a length is missing"),
            ("1:10,2:3:dups", "\"dups\" is unknown"),
            ("1:10,2:3:sparse=", "\"\" is no character"),
            ("1:10,2:3:sparse=ab", "\"ab\" is no character"),
            ("1:10:dup", "the first key is the record key"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
