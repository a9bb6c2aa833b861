//! What `make install` puts into a prefix, and what compilers are told of it.

use super::support::{command, compilers, fails, good, prefix, prints};

/// Makes an indexed file.
const MAKER: &str = r#"
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MAKER.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "MADE" ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY K FILE STATUS S.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R.
           05  K PIC X(4).
       WORKING-STORAGE SECTION.
       01  S PIC XX.
       PROCEDURE DIVISION.
           OPEN OUTPUT F.
           DISPLAY S.
           CLOSE F.
           STOP RUN.
"#;

#[test]
fn flags_and_pkg_config_name_the_prefix() {
    let prefix = prefix();
    let described = std::fs::read_to_string(prefix.join("lib/pkgconfig/immuxfh.pc")).unwrap();
    assert!(described.starts_with(&format!("prefix={}\n", prefix.display())), "{described}");
    assert!(described.contains("\nVersion: 0.") && !described.contains("$prefix"), "{described}");
    let library = prefix.canonicalize().unwrap().join("lib");
    let folder = tempfile::tempdir().unwrap();
    for compiler in compilers() {
        let mut flags = command(super::support::immuxdb(), folder.path());
        let flags = good(&flags.env("COBC", &compiler.cobc).args(["cobc", "--print-flags"]).output().unwrap());
        let library = library.display();
        let linking = format!("-Q -L{library} -Q -limmuxfh -Q -Wl,-rpath,{library}\n");
        let expected = match compiler.name {
            "gnucobol4" => format!("-fcallfh=immuxfh -Wno-unsupported {linking}"),
            _ => format!("-fcallfh=immuxfh {linking}"),
        };
        assert_eq!(flags, expected, "{}", compiler.name);
    }
}

/// `COB_PRE_LOAD` and the static library, as docs/COBOL.md says.
#[test]
fn modules_and_programs_that_contain_it_find_what_was_installed() {
    let library = prefix().join("lib");
    for compiler in compilers() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("MAKER.cob"), MAKER).unwrap();
        let cobc = |arguments: &[&str]| {
            let mut cobc = command(&compiler.cobc, folder);
            if compiler.name == "gnucobol4" {
                cobc.arg("-Wno-unsupported");
            }
            good(&cobc.args(["-fcallfh=immuxfh", "MAKER.cob"]).args(arguments).output().unwrap());
        };
        cobc(&["-m"]);
        let mut cobcrun = command(compiler.cobc.with_file_name("cobcrun"), folder);
        let cobcrun = cobcrun.arg("MAKER").env("COB_PRE_LOAD", "immuxfh");
        let paths = format!("{}:.", library.display());
        assert_eq!(good(&cobcrun.env("COB_LIBRARY_PATH", paths).output().unwrap()), "00\n", "{}", compiler.name);
        assert!(prints(folder, &["file", "info", "MADE"]).starts_with("file          MADE, a file of ImmuxDB\n"));

        std::fs::remove_file(folder.join("MADE")).unwrap();
        cobc(&["-x", "-Q", library.join("libimmuxfh.a").to_str().unwrap()]);
        assert_eq!(good(&command(folder.join("MAKER"), folder).output().unwrap()), "00\n", "{}", compiler.name);
        assert!(prints(folder, &["file", "info", "MADE"]).starts_with("file          MADE, a file of ImmuxDB\n"));
    }
}

#[test]
fn a_missing_compiler_or_library_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |variable: &str, value: &str, arguments: &[&str]| {
        let output = command(super::support::immuxdb(), folder.path()).env(variable, value).args(arguments).output();
        let output = output.unwrap();
        assert!(!output.status.success());
        super::support::text(&output.stderr)
    };
    let says = run("COBC", "no-such-cobc", &["cobc", "-x", "a.cob"]);
    assert!(says.contains("no-such-cobc can't be run") && says.contains("apt-get install gnucobol3"), "{says}");
    let says = run("COBC", "true", &["cobc", "-x", "a.cob"]);
    assert!(says.contains("does not say that it is GnuCOBOL"), "{says}");
    if !compilers().is_empty() {
        let says = run("IMMUX_LIBRARY", "/nowhere", &["cobc", "--print-flags"]);
        assert!(says.contains("there is no libimmuxfh.so in /nowhere"), "{says}");
    }
    let says = fails(folder.path(), &["cobc"]);
    assert!(says.contains("there is nothing to compile"), "{says}");
}

#[test]
fn the_compilers_own_complaints_come_through() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.cob"), "       IDENTIFICATION DIVISION.\n       PROGRAM-ID.\n").unwrap();
    for compiler in compilers() {
        let mut command = command(super::support::immuxdb(), folder.path());
        let output = command.env("COBC", &compiler.cobc).args(["cobc", "-x", "bad.cob"]).output().unwrap();
        assert!(!output.status.success());
        assert!(super::support::text(&output.stderr).contains("bad.cob"), "{output:?}");
    }
    assert!(prints(folder.path(), &["cobc", "--help"]).contains("COBFLAGS := $(shell immuxdb cobc --print-flags)"));
}
