//! Connections: many, too many, and what is no HTTP.

use serde_json::json;

use super::support::{Client, Server, until};

#[test]
fn a_thousand() {
    let server = Server::with(&[("durability", "process")]);
    server.client().put("/g/k", "{\"n\":1}").is(201);
    let before = server.memory("RssAnon");
    let mut clients: Vec<Client> = (0..1000).map(|_| server.client()).collect();
    for round in 0..3 {
        // All ask before anybody reads.
        for (n, client) in clients.iter_mut().enumerate() {
            let request = match (n + round) % 2 {
                0 => client.head("GET /g/k", ""),
                _ => [client.head(&format!("PUT /g/{n}"), "content-length: 2\r\n"), b"{}".to_vec()].concat(),
            };
            client.send(request);
        }
        for client in &mut clients {
            let answer = client.answer();
            assert!(answer.status < 300, "{answer:?}");
        }
    }
    assert_eq!(server.metric("immuxdb_connections"), 1001.0);
    let more = server.memory("RssAnon").saturating_sub(before);
    assert!(more < 100 << 20, "{} MiB more", more >> 20);
    assert_eq!(server.ask("GET /g?count=true").is(200).json()["count"], 1001);
    drop(clients);
    until("they are closed", || (server.metric("immuxdb_connections") == 1.0).then_some(()));
}

#[test]
fn too_many() {
    let server = Server::with(&[("max_connections", "10")]);
    let mut clients: Vec<Client> = (0..10).map(|_| server.client()).collect();
    clients.iter_mut().for_each(|client| {
        client.ask("GET /.health").is(200);
    });
    let mut refused = server.client();
    refused.try_answer().unwrap().fails(503, "too_many_connections");
    refused.wait_for_end();
    // Also for one that has begun to send.
    let mut refused = server.client();
    refused.ask("GET /.health").fails(503, "too_many_connections");
    // Those that are there are served, and one that ends makes room.
    clients[3].ask("GET /.health").is(200);
    clients.pop();
    until("there is room", || server.client().try_answer_to_health().then_some(()));
}

impl Client {
    fn try_answer_to_health(&mut self) -> bool {
        let request = self.head("GET /.health", "");
        self.send(request);
        self.try_answer().is_some_and(|answer| answer.status == 200)
    }
}

#[test]
fn what_is_no_http() {
    let server = Server::start();
    server.client().put("/g/k", "1").is(201);
    for bytes in [
        &b"hello\r\n\r\n"[..],
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET /g/k HTTP/9.9\r\n\r\n",
        b"GET /g/k HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET /g/k HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"PUT /g/k HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n12",
        b"PUT /g/k HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
        b"PUT /g/k HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"GET /g/\xff HTTP/1.1\r\n\r\n",
        b"GET /g/a b HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        let mut client = server.client();
        client.send(bytes);
        // It may have been closed already.
        let _ = client.socket().shutdown(std::net::Shutdown::Write);
        client.wait_for_end();
    }
    let headers: String = (0..200).map(|n| format!("x-{n}: 1\n")).collect();
    assert_eq!(server.client().ask(&format!("GET /g/k\n{headers}")).status, 431);
    let long = "x".repeat(200_000);
    let mut client = server.client();
    client.send("GET /g/k HTTP/1.1\r\nx: ");
    // It may be refused before it is sent.
    let _ = std::io::Write::write_all(&mut client.socket(), long.as_bytes());
    client.wait_for_end();
    assert_eq!(server.client().get("/g/k").is(200).text(), "1");
    assert_eq!(server.client().get("/g/k").is(200).height(), 1);
}

#[test]
fn requests_one_after_another_without_waiting() {
    let server = Server::start();
    let mut client = server.client();
    let mut requests = Vec::new();
    for n in 0..50 {
        requests.extend(client.head(&format!("PUT /g/{n}"), "content-length: 1\r\n"));
        requests.push(b'7');
        requests.extend(client.head(&format!("GET /g/{n}"), ""));
    }
    client.send(requests);
    for n in 0..50 {
        assert_eq!(client.answer().is(201).json(), json!({"height": n + 1, "created": true}));
        assert_eq!(client.answer().is(200).text(), "7");
    }
}
