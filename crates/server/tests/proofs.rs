//! Roots and proofs on the command line and over HTTP, and their checking without a store.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr};

use immuxdb_client::blocking::Client;
use immuxdb_client::{Content, Error, Moment};
use support::Place;

fn filled() -> Place {
    let place = Place::new();
    for number in 1..=4 {
        place.prints(&["put", "people", "ada", &format!(r#"{{"number":{number}}}"#)]);
        place.prints(&["put", "people", &format!("other {number}"), "{}"]);
    }
    place
}

fn hash(place: &Place, arguments: &[&str]) -> String {
    place.objects(&[&["root"], arguments].concat())[0]["hash"].as_str().unwrap().to_owned()
}

#[test]
fn a_unit_is_proven_to_who_has_kept_a_root() {
    let place = filled();
    let root = hash(&place, &["--at", "5"]);
    assert!(place.prints(&["root", "--at", "5"]).starts_with(&format!("{root} at height 5 of log ")));
    let proof = place.prints(&["prove", "unit", "people", "ada", "--at", "5"]);
    place.file("proof.json", &proof);
    // No store is needed to check it.
    let elsewhere = Place::new();
    elsewhere.file("proof.json", &proof);
    let said = elsewhere.prints(&["check", "proof.json", "--root", &root]);
    assert!(
        said.starts_with("it holds: ada in people was given the content in the proof by the commit at height 5, at "),
        "{said}"
    );
    let item = &elsewhere.objects(&["check", "proof.json", "--root", &root])[0];
    assert_eq!(
        (item["holds"].as_bool(), item["height"].as_u64(), item["kind"].as_str()),
        (Some(true), Some(5), Some("json"))
    );

    elsewhere.file("proof.json", proof.replace("number\\\":3", "number\\\":4"));
    let refused = elsewhere.fails(1, &["check", "proof.json", "--root", &root]);
    assert!(refused.contains("the proof does not hold: the version is not in the history"), "{refused}");
    elsewhere.file("proof.json", &proof);
    let refused = elsewhere.fails(1, &["check", "proof.json", "--root", &hash(&place, &[])]);
    assert!(refused.contains("does not hold"), "{refused}");
    assert!(elsewhere.fails(2, &["check", "proof.json", "--root", "nothing"]).contains("neither a root nor a file"));
    elsewhere.file("proof.json", "{}");
    assert!(elsewhere.fails(1, &["check", "proof.json", "--root", &root]).contains("is no proof"));

    let hidden = place.prints(&["prove", "unit", "people", "ada", "--at", "5", "--without-content"]);
    assert!(!hidden.contains("number"));
    let outcome = elsewhere.run_with(&["check", "-", "--root", &root], &hidden);
    assert!(outcome.out.starts_with("it holds: ada in people was written by"), "{outcome:?}");
    assert!(place.fails(3, &["prove", "unit", "people", "eve"]).contains("there is no unit eve in people"));
}

#[test]
fn published_roots_show_that_history_was_rewritten() {
    let place = filled();
    place.prints(&["root", "--at", "3", "--publish", "roots"]);
    place.prints(&["root", "--publish", "roots"]);
    place.prints(&["root", "--publish", "roots"]);
    let roots = std::fs::read_to_string(place.path().join("roots")).unwrap();
    assert_eq!(roots.lines().count(), 2);
    // An editor may leave the last line without its end.
    place.file("roots", roots.trim_end());
    place.prints(&["put", "people", "ada", "{}"]);
    place.prints(&["root", "--publish", "roots"]);

    let proof = place.prints(&["prove", "extends", "--from", "3", "--to", "9"]);
    place.file("proof.json", proof);
    let said = place.prints(&["check", "proof.json", "--root", "roots"]);
    assert_eq!(said, "it holds: the history up to height 9 begins with the one up to height 3, unchanged\n");

    // Somebody puts another history in the place of this one.
    std::fs::remove_dir_all(place.path().join("immuxdb-data")).unwrap();
    let other = filled();
    other.prints(&["put", "people", "ada", "{}"]);
    other.prints(&["put", "people", "ada", "{}"]);
    std::fs::rename(other.path().join("immuxdb-data"), place.path().join("immuxdb-data")).unwrap();
    let refused = place.fails(1, &["root", "--publish", "roots"]);
    assert!(refused.contains("does not extend the root at height 9 in roots"), "{refused}");
    assert_eq!(std::fs::read_to_string(place.path().join("roots")).unwrap().lines().count(), 3);
}

struct Server {
    child: Child,
    url: String,
    /// Open as long as the server writes to it.
    _log: BufReader<ChildStderr>,
}

impl Server {
    fn start(place: &Place) -> Server {
        let mut child = place.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let url = loop {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server has ended");
            if let Some(word) = line.split_whitespace().find(|word| word.starts_with("http://")) {
                break word.to_owned();
            }
        };
        Server { child, url, _log: log }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_client_checks_what_a_server_proves() {
    let place = filled();
    let server = Server::start(&place);
    let client = Client::connect(&server.url).unwrap();
    let first = client.root(Some(Moment::Height(3))).unwrap();
    assert_eq!(first.hash.to_string(), hash(&place, &["--at", "3"]));
    client.put("people", ".odd key/", Content::raw(b"\xff")).unwrap();
    let root = client.extend(&first, None).unwrap();
    assert_eq!(root.height, 9);
    for (key, content) in [(&b"ada"[..], &br#"{"number":4}"#[..]), (b".odd key/", b"\xff")] {
        let proof = client.get_proven("people", key, &root).unwrap().unwrap();
        assert_eq!(proof.version.content.bytes(), Some(content));
    }
    assert_eq!(client.get_proven("people", "eve", &root).unwrap(), None);
    assert_eq!(client.get_proven("nobody", "eve", &root).unwrap(), None);
    // What was kept is not what this server has.
    let mut other = first;
    other.hash.0[5] ^= 1;
    assert!(matches!(client.extend(&other, None), Err(Error::Unproven { .. })));
    let mut other = root;
    other.hash.0[5] ^= 1;
    assert!(matches!(client.get_proven("people", "ada", &other), Err(Error::Unproven { .. })));
    // The commands work through it as well.
    let proof = place.prints(&["prove", "unit", "people", "ada", "--server", &server.url]);
    let checked = place.run_with(&["check", "-", "--root", &root.hash.to_string()], &proof);
    assert!(checked.out.starts_with("it holds"), "{checked:?}");
    place.prints(&["root", "--publish", "roots", "--server", &server.url]);
    assert_eq!(hash(&place, &["--server", &server.url]), root.hash.to_string());
}
