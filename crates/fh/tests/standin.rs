//! The workarounds for faults of libcob 3.2 and 3.3, with a stand-in for it that has them: real C, compiled and linked as
//! a program of cobc would be.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn library_folder() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn compile(arguments: &[&str], folder: &Path) {
    let output = Command::new("cc").args(["-Wall", "-Wextra", "-Werror"]).args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What the program prints with a libcob of this version.
fn run(version: &str) -> String {
    run_traced(version, Path::new(""))
}

/// As [`run`]; with a trace, where `trace` is a path.
fn run_traced(version: &str, trace: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standin");
    let (library, program) = (sources.join("libcob.c"), sources.join("program.c"));
    let version = format!("-DSTANDIN_VERSION=\"{version}\"");
    compile(&["-fPIC", "-shared", &version, "-o", "libstandin.so", library.to_str().unwrap()], folder.path());
    let ours = library_folder();
    let ours = ours.to_str().unwrap();
    let program = program.to_str().unwrap();
    compile(&["-o", "program", program, "-L", ours, "-L.", "-limmuxfh", "-lstandin"], folder.path());
    let mut command = Command::new(folder.path().join("program"));
    command.current_dir(folder.path()).env("LD_LIBRARY_PATH", format!("{ours}:{}", folder.path().display()));
    let output = command.env("IMMUX_TRACE", trace).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{} {out}{}", output.status, String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stderr, b"");
    out
}

const WORKED_AROUND: &str = "\
open input, missing          35 mode 128 length 12, 1 calls of EXTFH
open output                  00 mode   1 length 12
write                        00 mode   1 length 12
write again                  22 mode   1 length 12, 1 calls of EXTFH
write another                00 mode   1 length 12
read next, open output       47 mode   1 length 12, 1 calls of EXTFH
close                        00 mode 128 length 12, and is taken as closed, 2 calls of EXTFH
close again                  42 mode 128 length 12, 1 calls of EXTFH
open i-o                     00 mode   2 length 12
read next                    00 mode   2 length 12
read next                    00 mode   2 length 12
read next, the end           10 mode   2 length 12, 1 calls of EXTFH
read previous                00 mode   2 length 12
read                         00 mode   2 length 12
read, missing                23 mode   2 length 12, 1 calls of EXTFH
start first                  00 mode   2 length 12
open, it is open             41 mode   2 length 12, 1 calls of EXTFH
close                        00 mode 128 length 12, and is taken as closed, 2 calls of EXTFH
";

#[test]
fn faults_of_three_two_and_three_three_do_not_reach_the_program() {
    assert_eq!(run("3.2.0"), WORKED_AROUND);
    assert_eq!(run("3.3-dev"), WORKED_AROUND);
}

/// A libcob that we don't know gets the plain handler, without guesses, and a trace says so.
#[test]
fn an_unknown_libcob_gets_the_plain_handler() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let out = run_traced("9.9", &trace);
    assert!(out.contains("open output                  00") && !out.contains("calls of EXTFH"), "{out}");
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(trace.contains("# libcob 9.9 is not known: nothing is interposed\n"), "{trace}");
    assert!(trace.contains(" standinfile WRITE 22 "), "{trace}");
}

/// The stand-in does show the faults: with a version that is taken to have none, they are there.
#[test]
fn without_the_workarounds_they_would() {
    let out = run("3.1.2");
    for fault in ["enters the error handler", "crashes: no file in error", "taken as open", "with the old name"] {
        assert!(out.contains(fault), "{fault}:\n{out}");
    }
    assert!(!out.contains("calls of EXTFH"), "{out}");
}
