//! Keys are bytes, whatever they are: slashes, dots, NULs, percent signs, and what is no text.

use serde_json::json;

use super::support::Server;

/// A key percent-encoded as far as can be.
fn encoded(key: &[u8]) -> String {
    key.iter().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn every_byte() {
    let server = Server::with(&[("durability", "process")]);
    let mut client = server.client();
    for byte in 0..=255u8 {
        client.put_raw(&format!("/g/{}", encoded(&[byte])), [byte]).is(201);
    }
    for byte in 0..=255u8 {
        assert_eq!(client.get(&format!("/g/%{byte:02X}")).is(200).body, [byte]);
        assert_eq!(client.get(&format!("/g/.unit?key_hex={byte:02x}")).is(200).body, [byte]);
        assert_eq!(client.get(&format!("/g/.unit?key=%{byte:02x}")).is(200).body, [byte]);
    }
    let lines = client.get("/g").is(200).lines();
    assert_eq!(lines.len(), 257);
    assert_eq!(lines[0]["key"], "\0");
    assert_eq!(lines[127]["key"], "\u{7f}");
    assert_eq!(lines[128]["key_hex"], "80");
}

#[test]
fn nothing_is_normalised() {
    let server = Server::start();
    let mut client = server.client();
    let keys: [(&str, &[u8]); 12] = [
        ("/g/a%2Fb", b"a/b"),
        ("/g/a%2fb%2f", b"a/b/"),
        ("/g/%2e%2e", b".."),
        ("/g/%2E", b"."),
        ("/g/%2e%2e%2fg", b"../g"),
        ("/g/%2F", b"/"),
        ("/g/a%00b", b"a\0b"),
        ("/g/100%25", b"100%"),
        ("/g/%2541", b"%41"),
        ("/g/a+b", b"a+b"),
        ("/g/%2ehidden", b".hidden"),
        ("/g/x..y", b"x..y"),
    ];
    for (target, key) in keys {
        client.put_raw(target, key).is(201);
        assert_eq!(client.get(target).is(200).body, key, "{target}");
        assert_eq!(client.get(&format!("/g/.unit?key={}", encoded(key))).is(200).body, key, "{target}");
        client.get(&format!("{target}/.journal")).is(200);
    }
    assert_eq!(client.get("/g?count=true").is(200).json()["count"], keys.len());
}

#[test]
fn the_reserved_ones_go_through_unit() {
    let server = Server::start();
    let mut client = server.client();
    for key in ["", ".", "..", ".unit", ".bulk", ".journal"] {
        let target = format!("/g/.unit?key={key}");
        client.put(&target, json!(key).to_string()).is(201);
        assert_eq!(client.get(&target).is(200).json(), json!(key));
        client.get(&format!("/g/.unit/.journal?key={key}")).is(200);
        let height = client.put(&target, "2").is(200).height();
        client.ask(&format!("POST /g/.unit/.revert?key={key}&to={}", height - 1)).is(200);
        assert_eq!(client.get(&target).is(200).json(), json!(key));
        client.ask(&format!("DELETE {target}")).is(200);
    }
    client.get("/g/.unit").fails(400, "bad_parameter");
    client.get("/g/.unit?key=a&key_hex=00").fails(400, "bad_parameter");
    client.get("/g/.unit?key=a&key=b").fails(400, "bad_parameter");
    client.get("/g/.unit?key_hex=0").fails(400, "bad_parameter");
}

#[test]
fn what_leads_nowhere_says_so() {
    let server = Server::start();
    let mut client = server.client();
    for target in
        ["/", "//", "/g/", "/g/a/b", "/g/..", "/g/../g/k", "/../etc/passwd", "/.hidden", "/g/.nothing", "/g/k/.bulk"]
    {
        let error = client.get(target).fails(404, "no_such_path");
        assert!(error["help"].as_str().unwrap().contains("%2F"), "{error}");
    }
    client.get("/%2ehidden").fails(400, "bad_name");
    client.get("/%ff").fails(400, "bad_name");
    client.get("/g/%zz").fails(400, "bad_escape");
    client.get("/g/k?at=%2").fails(400, "bad_escape");
    client.put("/g/k", "1").is(201);
    client.get("/a%00b").fails(422, "invalid");
    client.get(&format!("/{}", "x".repeat(256))).fails(422, "too_large");
    let answer = client.ask("PATCH /g/k").is(405);
    assert_eq!(answer.header("allow"), Some("GET, PUT, DELETE, HEAD"));
    answer.fails(405, "method_not_allowed");
    client.ask("POST /g").fails(405, "method_not_allowed");
    client.ask("BREW /.health").fails(405, "method_not_allowed");
    // The same in absolute form.
    assert_eq!(client.get("http://localhost/g/k").is(200).text(), "1");
}

#[test]
fn long_ones() {
    let server = Server::start();
    let mut client = server.client();
    let key = "k".repeat(60_000);
    client.put(&format!("/g/{key}"), "1").is(201);
    assert_eq!(client.get(&format!("/g/.unit?key={key}")).is(200).text(), "1");
    // Longer than a target may be; the HTTP library answers.
    let target = format!("/g/{}", "k".repeat(70_000));
    assert_eq!(server.client().get(&target).status, 414);
    // Up to the engine's limit through a bulk, and found by a scan.
    let longest = "l".repeat(65_536);
    server.client().bulk("/g/.bulk", format!("{{\"key\":\"{longest}\",\"content\":2}}")).is(200);
    let lines = server.client().get("/g?from=l").is(200).lines();
    assert_eq!(lines[0]["key"], longest);
    let beyond = format!("{{\"key\":\"{longest}x\",\"content\":2}}");
    let answer = server.client().bulk("/g/.bulk", beyond);
    assert_eq!(answer.fails(422, "too_large")["limit"], 65_536);
}
