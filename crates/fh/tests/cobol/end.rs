//! What goes wrong in a program without FILE STATUS and without any phrase: libcob says so and ends it.

use super::support::compiler::{Compiler, Files};
use super::support::program::run;

#[test]
fn a_program_that_catches_nothing_ends_with_libcobs_message() {
    let cases = [
        ("missing", "status = 35"),
        ("end", "status = 10"),
        ("key", "status = 22"),
        ("order", "status = 47"),
        ("closed", "status = 47"),
        ("close", "status = 42"),
    ];
    for compiler in Compiler::all() {
        for (case, message) in cases {
            let folder = tempfile::tempdir().unwrap();
            let ran = run(*compiler, Files::Immux, &["bare"], folder.path(), &[case]);
            assert!(ran.err.contains(message) && ran.err.contains("barefile"), "{case}: {}", ran.err);
            assert!(!ran.err.contains("immuxfh") && !ran.err.contains("SIG"), "{case}: {}", ran.err);
            assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{case}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(run(*compiler, Files::Immux, &["bare"], folder.path(), &["good"]).quiet(), "done\n");
    }
}

/// `IMMUX_TRACE`: a line for each operation.
#[test]
fn a_trace_has_a_line_for_each_operation() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = super::support::program::command(*compiler, Files::Immux, &["bare"], folder.path());
        super::support::program::finish(command.arg("good").env("IMMUX_TRACE", "trace")).quiet();
        let trace = std::fs::read_to_string(folder.path().join("trace")).unwrap();
        let lines: Vec<String> = trace
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                assert!(words[0].parse::<u32>().is_ok() && words[words.len() - 1].parse::<u64>().is_ok(), "{line}");
                words[1..words.len() - 1].join(" ")
            })
            .collect();
        let expected = [
            "barefile OPEN-OUTPUT 00",
            "barefile WRITE 00",
            "barefile CLOSE 00",
            "barefile OPEN-I-O 00",
            "barefile READ-NEXT 00",
            "barefile READ key=0 00",
            "barefile REWRITE 00",
            "barefile DELETE 00",
            "barefile CLOSE 00",
        ];
        assert_eq!(lines, expected, "{}", compiler.name());
    }
}
