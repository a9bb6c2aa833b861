//! Who may have a file open beside whom.

use immuxdb_isam::{OpenMode, RunUnit, Settings};
use tempfile::TempDir;

use super::{MODES, Worker, make, numbers, open, open_in, status_of};

#[test]
fn many_may_read_or_one_may_have_the_file() {
    let folder = TempDir::new().unwrap();
    for (first, _, _) in MODES {
        for (second, mode, sharing) in MODES {
            let path = folder.path().join("FILE");
            make(&path, 3);
            let mut other = Worker::start(first, &path);
            assert_eq!(other.answer().as_deref(), Some("00"));
            let run_unit = RunUnit::default();
            let outcome = open_in(&run_unit, &path, mode, sharing, &Settings::default());
            let expected = if first == "input" && second == "input" { "00" } else { "61" };
            assert_eq!(status_of(&outcome), expected, "{second} beside {first}");
            // However the other one ends, the file is free at once.
            if second == "io" {
                other.kill();
            } else {
                other.go_on();
                while other.answer().is_some() {}
            }
            drop(outcome);
            let freed = open_in(&run_unit, &path, mode, sharing, &Settings::default());
            assert_eq!(status_of(&freed), "00", "{second} after {first}");
        }
    }
}

#[test]
fn a_run_unit_takes_more_and_gives_it_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    let status = |task| Worker::start(task, &path).answer().unwrap();
    let run_unit = RunUnit::default();
    let reader = open(&run_unit, &path, OpenMode::Input).unwrap();
    let other = {
        let mut other = Worker::start("input", &path);
        assert_eq!(other.answer().unwrap(), "00");
        other
    };
    assert_eq!(status_of(&open(&run_unit, &path, OpenMode::InputOutput)), "61", "another program reads");
    assert_eq!(status("input"), "00", "what failed took nothing away");
    drop(other);
    let writer = open(&run_unit, &path, OpenMode::InputOutput).unwrap();
    assert_eq!(status("input"), "61");
    writer.close().unwrap();
    assert_eq!((status("input"), status("io")), ("00".to_owned(), "61".to_owned()), "it only reads again");
    reader.close().unwrap();
    assert_eq!(status("io"), "00");
}

#[test]
fn a_lock_is_not_inherited() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    let run_unit = RunUnit::default();
    let file = open(&run_unit, &path, OpenMode::InputOutput).unwrap();
    let mut started = Worker::start("wait", &path);
    assert_eq!(started.answer().unwrap(), "here");
    file.close().unwrap();
    assert_eq!(Worker::start("io", &path).answer().unwrap(), "00", "while the program that was started goes on");
    started.go_on();
}

#[test]
fn a_program_may_change_its_directory_while_it_has_a_file_open() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    assert_eq!(Worker::start("change directory", &path).answer().unwrap(), "00");
    assert_eq!(numbers(&path).len(), 2_000);
    assert!(folder.path().join("FILE.idx").exists());
}
