//! What an operator meets: tokens, addresses, logs, health, metrics, other processes.

use std::process::Output;

use serde_json::{Value, json};

use super::support::{Client, Server};

/// Starts a server that should refuse to; gives its exit code and what it says.
fn refused(settings: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let Output { status, stderr, .. } =
        Server::command(directory.path(), settings).arg("serve").args(arguments).output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn tokens() {
    let server = Server::with(&[("token", "sesame")]);
    let mut client = server.client();
    client.put("/g/k", "1").is(201);
    let mut stranger = Client::connect(server.address(), None);
    let answer = stranger.get("/g/k").is(401);
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    answer.fails(401, "unauthorized");
    for header in ["Bearer sesam", "Bearer sesame2", "Bearer", "Basic sesame", "sesame", "Bearer \u{fc}"] {
        stranger.ask(&format!("GET /g/k\nauthorization: {header}")).fails(401, "unauthorized");
    }
    stranger.ask("GET /g/k\nauthorization: bearer sesame").is(200);
    for target in ["/.metrics", "/.openapi.json", "/.chains", "/nowhere/at/all", "/g?limt=1"] {
        stranger.get(target).fails(401, "unauthorized");
    }
    // Health needs none, but names nothing.
    assert_eq!(
        stranger.get("/.health").is(200).json(),
        json!({"status": "ok", "wire": 1, "version": env!("CARGO_PKG_VERSION")})
    );
    assert_eq!(client.get("/.health").is(200).json()["chains"][0]["chain"], "default");
    // The token is shown to nobody.
    assert!(!server.log().contains("sesame"));
    let shown = Server::command(server.directory(), &[("token", "sesame")]).arg("config").output().unwrap();
    assert!(!String::from_utf8(shown.stdout).unwrap().contains("sesame"));
}

#[test]
fn pages_of_other_sites() {
    let server = Server::start();
    let mut client = server.client();
    client.put("/g/k", "1").is(201);
    let line = "{\"key\":\"k\",\"content\":2}";
    for header in ["origin: http://evil.example", "origin: null", "sec-fetch-site: cross-site"] {
        client.ask_with(&format!("POST /g/.bulk\n{header}"), line).fails(403, "cross_site");
        client.ask(&format!("POST /g/k/.revert?to=1\n{header}")).fails(403, "cross_site");
    }
    assert_eq!(client.get("/g/k").is(200).header("etag"), Some("\"1\""));
    // Who has the token is trusted wherever the request comes from.
    let server = Server::with(&[("token", "sesame")]);
    server.client().ask_with("PUT /g/k\ncontent-type: application/json\norigin: http://app.example", "1").is(201);
}

#[test]
fn addresses() {
    let (code, text) = refused(&[], &["--listen", "0.0.0.0:0"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("can be reached from other machines, and no token is set"), "{text}");
    let (code, text) = refused(&[("listen", "[::]:0")], &[]);
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = refused(&[], &["--listen", "here"]);
    assert!(code == Some(2) && text.contains("127.0.0.1:1991"), "{text}");
    let server = Server::start();
    let (code, text) = refused(&[], &["--listen", server.address()]);
    assert!(code == Some(1) && text.contains("choose another port"), "{text}");
}

#[test]
fn logs() {
    let mut server = Server::with(&[("log_format", "json")]);
    server.client().put("/g/k", "1").is(201);
    server.stop();
    let log = server.log();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events[0]["message"].as_str().unwrap().starts_with("listening at http://"), "{log}");
    assert_eq!(events[0]["data_root"], "./immuxdb-data");
    assert!(events.iter().all(|event| event["level"] == "INFO" && event["timestamp"].is_string()), "{log}");
    // Requests are not logged.
    assert!(events.len() < 10, "{log}");
}

#[test]
fn metrics() {
    let server = Server::start();
    let mut client = server.client();
    client.put("/g/k", "1").is(201);
    client.get("/g/k").is(200);
    client.get("/g/none").is(404);
    for n in 0..200 {
        // What clients invent makes no labels.
        client.ask(&format!("M{n} /g{n}/k{n}"));
        client.get(&format!("/a/b/c{n}"));
    }
    let text = client.get("/.metrics").is(200).text();
    for line in [
        "immuxdb_requests_total{resource=\"unit\",method=\"PUT\",status=\"201\"} 1",
        "immuxdb_requests_total{resource=\"unit\",method=\"GET\",status=\"404\"} 1",
        "immuxdb_requests_total{resource=\"unit\",method=\"other\",status=\"405\"} 200",
        "immuxdb_requests_total{resource=\"none\",method=\"GET\",status=\"404\"} 200",
        "immuxdb_request_duration_seconds_count{resource=\"unit\",method=\"GET\"} 2",
        "immuxdb_connections 1",
        "immuxdb_commits_total 1",
        "immuxdb_received_bytes_total 1",
        "immuxdb_chain_height{chain=\"default\"} 1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    assert!(text.lines().filter(|line| line.starts_with("immuxdb_requests_total")).count() < 10, "{text}");
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn other_processes_read_and_are_told_who_writes() {
    let server = Server::start();
    server.client().put("/g/k", "1").is(201);
    let run = |arguments: &[&str]| Server::command(server.directory(), &[]).args(arguments).output().unwrap();
    assert_eq!(run(&["get", "g", "k"]).stdout, b"1\n");
    let put = run(&["put", "g", "k", "2"]);
    assert_eq!(put.status.code(), Some(1));
    assert!(String::from_utf8(put.stderr).unwrap().contains("is held by another writer (process"));
    // A second server on the same store can't have its chains.
    let other = Server::beside(&server);
    other.client().get("/g/k").fails(503, "chain_held");
    other.client().put("/g/k", "2").fails(503, "chain_held");
    other.client().get("/.health").is(200);
}

#[test]
fn a_full_disk_is_no_end() {
    let mut server = Server::with_small_files(1 << 20);
    let mut client = server.client();
    let content = "x".repeat(100_000);
    let written = (0..20)
        .take_while(|n| {
            let answer = client.put_raw(&format!("/g/{n}"), &content);
            if answer.status == 201 {
                return true;
            }
            assert_eq!(answer.header("retry-after"), Some("1"));
            let error = answer.fails(503, "no_space");
            assert!(error["help"].as_str().unwrap().contains("what was committed is safe"), "{error}");
            false
        })
        .count();
    assert!((5..11).contains(&written), "{written}");
    // A bulk writes what fits, and says so; reading goes on, and so does writing what is small enough.
    let line = format!("{{\"key\":\"b\",\"content\":\"{content}\"}}\n");
    let answer = client.bulk("/g/.bulk", format!("{}{}", "{\"key\":\"a\",\"content\":1}\n".repeat(2), line.repeat(3)));
    assert_eq!((answer.json()["written"].as_u64(), answer.json()["failed"].as_u64()), (Some(1), Some(0)));
    answer.fails(503, "no_space");
    for n in 0..written {
        assert_eq!(client.get(&format!("/g/{n}")).is(200).body.len(), content.len());
    }
    client.put("/g/small", "1").is(201);
    assert_eq!(client.get("/.health").is(200).json()["status"], "ok");
    server.stop();
}

#[test]
fn a_damaged_chain_is_read_and_not_written() {
    let mut server = Server::start();
    let mut client = server.client();
    client.put("/g/a", "\"first content\"").is(201);
    client.put("/g/b", "\"second content\"").is(201);
    client.put("/g/c?chain=other", "1").is(201);
    server.stop();
    let root = server.directory().join("immuxdb-data/default");
    let log = root.join("log");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = bytes.windows(14).position(|window| window == b"second content").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&log, bytes).unwrap();

    let server = Server::beside(&server);
    let mut client = server.client();
    assert_eq!(client.get("/g/a").is(200).text(), "\"first content\"");
    let error = client.put("/g/a", "3").fails(503, "read_only");
    assert!(error["message"].as_str().unwrap().contains("read-only"), "{error}");
    client.bulk("/g/.bulk", "{\"key\":\"x\",\"content\":1}\n").fails(503, "read_only");
    let health = client.get("/.health").is(200).json();
    assert_eq!(health["status"], "degraded");
    let chain = &health["chains"][0];
    assert_eq!((&chain["chain"], &chain["status"]), (&json!("default"), &json!("degraded")));
    assert!(chain["problem"].is_string(), "{health}");
    // The other chain is well.
    client.put("/g/c?chain=other", "2").is(200);
}
