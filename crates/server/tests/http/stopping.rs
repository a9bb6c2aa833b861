//! Stopping the server while it is used.

use nix::sys::signal::Signal;
use serde_json::json;

use super::support::{Server, chunked, until};

#[test]
fn an_idle_server_ends_at_once_and_keeps_everything() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut server = Server::start();
        let mut client = server.client();
        client.put("/g/k?durability=buffered", "1").is(201);
        server.signal(signal);
        assert_eq!(server.wait(), Some(0), "{}", server.log());
        client.wait_for_end();
        let output = Server::command(server.directory(), &[]).args(["get", "g", "k"]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "1\n");
    }
}

#[test]
fn requests_that_have_begun_end_and_others_are_told() {
    let mut server = Server::start();
    let mut begun = server.client();
    let head = begun.head("PUT /g/k", "content-length: 2\r\n");
    begun.send(head).send("1");
    until("it has begun", || (server.metric("immuxdb_received_bytes_total") >= 1.0).then_some(()));
    // A connection is kept open for it. Its head is there by half.
    let mut late = server.client();
    late.send("GET /g/k HTTP/1.1\r\nhost: localhost\r\n");
    let mut other = server.client();
    other.ask("GET /.health").is(200);
    other.send("GET /.health HTTP/1.1\r\nhost: localhost\r\n");
    server.signal(Signal::SIGTERM);
    until("it is stopping", || server.log().contains("stopping").then_some(()));
    let answer = late.send("\r\n").answer();
    assert_eq!((answer.header("connection"), answer.header("retry-after")), (Some("close"), Some("1")));
    answer.fails(503, "stopping");
    let answer = other.send("\r\n").answer().is(503);
    assert_eq!(answer.json()["status"], "stopping");
    // No new connections.
    assert!(std::net::TcpStream::connect(server.address()).is_err());
    begun.send("2");
    assert_eq!(begun.answer().is(201).json(), json!({"height": 1, "created": true}));
    assert_eq!(server.wait(), Some(0), "{}", server.log());
    let output = Server::command(server.directory(), &[]).args(["get", "g", "k"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "12\n");
}

#[test]
fn a_bulk_ends_at_a_commit_and_says_how_far_it_came() {
    let mut server = Server::with(&[("durability", "process")]);
    let mut client = server.client();
    let head = client.head("POST /g/.bulk", "transfer-encoding: chunked\r\n");
    client.send(head);
    let mut lines = 0;
    let mut piece = || {
        let text: String = (0..1000).map(|n| format!("{{\"key\":\"{}\",\"content\":{n}}}\n", lines + n)).collect();
        lines += 1000;
        chunked(&[text.as_bytes()])
    };
    client.send(piece());
    until("it has begun", || (server.metric("immuxdb_received_bytes_total") >= 1.0).then_some(()));
    client.send(piece());
    server.signal(Signal::SIGTERM);
    let answer = client.answer();
    let written = answer.json()["written"].as_u64().unwrap();
    assert!(written <= 2000, "{written}");
    answer.fails(503, "stopping");
    assert_eq!(server.wait(), Some(0), "{}", server.log());
    let output = Server::command(server.directory(), &[]).args(["scan", "g", "--count"]).output().unwrap();
    // Nothing was written, then there is no grouping.
    let count = String::from_utf8(output.stdout).unwrap();
    assert_eq!(count.trim().parse().unwrap_or(0), written);
}

#[test]
fn one_that_does_not_end_is_broken_off() {
    let mut server = Server::with(&[("stop_timeout", "500ms")]);
    let mut client = server.client();
    let head = client.head("PUT /g/k", "content-length: 2\r\n");
    client.send(head).send("1");
    until("it has begun", || (server.metric("immuxdb_received_bytes_total") >= 1.0).then_some(()));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), Some(0), "{}", server.log());
    assert!(server.log().contains("did not end in time"), "{}", server.log());
    client.wait_for_end();
}

#[test]
fn a_second_signal_stops_at_once() {
    let mut server = Server::start();
    let mut client = server.client();
    let head = client.head("PUT /g/k", "content-length: 2\r\n");
    client.send(head).send("1");
    until("it has begun", || (server.metric("immuxdb_received_bytes_total") >= 1.0).then_some(()));
    server.signal(Signal::SIGTERM);
    until("it is stopping", || server.log().contains("stopping").then_some(()));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), Some(130), "{}", server.log());
}

#[test]
fn under_load_nothing_acknowledged_is_lost() {
    let mut server = Server::start();
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|writer| {
                let server = &server;
                scope.spawn(move || {
                    let mut client = server.client();
                    let mut done = Vec::new();
                    for n in 0.. {
                        let key = format!("{writer}-{n}");
                        let mut request = client.head(&format!("PUT /g/{key}"), "content-length: 1\r\n");
                        request.push(b'1');
                        if std::io::Write::write_all(&mut client.socket(), &request).is_err() {
                            break;
                        }
                        match client.try_answer() {
                            Some(answer) if answer.status == 201 => done.push(key),
                            Some(answer) => {
                                answer.fails(503, "stopping");
                                break;
                            }
                            None => break,
                        }
                    }
                    done
                })
            })
            .collect();
        until("they write", || (server.metric("immuxdb_commits_total") >= 200.0).then_some(()));
        server.signal(Signal::SIGTERM);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(server.wait(), Some(0), "{}", server.log());
    let output = Server::command(server.directory(), &[]).args(["scan", "g", "--json"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let there: std::collections::HashSet<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["key"].as_str().unwrap().to_owned())
        .collect();
    assert!(acknowledged.len() >= 200);
    assert!(acknowledged.iter().all(|key| there.contains(key)));
    // None but those that were acknowledged, and at most one more for each writer, whose answer did not arrive.
    assert!(there.len() <= acknowledged.len() + 8);
}
