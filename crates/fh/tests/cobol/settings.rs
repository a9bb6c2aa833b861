//! What an operator can set.

use std::path::Path;
use std::process::Command;

use super::support::compiler::{Compiler, Files};
use super::support::program::{command, finish};
use super::support::session::Session;

fn session(compiler: Compiler, folder: &Path, variable: &str, value: &str) -> Session {
    Session::of(command(compiler, Files::Immux, &["driver"], folder).arg("datafile").env(variable, value))
}

/// `IMMUX_DUPLICATE_STATUS`: when 02 is told.
#[test]
fn whether_duplicates_are_told() {
    for compiler in Compiler::all() {
        for (value, write, read) in [("none", "00", "00"), ("write", "02", "00"), ("", "02", "00"), ("all", "02", "02")]
        {
            let folder = tempfile::tempdir().unwrap();
            let mut session = session(*compiler, folder.path(), "IMMUX_DUPLICATE_STATUS", value);
            session.expect("open output", "00");
            session.expect("write 10 Bern", "00");
            session.expect("write 20 Bern", write);
            session.expect("close", "00");
            session.expect("open input", "00");
            let answer = session.ask("town Bern");
            assert!(answer.starts_with(read), "{value}: {answer}");
            session.expect("next", "00 20     Bern   Bern");
            session.end();
        }
    }
}

#[test]
fn a_value_that_cannot_be_is_named() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(*compiler, folder.path(), "IMMUX_DUPLICATE_STATUS", "sometimes");
        let message = session.fails("open output", "30");
        assert!(message.contains("IMMUX_DUPLICATE_STATUS") && message.contains("none, write or all"), "{message}");
        session.end();
        assert!(!folder.path().join("datafile").exists());
    }
}

/// `IMMUX_SYNC`, libcob's own `COB_SYNC`, and `sync` in its configuration file: each write is synced before it returns. A
/// library that is loaded first tells of each sync.
#[test]
fn that_each_write_survives_power_loss() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("syncs.c"), folder.path().join("syncs.so"));
    let function = |name: &str| format!("int {name}(int fd) {{ (void)fd; return write(2, \"synced\\n\", 7) - 7; }}\n");
    std::fs::write(&source, format!("#include <unistd.h>\n{}{}", function("fdatasync"), function("fsync"))).unwrap();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap();
    assert!(made.success());
    let configuration = folder.path().join("sync.cfg");
    std::fs::write(&configuration, "sync true\n").unwrap();
    let configuration = configuration.to_str().unwrap();
    for compiler in Compiler::all() {
        for (variable, value, syncs) in [
            ("IMMUX_SYNC", "1", true),
            ("COB_SYNC", "true", true),
            ("COB_RUNTIME_CONFIG", configuration, true),
            ("IMMUX_SYNC", "0", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut command = command(*compiler, Files::Immux, &["driver"], folder.path());
            let command = command.arg("datafile").env(variable, value).env("LD_PRELOAD", &library);
            let mut session = Session::of(command);
            for line in ["open output", "close", "open i-o"] {
                session.ask(line);
            }
            for line in ["write 10 Bern", "rewrite 10 Chur", "delete 10"] {
                let answer = session.ask(line);
                assert_eq!(answer.starts_with("synced\n"), syncs, "{variable}={value}, {line}: {answer}");
                assert!(answer.ends_with("00"), "{answer}");
            }
            session.end();
        }
    }
}

/// `COB_KEYCHECK=on`, or `keycheck on` in libcob's configuration file: a program must declare all keys of the file.
#[test]
fn that_a_program_declares_all_keys() {
    for compiler in Compiler::all() {
        let configuration = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&configuration, "keycheck on\n").unwrap();
        for (variable, value) in
            [("COB_KEYCHECK", std::ffi::OsStr::new("on")), ("COB_RUNTIME_CONFIG", configuration.path().as_os_str())]
        {
            // 3.1.2 takes the parameter for a mistake.
            if variable == "COB_RUNTIME_CONFIG" && *compiler == Compiler::Three {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let mut run = command(*compiler, Files::Immux, &["status"], folder.path());
            let ran = finish(run.env(variable, value));
            let line = ran.out.lines().find(|line| line.starts_with("fewer alternate keys")).unwrap().to_owned();
            assert!(line.ends_with("39"), "{variable}: {line}");
        }
    }
}

/// `IMMUX_HISTORY=keep`: OPEN OUTPUT removes the records, and keeps what they were.
#[test]
fn whether_a_file_started_anew_keeps_its_history() {
    for compiler in Compiler::all() {
        for (value, versions) in [("keep", 3), ("drop", 1)] {
            let folder = tempfile::tempdir().unwrap();
            for town in ["Bern", "Chur"] {
                let mut session = session(*compiler, folder.path(), "IMMUX_HISTORY", value);
                session.expect("open output", "00");
                session.expect(&format!("write 10 {town}"), "00");
                session.end();
            }
            let mut session = Session::start(*compiler, folder.path(), "datafile");
            session.expect("open input", "00");
            session.expect("next", "00 10     Chur   Chur");
            session.expect("next", "10");
            let file = immuxdb_isam::IndexedFile::open(&folder.path().join("datafile")).unwrap();
            let kept = file.history(b"10    ").unwrap();
            assert_eq!(kept.count(), versions, "{value}: written, removed, written");
            session.end();
        }
    }
}
