//! All that the client can do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use immuxdb_client::blocking::Client;
use immuxdb_client::{BulkItem, BulkOptions, Condition, Content, Durability, Error, Kind, Scan};
use serde_json::json;

use super::{Place, Server};

/// The code of what the server refuses.
fn code<T: std::fmt::Debug>(result: immuxdb_client::Result<T>) -> String {
    result.unwrap_err().code().unwrap().to_owned()
}

fn keys(units: impl Iterator<Item = immuxdb_client::Result<immuxdb_client::Unit>>) -> Vec<Vec<u8>> {
    units.map(|unit| unit.unwrap().key).collect()
}

#[test]
fn one_unit() {
    let place = Place::new();
    let server = Server::on(&place);
    let client = server.client();
    assert_eq!(client.health().unwrap().wire, 1);
    assert_eq!(
        client.get("g", "a").err().and_then(|error| error.code().map(str::to_owned)).as_deref(),
        Some("chain_missing")
    );

    let first = client.insert("g", "a", Content::json("{ \"a\" : 1.50 }")).unwrap();
    assert_eq!(first.created, Some(true));
    assert_eq!(code(client.insert("g", "a", Content::json("1"))), "unit_exists");
    let second = client.compare_and_set("g", "a", first.height, Content::raw(b"\0\xff")).unwrap();
    assert_eq!(second.created, Some(false));
    let error = client.compare_and_set("g", "a", first.height, Content::json("1")).unwrap_err();
    let refused = error.server().unwrap();
    assert_eq!((refused.status, refused.code.as_str()), (412, "height_mismatch"));
    assert_eq!(refused.fields["actual"], second.height);
    assert_eq!(error.to_string(), "the unit is at height 2, and height 1 was expected");
    assert!(error.help().is_some());

    let unit = client.get("g", "a").unwrap().unwrap();
    assert_eq!((unit.kind, unit.content.as_slice(), unit.height), (Kind::Raw, &b"\0\xff"[..], second.height));
    let then = client.get_at("g", "a", first.height).unwrap().unwrap();
    assert_eq!((then.kind, then.content.as_slice()), (Kind::Json, &b"{ \"a\" : 1.50 }"[..]));
    assert_eq!(then.json::<serde_json::Value>().unwrap(), json!({"a": 1.5}));
    assert!(matches!(unit.json::<u8>().unwrap_err(), Error::Value(_)));
    assert_eq!(code(client.get_at("g", "a", 99)), "height_unknown");

    assert_eq!(code(client.put("g", "a", Content::json("{"))), "invalid_json");
    assert_eq!(code(client.delete_with("g", "a", Condition::At(1), None)), "height_mismatch");
    let gone = client.delete_with("g", "a", Condition::At(second.height), Some(Durability::Process)).unwrap();
    assert_eq!(client.get("g", "a").unwrap(), None);
    assert_eq!(client.read("g", "a", None).unwrap().height, gone.height);
    assert_eq!(code(client.delete("g", "a")), "unit_missing");

    let reverted = client.revert_by_key("g", "a", first.height).unwrap();
    assert_eq!((reverted.height, reverted.to), (4, 1));
    let versions: Vec<_> = client.inspect_by_key("g", "a").unwrap().map(Result::unwrap).collect();
    let kinds: Vec<_> = versions.iter().map(|version| (version.height, version.kind)).collect();
    assert_eq!(kinds, [(4, Kind::Json), (3, Kind::Deleted), (2, Kind::Raw), (1, Kind::Json)]);
    assert_eq!(versions[0].size, 14);
    assert_eq!(client.inspect_newest("g", "a", Some(2)).unwrap().count(), 2);
    assert_eq!(code(client.inspect_by_key("g", "b").map(|_| ())), "unit_missing");
    // A time stands for a height.
    let time = versions[3].time.as_str();
    assert!(client.read("g", "a", Some(time.into())).unwrap().height >= 1);
    server.stop();
}

#[test]
fn any_bytes_are_a_key() {
    let place = Place::new();
    let server = Server::on(&place);
    let client = server.client();
    let mut all: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    all.extend((0..=255).map(|byte| vec![b'k', byte, b'/']));
    let odd: [&[u8]; 12] =
        [b"", b".", b"..", b"...", b".bulk", b".unit", b"a/../b", b"%2e%2e", b"a?b#c", b"\xff\xfe\0", b"a+b c", b"//"];
    all.extend(odd.map(<[u8]>::to_vec));
    all.extend(["zürich".into(), vec![b'x'; 60_000]]);
    for key in &all {
        client.put_with("g", key, Content::raw(key), Condition::Any, Some(Durability::Buffered)).unwrap();
    }
    for key in &all {
        let unit = client.get("g", key).unwrap().unwrap_or_else(|| panic!("{} is gone", key.escape_ascii()));
        assert!(unit.content == *key, "{} has another's content", key.escape_ascii());
    }
    assert_eq!(client.inspect_by_key("g", "..").unwrap().count(), 1);
    client.revert_by_key("g", "", client.get("g", "").unwrap().unwrap().height).unwrap();
    client.delete("g", ".bulk").unwrap();
    let mut expected: Vec<_> = all.into_iter().filter(|key| key != b".bulk").collect();
    expected.sort();
    expected.dedup();
    assert!(keys(client.scan("g", &Scan::units()).unwrap()) == expected);
    // Groupings have names that are text; those of the server's own are refused before anything is sent.
    client.put("größe/ä b", "k", Content::json("1")).unwrap();
    assert!(client.get("größe/ä b", "k").unwrap().is_some());
    assert!(matches!(client.get(".hidden", "k").unwrap_err(), Error::Invalid(_)));
    server.stop();
}

#[test]
fn lists_and_cursors() {
    let place = Place::new();
    let server = Server::on(&place);
    let client = server.client();
    let items =
        (0..5000).map(|n| BulkItem::json(format!("{n:05}"), format!("{{\"n\": {}, \"t\": \"x{}\"}}", n % 10, n % 3)));
    let answer = client.bulk("g", items, BulkOptions::default()).unwrap();
    assert_eq!((answer.written, answer.created, answer.failed), (5000, 5000, 0));
    let before = answer.height;

    assert_eq!(client.count("g", &Scan::units().from("01000").to("01010")).unwrap().count, 10);
    assert_eq!(client.count("g", &Scan::units().from("01000").through("01010")).unwrap().count, 11);
    assert_eq!(
        keys(client.scan("g", &Scan::units().prefix("0123").backward().limit(2)).unwrap()),
        [b"01239", b"01238"]
    );

    let (index, created) = client.create_index("g", "n", "json:n,t").unwrap();
    assert!(created && index.ready);
    assert!(!client.create_index("g", "n", "json:n,t").unwrap().1);
    assert_eq!(code(client.create_index("g", "n", "json:t")), "index_exists");
    assert_eq!(code(client.create_index("g", "m", "nonsense")), "bad_definition");
    assert_eq!(client.indexes("g").unwrap(), [client.index("g", "n").unwrap()]);

    // Portions of a scan, at one height, while others write.
    let whole = Scan::index("n").value("[3]");
    let mut all = keys(client.scan("g", &whole).unwrap());
    assert_eq!(all.len(), 500);
    let (mut portions, mut cursor) = (Vec::new(), None);
    loop {
        let scan = whole.clone().limit(99);
        let mut units = client.scan("g", &cursor.map_or(scan.clone(), |cursor: String| scan.resume(cursor))).unwrap();
        portions.extend(keys(units.by_ref()));
        client.put("g", format!("new{}", portions.len()), Content::json("{\"n\":3}")).unwrap();
        cursor = units.end().unwrap().cursor.clone();
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(portions, all);
    all.reverse();
    assert_eq!(keys(client.scan("g", &whole.clone().backward().at(index.since)).unwrap()), all);
    let mut old = client.scan("g", &Scan::index("n").value("[3, \"x0\"]").at(before)).unwrap();
    let unit = old.next().unwrap().unwrap();
    assert_eq!(unit.value, Some(json!([3, "x0"])));
    assert!(unit.content.starts_with(b"{\"n\": 3"));
    assert_eq!(old.by_ref().count(), 166);
    assert!(!old.end().unwrap().used_index, "the index is younger than that height");
    assert!(keys_only_are_empty(&client));

    assert_eq!(code(client.scan("g", &Scan::index("none")).map(|_| ())), "index_missing");
    assert_eq!(code(client.scan("none", &Scan::units()).map(|_| ())), "grouping_missing");
    assert_eq!(code(client.scan("g", &Scan::units().resume("nonsense")).map(|_| ())), "bad_cursor");
    client.drop_index("g", "n").unwrap();
    assert_eq!(code(client.drop_index("g", "n")), "index_missing");
    server.stop();
}

fn keys_only_are_empty(client: &Client) -> bool {
    client.scan("g", &Scan::units().keys_only()).unwrap().all(|unit| unit.unwrap().content.is_empty())
}

#[test]
fn chains_are_chosen_by_the_client_object() {
    let place = Place::new();
    let server = Server::on(&place);
    let mut client = server.client();
    let other = client.clone();
    client.switch_namespace("shop & co");
    client.set_key_value("g", "a", &1).unwrap();
    other.set_key_value("g", "a", &2).unwrap();
    assert_eq!(client.get_by_key("g", "a").unwrap(), Some(1));
    assert_eq!(other.get_by_key("g", "a").unwrap(), Some(2));
    assert_eq!(client.chains().unwrap(), ["default", "shop & co"]);
    assert_eq!(client.stats().unwrap().chain, "shop & co");
    assert_eq!(client.groupings(true).unwrap()[0].units, Some(1));
    server.stop();
}

#[test]
fn bulk_writes_say_what_failed() {
    let place = Place::new();
    let server = Server::on(&place);
    let client = server.client();
    client.create_index("g", "n", "json:n unique").unwrap();
    let items = |count: u64| {
        (1..=count).map(|n| BulkItem::json(format!("{n:05}"), format!("{{\"n\":{}}}", if n == 7000 { 1 } else { n })))
    };
    let error = client.bulk("g", items(20_000), BulkOptions::default()).unwrap_err();
    let refused = error.server().unwrap();
    assert_eq!((refused.status, refused.code.as_str()), (409, "duplicate_key"));
    assert_eq!((&refused.fields["line"], &refused.fields["index"]), (&json!(7000), &json!("n")));
    let answer = refused.bulk.as_ref().unwrap();
    assert_eq!((answer.written, answer.failed, answer.errors[0].line), (6999, 1, 7000));
    assert_eq!(client.count("g", &Scan::units()).unwrap().count, 6999);

    let options = BulkOptions { go_on: true, durability: Some(Durability::Buffered) };
    let answer = client.bulk("g", items(20_000), options).unwrap();
    assert_eq!((answer.written, answer.created, answer.failed), (19_999, 13_000, 1));
    let mixed = [
        BulkItem::raw("raw", "\0\u{1}"),
        BulkItem::json("00001", "[1,\n2]"),
        BulkItem::delete("00002"),
        BulkItem::json("00003", "{}").when(Condition::Absent),
        BulkItem::json("00004", "{}").when(Condition::At(1)),
        BulkItem::delete("00002"),
    ];
    let answer = client.bulk("g", mixed, options).unwrap();
    let codes: Vec<_> = answer.errors.iter().map(|error| (error.line, error.failure.code.as_str())).collect();
    assert_eq!(codes, [(4, "unit_exists"), (5, "height_mismatch"), (6, "unit_missing")]);
    assert_eq!(client.get("g", "00001").unwrap().unwrap().content, b"[1,\n2]");
    assert_eq!(client.get("g", "raw").unwrap().unwrap().content, [0, 1]);
    // The client goes on after a bulk that was stopped in the middle of a large body.
    let error = client.bulk("g", items(500_000), BulkOptions::default()).unwrap_err();
    assert_eq!(error.code(), Some("duplicate_key"), "{error}");
    assert!(client.get("g", "raw").unwrap().is_some());
    server.stop();
}

#[test]
fn a_token_is_asked_for() {
    let place = Place::new();
    let server = Server::with(&place, &[("IMMUXDB_TOKEN", "sesame")]);
    assert_eq!(code(server.client().chains()), "unauthorized");
    assert!(server.client().health().is_ok());
    let error =
        server.client().bulk("g", (0..100_000).map(|n| BulkItem::json(n.to_string(), "1")), BulkOptions::default());
    assert_eq!(code(error), "unauthorized");
    let client = Client::builder(&server.url).token("sesame").build_blocking().unwrap();
    client.put("g", "a", Content::json("1")).unwrap();
    assert!(!format!("{client:?}").contains("sesame"));
    server.stop();
}

#[test]
fn a_client_outlives_its_server() {
    let place = Place::new();
    let server = Server::on(&place);
    let port = server.url.rsplit_once(':').unwrap().1.to_owned();
    let client = server.client();
    client.put("g", "a", Content::json("1")).unwrap();
    server.stop();
    assert!(matches!(client.put("g", "a", Content::json("2")).unwrap_err(), Error::Connect { .. }));
    let listen = format!("127.0.0.1:{port}");
    let server = Server::with(&place, &[("IMMUXDB_LISTEN", &listen)]);
    let client = if server.url.ends_with(&port) { client } else { server.client() };
    assert_eq!(client.get_by_key("g", "a").unwrap(), Some(1));
    server.stop();
}

#[test]
fn many_tasks_share_an_asynchronous_client() {
    let place = Place::new();
    let server = Server::on(&place);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = immuxdb_client::Client::builder(&server.url).durability(Durability::Process).build().unwrap();
        let client = Arc::new(client);
        let tasks: Vec<_> = (0..20)
            .map(|task| {
                let client = Arc::clone(&client);
                tokio::spawn(async move {
                    for n in 0..50 {
                        client.set_key_value("g", format!("{task}-{n}"), &(task * n)).await.unwrap();
                        let read: Option<u64> = client.get_by_key("g", format!("{task}-{n}")).await.unwrap();
                        assert_eq!(read, Some(task * n));
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        // As a stream, with what streams can do.
        let units = client.scan("g", &Scan::units().prefix("7-")).await.unwrap();
        let sum = units.fold(0, |sum, unit| async move { sum + unit.unwrap().json::<u64>().unwrap() }).await;
        assert_eq!(sum, 7 * (0..50).sum::<u64>());
        let items = stream::iter(0..10_000).map(|n| BulkItem::json(format!("b{n}"), n.to_string()));
        assert_eq!(client.bulk("g", items, BulkOptions::default()).await.unwrap().written, 10_000);
        assert_eq!(client.count("g", &Scan::units()).await.unwrap().count, 11_000);
    });
    server.stop();
}

#[test]
fn a_list_is_read_no_further_than_it_is_asked_for() {
    let place = Place::new();
    let server = Server::on(&place);
    let client = server.client();
    let content = format!("\"{}\"", "x".repeat(10_000));
    let items = (0..5_000).map(|n| BulkItem::json(format!("{n:05}"), content.as_str()));
    client.bulk("g", items, BulkOptions { durability: Some(Durability::Buffered), go_on: false }).unwrap();
    // 50 MB that nobody asks for stay with the server: the first unit is there at once, and dropping the list is cheap.
    for _ in 0..20 {
        let mut units = client.scan("g", &Scan::units()).unwrap();
        assert_eq!(units.next().unwrap().unwrap().key, b"00000");
    }
    let begin = Instant::now();
    assert_eq!(client.scan("g", &Scan::units()).unwrap().count(), 5_000);
    assert!(begin.elapsed() < Duration::from_secs(60));
    server.stop();
}
