//! Writing, reading, deleting and reverting single units.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod support;

use serde_json::json;
use support::Place;

#[test]
fn a_unit_and_its_versions() {
    let place = Place::new();
    assert_eq!(
        place.prints(&["put", "books", "1984", r#"{"title": "1984",  "price": 1.50}"#]),
        "wrote 1984 in books, at height 1\n"
    );
    assert_eq!(
        place.prints(&["put", "books", "1984", r#"{"title": "1984", "price": 2}"#]),
        "wrote 1984 in books, at height 2\n"
    );
    assert_eq!(place.prints(&["get", "books", "1984"]), "{\"title\": \"1984\", \"price\": 2}\n");
    assert_eq!(place.prints(&["get", "books", "1984", "--at", "1"]), "{\"title\": \"1984\",  \"price\": 1.50}\n");
    assert_eq!(place.prints(&["delete", "books", "1984"]), "deleted 1984 in books, at height 3\n");
    assert_eq!(
        place.fails(3, &["get", "books", "1984"]),
        "error: there is no unit 1984 in books\n \
         help: `immuxdb history` shows whether there was one; `immuxdb scan` lists those there are\n"
    );
    assert_eq!(
        place.prints(&["revert", "books", "1984", "--to", "1"]),
        "1984 in books is again as it was at height 1; this is height 4\n"
    );
    assert_eq!(place.prints(&["get", "books", "1984"]), "{\"title\": \"1984\",  \"price\": 1.50}\n");
    let history = place.prints(&["history", "books", "1984"]);
    let lines: Vec<Vec<&str>> = history.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["height", "time", "kind", "size", "content"]);
    let short: Vec<String> = lines[1..].iter().map(|line| format!("{} {} {}", line[0], line[2], line[3])).collect();
    assert_eq!(short, ["4 json 33", "3 deleted 0", "2 json 29", "1 json 33"]);
    assert_eq!(place.prints(&["history", "books", "1984", "--limit", "2"]).lines().count(), 3);
}

#[test]
fn the_past_by_time() {
    let place = Place::new();
    place.prints(&["put", "g", "k", "1"]);
    place.prints(&["put", "g", "k", "2"]);
    let history = place.objects(&["history", "g", "k"]);
    let times: Vec<&str> = history.iter().map(|version| version["time"].as_str().unwrap()).collect();
    assert_eq!(place.prints(&["get", "g", "k", "--at", times[0]]), "2\n");
    assert_eq!(place.prints(&["get", "g", "k", "--at", times[1]]), "1\n");
    assert_eq!(place.run(&["get", "g", "k", "--at", "2001-01-01T00:00:00Z"]).code, 3);
    assert_eq!(place.run(&["get", "g", "k", "--at", "yesterday"]).code, 2);
    let beyond = place.fails(1, &["get", "g", "k", "--at", "9"]);
    assert!(beyond.starts_with("error: height 9 is not in this chain, whose newest height is 2\n help: "), "{beyond}");
}

#[test]
fn json_shapes() {
    let place = Place::new();
    assert_eq!(place.objects(&["put", "g", "k", "[1, 2]"]), [json!({"grouping": "g", "key": "k", "height": 1})]);
    place.run_with(&["put", "g", "r", "--raw"], b"a\0\xff");
    assert_eq!(
        place.objects(&["get", "g", "k"]),
        [json!({"key": "k", "height": 1, "kind": "json", "content": [1, 2]})]
    );
    assert_eq!(
        place.objects(&["get", "g", "r"]),
        [json!({"key": "r", "height": 2, "kind": "raw", "content_base64": "YQD/"})]
    );
    assert_eq!(place.objects(&["delete", "g", "k"]), [json!({"grouping": "g", "key": "k", "height": 3})]);
    assert_eq!(place.objects(&["revert", "g", "k", "--to", "1"]), [json!({"grouping": "g", "key": "k", "height": 4})]);
    let mut history = place.objects(&["history", "g", "k"]);
    for version in &mut history {
        let time = version.as_object_mut().unwrap().remove("time").unwrap();
        assert!(time.as_str().unwrap().ends_with('Z'));
    }
    assert_eq!(
        history,
        [
            json!({"height": 4, "kind": "json", "size": 6, "content": [1, 2]}),
            json!({"height": 3, "kind": "deleted", "size": 0}),
            json!({"height": 1, "kind": "json", "size": 6, "content": [1, 2]}),
        ]
    );
    assert_eq!(place.objects(&["groupings", "--count"]), [json!({"grouping": "g", "indexes": 0, "units": 2})]);
    assert_eq!(place.objects(&["chains"]), [json!({"chain": "default"})]);
}

#[test]
fn where_content_comes_from() {
    let place = Place::new();
    place.file("a.json", "{\n  \"a\": 1\n}\n\n");
    place.prints(&["put", "g", "file", "--file", "a.json"]);
    assert_eq!(place.prints(&["get", "g", "file", "--bytes"]), "{\n  \"a\": 1\n}");
    assert_eq!(place.prints(&["get", "g", "file"]), "{\n  \"a\": 1\n}\n");
    assert_eq!(
        place.prints(&["get", "g", "file", "--json"]),
        "{\"key\":\"file\",\"height\":1,\"kind\":\"json\",\"content\":{   \"a\": 1 }}\n"
    );
    assert_eq!(place.run_with(&["put", "g", "stdin"], "true\r\n").code, 0);
    assert_eq!(place.prints(&["get", "g", "stdin", "--bytes"]), "true");
    assert_eq!(place.run_with(&["put", "g", "raw", "--raw", "-f", "-"], "line\n").code, 0);
    assert_eq!(place.prints(&["get", "g", "raw", "--bytes"]), "line\n");
    assert_eq!(place.prints(&["get", "g", "raw"]), "line\\n\n");
    assert_eq!(
        place.fails(1, &["put", "g", "k", "--file", "missing"]),
        "error: missing can't be read: No such file or directory (os error 2)\n"
    );
    let not_json = place.fails(1, &["put", "g", "k", "hello"]);
    assert!(not_json.starts_with("error: the content is not valid JSON: "), "{not_json}");
    assert!(
        not_json.ends_with("\n help: write a text as '\"text\"', or keep the bytes as they are with --raw\n"),
        "{not_json}"
    );
}

#[test]
fn conditions() {
    let place = Place::new();
    place.prints(&["put", "g", "k", "1", "--insert"]);
    assert_eq!(
        place.fails(1, &["put", "g", "k", "2", "--insert"]),
        "error: the unit exists already (at height 1)\n help: leave out --insert to write a new version of it\n"
    );
    place.prints(&["put", "g", "k", "2", "--if-height", "1"]);
    assert_eq!(
        place.fails(1, &["put", "g", "k", "3", "--if-height", "1"]),
        "error: the unit is at height 2, and height 1 was expected\n help: read it again with `immuxdb get --json`, and decide anew\n"
    );
    assert_eq!(place.fails(3, &["delete", "g", "other"]).lines().next(), Some("error: there is no unit other in g"));
    assert_eq!(place.fails(3, &["history", "g", "other"]).lines().next(), Some("error: there is no unit other in g"));
    assert_eq!(place.run(&["revert", "g", "other", "--to", "1"]).code, 3);
}

#[test]
fn keys_of_any_bytes() {
    let place = Place::new();
    place.prints(&["put", "g", "00ff0a", "1", "--hex"]);
    place.prints(&["put", "g", "-5", "2"]);
    place.prints(&["put", "g", "züri\n", "3"]);
    place.prints(&["put", "g", "", "4"]);
    assert_eq!(place.prints(&["get", "g", "00FF0A", "--hex"]), "1\n");
    assert_eq!(place.prints(&["get", "g", "-5"]), "2\n");
    assert_eq!(
        place.prints(&["scan", "g"]),
        "key         height  content\n\
         \x20                4  4\n\
         \\x00\\xff\\n       1  1\n\
         -5               2  2\n\
         züri\\n           3  3\n"
    );
    assert_eq!(place.objects(&["scan", "g"])[1]["key_hex"], "00ff0a");
    assert_eq!(
        place.fails(2, &["get", "g", "xyz", "--hex"]),
        "error: the key xyz is not hexadecimal\n help: with --hex, write two digits for each byte, such as 00ff\n"
    );
}

#[test]
fn nothing_there() {
    let place = Place::new();
    assert_eq!(
        place.fails(3, &["get", "g", "k"]),
        "error: there is no store at ./immuxdb-data\n \
         help: `immuxdb load` and `immuxdb put` make one; another one is named with --data-root\n"
    );
    for command in
        [&["delete", "g", "k"][..], &["revert", "g", "k", "--to", "1"], &["index", "drop", "g", "i"], &["stats"]]
    {
        assert_eq!(place.run(command).code, 3, "{command:?}");
    }
    assert!(!place.path().join("immuxdb-data").exists());
    place.prints(&["put", "books", "k", "1"]);
    assert_eq!(
        place.fails(3, &["scan", "boks"]),
        "error: there is no grouping \"boks\" in chain \"default\"\n help: did you mean \"books\"?\n"
    );
    assert_eq!(
        place.fails(3, &["scan", "books", "--chain", "other"]),
        "error: there is no chain \"other\" in ./immuxdb-data\n help: there are: default\n"
    );
    assert!(!place.path().join("immuxdb-data/other").exists());
}

#[test]
fn stats() {
    let place = Place::new();
    place.prints(&["put", "g", "k", "1"]);
    place.prints(&["put", "h", "k", "1"]);
    let stats = &place.objects(&["stats"])[0];
    assert_eq!(stats["chain"], "default");
    assert_eq!((&stats["height"], &stats["synced_height"], &stats["groupings"]), (&json!(2), &json!(2), &json!(2)));
    assert!(stats["log_bytes"].as_u64().unwrap() > 4096);
    assert!(stats["time"].as_str().unwrap().ends_with('Z'));
    assert!(stats["runs"].is_array());
    let lines = place.prints(&["stats"]);
    assert!(lines.starts_with("chain          default\nheight         2, 20"), "{lines}");
}

#[test]
fn bytes_or_json() {
    let place = Place::new();
    place.prints(&["put", "g", "k", "1"]);
    assert_eq!(place.run(&["get", "g", "k", "--bytes", "--json"]).code, 2);
    assert_eq!(place.prints(&["--json", "get", "g", "k"]), place.prints(&["get", "g", "k", "--json"]));
}
