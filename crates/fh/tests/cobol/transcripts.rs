//! Programs that print tables: each on both compilers, and with gnucobol3 on Berkeley DB, too. What ImmuxDB tells on
//! standard error is part of the table.

use super::support::compiler::{Compiler, Files};
use super::support::program::{command, finish, run};
use super::support::transcript::{expect, expect_berkeley};

/// A main program with the module that it calls.
#[test]
fn modules() {
    check(&["modules", "modules_sub"]);
}

/// A program that contains the library, of which nothing is installed: all reaches it, CANCEL, DELETE FILE and SORT too.
#[test]
fn linked_statically() {
    for compiler in Compiler::all() {
        for sources in [&["modules", "modules_sub"][..], &["delete_file"], &["sort"]] {
            let folder = tempfile::tempdir().unwrap();
            let mut command = command(*compiler, Files::ImmuxStatic, sources, folder.path());
            let ran = finish(command.env_remove("LD_LIBRARY_PATH"));
            expect(sources[0], "out", compiler.name(), &ran.good());
        }
    }
}

/// Runs a program wherever it can run, and compares what it prints.
fn check(sources: &[&str]) {
    let name = sources[0];
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let ran = run(*compiler, Files::Immux, sources, folder.path(), &[]);
        let err = ran.err.replace(&format!("{}/", folder.path().display()), "");
        expect(name, "err", compiler.name(), &err.replace(&folder.path().display().to_string(), "."));
        let ours = ran.good();
        expect(name, "out", compiler.name(), &ours);
        if *compiler == Compiler::Three {
            let folder = tempfile::tempdir().unwrap();
            let theirs = run(*compiler, Files::Berkeley, sources, folder.path(), &[]).good();
            expect_berkeley(name, &ours, &theirs);
        }
    }
}

macro_rules! transcripts {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(&[stringify!($name)]);
            }
        )*
    };
}

transcripts!(access, at_end, declaratives, delete_file, duplicates, files, large, sort, split, start, status, variable);
