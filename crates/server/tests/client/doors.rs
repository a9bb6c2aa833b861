//! The same commands through both doors, the files of a store and a running server: what they print, what they say is wrong, and how they end must be
//! the same, byte for byte. Only times, sizes and the name of the place differ.

use std::io::Write;
use std::process::Stdio;

use super::support::{Outcome, outcome};
use super::{Place, Server};

/// Commands, one a line, as a shell would take them (single quotes only); `< text` at the end is standard input.
const SCRIPT: &str = r#"
put books 1984 '{"title": "1984",  "price": 1.50}'
put books 1984 '{"title": "1984", "price": 2}'
put books 1984 '{"price": 3}' --insert
put books 1984 '{"price": 3}' --if-height 1
put books 1984 '{"price": 3}' --if-height 2 --durability process
put books new '1' --if-height 2
put books bad '{"price": '
put books odd 'no json'
put books lines --file - < {¶  "a": [1,¶ 2]¶}¶
put books raw --raw < some\bytes
put books 00ff --hex --raw 'x'
put books '' '"the empty key"'
put books .. '"dots"'
put books .bulk '"a reserved name"'
put books a/b%2F '"slashes"' --json
get books 1984
get books 1984 --json
get books 1984 --at 1
get books 1984 --at 1 --json
get books 1984 --at 99
get books 1984 --at 2001-01-01T00:00:00Z
get books lines
get books lines --json
get books lines --bytes
get books raw
get books raw --json
get books 00ff --hex --json
get books ''
get books ..
get books .bulk
get books a/b%2F
get books none
get books none --at 2
get book 1984
get books 1984 --chain defualt
history books 1984
history books 1984 --limit 2 --json
history books 1984 --limit 0
history books none
history books lines
delete books 1984
delete books 1984
delete books none
delete nothing none
history books 1984 --json
revert books 1984 --to 1
revert books 1984 --to 2001-01-01T00:00:00Z
revert books 1984 --to 1 --json
revert books 1984 --to 999
revert books none --to 1
revert nothing none --to 1
load rows.csv --grouping rows --index town=json:town --index both=json:town,-n
load rows.csv --grouping rows --index town=json:town
load rows.csv --grouping rows --index town=json:n
load rows.json --grouping rows --batch 2 --json
load wrong.ndjson --grouping rows
load unique.csv --grouping unique --index n='json:n unique'
load - --grouping in --format ndjson < {"id":1}¶{"id":2,"x":"ü"}¶
load missing.csv --grouping rows
scan rows
scan rows --json
scan rows --count
scan rows --count --json
scan rows --reverse --limit 2
scan rows --from 2 --to 4
scan rows --from 2 --through 4 --keys-only
scan rows --prefix 1 --keys-only --json
scan rows --from 32 --hex
scan rows --from zz --hex
scan rows --index town
scan rows --index town --value Oslo --json
scan rows --index town --value '"Oslo"' --count
scan rows --index town --from M --reverse
scan rows --index town --prefix O --keys-only
scan rows --index both --value '["Oslo", 2]'
scan rows --index both --from '["Oslo", "x"]' --limit 3 --json
scan rows --index both --value '["Oslo", '
scan rows --index both --value '[1, 2, 3]'
scan rows --index town --at 20
scan rows --index town --at 1
scan rows --index none
scan rows --at 9999
scan row
scan books
scan books --json
scan books --at 3 --json
index list
index list --json
index list rows
index list none
index create rows n json:n
index create rows n json:n
index create rows n json:town
index create rows wrong nonsense
index create rows again json:town unique
index create fresh first raw:0+4 sparse
index create fresh first raw:0+4
index drop rows n
index drop rows n --json
index drop none n
groupings
groupings --count
groupings --json --count
chains
chains --json
put notes 1 '{"a":1}' --chain other
groupings --chain other --json
chains
stats --json
stats --chain missing
groupings --chain missing
scan rows --chain missing
delete rows 1 --chain missing
config --json --chain 7
completions bash
"#;

#[test]
fn both_doors_say_the_same() {
    let (files, served) = (place(), place());
    let server = Server::on(&served);
    for line in SCRIPT.lines().filter(|line| !line.is_empty()) {
        let (arguments, input) = parse(line);
        let through_files = run(&files, &arguments, &input, None);
        let through_server = run(&served, &arguments, &input, Some(&server.url));
        assert_eq!(said(&through_files), said(&through_server), "{line}");
    }
    server.stop();
}

#[test]
fn a_long_list_and_a_long_load() {
    let (files, served) = (place(), place());
    let server = Server::on(&served);
    let rows: String = (0..30_000).map(|n| format!("{n},name {},{}\n", n % 100, n * 7919 % 30_000)).collect();
    for place in [&files, &served] {
        place.file("long.csv", format!("id,name,n\n{rows}"));
    }
    for line in [
        "load long.csv -g long --index name=json:name --batch 700",
        "index create long n json:n unique",
        "scan long --json",
        "scan long --index name --json",
        "scan long --index n --reverse --keys-only",
        "load long.csv -g long --json",
    ] {
        let (arguments, input) = parse(line);
        let (left, right) =
            (run(&files, &arguments, &input, None), run(&served, &arguments, &input, Some(&server.url)));
        assert!(left.out.len() > 50 && said(&left) == said(&right), "{line}: {} and {}", left.err, right.err);
    }
    server.stop();
}

#[test]
fn a_server_that_is_not_there_or_wants_a_token() {
    let place = place();
    let error = |arguments: &[&str]| place.run(arguments).err;
    assert!(error(&["get", "g", "k", "--server", "127.0.0.1:1991"]).contains("does not begin with http://"));
    assert!(error(&["get", "g", "k", "--server", "https://127.0.0.1"]).contains("https is not supported"));
    let nobody = place.run(&["get", "g", "k", "--server", "http://127.0.0.1:1"]);
    assert_eq!(nobody.code, 1);
    assert!(nobody.err.starts_with("error: no connection to 127.0.0.1:1: "), "{}", nobody.err);
    assert!(nobody.err.contains("\n help: start it with `immuxdb serve`"), "{}", nobody.err);

    let server = Server::with(&place, &[("IMMUXDB_TOKEN", "sesame")]);
    let refused = place.run(&["groupings", "--server", &server.url]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("IMMUXDB_TOKEN"), "{}", refused.err);
    place.file("immuxdb.toml", format!("server = '{}'\ntoken = 'sesame'\n", server.url));
    assert_eq!(place.prints(&["put", "g", "k", "1"]), "wrote k in g, at height 1\n");
    assert_eq!(place.prints(&["get", "g", "k"]), "1\n");
    server.stop();
}

/// A place with files to load.
#[test]
fn what_works_on_files_does_not_take_those_here_for_the_server() {
    let place = Place::new();
    place.prints(&["put", "g", "k", "1"]);
    // Whoever names a server means its store, and not the one that happens to lie here.
    for arguments in [&["verify"][..], &["backup", "kept"]] {
        let error = place.fails(2, &[arguments, &["--server", "http://127.0.0.1:1"]].concat());
        assert!(error.contains("works on files") && error.contains("--data-root"), "{error}");
    }
    assert!(!place.path().join("kept").exists());
    place.file("immuxdb.toml", "server = \"http://127.0.0.1:1\"\n");
    assert!(place.fails(2, &["verify"]).contains("file immuxdb.toml"));
    // A store that is named is meant.
    place.prints(&["verify", "--data-root", "immuxdb-data"]);
}

fn place() -> Place {
    let place = Place::new();
    place.file("rows.csv", "id,town,n\n1,Oslo,1\n2,Oslo,2\n3,Riga,2\n4,,3\n5,Malmö,0.5\n");
    place.file(
        "rows.json",
        "[{\"id\": 1, \"town\": \"Rome\"},\n{\"id\":6,\"town\":null},{\"id\":1,\"n\":[1,2]}, {\"id\":7}]",
    );
    place.file("wrong.ndjson", "{\"id\":8}\n\n{\"id\":9}\n{\"id\":\n");
    place.file("unique.csv", "id,n\n1,1\n2,2\n\n3,2\n4,4\n");
    place
}

/// Arguments and standard input of a line of the script.
fn parse(line: &str) -> (Vec<String>, String) {
    let (command, input) = line.split_once(" < ").unwrap_or((line, ""));
    let mut arguments = Vec::new();
    let mut word: Option<String> = None;
    for (number, piece) in command.split('\'').enumerate() {
        if number % 2 == 1 {
            word.get_or_insert_default().push_str(piece);
            continue;
        }
        for character in piece.chars() {
            match character {
                ' ' => arguments.extend(word.take()),
                other => word.get_or_insert_default().push(other),
            }
        }
    }
    arguments.extend(word);
    (arguments, input.replace('¶', "\n"))
}

fn run(place: &Place, arguments: &[String], input: &str, server: Option<&str>) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = place.command(&arguments);
    if let Some(url) = server {
        command.env("IMMUXDB_SERVER", url);
    }
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // The command may end without reading all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let mut outcome = outcome(child.wait_with_output().unwrap());
    // The names of the place.
    for text in [&mut outcome.out, &mut outcome.err] {
        *text = text.replace("./immuxdb-data", "PLACE").replace(server.unwrap_or("PLACE"), "PLACE");
    }
    outcome
}

/// What was said, without what may differ: times, durations, and sizes that depend on what the background has done.
fn said(outcome: &Outcome) -> (i32, String, String) {
    (outcome.code, normal(&outcome.out), normal(&outcome.err))
}

fn normal(text: &str) -> String {
    let mut normal = String::new();
    for line in text.lines() {
        let line = without_times(line);
        if let (Some(begin), Some(end)) = (line.strip_prefix("took "), line.split_once(" to load ")) {
            let (items, rest) = end.1.split_once(", average ").unwrap_or_default();
            assert!(begin.contains('s') && rest.contains("ms per item"), "{line}");
            normal += &format!("took TIME to load {items}, average {}\n", rest.split_once(' ').unwrap_or_default().1);
        } else if let Ok(serde_json::Value::Object(mut object)) = serde_json::from_str(&line)
            && (object.contains_key("milliseconds_per_row")
                || object.contains_key("log_bytes")
                || object.contains_key("origin"))
        {
            for field in [
                "seconds",
                "milliseconds_per_row",
                "synced_height",
                "log_bytes",
                "index_bytes",
                "newest_entries_bytes",
                "runs",
            ] {
                if let Some(value) = object.get_mut(field) {
                    *value = "…".into();
                }
            }
            // The setting that says which door it is.
            if object.get("setting").is_some_and(|setting| setting == "server") {
                object.retain(|field, _| field == "setting");
            }
            normal += &format!("{}\n", serde_json::Value::Object(object));
        } else {
            normal += &line;
            normal.push('\n');
        }
    }
    normal
}

/// The line with `TIME` for each time like 2026-11-30T20:52:31.331020Z.
fn without_times(line: &str) -> String {
    const FORM: &[u8] = b"dddd-dd-ddTdd:dd:dd.ddddddZ";
    let is_time = |bytes: &[u8]| {
        bytes.len() == FORM.len()
            && bytes
                .iter()
                .zip(FORM)
                .all(|(byte, form)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form })
    };
    let mut rest = line;
    let mut out = String::new();
    while let Some(first) = rest.chars().next() {
        if rest.as_bytes().get(..FORM.len()).is_some_and(is_time) {
            out.push_str("TIME");
            rest = &rest[FORM.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}
