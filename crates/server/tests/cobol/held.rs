//! Beside a program that has a file open.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use super::support::{command, compile, compilers, fails, prints};

/// Opens a file as its argument says, writes a record where it may, and waits for a line.
const WAIT: &str = r#"
       IDENTIFICATION DIVISION.
       PROGRAM-ID. HOLDER.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "HELD" ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY K FILE STATUS S.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R.
           05  K PIC X(4).
           05  V PIC X(6).
       WORKING-STORAGE SECTION.
       01  S PIC XX.
       01  HOW PIC X(6).
       01  ANSWER PIC X.
       PROCEDURE DIVISION.
           ACCEPT HOW FROM ARGUMENT-VALUE.
           IF HOW = "OUTPUT"
               OPEN OUTPUT F
               MOVE "0001first" TO R
               WRITE R
           ELSE
               OPEN INPUT F
           END-IF.
           DISPLAY S.
           ACCEPT ANSWER.
           CLOSE F.
           STOP RUN.
"#;

#[test]
fn a_held_file_says_by_whom_and_can_be_read() {
    for compiler in compilers() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("HOLDER.cob"), WAIT).unwrap();
        compile(&compiler, folder, "HOLDER.cob");
        for (mode, how) in [("OUTPUT", "writing"), ("INPUT", "reading")] {
            let mut program = command(folder.join("HOLDER"), folder);
            let program = program.arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut program = program.spawn().unwrap();
            let mut status = String::new();
            BufReader::new(program.stdout.take().unwrap()).read_line(&mut status).unwrap();
            assert_eq!(status, "00\n");

            let info: Value = serde_json::from_str(&prints(folder, &["file", "info", "HELD", "--json"])).unwrap();
            let holder = serde_json::json!({"process": program.id(), "name": "HOLDER", "how": how});
            assert_eq!(info["held_by"], Value::Array(vec![holder]), "{}", compiler.name);
            assert_eq!(prints(folder, &["file", "dump", "HELD"]), "0001first ");
            for refused in [&["file", "rebuild", "HELD"][..], &["file", "load", "HELD", "--add", "/dev/null"]] {
                let says = fails(folder, refused);
                assert!(says.contains("HELD") && says.contains("immuxdb file info"), "{says}");
            }

            program.stdin.take().unwrap().write_all(b"\n").unwrap();
            assert!(program.wait().unwrap().success());
        }
        assert!(prints(folder, &["file", "rebuild", "HELD"]).contains("it needs no index beside it"));
    }
}
