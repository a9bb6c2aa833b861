//! What indexed files do, as scripts that are read like a transcript: commands, a line, and what they give.
//!
//! Each script in `scripts/` runs twice, with plenty of memory and with so little that nearly everything is in runs, and
//! must give the same. After a change, `UPDATE_GOLDENFILES=1 cargo test -p immuxdb_isam --test scripts` writes what the
//! commands give now into the scripts; the difference is then read by a person. `script/mod.rs` lists the commands.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod script;

use std::path::{Path, PathBuf};

use immuxdb_isam::Settings;
use script::Session;

/// A delta is full at 4 KiB with this memory.
const LITTLE_MEMORY: usize = 32 << 10;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts")
}

fn run(name: &str) {
    let path = directory().join(name);
    goldenscript::run(&mut Session::new(Settings::default()), &path).unwrap();
    let little = Settings { memory_limit: LITTLE_MEMORY, ..Settings::default() };
    let expected = std::fs::read_to_string(&path).unwrap();
    let given = goldenscript::generate(&mut Session::new(little), &expected).unwrap();
    for (number, (given, expected)) in given.lines().zip(expected.lines()).enumerate() {
        assert_eq!(given, expected, "{name} with little memory, line {}", number + 1);
    }
    assert_eq!(given.lines().count(), expected.lines().count(), "{name} with little memory");
}

/// A test for each script, and one that none is forgotten.
macro_rules! scripts {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_script_is_run() {
            let mut files: Vec<String> = std::fs::read_dir(directory())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            files.sort();
            let mut names = vec![$(stringify!($name)),*];
            names.sort();
            assert_eq!(files, names);
        }
    };
}

scripts! {
    access_modes
    attributes
    basics
    connectors
    duplicate_status
    duplicates
    empty_and_foreign
    history
    lengths
    names
    optional
    output
    position
    remove
    sequence
    sparse_and_split
    start
    unique
}
