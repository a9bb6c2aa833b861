//! Names in ASSIGN: an indexed file of ours must come to be where libcob itself makes a sequential file of that name.

use std::path::Path;

use super::support::compiler::{Compiler, Files, programs};
use super::support::program::{command, finish};

/// Names with environments.
const CASES: &[(&str, &[(&str, &str)])] = &[
    ("abc", &[]),
    ("abc", &[("DD_abc", "e/1"), ("dd_abc", "e/2"), ("abc", "e/3")]),
    ("abc", &[("dd_abc", "e/2"), ("abc", "e/3")]),
    ("abc", &[("abc", "e/3")]),
    ("abc", &[("DD_abc", ""), ("abc", "e/3")]),
    ("abc", &[("abc", "$d/x"), ("d", "e")]),
    ("aBc", &[("DD_ABC", "e/4")]),
    ("a.b", &[("DD_a_b", "e/1"), ("DD_a.b", "e/2")]),
    ("a.b", &[("a_b", "e/1")]),
    ("a.b", &[("DD_A.B", "e/1")]),
    (".abc", &[("_abc", "e/1"), (".abc", "e/2")]),
    ("a-b", &[("a-b", "e/1")]),
    ("a b", &[]),
    ("$u", &[]),
    ("$u", &[("u", "e/q")]),
    ("d/abc", &[]),
    ("d/abc", &[("DD_d", "e")]),
    ("d/abc", &[("DD_D", "e")]),
    ("d/abc", &[("abc", "e")]),
    ("d//abc", &[("d", "e")]),
    ("./abc", &[("abc", "q")]),
    ("./$abc", &[("abc", "q")]),
    ("./$u/abc", &[]),
    ("$d/abc", &[]),
    ("$d/abc", &[("d", "e")]),
    ("d/$e", &[("e", "val")]),
    ("d/$u", &[]),
    ("d/$u/e/abc", &[]),
    ("d/$e/abc", &[("e", "map")]),
    ("d/$e/e/abc", &[("e", "map")]),
    ("$u/$v/abc", &[("u", "e")]),
    ("$u/$v/abc", &[("v", "e")]),
    ("missing/abc", &[]),
    ("abc", &[("COB_FILE_PATH", "p1")]),
    ("abc", &[("COB_FILE_PATH", "p1/")]),
    ("abc", &[("COB_FILE_PATH", "p1:p2")]),
    ("there", &[("COB_FILE_PATH", "p1:p2")]),
    ("./abc", &[("COB_FILE_PATH", "p1")]),
    ("d/abc", &[("COB_FILE_PATH", "p1")]),
    ("d/abc", &[("COB_FILE_PATH", "p1"), ("d", "e")]),
    ("abc", &[("COB_FILE_PATH", "p1"), ("abc", "e/q")]),
    ("abc", &[("COB_FILE_PATH", "p1"), ("abc", "./q")]),
    ("$u", &[("COB_FILE_PATH", "p1")]),
    ("abc", &[("COB_RUNTIME_CONFIG", "path.cfg")]),
    ("abc", &[("COB_RUNTIME_CONFIG", "path.cfg"), ("COB_FILE_PATH", "p2")]),
];

/// The files that a program made in a folder that has some to lead into, and what it said.
fn made(compiler: Compiler, program: &str, name: &str, variables: &[(&str, &str)]) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    for inner in ["d/e", "d/map/e", "d/mape", "e", "p1/d", "p1/e", "p2"] {
        std::fs::create_dir_all(folder.path().join(inner)).unwrap();
    }
    std::fs::write(folder.path().join("p2/there"), "").unwrap();
    std::fs::write(folder.path().join("path.cfg"), "file_path ${PWD:-.}/../e\nfile_path p1\n").unwrap();
    let mut command = command(compiler, Files::Immux, &[program], folder.path());
    let ran = finish(command.arg(name).envs(variables.iter().copied()));
    let mut files = Vec::new();
    list(folder.path(), folder.path(), &mut files);
    (files, ran.good())
}

fn list(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(root, &path, files);
        } else {
            files.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        }
    }
    files.sort();
}

fn check(compiler: Compiler) {
    for (name, variables) in CASES {
        let ours = made(compiler, "names", name, variables);
        let theirs = made(compiler, "names_sequential", name, variables);
        assert_eq!(ours, theirs, "{}: {name} with {variables:?}", compiler.name());
    }
}

#[test]
fn lead_to_the_same_file_with_gnucobol3() {
    Compiler::all().iter().filter(|compiler| **compiler == Compiler::Three).copied().for_each(check);
}

#[test]
fn lead_to_the_same_file_with_gnucobol4() {
    Compiler::all().iter().filter(|compiler| **compiler == Compiler::Four).copied().for_each(check);
}

/// A file of another name after CLOSE, and after an OPEN that failed: in `files.cob` and `status.cob`. Here: EXTERNAL
/// names, which are words of the program.
#[test]
fn of_a_program_are_mapped_as_values_are() {
    let source = "identification division.
program-id. external-name.
environment division.
input-output section.
file-control.
    select f assign to external custfile organization indexed record key f-key file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
working-storage section.
01 fs pic xx.
procedure division.
    open output f
    close f
    stop run.
";
    assert!(programs().is_dir());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("external_name.cob");
    std::fs::write(&file, source).unwrap();
    for compiler in Compiler::all() {
        let program = compiler.compile_files(Files::Immux, std::slice::from_ref(&file));
        let run = |variables: &[(&str, &str)]| {
            let mut command = super::support::program::command_of(&program, folder.path());
            finish(command.envs(variables.iter().copied())).quiet()
        };
        run(&[("DD_custfile", "customers.dat")]);
        assert!(folder.path().join("customers.dat").is_file());
        run(&[]);
        let plain = ["custfile", "CUSTFILE"].iter().any(|name| folder.path().join(name).is_file());
        assert!(plain, "{}", compiler.name());
    }
}
