//! What the engine does, as scripts that are read like a transcript: commands, a line, and what they give.
//!
//! Each script in `scripts/` runs in all arrangements of [`ARRANGEMENTS`], and must give the same: it makes no difference
//! whether a version or an entry is in memory, in a run, in several merged runs or was made anew from the log.
//!
//! After a change, `UPDATE_GOLDENFILES=1 cargo test -p libimmuxdb --test scripts` writes what the commands give now (in
//! the first arrangement) into the scripts; the difference is then read by a person. `script/commands.rs` lists the
//! commands, `script/notation.rs` says how bytes are written.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod script;
mod support;

use std::path::{Path, PathBuf};

use script::arrangement::ARRANGEMENTS;
use script::session::Session;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts")
}

fn run(name: &str) {
    let path = directory().join(name);
    for (place, arrangement) in ARRANGEMENTS.iter().enumerate() {
        let mut session = Session::new(*arrangement);
        if place == 0 {
            goldenscript::run(&mut session, &path).unwrap_or_else(|error| panic!("{name}: {error}"));
            continue;
        }
        let expected = std::fs::read_to_string(&path).unwrap();
        let given = goldenscript::generate(&mut session, &expected);
        let given = given.unwrap_or_else(|error| panic!("{name}, {}: {error}", arrangement.name));
        if let Some((line, (given, expected))) =
            given.lines().zip(expected.lines()).enumerate().find(|(_, (given, expected))| given != expected)
        {
            let line = line + 1;
            panic!("{name}, {}, line {line}:\n  expected {expected}\n  given    {given}", arrangement.name);
        }
        assert_eq!(given.lines().count(), expected.lines().count(), "{name}, {}: lines", arrangement.name);
    }
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
    basics
    clear
    cursors
    duplicates
    fields
    history
    json
    keys_of_all_kinds
    many_units
    many_versions
    numbers
    order_of_types
    ranges
    raw
    restarts
    second_index
    sizes
    transactions
    unique
    unique_in_transactions
    young_index
}
