//! Indexes: made, listed, dropped; by several clients at once.

use std::sync::Barrier;

use serde_json::json;

use super::support::{Server, until};

fn fill(server: &Server, units: usize) {
    let lines: String =
        (0..units).map(|n| format!("{{\"key\":\"{n}\",\"content\":{{\"n\":{n},\"m\":{}}}}}\n", n % 10)).collect();
    server.client().bulk("/g/.bulk", lines).is(200);
}

#[test]
fn made_listed_and_dropped() {
    let server = Server::start();
    fill(&server, 100);
    let mut client = server.client();
    let put = |client: &mut super::support::Client, name: &str, definition: &str| {
        client.ask_with(&format!("PUT /g/.indexes/{name}"), json!({ "definition": definition }).to_string())
    };
    let item = json!({"grouping": "g", "index": "m", "definition": "json:m", "since": 2, "ready": true});
    assert_eq!(put(&mut client, "m", "json:m").is(201).json(), item);
    assert_eq!(put(&mut client, "m", "json:m").is(200).json(), item);
    assert_eq!(put(&mut client, "m", "json:n").fails(409, "index_exists")["definition"], "json:m");
    assert_eq!(client.get("/g/.indexes/m").is(200).json(), item);
    put(&mut client, "odd%2Fname%20%C3%BC", "json:n,-m sparse").is(201);
    let list = client.get("/g/.indexes").is(200).json();
    assert_eq!(list["indexes"][1]["index"], "odd/name ü");
    assert_eq!(list["indexes"][1]["definition"], "json:n,-m sparse");
    assert_eq!(put(&mut client, "u", "json:m unique").fails(409, "duplicate_key")["index"], "u");
    client.get("/g/.indexes/u").fails(404, "index_missing");
    put(&mut client, "u", "yaml:m").fails(422, "bad_definition");
    put(&mut client, "u", "").fails(422, "bad_definition");
    client.ask_with("PUT /g/.indexes/u", "{}").fails(422, "bad_definition");
    client.ask_with("PUT /g/.indexes/u", r#"{"definition":1}"#).fails(422, "bad_definition");
    client.ask_with("PUT /g/.indexes/u", "json:m").fails(400, "invalid_json");
    client.ask_with("PUT /g/.indexes/u", vec![b' '; 100_000]).fails(413, "body_too_large");
    client.get("/nothing/.indexes").fails(404, "grouping_missing");
    client.ask("DELETE /g/.indexes/m").is(200);
    client.ask("DELETE /g/.indexes/m").fails(404, "index_missing");
    client.ask("DELETE /nothing/.indexes/m").fails(404, "grouping_missing");
    client.get("/g?index=m").fails(404, "index_missing");
    // On a grouping that is not there, it makes one.
    client.ask_with("PUT /new/.indexes/i", r#"{"definition":"json:a"}"#).is(201);
    client.get("/new").is(200);
}

#[test]
fn in_the_background() {
    let server = Server::with(&[("durability", "process")]);
    fill(&server, 50_000);
    let mut client = server.client();
    let put = "PUT /g/.indexes/n\nprefer: respond-async";
    let answer = client.ask_with(put, r#"{"definition":"json:n"}"#);
    // It may be ready before anybody could look.
    match answer.status {
        202 => assert_eq!(answer.header("preference-applied"), Some("respond-async")),
        _ => assert_eq!(answer.is(201).json()["ready"], true),
    }
    until("the index is ready", || {
        let item = server.ask("GET /g/.indexes/n").is(200).json();
        (item["ready"] == true).then_some(())
    });
    assert_eq!(client.get("/g?index=n&count=true").is(200).json()["count"], 50_000);
    // One that can't be made says why, to whoever asks for it.
    let put = "PUT /g/.indexes/u\nprefer: respond-async";
    let answer = client.ask_with(put, r#"{"definition":"json:m unique"}"#);
    if answer.status == 202 {
        let error = until("it failed", || {
            let answer = server.ask("GET /g/.indexes/u");
            (answer.status == 404).then(|| answer.fails(404, "index_missing"))
        });
        assert!(error["message"].as_str().unwrap().contains("unique"), "{error}");
    } else {
        answer.fails(409, "duplicate_key");
    }
}

#[test]
fn the_same_by_many_clients_at_once() {
    let server = Server::with(&[("durability", "process")]);
    fill(&server, 20_000);
    let barrier = Barrier::new(16);
    let statuses: Vec<(u16, serde_json::Value)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|n| {
                let (server, barrier) = (&server, &barrier);
                scope.spawn(move || {
                    let mut client = server.client();
                    barrier.wait();
                    let definition = if n % 4 == 3 { "json:m" } else { "json:n" };
                    let body = json!({ "definition": definition }).to_string();
                    let answer = client.ask_with("PUT /g/.indexes/i", body);
                    (answer.status, answer.json())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |status: u16| statuses.iter().filter(|(known, _)| *known == status).count();
    // One made it; who wanted the same has it, who wanted another one is told.
    assert_eq!(count(201), 1, "{statuses:?}");
    assert!(count(200) == 11 && count(409) == 4 || count(200) == 3 && count(409) == 12, "{statuses:?}");
    assert!(statuses.iter().filter(|(status, _)| *status == 200).all(|(_, item)| item["ready"] == true));
    assert_eq!(server.ask("GET /g?index=i&count=true").is(200).json()["count"], 20_000);
}

#[test]
fn different_ones_while_others_write() {
    let server = Server::with(&[("durability", "process")]);
    fill(&server, 20_000);
    std::thread::scope(|scope| {
        for n in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let unique = if n % 2 == 0 { "" } else { " unique" };
                let body = json!({ "definition": format!("json:n{unique}") }).to_string();
                server.client().ask_with(&format!("PUT /g/.indexes/i{n}"), body).is(201);
            });
        }
        for writer in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.client();
                for n in 0..100 {
                    let content = json!({"n": 100_000 + writer * 1000 + n}).to_string();
                    client.put(&format!("/g/w{writer}-{n}"), content).is(201);
                    // Reading does not wait for an index that is being filled.
                    client.get(&format!("/g/{n}")).is(200);
                }
            });
        }
    });
    for n in 0..4 {
        let count = server.ask(&format!("GET /g?index=i{n}&count=true")).is(200).json()["count"].clone();
        assert_eq!(count, 20_400, "i{n}");
    }
}
