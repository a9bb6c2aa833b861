//! Which texts of a table become JSON numbers.
//!
//! A text becomes a number only where printing that number gives back the same text; so nothing is lost by loading a table:
//!
//! | text | becomes | since |
//! |---|---|---|
//! | `12`, `-7`, `0.29`, `100.0` | a number | |
//! | `007`, `+1`, `-0` | text | a number has no leading zeros and no plus sign |
//! | `1.50`, `.5`, `2.` | text | it would print as 1.5, 0.5, 2.0 |
//! | `1e5`, `NaN`, `0x10` | text | only plain decimal notation |
//! | `18446744073709551616` | text | no 64-bit integer holds it, and a double would print another number |
//! | ` 1`, `1,5`, empty | text | |

/// Whether the text becomes a number.
#[must_use]
pub fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let canonical_whole = all_digits(whole) && (whole.len() == 1 || !whole.starts_with('0'));
    match fraction {
        _ if !canonical_whole => false,
        None => text != "-0" && (text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()),
        Some(fraction) => all_digits(fraction) && prints_the_same(text),
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn prints_the_same(text: &str) -> bool {
    // The debug form of a double is the shortest that reads back as the same double, and keeps ".0".
    text.parse::<f64>().is_ok_and(|number| format!("{number:?}") == text)
}

/// Appends the text to a JSON document: as a number where it is one (and numbers are wanted), else as a string.
pub fn push_value(json: &mut Vec<u8>, text: &str, numbers: bool) {
    if numbers && is_number(text) {
        json.extend_from_slice(text.as_bytes());
    } else {
        push_string(json, text);
    }
}

/// Appends the text to a JSON document as a string.
pub fn push_string(json: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        json.push(b'"');
        json.extend_from_slice(text.as_bytes());
        json.push(b'"');
    } else if let Err(error) = serde_json::to_writer(json, text) {
        unreachable!("writing a string to memory does not fail: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for text in [
            "0",
            "7",
            "-7",
            "12",
            "96396",
            "0.29",
            "100.0",
            "-0.5",
            "-0.0",
            "3372.7",
            "0.1",
            "9007199254740993",
            "-9223372036854775808",
            "18446744073709551615",
            "123456.789",
        ] {
            assert!(is_number(text), "{text}");
        }
    }

    #[test]
    fn texts() {
        for text in [
            "",
            " ",
            "007",
            "00",
            "-0",
            "-007",
            "+1",
            "1.50",
            "8033.00",
            ".5",
            "2.",
            "-",
            "--1",
            "-.5",
            "1e5",
            "1E5",
            "1e16",
            "0x10",
            "1_000",
            "1,5",
            " 1",
            "1 ",
            "NaN",
            "inf",
            "-inf",
            "infinity",
            "18446744073709551616",
            "-9223372036854775809",
            "0.1000000000000000055511151231257827",
            "123456789012345678.5",
            "0.00000001",
            "1.2.3",
            "٣",
            "true",
            "null",
        ] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn what_is_taken_for_a_number_is_a_json_number_that_prints_the_same() {
        let mut texts = Vec::new();
        for whole in ["0", "1", "-1", "10", "01", "-0", "999999999999999", "1e3", "", "-"] {
            for fraction in ["", ".", ".0", ".5", ".50", ".05", ".123456789", ".1e1", ".999999999999"] {
                texts.push(format!("{whole}{fraction}"));
            }
        }
        for text in texts {
            if is_number(&text) {
                let number = if text.contains('.') {
                    serde_json::Number::from_f64(text.parse().unwrap()).unwrap().to_string()
                } else {
                    text.parse::<i64>().unwrap().to_string()
                };
                assert_eq!(number, text);
                assert!(serde_json::from_str::<serde_json::Number>(&text).is_ok());
            }
        }
    }

    #[test]
    fn json_strings() {
        let mut json = Vec::new();
        push_value(&mut json, "12", true);
        push_value(&mut json, "12", false);
        push_value(&mut json, "a \"b\" \\ \n ü \u{1}", true);
        assert_eq!(String::from_utf8(json).unwrap(), r#"12"12""a \"b\" \\ \n ü \u0001""#);
    }
}
