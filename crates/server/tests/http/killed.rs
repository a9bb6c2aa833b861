//! kill -9 of the server while clients write: everything that was acknowledged is there.
//!
//! `IMMUXDB_HAZARD_ROUNDS` sets how often.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::{Server, until};

#[test]
fn while_many_write() {
    kill_again_and_again("process", 12);
}

#[test]
fn while_many_write_synced() {
    kill_again_and_again("sync", 8);
}

/// Each round: clients write until the server is killed; the next server has all that they were told.
fn kill_again_and_again(durability: &str, usually: usize) {
    let rounds = std::env::var("IMMUXDB_HAZARD_ROUNDS").map_or(usually, |rounds| rounds.parse().unwrap());
    let settings = [("durability", durability)];
    let mut server = Server::with(&settings);
    server.client().ask_with("PUT /g/.indexes/n", r#"{"definition":"json:n"}"#).is(201);
    // What is known of each unit: the number that was acknowledged last.
    let mut known: HashMap<String, u64> = HashMap::new();
    for round in 0..rounds {
        // Some servers are killed when they have hardly begun, others in the middle of much.
        let enough = [100, 1, 300, 20][round % 4];
        let done = AtomicUsize::new(0);
        let written: Vec<(String, u64, u64)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6)
                .map(|writer| {
                    scope.spawn({
                        let (server, done) = (&server, &done);
                        move || write(server, writer, round, done)
                    })
                })
                .collect();
            until("they write", || (done.load(Ordering::Relaxed) >= enough).then_some(()));
            server.signal(nix::sys::signal::Signal::SIGKILL);
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        server = server.kill_and_restart(&settings);
        let mut client = server.client();
        for (key, acknowledged, tried) in written {
            let n = match client.get(&format!("/g/{key}")) {
                answer if answer.status == 200 => answer.json()["n"].as_u64().unwrap(),
                answer => {
                    answer.fails(404, "unit_missing");
                    0
                }
            };
            assert!((acknowledged..=tried).contains(&n), "{key}: {acknowledged} was acknowledged, and {n} is there");
            known.insert(key, n);
        }
        // The index has what the units have.
        let lines = client.get("/g?index=n").is(200).lines();
        let (_end, units) = lines.split_last().unwrap();
        let found: HashMap<String, u64> = units
            .iter()
            .map(|unit| (unit["key"].as_str().unwrap().to_owned(), unit["value"].as_u64().unwrap()))
            .collect();
        assert_eq!(found.len(), units.len(), "a unit is in the index twice");
        let expected = known.iter().filter(|(_, n)| **n > 0).map(|(key, n)| (key.clone(), *n)).collect();
        assert_eq!(found, expected);
    }
}

/// Writes rising numbers into a unit of its own, or many at once, until the server is gone. Gives for each unit the number
/// that was acknowledged last, and the one that was tried last.
fn write(server: &Server, writer: usize, round: usize, done: &AtomicUsize) -> Vec<(String, u64, u64)> {
    let mut client = server.client();
    let bulk = writer.is_multiple_of(3);
    let keys: Vec<String> = (0..if bulk { 50 } else { 1 }).map(|n| format!("{round}-{writer}-{n}")).collect();
    let (mut acknowledged, mut tried) = (0, 0);
    loop {
        tried += 1;
        let (target, body) = match bulk {
            true => {
                let lines = keys.iter().map(|key| format!("{{\"key\":\"{key}\",\"content\":{{\"n\":{tried}}}}}\n"));
                ("POST /g/.bulk".to_owned(), lines.collect::<String>())
            }
            false => (format!("PUT /g/{}", keys[0]), format!("{{\"n\":{tried}}}")),
        };
        let mut request = client.head(&target, &format!("content-length: {}\r\n", body.len()));
        request.extend_from_slice(body.as_bytes());
        if std::io::Write::write_all(&mut client.socket(), &request).is_err() {
            break;
        }
        match client.try_answer() {
            Some(answer) => assert!(answer.status < 300, "{answer:?}"),
            None => break,
        }
        acknowledged = tried;
        done.fetch_add(1, Ordering::Relaxed);
    }
    keys.into_iter().map(|key| (key, acknowledged, tried)).collect()
}
