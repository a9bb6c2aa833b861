//! The scanner accepts just what `serde_json` parses.

use proptest::prelude::*;
use serde_json::Value;

use super::values::values;
use crate::error::Error;
use crate::index::validate_json;
use crate::limits::JSON_DEPTH;

fn check(text: &[u8]) {
    let expected = serde_json::from_slice::<Value>(text);
    let scanned = validate_json(text);
    assert_eq!(scanned.is_ok(), expected.is_ok(), "{:?}: {scanned:?}, {expected:?}", String::from_utf8_lossy(text));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn what_was_written_is_accepted(value in values(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        prop_assert!(validate_json(text.unwrap().as_bytes()).is_ok());
    }

    #[test]
    fn damage_is_judged_alike(value in values(), at in any::<prop::sample::Index>(), byte in damage(), how in 0..3) {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        match how {
            0 => text[at] = byte,
            1 => text.insert(at, byte),
            _ => { text.remove(at); }
        }
        check(&text);
    }

    #[test]
    fn random_texts_are_judged_alike(text in prop::collection::vec(damage(), 0..16)) {
        check(&text);
    }

    #[test]
    fn random_strings_are_judged_alike(inner in "(\\\\u[dD][89abcdefABCDEF0-9]{3}|\\\\u[0-9a-g]{4}|\\\\[\"/bfnrtux]|[a-z\u{0}\u{1f}é\"]|abcdefgh){0,6}") {
        check(format!("\"{inner}\"").as_bytes());
    }

    #[test]
    fn random_numbers_are_judged_alike(text in "-?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][+-]?[0-9]{0,4})?") {
        check(text.as_bytes());
    }
}

fn damage() -> impl Strategy<Value = u8> {
    prop_oneof![any::<u8>(), prop::sample::select(b"{}[]:,\"\\ue0159.-+ tfn\n".to_vec())]
}

#[test]
fn the_corners() {
    for text in [
        &b""[..],
        b" ",
        b"{}",
        b"[]",
        b" [ ] ",
        b"{ }",
        b"[1,]",
        b"[,1]",
        b"{\"a\":1,}",
        b"{\"a\"}",
        b"{a:1}",
        b"1 1",
        b"{}{}",
        b"01",
        b"-",
        b"-0",
        b"1.",
        b".5",
        b"1e",
        b"1e+",
        b"0e99999",
        b"1e309",
        b"-1e309",
        b"1e-99999",
        b"true",
        b"truex",
        b"nul",
        b"\"",
        b"\"\\",
        b"\"\\u12",
        b"\"\\ud800\\udc00\"",
        b"\"\\udc00\"",
        b"\"\\ud800x\"",
        b"\"\\ud800\\u0041\"",
        b"\"\xff\"",
        b"\"\xc3\xa9\"",
        b"\xef\xbb\xbf1",
        b"\"\xed\xa0\x80\"",
        b"\"a\x00\"",
        b"\"abcdefg\x1f\"",
        b"\x0c1",
        b"[1\x002]",
        b"1\x00",
    ] {
        check(text);
    }
    for digits in [199, 201, 308, 309, 310, 5000] {
        check("9".repeat(digits).as_bytes());
        check(format!("0.{}", "9".repeat(digits)).as_bytes());
        check(format!("1{}e-{digits}", "0".repeat(digits)).as_bytes());
    }
    for depth in [JSON_DEPTH, JSON_DEPTH + 1, 100_000] {
        check("[".repeat(depth).as_bytes());
        check(format!("{}{}", "[".repeat(depth), "]".repeat(depth)).as_bytes());
        check(format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)).as_bytes());
    }
    // The depth is that of nesting, not the number of arrays.
    check(format!("[{}[]]", "[],".repeat(1000)).as_bytes());
}

#[test]
fn errors_say_where() {
    let error = |text: &[u8]| match validate_json(text) {
        Err(Error::InvalidJson(what)) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(error(b"{\"a\":1} x"), "there is more after the value at byte 8");
    assert_eq!(error(b"{\"a\" 1}"), "a colon is missing at byte 5");
    assert_eq!(error(b"[\"a\xff\"]"), "invalid UTF-8 at byte 3");
}
