//! Bodies that are wrong: too large, cut off, of the wrong type, no JSON, too deep.

use std::io::Write as _;
use std::net::Shutdown;

use serde_json::json;

use super::support::{Server, chunked, until};

#[test]
fn of_the_wrong_type() {
    let server = Server::start();
    let mut client = server.client();
    let put = |client: &mut super::support::Client, header: &str| client.ask_with(&format!("PUT /g/k{header}"), "{}");
    put(&mut client, "").is(201);
    put(&mut client, "\ncontent-type: application/merge-patch+json").is(200);
    put(&mut client, "\ncontent-type: application/json; charset=utf-8").is(200);
    let form = put(&mut client, "\ncontent-type: application/x-www-form-urlencoded");
    let error = form.fails(415, "unsupported_media_type");
    assert!(error["help"].as_str().unwrap().contains("Content-Type: application/json"), "{error}");
    put(&mut client, "\ncontent-type: text/plain").fails(415, "unsupported_media_type");
    put(&mut client, "\ncontent-type: application/json; charset=latin1").fails(415, "unsupported_media_type");
    // Which of two is meant, nobody knows.
    put(&mut client, "\ncontent-type: application/json\ncontent-type: application/octet-stream")
        .fails(400, "bad_header");
    put(&mut client, "\ncontent-encoding: identity\ncontent-encoding: br").fails(415, "unsupported_encoding");
    put(&mut client, "\ncontent-encoding: br").fails(415, "unsupported_encoding");
    put(&mut client, "\ncontent-encoding: gzip").fails(400, "bad_body");
    // That one closed its connection, since nobody knows where its body ends.
    let mut client = server.client();
    client.ask_with("POST /g/.bulk\ncontent-type: application/json", "{}").fails(415, "unsupported_media_type");
    client.ask_with("PUT /g/.indexes/i\ncontent-type: text/plain", "{}").fails(415, "unsupported_media_type");
    assert_eq!(client.get("/g/k/.journal").is(200).lines().len(), 4);
}

#[test]
fn that_are_no_json() {
    let server = Server::start();
    let mut client = server.client();
    for body in ["", " ", "{", "{\"a\":1,}", "nul", "1 2", "{\"a\":01}", "\"\u{1}\"", "'a'", "\u{feff}{}"] {
        let error = client.put("/g/k", body).fails(400, "invalid_json");
        assert!(error["message"].as_str().unwrap().contains("not valid JSON"), "{body}: {error}");
    }
    for body in [&b"\"\xff\""[..], b"\"\xc3\"", b"\xfe\xff\0{", b"\"\xed\xa0\x80\""] {
        client.put("/g/k", body).fails(400, "invalid_json");
    }
    client.get("/g/k").fails(404, "unit_missing");
    // As bytes they are welcome.
    client.put_raw("/g/k", b"\"\xff\"").is(201);
}

#[test]
fn that_are_deep() {
    let server = Server::start();
    let mut client = server.client();
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    client.put("/g/k", nested(127)).is(201);
    client.put("/g/k", nested(128)).fails(400, "invalid_json");
    client.put("/g/k", nested(1_000_000)).fails(400, "invalid_json");
    client.put("/g/k", "[".repeat(10_000_000)).fails(400, "invalid_json");
    client.put("/g/k", "{\"a\":".repeat(1_000_000)).fails(400, "invalid_json");
    let line = format!("{{\"key\":\"k\",\"content\":{}}}", nested(1_000_000));
    client.bulk("/g/.bulk", line).fails(400, "invalid_json");
    client.ask_with("PUT /g/.indexes/i", nested(20_000)).fails(422, "bad_definition");
    client.ask_with("PUT /g/.indexes/i", "{\"definition\":".repeat(4000)).fails(422, "bad_definition");
    client.ask_with("PUT /g/.indexes/i", "[\"json:a\"]").fails(422, "bad_definition");
    assert_eq!(client.get("/g/k").is(200).text(), nested(127));
}

#[test]
fn with_duplicate_fields() {
    let server = Server::start();
    let mut client = server.client();
    // A content is kept byte for byte.
    client.put("/g/k", r#"{"a":1,"a":2}"#).is(201);
    assert_eq!(client.get("/g/k").is(200).text(), r#"{"a":1,"a":2}"#);
    // What is for us is not guessed at.
    let answer = client.bulk("/g/.bulk", r#"{"key":"x","key":"y","content":1}"#);
    let error = answer.fails(400, "bad_line");
    assert!(error["message"].as_str().unwrap().contains("duplicate field `key`"), "{error}");
    let twice = r#"{"definition":"json:a","definition":"json:b"}"#;
    client.ask_with("PUT /g/.indexes/i", twice).fails(422, "bad_definition");
}

#[test]
fn that_are_too_large() {
    let server = Server::with(&[("max_body", "1000")]);
    let mut client = server.client();
    client.put_raw("/g/k", [7; 1000]).is(201);
    // Announced: refused before it is read, and the connection goes on.
    assert_eq!(client.put_raw("/g/k", [7; 1001]).fails(413, "body_too_large")["limit"], 1000);
    client.put_raw("/g/k", vec![7; 3_000_000]).fails(413, "body_too_large");
    assert_eq!(client.get("/g/k").is(200).body.len(), 1000);
    // Not announced: refused where it gets too large.
    let head = client.head("PUT /g/k\ncontent-type: application/octet-stream", "transfer-encoding: chunked\r\n");
    client.send(head).send(chunked(&[&[7; 600], &[7; 600], b""]));
    client.answer().fails(413, "body_too_large");
    // Who asks first need not send.
    let head = server.client().head("PUT /g/k\nexpect: 100-continue", "content-length: 1000000000\r\n");
    server.client().send(head).answer().fails(413, "body_too_large");
    // Who was asked to, and sends too much, is told so all the same.
    let mut client = server.client();
    let head = client.head("PUT /g/k\nexpect: 100-continue", "transfer-encoding: chunked\r\n");
    client.send(head).send(chunked(&[&vec![7; 3_000_000], b""])).answer().fails(413, "body_too_large");
    client.get("/g/k").is(200);
    // A small body can be a large one.
    let mut zip = std::process::Command::new("gzip")
        .arg("-c")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    zip.stdin.take().unwrap().write_all(&[b' '; 10_000_000]).unwrap();
    let bomb = zip.wait_with_output().unwrap().stdout;
    server.client().ask_with("PUT /g/k\ncontent-encoding: gzip", bomb).fails(413, "body_too_large");
}

#[test]
fn that_stay_unread() {
    let server = Server::start();
    // What is read to its end, whatever is thought of it, leaves the connection as it was.
    let mut client = server.client();
    for request in ["PUT /g", "PUT /g/%zz", "POST /g/k/.revert", "POST /g/.bulk\ncontent-type: text/plain"] {
        assert_eq!(client.ask_with(request, "{}").header("connection"), None, "{request}");
    }
    client.ask_with("PUT /g/k\nexpect: 100-continue", "{}").is(201);
    client.get("/g/k").is(200);
    // Else it can't be used again, and the answer says so. Who waits to be asked for a body may send it or not.
    for request in [
        "PUT /g\nexpect: 100-continue",
        "PUT /g/%zz\nexpect: 100-continue",
        "PUT /g/k\ncontent-encoding: gzip",
        "POST /g/.bulk\ncontent-encoding: gzip",
    ] {
        let mut client = server.client();
        assert_eq!(client.ask_with(request, "{}").header("connection"), Some("close"), "{request}");
        client.wait_for_end();
    }
}

#[test]
fn up_to_the_limit_of_a_content() {
    let server = Server::with(&[("max_body", "65MiB"), ("durability", "process")]);
    let mut client = server.client();
    let largest = vec![b'x'; 64 << 20];
    client.put_raw("/g/k", &largest).is(201);
    assert!(client.get("/g/k").is(200).body == largest);
    assert_eq!(client.put_raw("/g/k", vec![b'x'; (64 << 20) + 1]).fails(422, "too_large")["limit"], 64 << 20);
}

#[test]
fn that_are_cut_off() {
    let server = Server::start();
    let mut client = server.client();
    client.put("/g/k", "1").is(201);
    let mut cut = server.client();
    let head = cut.head("PUT /g/k\ncontent-type: application/json", "content-length: 100\r\n");
    cut.send(head).send("{\"a\":1}");
    cut.socket().shutdown(Shutdown::Write).unwrap();
    cut.wait_for_end();
    let mut cut = server.client();
    let head = cut.head("PUT /g/k\ncontent-type: application/json", "transfer-encoding: chunked\r\n");
    cut.send(head).send(chunked(&[b"2"]));
    cut.socket().shutdown(Shutdown::Write).unwrap();
    cut.wait_for_end();
    assert_eq!(client.get("/g/k").is(200).text(), "1");
    assert_eq!(client.get("/g/k").is(200).height(), 1);
}

#[test]
fn more_than_there_is_memory_for() {
    let settings = [("request_memory", "32MiB"), ("durability", "process"), ("body_timeout", "1s")];
    let server = Server::with(&settings);
    server.client().put("/g/small", "1").is(201);
    let before = server.memory("VmHWM");
    // Two take all there is, and do not go on.
    let mut greedy: Vec<_> = (0..2).map(|_| server.client()).collect();
    for client in &mut greedy {
        let head = client.head("PUT /g/k\ncontent-type: application/octet-stream", "content-length: 16777216\r\n");
        client.send(head).send([7; 100_000]);
    }
    until("both are being read", || (server.metric("immuxdb_received_bytes_total") >= 200_000.0).then_some(()));
    // Large requests wait, and are refused; small ones don't.
    let mut third = server.client();
    let head = third.head("PUT /g/k\ncontent-type: application/octet-stream", "content-length: 16777216\r\n");
    third.send(head);
    server.client().get("/g/small").is(200);
    server.client().put("/g/small", "2").is(200);
    let answer = third.answer();
    assert!(matches!(answer.status, 503 | 408), "{answer:?}");
    for client in &mut greedy {
        client.answer().fails(408, "slow_body");
    }
    // What they took is free again.
    server.client().put_raw("/g/k", vec![7; 16 << 20]).is(201);
    assert!(server.memory("VmHWM") - before < 200 << 20, "{} MiB more", (server.memory("VmHWM") - before) >> 20);
    assert_eq!(server.client().get("/g?count=true").is(200).json()["count"], json!(2));
}
