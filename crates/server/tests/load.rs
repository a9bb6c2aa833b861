//! Loading files.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod support;

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use support::{Outcome, Place, outcome};

/// Rows as they can be read again, without the time that loading took.
fn contents(place: &Place, grouping: &str) -> Vec<String> {
    place
        .prints(&["scan", grouping, "--json"])
        .lines()
        .map(|line| {
            let (_, content) = line.split_once("\"content\":").unwrap();
            content.strip_suffix('}').unwrap().to_owned()
        })
        .collect()
}

/// What a load that fails prints first, and its error.
fn failure(outcome: &Outcome) -> (&str, &str) {
    assert_eq!(outcome.code, 1, "{outcome:?}");
    (outcome.out.lines().next().unwrap_or_default(), &outcome.err)
}

#[test]
fn tables() {
    let place = Place::new();
    place.file(
        "odd.csv",
        "\u{FEFF}id;name;note;amount\r\n1;\"Smith; \"\"Bo\"\"\";;007\r\n\r\n2;\"two\r\nlines\";\"\";1.50\r\n3;zürich;x;-0.5",
    );
    let out = place.prints(&["load", "odd.csv", "--grouping", "g", "--delimiter", ";"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "loaded 3 rows of odd.csv into g: 3 new units, 0 new versions; the chain is at height 1");
    assert!(lines[1].starts_with("took ") && lines[1].contains(" to load 3 items, average "), "{out}");
    assert!(lines[1].ends_with("ms per item (durability buffered)"), "{out}");
    assert_eq!(
        contents(&place, "g"),
        [
            r#"{"id":1,"name":"Smith; \"Bo\"","note":"","amount":"007"}"#,
            r#"{"id":2,"name":"two\r\nlines","note":"","amount":"1.50"}"#,
            r#"{"id":3,"name":"zürich","note":"x","amount":-0.5}"#,
        ]
    );
    place.load(&["odd.csv", "-g", "text", "-d", ";", "--text", "--key", "name"]);
    assert_eq!(
        place.prints(&["get", "text", "zürich"]),
        "{\"id\":\"3\",\"name\":\"zürich\",\"note\":\"x\",\"amount\":\"-0.5\"}\n"
    );
}

#[test]
fn numbers_are_what_prints_the_same() {
    let place = Place::new();
    let texts = [
        "0",
        "7",
        "-7",
        "0.29",
        "100.0",
        "9007199254740993",
        "18446744073709551615",
        "007",
        "+1",
        "-0",
        "1.50",
        "1e5",
        "18446744073709551616",
        "NaN",
        "1 ",
        "0.1000000000000000055511151231257827",
    ];
    let rows: String = texts.iter().enumerate().map(|(row, text)| format!("{:02},{text}\n", row)).collect();
    place.file("n.csv", format!("row,value\n{rows}"));
    place.load(&["n.csv", "-g", "n"]);
    let values: Vec<String> = contents(&place, "n")
        .iter()
        .map(|content| content.split_once("\"value\":").unwrap().1.trim_end_matches('}').to_owned())
        .collect();
    assert_eq!(
        values,
        [
            "0",
            "7",
            "-7",
            "0.29",
            "100.0",
            "9007199254740993",
            "18446744073709551615",
            "\"007\"",
            "\"+1\"",
            "\"-0\"",
            "\"1.50\"",
            "\"1e5\"",
            "\"18446744073709551616\"",
            "\"NaN\"",
            "\"1 \"",
            "\"0.1000000000000000055511151231257827\"",
        ]
    );
}

#[test]
fn what_is_wrong_with_a_table() {
    let place = Place::new();
    place.file("short.csv", "a,b\n1,2\n3\n4,5\n");
    let outcome = place.run(&["load", "short.csv", "-g", "g"]);
    assert_eq!(
        failure(&outcome),
        (
            "loaded 1 row of short.csv into g: 1 new unit, 0 new versions; the chain is at height 1",
            "error: short.csv, line 3: 1 value, but the header names 2\n \
             help: correct the line; if many lines are like this, check --delimiter and the quotes (what is in the store: 1 row, up to line 2 of short.csv)\n"
        )
    );
    place.file("latin.csv", b"id,name\n1,Andr\xE9\n");
    assert_eq!(
        failure(&place.run(&["load", "latin.csv", "-g", "g"])).1,
        "error: latin.csv, line 2, column \"name\": byte 5 of the value (0xE9) is not UTF-8\n \
         help: convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8` (what is in the store: nothing of latin.csv)\n"
    );
    place.file("open.csv", "id,name\n1,a\n2,\"b\n3,c\n");
    assert!(
        failure(&place.run(&["load", "open.csv", "-g", "g"]))
            .1
            .starts_with("error: open.csv, line 3: a quote is opened here and never closed\n")
    );
    place.file("semicolon.csv", "a;b\n1;2\n");
    assert_eq!(
        place.fails(1, &["load", "semicolon.csv", "-g", "new"]),
        "error: semicolon.csv, line 1: the header is one name with ';' in it, and no comma\n \
         help: name the delimiter: --delimiter ';' (or --delimiter ',' if that is the name)\n"
    );
    assert_eq!(
        place.fails(1, &["load", "short.csv", "-g", "new", "--key", "c"]),
        "error: short.csv: there is no column \"c\" for the key\n help: there are: a, b\n"
    );
    assert_eq!(
        place.fails(1, &["load", "missing.csv", "-g", "new"]),
        "error: missing.csv can't be read: No such file or directory (os error 2)\n"
    );
    place.file("utf16.csv", b"\xFF\xFEi\0d\0\n\0");
    assert!(place.fails(1, &["load", "utf16.csv", "-g", "new"]).contains("iconv -f UTF-16 -t UTF-8"));
    assert_eq!(place.run(&["load", "short.csv", "-g", "new", "-d", "::"]).code, 2);
    assert_eq!(place.run(&["load", "short.csv"]).code, 2);
    // None of these has made a grouping.
    assert_eq!(place.prints(&["groupings"]), "grouping  indexes\ng               0\n");
}

#[test]
fn ndjson() {
    let place = Place::new();
    place.file("a.ndjson", "{\"id\": 1.50,  \"a\":[1]}\r\n\n{\"a\":null,\"id\":\"x\"}\n{\"id\":3,}\n{\"id\":4}\n");
    let outcome = place.run(&["load", "a.ndjson", "-g", "g"]);
    assert_eq!(
        failure(&outcome),
        (
            "loaded 2 rows of a.ndjson into g: 2 new units, 0 new versions; the chain is at height 1",
            "error: a.ndjson, line 4, column 9: this is not valid JSON: trailing comma\n \
             help: correct it there (what is in the store: 2 rows, up to line 3 of a.ndjson)\n"
        )
    );
    assert_eq!(contents(&place, "g"), [r#"{"id": 1.50,  "a":[1]}"#, r#"{"a":null,"id":"x"}"#]);
    assert_eq!(place.prints(&["get", "g", "1.50"]), "{\"id\": 1.50,  \"a\":[1]}\n");
}

#[test]
fn json_arrays() {
    let place = Place::new();
    place.file("a.json", "[\n {\"p\": {\"id\": \"a\"}},\n {\"p\": {\"id\": \"b\"}}\n]\n");
    assert_eq!(place.load(&["a.json", "-g", "g", "--key", "p.id"]), (2, 2));
    assert_eq!(place.prints(&["get", "g", "b"]), "{\"p\": {\"id\": \"b\"}}\n");
    let outcome = place.run(&["load", "a.json", "-g", "g"]);
    assert_eq!(
        failure(&outcome).1,
        "error: a.json, line 2: the field \"p\" is an object, which is no key\n \
         help: each row needs a key that is a string or a number; name its field with --key (what is in the store: nothing of a.json)\n"
    );
}

#[test]
fn standard_input() {
    let place = Place::new();
    for (input, grouping) in
        [("id,a\n1,2\n", "csv"), ("{\"id\":1,\"a\":2}\n", "ndjson"), (" [{\"id\":1,\"a\":2}]", "json")]
    {
        let outcome = place.run_with(&["load", "-", "-g", grouping], input);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
        assert_eq!(contents(&place, grouping), ["{\"id\":1,\"a\":2}"]);
    }
    assert_eq!(place.run_with(&["load", "-", "-g", "g", "--format", "ndjson"], "id,a\n1,2\n").code, 1);
    assert_eq!(
        place.run_with(&["load", "-", "-g", "g"], "").err,
        "error: standard input: there is no header line\n help: the first line of a table names its columns\n"
    );
}

#[test]
fn the_same_key_again_is_a_new_version() {
    let place = Place::new();
    place.file("a.csv", "id,v\n1,a\n2,a\n1,b\n1,c\n3,a\n");
    let loaded = place.objects(&["load", "a.csv", "-g", "g"]);
    assert_eq!(loaded[0]["rows"], 5);
    assert_eq!(loaded[0]["inserted"], 3);
    assert_eq!(loaded[0]["new_versions"], 2);
    assert_eq!(contents(&place, "g"), [r#"{"id":1,"v":"c"}"#, r#"{"id":2,"v":"a"}"#, r#"{"id":3,"v":"a"}"#]);
    let history: Vec<_> =
        place.objects(&["history", "g", "1"]).iter().map(|version| version["content"]["v"].clone()).collect();
    assert_eq!(history, [json!("c"), json!("b"), json!("a")]);
    assert_eq!(place.load(&["a.csv", "-g", "g"]), (5, 0));
}

#[test]
fn batches_are_commits() {
    let place = Place::new();
    let rows: String = (0..25).map(|number| format!("{number}\n")).collect();
    place.file("a.csv", format!("id\n{rows}"));
    let loaded = &place.objects(&["load", "a.csv", "-g", "g", "--batch", "10"])[0];
    assert_eq!((&loaded["commits"], &loaded["height"]), (&json!(3), &json!(3)));
    assert_eq!(place.prints(&["scan", "g", "--at", "2", "--count"]), "20\n");
}

#[test]
fn a_row_that_the_engine_refuses_is_found_in_its_batch() {
    let place = Place::new();
    let rows: String = (0..100).map(|number| format!("{number},{}\n", if number == 77 { 5 } else { number })).collect();
    place.file("a.csv", format!("id,code\n{rows}"));
    let outcome = place.run(&["load", "a.csv", "-g", "g", "--index", "code=json:code unique"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(
        outcome.err,
        "error: a.csv, line 79: index \"code\" is unique and has this key value already\n \
         help: what is in the store: 77 rows, up to line 78 of a.csv\n"
    );
    assert_eq!(place.prints(&["scan", "g", "--count"]), "77\n");
}

#[test]
fn indexes_are_made_once() {
    let place = Place::new();
    place.file("a.csv", "id,city\n1,Brno\n2,Prague\n");
    let load = ["a.csv", "-g", "g", "--index", "by_city=json:city", "--index", "by_both=json:city,-id unique"];
    assert_eq!(place.load(&load), (2, 2));
    assert_eq!(place.load(&load), (2, 0));
    assert_eq!(
        place.prints(&["index", "list", "g"]),
        "grouping  index    definition            since\n\
         g         by_city  json:city                 1\n\
         g         by_both  json:city,-id unique      2\n"
    );
    let other = place.run(&["load", "a.csv", "-g", "g", "--index", "by_city=json:id"]);
    assert!(other.err.starts_with("error: grouping \"g\" has an index \"by_city\" already\n help: "), "{}", other.err);
    assert_eq!(place.run(&["load", "a.csv", "-g", "g", "--index", "json:city"]).code, 2);
    assert_eq!(place.run(&["load", "a.csv", "-g", "g", "--index", "a=jsn:city"]).code, 2);
}

#[test]
fn durability_of_a_load() {
    let place = Place::new();
    place.file("a.csv", "id\n1\n");
    let durability = |arguments: &[&str]| {
        place.objects(&[&["load", "a.csv", "-g", "g"], arguments].concat())[0]["durability"].clone()
    };
    assert_eq!(durability(&[]), "buffered");
    assert_eq!(durability(&["--durability", "sync"]), "sync");
    place.file("immuxdb.toml", "durability = 'process'");
    assert_eq!(durability(&[]), "process");
}

/// A load that has committed 2,000 rows, has 500 in hand, and waits for more.
fn waiting_load(place: &Place) -> (Child, ChildStdin) {
    let load = ["load", "-", "-g", "g", "--format", "csv", "--durability", "process"];
    let mut child = place.command(&load).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let rows: String = (0..2500).map(|number| format!("{number}\n")).collect();
    write!(input, "id\n{rows}").unwrap();
    input.flush().unwrap();
    for _ in 0..100 {
        if place.run(&["scan", "g", "--count"]).out == "2000\n" {
            return (child, input);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    panic!("the first rows never came: {:?}", outcome(child.wait_with_output().unwrap()));
}

#[test]
fn one_writer_and_many_readers() {
    let place = Place::new();
    let (child, input) = waiting_load(&place);
    let held = place.fails(1, &["put", "g", "k", "1"]);
    assert!(held.contains(&format!("is held by another writer (process {})", child.id())), "{held}");
    assert!(held.ends_with("\n help: wait until the other process has ended; reading works meanwhile\n"), "{held}");
    assert_eq!(place.prints(&["get", "g", "1999"]), "{\"id\":1999}\n");
    drop(input);
    assert_eq!(outcome(child.wait_with_output().unwrap()).code, 0);
    assert_eq!(place.prints(&["scan", "g", "--count"]), "2500\n");
    place.prints(&["put", "g", "k", "1"]);
}

#[test]
fn interrupted() {
    let place = Place::new();
    let (child, input) = waiting_load(&place);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = outcome(child.wait_with_output().unwrap());
    drop(input);
    assert_eq!(outcome.code, 130, "{outcome:?}");
    assert_eq!(
        outcome.err,
        "error: stopped; what is in the store: 2,500 rows, up to line 2501 of standard input\n help: load it again to go on: rows that are there become new versions\n"
    );
    assert!(outcome.out.starts_with("loaded 2,500 rows of standard input into g: 2,500 new units"), "{}", outcome.out);
    assert_eq!(place.prints(&["scan", "g", "--count"]), "2500\n");
}
