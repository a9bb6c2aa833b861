//! Units: reading, writing, conditions, history.

use serde_json::json;

use super::support::Server;

#[test]
fn written_read_and_deleted() {
    let server = Server::start();
    let mut client = server.client();
    let written = client.put("/people/ada", r#"{"name": "Ada"}"#).is(201);
    assert_eq!(written.json(), json!({"height": 1, "created": true}));
    assert_eq!((written.header("etag"), written.height()), (Some("\"1\""), 1));
    let written = client.put("/people/ada", r#"{"name": "Ada", "city": "Paris"}"#).is(200);
    assert_eq!(written.json(), json!({"height": 2, "created": false}));

    let read = client.get("/people/ada").is(200);
    assert_eq!(read.text(), r#"{"name": "Ada", "city": "Paris"}"#);
    assert_eq!(read.header("content-type"), Some("application/json"));
    assert_eq!((read.header("etag"), read.height(), read.header("immux-wire")), (Some("\"2\""), 2, Some("1")));
    let head = client.ask("HEAD /people/ada").is(200);
    assert_eq!((head.header("content-length"), head.header("etag")), (Some("32"), Some("\"2\"")));

    let raw = [&[0, 255, 13, 10][..], b"raw"].concat();
    client.put_raw("/people/raw", &raw).is(201);
    let read = client.get("/people/raw").is(200);
    assert_eq!((read.header("content-type"), &read.body), (Some("application/octet-stream"), &raw));

    assert_eq!(client.ask("DELETE /people/ada").is(200).json(), json!({"height": 4}));
    client.get("/people/ada").fails(404, "unit_missing");
    client.ask("DELETE /people/ada").fails(404, "unit_missing");
    assert_eq!(client.put("/people/ada", "{}").is(201).json()["created"], true);
}

#[test]
fn conditions() {
    let server = Server::start();
    let mut client = server.client();
    let put = |client: &mut super::support::Client, condition: &str| {
        client.ask_with(&format!("PUT /g/k\ncontent-type: application/json\n{condition}"), "{}")
    };
    put(&mut client, "If-None-Match: *").is(201);
    let error = put(&mut client, "If-None-Match: *").fails(412, "unit_exists");
    assert_eq!(error["height"], 1);
    put(&mut client, "If-Match: 1").is(200);
    put(&mut client, "If-Match: \"2\"").is(200);
    let error = put(&mut client, "If-Match: 2").fails(412, "height_mismatch");
    assert_eq!((&error["expected"], &error["actual"]), (&json!(2), &json!(3)));
    put(&mut client, "If-Match: *").fails(400, "bad_header");
    put(&mut client, "If-None-Match: \"1\"").fails(400, "bad_header");
    client.ask("DELETE /g/k\nIf-Match: 2").fails(412, "height_mismatch");
    let error = client.ask("DELETE /g/none\nIf-Match: 2").fails(412, "height_mismatch");
    assert_eq!(error["actual"], json!(null));
    client.ask("GET /g/k\nIf-None-Match: \"3\"").is(304);
    client.ask("GET /g/k\nIf-None-Match: \"2\"").is(200);
    client.ask("DELETE /g/k\nIf-Match: \"3\"").is(200);
}

#[test]
fn the_past() {
    let server = Server::start();
    let mut client = server.client();
    for n in 1..=3 {
        client.put("/g/k", format!("{{\"n\":{n}}}")).is(if n == 1 { 201 } else { 200 });
    }
    let then = client.get("/g/k?at=2").is(200);
    assert_eq!((then.text().as_str(), then.header("etag"), then.height()), ("{\"n\":2}", Some("\"2\""), 2));
    client.get("/g/k?at=0").fails(404, "unit_missing");
    assert_eq!(client.get("/g/k?at=9").fails(404, "height_unknown")["newest"], 3);
    client.get("/g/k?at=1999-01-01T00:00:00Z").fails(404, "unit_missing");
    assert_eq!(client.get("/g/k?at=2999-01-01T00:00:00%2B01:00").is(200).text(), "{\"n\":3}");
    client.get("/g/k?at=yesterday").fails(400, "bad_parameter");

    let journal = client.get("/g/k/.journal").is(200).lines();
    let heights: Vec<_> = journal.iter().map(|line| line["height"].clone()).collect();
    assert_eq!(heights, [json!(3), json!(2), json!(1), json!(null)]);
    assert_eq!(journal[1]["content"], json!({"n": 2}));
    assert_eq!(journal[3]["end"], json!({"count": 3, "height": 3, "cursor": null, "used_index": true}));
    let time = journal[1]["time"].as_str().unwrap();
    assert_eq!(client.get(&format!("/g/k?at={time}")).is(200).text(), "{\"n\":2}");
    assert_eq!(client.get("/g/k/.journal?limit=1").is(200).lines().len(), 2);
    client.get("/g/none/.journal").fails(404, "unit_missing");

    assert_eq!(client.ask("POST /g/k/.revert?to=1").is(200).json(), json!({"height": 4, "to": 1}));
    assert_eq!(client.get("/g/k").is(200).text(), "{\"n\":1}");
    client.ask("POST /g/k/.revert?to=2\nIf-Match: 3").fails(412, "height_mismatch");
    client.ask("POST /g/k/.revert?to=2\nIf-Match: 4").is(200);
    client.ask("POST /g/k/.revert?to=0\nIf-Match: 5").is(200);
    client.get("/g/k").fails(404, "unit_missing");
    client.ask("POST /g/none/.revert?to=2").fails(404, "unit_missing");
    client.ask("POST /g/k/.revert?to=99").fails(404, "height_unknown");
    client.ask("POST /g/k/.revert").fails(400, "bad_parameter");
}

#[test]
fn chains_are_apart() {
    let server = Server::start();
    let mut client = server.client();
    client.get("/g/k?chain=books").fails(404, "chain_missing");
    client.get("/g?chain=books").fails(404, "chain_missing");
    client.ask("DELETE /g/k?chain=books").fails(404, "chain_missing");
    assert_eq!(client.get("/.chains").is(200).json(), json!({"chains": []}));
    client.put("/g/k?chain=books&durability=process", "1").is(201);
    client.put("/g/k", "2").is(201);
    assert_eq!(client.get("/g/k?chain=books").is(200).text(), "1");
    assert_eq!(client.get("/.chains").is(200).json(), json!({"chains": [{"chain": "books"}, {"chain": "default"}]}));
    for name in ["..", ".hidden", "a%2Fb", "", "%00", &"x".repeat(300)] {
        let answer = client.put(&format!("/g/k?chain={name}"), "1");
        assert_eq!(answer.status, 422, "{name}: {}", answer.text());
    }
    client.put("/g/k?chain=%ff", "1").fails(400, "bad_parameter");
}

#[test]
fn each_durability() {
    let server = Server::start();
    let mut client = server.client();
    for level in ["buffered", "process", "sync"] {
        client.put(&format!("/g/{level}?durability={level}"), "1").is(201);
        client.get(&format!("/g/{level}")).is(200);
    }
    client.put("/g/k?durability=fast", "1").fails(400, "bad_parameter");
}
