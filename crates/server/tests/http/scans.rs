//! Scans: order, bounds, pages, and clients that do not take what they asked for.

use std::io::Read as _;

use serde_json::{Value, json};

use super::support::{Client, Server, until};

fn keys(client: &mut Client, target: &str) -> Vec<String> {
    let lines = client.get(target).is(200).lines();
    let (end, units) = lines.split_last().unwrap();
    assert_eq!(end["end"]["count"], units.len());
    units.iter().map(|unit| unit["key"].as_str().unwrap().to_owned()).collect()
}

fn filled(server: &Server) -> Client {
    let mut client = server.client();
    for (key, n) in [("a", 3), ("b", 1), ("ba", 2), ("c", 1)] {
        client.put(&format!("/g/{key}"), json!({"n": n, "t": key}).to_string()).is(201);
    }
    client.ask_with("PUT /g/.indexes/n", r#"{"definition":"json:n"}"#).is(201);
    client.ask_with("PUT /g/.indexes/t", r#"{"definition":"json:t"}"#).is(201);
    client
}

#[test]
fn bounds_and_order() {
    let server = Server::start();
    let mut client = filled(&server);
    for (query, expected) in [
        ("", "a b ba c"),
        ("?order=desc", "c ba b a"),
        ("?from=b", "b ba c"),
        ("?from=b&to=c", "b ba"),
        ("?through=b", "a b"),
        ("?prefix=b", "b ba"),
        ("?limit=2", "a b"),
        ("?limit=0", ""),
        ("?from=x", ""),
        ("?index=n", "b c ba a"),
        ("?index=n&value=1", "b c"),
        ("?index=n&from=2", "ba a"),
        ("?index=n&to=2", "b c"),
        ("?index=n&through=2&order=desc", "ba c b"),
        ("?index=t&prefix=b", "b ba"),
        ("?index=t&value=%22b%22", "b"),
        ("?at=2", "a b"),
        ("?index=n&at=2", "b a"),
    ] {
        assert_eq!(keys(&mut client, &format!("/g{query}")).join(" "), expected, "{query}");
    }
    let lines = client.get("/g?index=n&value=2").is(200).lines();
    assert_eq!(lines[0], json!({"value": 2, "key": "ba", "height": 3, "kind": "json", "content": {"n": 2, "t": "ba"}}));
    assert_eq!(
        client.get("/g?keys_only=true&limit=1").is(200).lines()[0],
        json!({"key": "a", "height": 1, "kind": "json"})
    );
    assert_eq!(client.get("/g?index=n&value=1&count=true").is(200).json(), json!({"count": 2, "height": 6}));
    assert_eq!(client.get("/g?at=2&count=true").is(200).json(), json!({"count": 2, "height": 2}));
    // The index was not there then: all units are read and sorted.
    assert_eq!(client.get("/g?index=n&at=2").is(200).lines()[2]["end"]["used_index"], false);
}

#[test]
fn what_cannot_be() {
    let server = Server::start();
    let mut client = filled(&server);
    client.get("/nothing").fails(404, "grouping_missing");
    client.get("/g?index=nothing").fails(404, "index_missing");
    client.get("/g?at=99").fails(404, "height_unknown");
    let error = client.get("/g?limt=1").fails(400, "bad_parameter");
    assert!(error["help"].as_str().unwrap().contains("did you mean limit?"), "{error}");
    for query in [
        "limit=-1",
        "limit=x",
        "order=up",
        "value=1",
        "index=n&value=1&from=1",
        "to=a&through=b",
        "count=yes",
        "index=n&value=[1,2]",
        "index=n&value=%ff",
    ] {
        client.get(&format!("/g?{query}")).fails(400, "bad_parameter");
    }
}

#[test]
fn pages_are_of_one_snapshot() {
    let server = Server::with(&[("durability", "process")]);
    let mut client = server.client();
    let lines: String =
        (0..1000).map(|n| format!("{{\"key\":\"{n:04}\",\"content\":{{\"n\":{}}}}}\n", n % 7)).collect();
    client.bulk("/g/.bulk", lines).is(200);
    client.ask_with("PUT /g/.indexes/n", r#"{"definition":"json:n"}"#).is(201);
    for query in ["", "order=desc", "index=n", "index=n&order=desc", "index=n&from=2&to=5", "prefix=00"] {
        let whole = keys(&mut client, &format!("/g?{query}"));
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let answer = client.get(&format!("/g?{query}&limit=100{cursor}")).is(200);
            let mut lines = answer.lines();
            let end = lines.pop().unwrap();
            pages.extend(lines.iter().map(|line| line["key"].as_str().unwrap().to_owned()));
            let Value::String(next) = &end["end"]["cursor"] else {
                break;
            };
            cursor = format!("&cursor={next}");
            // What is written meanwhile is not seen.
            client.put("/g/0000a", "{\"n\":3}");
            client.ask("DELETE /g/0000a").is(200);
            client.put("/g/0999", format!("{{\"n\":{}}}", 999 % 7)).is(200);
        }
        assert_eq!(pages, whole, "{query}");
    }
    let lines = client.get("/g?limit=10").is(200).lines();
    let cursor = lines[10]["end"]["cursor"].as_str().unwrap().to_owned();
    let height = lines[10]["end"]["height"].as_u64().unwrap();
    client.put("/h/k", "1").is(201);
    client.get(&format!("/h?cursor={cursor}")).fails(400, "cursor_mismatch");
    client.get(&format!("/g?cursor={cursor}&order=desc")).fails(400, "cursor_mismatch");
    client.get(&format!("/g?cursor={cursor}&index=n")).fails(400, "cursor_mismatch");
    client.get(&format!("/g?cursor={cursor}&at=1")).fails(400, "cursor_mismatch");
    client.get(&format!("/g?cursor={cursor}&at={height}")).is(200);
    client.get("/g?cursor=AAAA").fails(400, "bad_cursor");
    client.get("/g?cursor=%00").fails(400, "bad_cursor");
    // Nothing is left: no cursor, also where the limit ends the list.
    assert_eq!(client.get("/g?prefix=001&limit=10").is(200).lines()[10]["end"]["cursor"], json!(null));
}

#[test]
fn a_long_one_takes_little_memory_and_ends_well() {
    let server = Server::with(&[("durability", "process"), ("memory_limit", "32MiB")]);
    let units = fill(&server, 100_000);
    let mut client = server.client();
    let answer = client.get("/g").is(200);
    let (count, end) = (answer.text().lines().count(), answer.text());
    assert_eq!(count, units + 1);
    assert!(end.lines().last().unwrap().starts_with("{\"end\":{\"count\":100000,"));
    let anonymous = server.memory("RssAnon");
    assert!(anonymous < 120 << 20, "{} MiB", anonymous >> 20);
}

/// About 100 MB.
fn fill(server: &Server, units: usize) -> usize {
    let content = "x".repeat(1000);
    let mut client = server.client();
    for part in 0..10 {
        let lines: String = (0..units / 10)
            .map(|n| format!("{{\"key\":\"{}\",\"content\":\"{content}\"}}\n", part * units / 10 + n))
            .collect();
        client.bulk("/g/.bulk", lines).is(200);
    }
    units
}

#[test]
fn clients_that_do_not_read_are_given_up() {
    let settings =
        [("durability", "process"), ("memory_limit", "32MiB"), ("write_timeout", "1s"), ("idle_timeout", "30s")];
    let server = Server::with(&settings);
    fill(&server, 50_000);
    let before = server.memory("RssAnon");
    let mut stuck: Vec<_> = (0..100).map(|_| server.client()).collect();
    for client in &mut stuck {
        let request = client.head("GET /g", "");
        client.send(request);
    }
    // The server is there for others.
    server.ask("GET /g/1").is(200);
    until("all are given up", || (server.metric("immuxdb_connections") == 1.0).then_some(()));
    let anonymous = server.memory("RssAnon").saturating_sub(before);
    assert!(anonymous < 200 << 20, "{} MiB more", anonymous >> 20);
    // What they got has no end line.
    let mut client = stuck.pop().unwrap();
    let mut bytes = Vec::new();
    let _ = client.socket().read_to_end(&mut bytes);
    assert!(!bytes.is_empty() && !bytes.windows(7).any(|window| window == b"{\"end\":"));
    let _ = client.try_answer();
}

#[test]
fn clients_that_go_away_end_their_scan() {
    let server = Server::with(&[("durability", "process")]);
    fill(&server, 50_000);
    for _ in 0..20 {
        let mut client = server.client();
        let request = client.head("GET /g", "");
        client.send(request);
        let mut begin = [0; 1000];
        client.socket().read_exact(&mut begin).unwrap();
    }
    until("their connections are closed", || (server.metric("immuxdb_connections") == 1.0).then_some(()));
    server.ask("GET /g?count=true").is(200);
}
