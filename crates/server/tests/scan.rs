//! Lists of units, by key and by index, and indexes.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod support;

use std::process::Stdio;

use serde_json::json;
use support::{Place, outcome};

const PEOPLE: &str = "\
id,name,city,age
1,Ann,Brno,30
2,Bob,Prague,25
3,Cyd,Brno,4
4,Dan,,25
";

fn people() -> Place {
    let place = Place::new();
    place.file("people.csv", PEOPLE);
    assert_eq!(place.load(&["people.csv", "--grouping", "people"]), (4, 4));
    place
}

fn keys(place: &Place, arguments: &[&str]) -> String {
    let objects = place.objects(&[&["scan", "people"], arguments].concat());
    objects.iter().map(|object| object["key"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn by_unit_key() {
    let place = people();
    assert_eq!(
        place.prints(&["scan", "people", "--limit", "2"]),
        "key  height  content\n\
         1         1  {\"id\":1,\"name\":\"Ann\",\"city\":\"Brno\",\"age\":30}\n\
         2         1  {\"id\":2,\"name\":\"Bob\",\"city\":\"Prague\",\"age\":25}\n"
    );
    assert_eq!(place.prints(&["scan", "people", "--keys-only", "--reverse", "-l", "1"]), "key  height\n4         1\n");
    assert_eq!(keys(&place, &["--from", "2"]), "2 3 4");
    assert_eq!(keys(&place, &["--from", "2", "--to", "4"]), "2 3");
    assert_eq!(keys(&place, &["--from", "2", "--through", "4"]), "2 3 4");
    assert_eq!(keys(&place, &["--prefix", "3"]), "3");
    assert_eq!(keys(&place, &["--from", "33", "--hex"]), "3 4");
    assert_eq!(keys(&place, &["--reverse", "--to", "3"]), "2 1");
    place.prints(&["put", "people", "11", "{}"]);
    assert_eq!(keys(&place, &["--through", "1"]), "1");
    assert_eq!(keys(&place, &["--at", "1"]), "1 2 3 4");
    assert_eq!(place.prints(&["scan", "people", "--count"]), "5\n");
    assert_eq!(place.objects(&["scan", "people", "--count", "--at", "1"]), [json!({"count": 4})]);
    assert_eq!(place.prints(&["scan", "people", "--prefix", "x"]), "key  height  content\n");
    assert_eq!(place.objects(&["scan", "people", "--prefix", "x"]).len(), 0);
    assert_eq!(
        place.objects(&["scan", "people", "--keys-only", "-l", "1"]),
        [json!({"key": "1", "height": 1, "kind": "json"})]
    );
}

#[test]
fn by_index() {
    let place = people();
    assert_eq!(
        place.prints(&["index", "create", "people", "by_age", "json:age"]),
        "people has the index by_age (json:age) since height 2\n"
    );
    assert_eq!(
        place.objects(&["index", "create", "people", "by_city_age", "json:city,-age"]),
        [json!({"grouping": "people", "index": "by_city_age", "height": 3})]
    );
    assert_eq!(
        place.prints(&["index", "list"]),
        "grouping  index        definition      since\n\
         people    by_age       json:age            2\n\
         people    by_city_age  json:city,-age      3\n"
    );
    assert_eq!(
        place.objects(&["index", "list", "people"])[0],
        json!({"grouping": "people", "index": "by_age", "definition": "json:age", "since": 2, "ready": true})
    );
    assert_eq!(
        place.prints(&["scan", "people", "--index", "by_city_age"]),
        "value          key  height  content\n\
         [\"\",25]        4         1  {\"id\":4,\"name\":\"Dan\",\"city\":\"\",\"age\":25}\n\
         [\"Brno\",30]    1         1  {\"id\":1,\"name\":\"Ann\",\"city\":\"Brno\",\"age\":30}\n\
         [\"Brno\",4]     3         1  {\"id\":3,\"name\":\"Cyd\",\"city\":\"Brno\",\"age\":4}\n\
         [\"Prague\",25]  2         1  {\"id\":2,\"name\":\"Bob\",\"city\":\"Prague\",\"age\":25}\n"
    );
    assert_eq!(keys(&place, &["--index", "by_age"]), "3 2 4 1");
    assert_eq!(keys(&place, &["--index", "by_age", "--reverse"]), "1 4 2 3");
    assert_eq!(keys(&place, &["--index", "by_age", "--value", "25"]), "2 4");
    assert_eq!(keys(&place, &["--index", "by_age", "--value", "\"25\""]), "");
    assert_eq!(keys(&place, &["--index", "by_age", "--from", "4", "--to", "30"]), "3 2 4");
    assert_eq!(keys(&place, &["--index", "by_age", "--from", "-1", "--through", "30"]), "3 2 4 1");
    assert_eq!(keys(&place, &["--index", "by_city_age", "--value", "Brno"]), "1 3");
    assert_eq!(keys(&place, &["--index", "by_city_age", "--value", "[\"Brno\", 4]"]), "3");
    assert_eq!(keys(&place, &["--index", "by_city_age", "--prefix", "Pr"]), "2");
    assert_eq!(place.prints(&["scan", "people", "-i", "by_age", "--value", "25", "--count"]), "2\n");
    assert_eq!(
        place.objects(&["scan", "people", "--index", "by_age", "--limit", "1"]),
        [
            json!({"value": 4, "key": "3", "height": 1, "kind": "json", "content": {"id": 3, "name": "Cyd", "city": "Brno", "age": 4}})
        ]
    );
    assert_eq!(
        place.prints(&["index", "drop", "people", "by_age"]),
        "dropped the index by_age of people at height 4\n"
    );
    assert_eq!(
        place.fails(3, &["scan", "people", "--index", "by_age"]),
        "error: there is no index \"by_age\" in grouping \"people\"\n help: there are: by_city_age\n"
    );
    assert_eq!(place.run(&["index", "drop", "people", "by_age"]).code, 3);
}

#[test]
fn raw_records_and_unique_indexes() {
    let place = Place::new();
    for record in ["0001ANN", "0002BOB", "0003ANN"] {
        place.prints(&["put", "r", &record[..4], record, "--raw"]);
    }
    place.prints(&["index", "create", "r", "name", "raw:4+3"]);
    assert_eq!(
        place.prints(&["scan", "r", "-i", "name", "--value", "ANN"]),
        "value  key   height  content\n\
         ANN    0001       1  0001ANN\n\
         ANN    0003       3  0003ANN\n"
    );
    let duplicate = place.fails(1, &["index", "create", "r", "unique_name", "raw:4+3", "unique"]);
    assert!(
        duplicate.starts_with("error: index \"unique_name\" is unique and has this key value already"),
        "{duplicate}"
    );
    place.prints(&["index", "create", "r", "number", "raw:0+4 unique"]);
    let duplicate = place.fails(1, &["put", "r", "x", "0001XYZ", "--raw"]);
    assert!(duplicate.starts_with("error: index \"number\" is unique"), "{duplicate}");
    let exists = place.fails(1, &["index", "create", "r", "name", "raw:0+1"]);
    assert!(exists.starts_with("error: grouping \"r\" has an index \"name\" already"), "{exists}");
    assert_eq!(
        place.fails(2, &["index", "create", "r", "i", "jsn:a"]).lines().last(),
        Some(" help: `immuxdb index create --help` shows how a definition is written")
    );
}

#[test]
fn an_index_younger_than_the_height() {
    let place = people();
    place.prints(&["index", "create", "people", "by_age", "json:age"]);
    let outcome = place.run(&["scan", "people", "--index", "by_age", "--at", "1", "--keys-only"]);
    assert_eq!(
        outcome.out,
        "value  key  height\n4      3         1\n25     2         1\n25     4         1\n30     1         1\n"
    );
    assert_eq!(outcome.err, "note: the index is younger than this height: all units were read\n");
}

#[test]
fn wrong_values() {
    let place = people();
    place.prints(&["index", "create", "people", "by_age", "json:age"]);
    let wrong = place.fails(2, &["scan", "people", "-i", "by_age", "--value", "[1"]);
    assert!(wrong.starts_with("error: the value [1 is not valid JSON: "), "{wrong}");
    assert_eq!(place.run(&["scan", "people", "-i", "by_age", "--value", "[1, 2]"]).code, 2);
    assert_eq!(place.run(&["scan", "people", "--value", "1"]).code, 2);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let rows: String =
        (0..20_000).map(|number| format!("{{\"id\":{number},\"text\":\"{}\"}}\n", "x".repeat(50))).collect();
    place.file("rows.ndjson", rows);
    place.load(&["rows.ndjson", "-g", "rows"]);
    for json in [&[][..], &["--json"]] {
        let mut child = place.command(&[&["scan", "rows"], json].concat()).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let outcome = outcome(child.wait_with_output().unwrap());
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    }
}
