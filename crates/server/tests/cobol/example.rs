//! The programs of `examples/cobol`, on each compiler: what they print, and what `immuxdb file` shows of their files.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::support::{Compiler, command, compile, compilers, fails, good, immuxdb, prints, root, text};

/// A copy of the example.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root().join("examples/cobol")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

/// What `make run` prints.
fn run(folder: &Path, compile: &str, compiler: &Compiler) -> String {
    let mut make = command("make", folder);
    make.env("COBC", &compiler.cobc).args(["-s", "run", &format!("COMPILE={compile}")]);
    let output = make.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

#[test]
fn it_prints_what_is_expected_and_leaves_whole_files() {
    let expected = std::fs::read_to_string(root().join("examples/cobol/expected.txt")).unwrap();
    for compiler in compilers() {
        let folder = copy();
        let folder = folder.path();
        let compile = format!("{} cobc", immuxdb().display());
        assert_eq!(run(folder, &compile, &compiler), expected, "{}", compiler.name);
        look_at(folder);
        made_without_a_program(folder);
    }
}

/// The same source on the compiler's own files prints the same.
#[test]
fn it_prints_the_same_on_berkeley_db() {
    let expected = std::fs::read_to_string(root().join("examples/cobol/expected.txt")).unwrap();
    for compiler in compilers().iter().filter(|compiler| compiler.name == "gnucobol3") {
        let folder = copy();
        assert_eq!(run(folder.path(), "cobc", compiler), expected);
        let info = prints(folder.path(), &["file", "info", "CUSTFILE"]);
        assert!(info.starts_with("file          CUSTFILE, a Berkeley DB file (btree)\n"), "{info}");
        let says = fails(folder.path(), &["file", "dump", "CUSTFILE"]);
        assert!(says.contains("CUSTFILE is a Berkeley DB file (btree), not an indexed file of ImmuxDB"), "{says}");
        move_to_immuxdb(folder.path(), compiler);
    }
}

/// From Berkeley DB, as docs/COBOL.md tells it.
fn move_to_immuxdb(folder: &Path, compiler: &Compiler) {
    good(&command(&compiler.cobc, folder).args(["-x", "UNLOAD.cob"]).output().unwrap());
    assert_eq!(good(&command(folder.join("UNLOAD"), folder).output().unwrap()), "000007 CUSTOMERS UNLOADED\n");
    for number in ["", ".1", ".2"] {
        std::fs::remove_file(folder.join(format!("CUSTFILE{number}"))).unwrap();
    }
    let keys = ["--keys", "1:6,7:20:dup,27:15:dup", "--record-length", "50"];
    let loaded = prints(folder, &[&["file", "load", "CUSTFILE", "CUSTLIST"], &keys[..]].concat());
    assert_eq!(loaded, "loaded 7 records into CUSTFILE\n");
    compile(compiler, folder, "INQUIRE.cob");
    let inquire = command(folder.join("INQUIRE"), folder).args(["NUMBER", "000104"]).output().unwrap();
    assert_eq!(good(&inquire), "000104 Meier                Utrecht            750.00\n");
}

fn look_at(folder: &Path) {
    let info: Value = serde_json::from_str(&prints(folder, &["file", "info", "CUSTFILE", "--json"])).unwrap();
    assert_eq!(info["keys"], "1:6,7:20:dup,27:15:dup");
    assert_eq!((&info["records"], &info["versions"]), (&7.into(), &8.into()));
    assert_eq!((&info["max_record"], &info["live_bytes"]), (&50.into(), &350.into()));
    assert!(info["superseded_bytes"].as_u64().unwrap() > 0);
    assert_eq!(info["held_by"], Value::Array(Vec::new()));
    let info = prints(folder, &["file", "info", "ORDFILE"]);
    assert!(info.contains("records       6 of 32 bytes\nrecord key    bytes 1-8\n"), "{info}");
    assert!(info.contains("key 2         bytes 23-23, with duplicates\n"), "{info}");
    for file in ["CUSTFILE", "ORDFILE"] {
        let says = prints(folder, &["file", "verify", file]);
        assert!(says.contains("no fault"), "{says}");
    }

    let history = prints(folder, &["file", "history", "CUSTFILE", "000104", "--json"]);
    let towns: Vec<String> = history
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].as_str().unwrap()[26..41].trim().to_owned())
        .collect();
    assert_eq!(towns, ["Utrecht", "Delft"]);
    let history = prints(folder, &["file", "history", "ORDFILE", "00001005"]);
    let kinds: Vec<&str> = history.lines().skip(1).map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(kinds, ["deleted", "written"]);

    let towns = prints(folder, &["file", "dump", "CUSTFILE", "--key", "2", "--format", "ndjson"]);
    let numbers: Vec<String> = towns
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["key"].as_str().unwrap()[3..].to_owned())
        .collect();
    assert_eq!(numbers, ["101", "106", "105", "102", "107", "103", "104"]);
}

/// A file that `immuxdb file load` made is one that programs open, and one that they made can be loaded.
fn made_without_a_program(folder: &Path) {
    let mut dump = command(immuxdb(), folder);
    let mut dump = dump.args(["file", "dump", "CUSTFILE"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut load = command(immuxdb(), folder);
    load.args(["file", "load", "LOADED", "--keys", "1:6,7:20:dup,27:15:dup", "--record-length", "50"]);
    assert_eq!(good(&load.stdin(dump.stdout.take().unwrap()).output().unwrap()), "loaded 7 records into LOADED\n");
    assert!(dump.wait().unwrap().success());
    std::fs::rename(folder.join("LOADED"), folder.join("CUSTFILE")).unwrap();
    let inquire = command(folder.join("INQUIRE"), folder).args(["TOWN", "Utrecht"]).output().unwrap();
    let found = good(&inquire);
    assert_eq!(found.lines().map(|line| &line[..6]).collect::<Vec<_>>(), ["000103", "000104"]);
}
