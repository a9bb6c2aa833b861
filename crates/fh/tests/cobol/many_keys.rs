//! Files with 64 keys, and with 255, the most: in a generated program.

use std::fmt::Write;

use super::support::compiler::{Compiler, Files};
use super::support::program::{command_of, finish};

fn source(keys: usize) -> String {
    let mut text = String::from(
        "identification division.
program-id. many-keys.
environment division.
input-output section.
file-control.
    select f assign to \"manyfile\" organization indexed access dynamic
        record key f-key
",
    );
    for key in 1..keys {
        // Every third is unique; those end in the primary key's digits.
        let duplicates = if key % 3 == 0 { "" } else { " with duplicates" };
        writeln!(text, "        alternate record key f-alt-{key}{duplicates}").unwrap();
    }
    text += "        file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic 9(4).
";
    for key in 1..keys {
        writeln!(text, "   05 f-alt-{key} pic 9({}).", if key % 3 == 0 { 6 } else { 2 }).unwrap();
    }
    text += "working-storage section.
01 fs pic xx.
01 n pic 9(4).
01 m pic 9(8).
01 q pic 9(8).
01 count-1 pic 9(4).
01 sum-1 pic 9(8).
procedure division.
    open output f
    perform varying n from 1 by 1 until n > 30
        move n to f-key
";
    for key in 1..keys {
        writeln!(text, "        compute m = n * {} divide m by 13 giving q remainder m", key * 7 % 31 + 1).unwrap();
        if key % 3 == 0 {
            writeln!(text, "        compute f-alt-{key} = m * 10000 + n").unwrap();
        } else {
            writeln!(text, "        move m to f-alt-{key}").unwrap();
        }
    }
    text += "        write f-record
        if fs not = \"00\" and not = \"02\" display \"write \" fs end-if
    end-perform
    close f
    open i-o f
    move 7 to f-key read f move 99 to f-alt-1 rewrite f-record
    if fs not = \"00\" display \"rewrite \" fs end-if
    move 8 to f-key delete f
    if fs not = \"00\" display \"delete \" fs end-if
";
    for key in 1..keys {
        writeln!(
            text,
            "    move low-values to f-record start f key not less f-alt-{key}
    move 0 to count-1 sum-1
    perform until fs not = \"00\"
        read f next
        if fs = \"00\" add 1 to count-1 compute sum-1 = sum-1 + count-1 * f-key end-if
    end-perform
    display \"key {key}: \" count-1 \" \" sum-1 \" \" f-key"
        )
        .unwrap();
    }
    text += "    close f
    stop run.
";
    text
}

#[test]
fn sixty_four_are_all_current() {
    check(64, &[Files::Immux, Files::Berkeley]);
}

#[test]
fn two_hundred_and_fifty_five_are_all_current() {
    check(255, &[Files::Immux]);
}

/// Runs the program with this many keys wherever it can run; all must tell the same.
fn check(keys: usize, kinds: &[Files]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("keys_{keys}.cob"));
    std::fs::write(&file, source(keys)).unwrap();
    let mut printed = Vec::new();
    for compiler in Compiler::all() {
        let can_run = |kind: &&Files| **kind != Files::Berkeley || *compiler == Compiler::Three;
        for kind in kinds.iter().filter(can_run) {
            let place = tempfile::tempdir().unwrap();
            let program = compiler.compile_files(*kind, std::slice::from_ref(&file));
            printed.push(finish(&mut command_of(&program, place.path())).quiet());
        }
    }
    for out in &printed {
        assert_eq!(out.lines().count(), keys - 1, "{out}");
        assert!(out.lines().all(|line| line.contains(": 0029 ")), "29 records by each key: {out}");
        assert_eq!(*out, printed[0], "all tell the same");
    }
}
