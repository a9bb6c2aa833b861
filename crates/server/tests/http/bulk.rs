//! Bulk writes: any length, one answer that says what became of each line.

use std::fmt::Write as _;
use std::net::Shutdown;

use serde_json::json;

use super::support::{Server, chunked, until};

#[test]
fn each_kind_of_line() {
    let server = Server::start();
    let mut client = server.client();
    let lines = r#"
{"key":"a","content":{"n":1}}
{"op":"put","key":"b","content":null}
  {"op":"insert","key_hex":"00FF","content_base64":"AAEC"}

{"key":"a","content":{"n":2},"if_match":1}
{"op":"delete","key":"b"}
{"key":"c","content":[1,
"#;
    let answer = client.bulk("/g/.bulk", lines).fails(400, "invalid_json");
    assert_eq!(answer["line"], 8);
    let answer = client.bulk("/g/.bulk", &lines[..lines.rfind("{\"key\":\"c\"").unwrap()]);
    // It goes on from what the first one wrote.
    let error = answer.fails(412, "unit_exists");
    assert_eq!(error["line"], 4);
    assert_eq!(client.get("/g/a").is(200).text(), "{\"n\":1}");
    assert_eq!(client.get("/g/a/.journal").is(200).lines().len(), 4);
    assert_eq!(client.get("/g/.unit?key_hex=00ff").is(200).body, [0, 1, 2]);
    let multiline = r#"{"key":"m","kind":"json","content_base64":"ewogIm5hbWUiOiAiRXZlIgp9"}"#;
    client.bulk("/g/.bulk", multiline).is(200);
    let answer = client.get("/g/m").is(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.text(), "{\n \"name\": \"Eve\"\n}");
    for (line, code, status) in [
        (r#"{"content":1}"#, "bad_line", 400),
        (r#"{"key":"k"}"#, "bad_line", 400),
        (r#"{"key":"k","key_hex":"00","content":1}"#, "bad_line", 400),
        (r#"{"key":"k","content":1,"content_base64":""}"#, "bad_line", 400),
        (r#"{"key":"k","content_base64":"?"}"#, "bad_line", 400),
        (r#"{"key":"k","kind":"raw","content":1}"#, "bad_line", 400),
        (r#"{"key":"k","kind":"text","content":1}"#, "bad_line", 400),
        (r#"{"key":"k","kind":"json","content_base64":"ew=="}"#, "invalid_json", 400),
        (r#"{"key_hex":"0g","content":1}"#, "bad_line", 400),
        (r#"{"op":"upsert","key":"k","content":1}"#, "bad_line", 400),
        (r#"{"op":"delete","key":"k","content":1}"#, "bad_line", 400),
        (r#"{"op":"insert","key":"k","content":1,"if_match":1}"#, "bad_line", 400),
        (r#"{"key":"k","content":1,"if_match":-1}"#, "bad_line", 400),
        (r#"{"key":7,"content":1}"#, "bad_line", 400),
        (r#"{"key":"k","contnet":1}"#, "bad_line", 400),
        (r#"[1]"#, "bad_line", 400),
        (r#"{"key":"k","content":nul}"#, "invalid_json", 400),
        (r#"{"op":"delete","key":"k"}"#, "unit_missing", 404),
        (r#"{"op":"delete","key":"k","if_match":7}"#, "height_mismatch", 412),
    ] {
        let answer = client.bulk("/g/.bulk", line);
        assert_eq!(answer.json()["written"], 0, "{line}");
        assert_eq!(answer.json()["errors"][0]["line"], 1, "{line}");
        answer.fails(status, code);
    }
    client.bulk("/g/.bulk", b"{\"key\":\"\xff\",\"content\":1}").fails(400, "invalid_json");
    assert_eq!(client.bulk("/g/.bulk", "").is(200).json()["written"], 0);
    client.bulk("/g/.bulk?on_error=hope", "").fails(400, "bad_parameter");
}

#[test]
fn lines_before_a_failing_one_are_written_and_none_after() {
    let server = Server::with(&[("durability", "process")]);
    let mut client = server.client();
    client.put("/g/5000", "0").is(201);
    let lines: String =
        (0..20_000).map(|n| format!("{{\"op\":\"insert\",\"key\":\"{n}\",\"content\":{n}}}\n")).collect();
    let answer = client.bulk("/g/.bulk", &lines);
    let outcome = answer.json();
    assert_eq!((&outcome["written"], &outcome["failed"], &outcome["created"]), (&json!(5000), &json!(1), &json!(5000)));
    assert_eq!(
        outcome["errors"],
        json!([{
            "line": 5001, "code": "unit_exists", "message": "the unit exists already (at height 1)",
            "help": "leave out If-None-Match to write a new version of it", "height": 1
        }])
    );
    answer.fails(412, "unit_exists");
    assert_eq!(client.get("/g?count=true").is(200).json()["count"], 5001);

    let outcome = client.bulk("/g/.bulk?on_error=continue", &lines).is(200).json();
    assert_eq!((&outcome["written"], &outcome["failed"]), (&json!(14_999), &json!(5001)));
    let errors = outcome["errors"].as_array().unwrap();
    assert_eq!((errors.len(), &errors[99]["line"]), (100, &json!(100)));
    assert_eq!(client.get("/g?count=true").is(200).json()["count"], 20_000);
    assert_eq!(client.get("/g/5000").is(200).text(), "0");
}

#[test]
fn two_lines_for_one_unit_are_two_versions() {
    let server = Server::start();
    let mut client = server.client();
    let lines: String =
        (0..5).map(|n| format!("{{\"key\":\"k\",\"content\":{n}}}\n{{\"key\":\"{n}\",\"content\":0}}\n")).collect();
    client.bulk("/g/.bulk", lines).is(200);
    let journal = client.get("/g/k/.journal").is(200).lines();
    let contents: Vec<_> = journal.iter().filter_map(|line| line["content"].as_i64()).collect();
    assert_eq!(contents, [4, 3, 2, 1, 0]);
}

#[test]
fn a_unique_index_names_the_line() {
    let server = Server::with(&[("durability", "process")]);
    let mut client = server.client();
    client.ask_with("PUT /g/.indexes/u", r#"{"definition":"json:n unique"}"#).is(201);
    let lines: String = (0..3000)
        .map(|n| format!("{{\"key\":\"{n}\",\"content\":{{\"n\":{}}}}}\n", if n == 2222 { 1111 } else { n }))
        .collect();
    let answer = client.bulk("/g/.bulk", &lines);
    assert_eq!(answer.json()["written"], 2222);
    let error = answer.fails(409, "duplicate_key");
    assert_eq!((&error["line"], &error["index"]), (&json!(2223), &json!("u")));
    let outcome = client.bulk("/g/.bulk?on_error=continue", &lines).is(200).json();
    assert_eq!((&outcome["written"], &outcome["failed"]), (&json!(2999), &json!(1)));
    assert_eq!(client.get("/g?index=u&count=true").is(200).json()["count"], 2999);
}

#[test]
fn what_a_scan_gives_can_be_written_again() {
    let server = Server::start();
    let mut client = server.client();
    client.put("/a/x", "{\n \"n\": 1\n}").is(201);
    client.put_raw("/a/%ff", b"\0raw").is(201);
    client.ask_with("PUT /a/.indexes/n", r#"{"definition":"json:n"}"#).is(201);
    for scan in ["/a", "/a?index=n"] {
        let lines = client.get(scan).is(200).body;
        client.bulk("/b/.bulk", lines).is(200);
    }
    assert_eq!(client.get("/b/x").is(200).text(), "{  \"n\": 1 }");
    assert_eq!(client.get("/b/%ff").is(200).body, b"\0raw");
}

#[test]
fn a_long_one_takes_little_memory() {
    let server = Server::with(&[("durability", "process"), ("memory_limit", "32MiB")]);
    let mut client = server.client();
    client.put("/g/k", "1").is(201);
    let before = server.memory("VmHWM");
    let content = "x".repeat(1000);
    let head = client.head("POST /g/.bulk\ncontent-type: application/x-ndjson", "transfer-encoding: chunked\r\n");
    client.send(head);
    let mut sent = 0;
    for piece in 0..200 {
        let mut lines = String::new();
        for line in 0..1000 {
            writeln!(lines, "{{\"key\":\"{}\",\"content\":\"{content}\"}}", piece * 1000 + line).unwrap();
        }
        sent += lines.len();
        client.send(chunked(&[lines.as_bytes()]));
    }
    client.send("0\r\n\r\n");
    let outcome = client.answer().is(200).json();
    assert_eq!((&outcome["written"], &outcome["created"]), (&json!(200_000), &json!(200_000)));
    let more = server.memory("VmHWM") - before;
    // Pages of the log that are mapped count, too; they are the system's to take back.
    let anonymous = server.memory("RssAnon");
    assert!(anonymous < 160 << 20, "{} MiB of {} MiB sent; in all {} MiB", anonymous >> 20, sent >> 20, more >> 20);
    assert_eq!(client.get("/g?count=true").is(200).json()["count"], 200_001);
}

#[test]
fn a_line_that_does_not_end() {
    let server = Server::with(&[("durability", "process")]);
    let mut client = server.client();
    let head = client.head("POST /g/.bulk\ncontent-type: application/x-ndjson", "transfer-encoding: chunked\r\n");
    client.send(head).send(chunked(&[b"{\"key\":\"a\",\"content\":1}\n{\"key\":\"b\",\"content\":\""]));
    let piece = vec![b'x'; 1 << 20];
    // What is sent after the refusal is passed over.
    for _ in 0..66 {
        client.send(chunked(&[&piece]));
    }
    let answer = client.answer();
    assert_eq!(answer.json()["written"], 1);
    assert_eq!(answer.fails(413, "line_too_long")["limit"], 64 << 20);
    server.client().get("/g/a").is(200);
}

/// Only the line counts, and not what stands before it.
#[test]
fn a_line_that_is_nearly_too_long() {
    let server = Server::with(&[("durability", "process")]);
    let mut client = server.client();
    let head = client.head("POST /g/.bulk\ncontent-type: application/x-ndjson", "transfer-encoding: chunked\r\n");
    client.send(head).send(chunked(&[b"{\"key\":\"a\",\"content\":1}\n", &[b' '; 3 << 20], b"\n"]));
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..62 {
        client.send(chunked(&[&piece]));
    }
    client.send(chunked(&[b"\n"])).send("0\r\n\r\n");
    let answer = client.answer();
    assert_eq!(answer.json()["written"], 1);
    assert_eq!(answer.fails(400, "invalid_json")["line"], 3);
}

#[test]
fn cut_off() {
    let server = Server::start();
    let mut client = server.client();
    let head = client.head("POST /g/.bulk\ncontent-type: application/x-ndjson", "content-length: 1000\r\n");
    client.send(head).send("{\"key\":\"a\",\"content\":1}\n{\"key\":\"b\",\"content\":12");
    client.socket().shutdown(Shutdown::Write).unwrap();
    // The whole line is written, the half one is not, though it would be a line with the rest of it missing.
    until("the whole line is written", || (server.ask("GET /g/a").status == 200).then_some(()));
    server.ask("GET /g/b").fails(404, "unit_missing");
    assert_eq!(server.ask("GET /g?count=true").is(200).json()["count"], 1);
}
