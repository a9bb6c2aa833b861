//! `immuxdb file`, on files that it makes itself.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod support;

use support::Place;

const PEOPLE: &str = "A1Ada       London\nB2Bob       Paris\nC3Cyd       London\n";
const MAKE: [&str; 9] = ["file", "load", "P", "-", "--keys", "1:2,13:10:dup", "-l", "30", "--format=lines"];

/// A place with three records in a file.
fn place() -> Place {
    let place = Place::new();
    let made = place.run_with(&MAKE, PEOPLE);
    assert_eq!((made.out.as_str(), made.err.as_str()), ("loaded 3 records into P\n", ""));
    place
}

#[test]
fn records_go_out_and_in_in_each_format() {
    let place = place();
    assert_eq!(place.prints(&["file", "dump", "P", "--format", "lines"]), PEOPLE);
    let fixed = place.prints(&["file", "dump", "P"]);
    assert_eq!(fixed.len(), 90);
    assert!(fixed.starts_with("A1Ada       London            B2"));
    let by_town = place.prints(&["file", "dump", "P", "--key", "1", "--reverse", "--format", "lines"]);
    assert_eq!(by_town, "B2Bob       Paris\nC3Cyd       London\nA1Ada       London\n");
    for format in ["fixed", "lines", "ndjson"] {
        let dump = place.prints(&["file", "dump", "P", "--format", format]);
        let load = ["file", "load", "Q", "--replace", "-k", "1:2,13:10:dup", "-l", "30", "--format", format];
        assert_eq!(place.run_with(&load, &dump).out, "loaded 3 records into Q\n", "{format}");
        assert_eq!(place.prints(&["file", "dump", "Q"]), fixed, "{format}");
    }
    let added = place.run_with(&["file", "load", "Q", "--add", "-f", "lines"], "D4Dan       Oslo\n");
    assert_eq!(added.out, "loaded 1 record into Q\n");
    assert_eq!(place.objects(&["file", "info", "Q"])[0]["records"], 4);
}

#[test]
fn records_with_lengths_of_their_own_and_bytes_that_are_no_text() {
    let place = Place::new();
    let records = "{\"record\":\"A1\"}\n{\"record\":\"B2 x \"}\n{\"record_base64\":\"QzP/AA==\"}\n";
    let made = place.run_with(&["file", "load", "V", "-k", "1:2", "-l", "2-8"], records);
    assert_eq!(made.out, "loaded 3 records into V\n", "{}", made.err);
    let out = place.prints(&["file", "dump", "V"]);
    let expected = "{\"key\":\"A1\",\"record\":\"A1\"}\n{\"key\":\"B2\",\"record\":\"B2 x \"}\n{\"key\":\"C3\",\"record_base64\":\"QzP/AA==\"}\n";
    assert_eq!(out, expected);
    let info = place.prints(&["file", "info", "V"]);
    assert!(info.contains("records       3 of 2 to 8 bytes\n"), "{info}");
    let lines = place.run(&["file", "dump", "V", "--format", "lines"]);
    assert_eq!(lines.code, 1);
    assert_eq!(lines.out, "A1\nB2 x \n");
    assert!(lines.err.contains("byte 4 of it is 0x00"), "{}", lines.err);
}

#[test]
fn a_load_that_cannot_be_says_why() {
    let place = place();
    let fails = |arguments: &[&str], code, what: &str| {
        let says = place.fails(code, arguments);
        assert!(says.contains(what), "{arguments:?}: {says}");
    };
    fails(&["file", "load", "P"], 1, "P is there already");
    fails(&["file", "load", "new"], 2, "its keys must be given with --keys");
    fails(&["file", "load", "new", "-k", "1:2"], 2, "must be given with --record-length");
    fails(&["file", "load", "new", "-k", "1:2", "-l", "9-2"], 2, "\"9-2\" is no record length");
    fails(&["file", "load", "new", "-k", "1:x", "-l", "9"], 2, "a length is no number from 1");
    fails(&["file", "load", "new", "-k", "1:2,9:3", "-l", "9"], 1, "reaches beyond the record's 9 bytes");
    fails(&["file", "load", "new", "none", "-k", "1:2", "-l", "9"], 3, "none can't be read");
    fails(&["file", "load", "new", "P", "-k", "1:2", "-l", "9"], 1, "its records do not stand one after another");
    assert!(!place.path().join("new").exists(), "nothing was made");

    let twice = place.run_with(&["file", "load", "P", "--add", "-f", "lines"], "D4Dan\nA1Ann\nE5Eve\n");
    assert_eq!(twice.code, 1);
    assert!(twice.err.starts_with("error: record 2 of the input: another record has this value"), "{}", twice.err);
    assert!(twice.err.contains("P got the 1 record before it"), "{}", twice.err);
    assert_eq!(place.objects(&["file", "info", "P"])[0]["records"], 4);
    // What is to come instead of the records must be whole.
    let instead = place.run_with(&["file", "load", "P", "--replace", "-f", "lines"], "F6Fay\nG7Gus\nF6Fay\n");
    assert_eq!(instead.code, 1);
    assert!(instead.err.starts_with("error: record 3 of the input: another record has this value"), "{}", instead.err);
    assert!(instead.err.contains("P is as it was"), "{}", instead.err);
    assert_eq!(place.objects(&["file", "info", "P"])[0]["records"], 4);
    let beside: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!beside.iter().any(|name| name.to_string_lossy().contains(".new-")), "{beside:?}");
    let instead = place.run_with(&["file", "load", "P", "--replace", "-f", "lines"], "F6Fay\nG7Gus\n");
    assert_eq!(instead.out, "loaded 2 records into P\n", "{}", instead.err);
    assert_eq!(place.objects(&["file", "info", "P"])[0]["records"], 2);
    place.file("text", PEOPLE);
    fails(&["file", "load", "text", "--replace"], 1, "text is a text file");
    assert_eq!(std::fs::read_to_string(place.path().join("text")).unwrap(), PEOPLE);
}

#[test]
fn a_damaged_byte_is_found_and_the_rest_can_be_read() {
    let place = place();
    assert!(place.prints(&["file", "verify", "P"]).contains("no fault"));
    let path = place.path().join("P");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(5).position(|window| window == b"B2Bob").unwrap();
    bytes[at + 2] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let verified = place.run(&["file", "verify", "P"]);
    assert_eq!(verified.code, 1);
    assert!(verified.out.contains("fault: P, offset "), "{}", verified.out);
    assert!(verified.err.contains("found in P\n help: put back a copy of the file"), "{}", verified.err);
    assert!(place.fails(3, &["file", "verify", "none"]).contains("there is no such file"));
}

#[test]
fn an_index_is_made_anew() {
    let place = Place::new();
    let records: String = (0..40_000).map(|number| format!("{number:08}{:>12}\n", number % 97)).collect();
    let made = place.run_with(&["file", "load", "N", "-k", "1:8,9:12:dup", "-l", "200", "-f", "lines"], &records);
    assert_eq!(made.out, "loaded 40,000 records into N\n", "{}", made.err);
    let index = place.path().join("N.idx");
    assert!(index.is_dir(), "a file of this size has an index");
    let info = place.objects(&["file", "info", "N"]).remove(0);
    assert_eq!(info["records"], 40_000);
    std::fs::remove_dir_all(&index).unwrap();
    assert!(place.prints(&["file", "rebuild", "N"]).starts_with("the index of N is new: "));
    assert!(index.is_dir());
    assert!(place.prints(&["file", "verify", "N"]).contains("no fault"));
    let dump = place.prints(&["file", "dump", "N", "-f", "lines", "-k", "1"]);
    assert_eq!(dump.lines().next(), Some("00000000           0"));
    assert_eq!(dump.lines().count(), 40_000);
}

#[test]
fn history_pads_the_key_and_knows_what_never_was() {
    let place = Place::new();
    let load = ["file", "load", "H", "-k", "1:4", "-l", "8", "-f", "lines"];
    place.run_with(&load, "A   one\n");
    let lines = place.prints(&["file", "history", "H", "A"]);
    assert!(lines.contains("written  A   one\n"), "{lines}");
    assert!(place.fails(3, &["file", "history", "H", "B"]).contains("H has no record B   , and never had one"));
    assert!(place.fails(2, &["file", "history", "H", "ABCDE"]).contains("the record key has 4 bytes"));
    assert_eq!(place.objects(&["file", "history", "H", "41202020", "--hex"])[0]["record"], "A   one ");
}
