//! Clients that are slow or silent.

use std::time::{Duration, Instant};

use super::support::{Server, chunked};

#[test]
fn silent_ones_are_closed() {
    let server = Server::with(&[("idle_timeout", "300ms"), ("header_timeout", "300ms")]);
    // Says nothing at all; nothing after a request; not all of a head.
    let mut silent = server.client();
    let mut idle = server.client();
    idle.ask("GET /.health").is(200);
    let mut half = server.client();
    half.send("GET /.health HTTP/1.1\r\nhost: localhost\r\n");
    for client in [&mut silent, &mut idle, &mut half] {
        let begin = Instant::now();
        client.wait_for_end();
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn a_head_that_drips_is_not_waited_for() {
    let server = Server::with(&[("idle_timeout", "60s"), ("header_timeout", "500ms")]);
    let mut client = server.client();
    client.ask("GET /.health").is(200);
    let begin = Instant::now();
    // Each byte is progress, but the head as a whole has its time.
    let ended = "GET /.health HTTP/1.1\r\nhost: localhost-"
        .bytes()
        .chain(std::iter::repeat(b'x'))
        .map(|byte| {
            std::thread::sleep(Duration::from_millis(20));
            std::io::Write::write_all(&mut client.socket(), &[byte])
        })
        .take_while(|_| begin.elapsed() < Duration::from_secs(30))
        .any(|written| written.is_err());
    assert!(ended, "the connection is still there after {:?}", begin.elapsed());
}

#[test]
fn a_body_that_drips_is_not_waited_for() {
    let server = Server::with(&[("body_timeout", "500ms")]);
    // One that stops, and one that goes on in small pieces.
    let mut client = server.client();
    let head = client.head("PUT /g/k", "content-length: 10\r\n");
    client.send(head).send("1");
    client.answer().fails(408, "slow_body");
    client.wait_for_end();

    let mut client = server.client();
    let head = client.head("PUT /g/k", "transfer-encoding: chunked\r\n");
    client.send(head);
    let begin = Instant::now();
    let mut answer = None;
    client.socket().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    while answer.is_none() && begin.elapsed() < Duration::from_secs(30) {
        let _ = std::io::Write::write_all(&mut client.socket(), &chunked(&[b"1"]));
        answer = client.try_answer();
    }
    answer.unwrap().fails(408, "slow_body");

    // A bulk writes the lines that came, and says how many.
    let mut client = server.client();
    let head = client.head("POST /g/.bulk", "transfer-encoding: chunked\r\n");
    client.send(head).send(chunked(&[b"{\"key\":\"a\",\"content\":1}\n{\"key\":\"b\",\"con"]));
    let answer = client.answer();
    assert_eq!(answer.json()["written"], 1);
    answer.fails(408, "slow_body");
    assert_eq!(server.ask("GET /g?count=true").is(200).json()["count"], 1);
}

#[test]
fn many_slow_ones_keep_nobody_from_being_served() {
    let server = Server::with(&[("durability", "process")]);
    let mut slow: Vec<_> = (0..300).map(|_| server.client()).collect();
    for (n, client) in slow.iter_mut().enumerate() {
        match n % 3 {
            0 => client.send("GET /g"),
            1 => client.send("PUT /g/k HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"),
            _ => client.send("POST /g/.bulk HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n{\"key\":"),
        };
    }
    let mut client = server.client();
    for n in 0..200 {
        client.put(&format!("/g/{n}"), "1").is(201);
        client.get(&format!("/g/{n}")).is(200);
    }
}
