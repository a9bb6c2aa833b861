//! Two programs at once: any number may read, or one has the file for itself; others get 61 at once.

use super::support::compiler::Compiler;
use super::support::session::Session;

const MODES: [&str; 4] = ["input", "output", "i-o", "extend"];

#[test]
fn one_has_the_file_for_itself() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let start = || Session::start(*compiler, folder.path(), "sharedfile");
        let mut maker = start();
        for line in ["open output", "write 10 Bern", "write 20 Chur", "close"] {
            maker.expect(line, "00");
        }
        maker.end();
        for held in MODES {
            for wanted in MODES {
                if held == "output" {
                    // It starts the file anew.
                    let mut maker = start();
                    maker.expect("open output", "00");
                    maker.expect("write 10 Bern", "00");
                    maker.end();
                }
                let (mut holder, mut other) = (start(), start());
                holder.expect(&format!("open {held}"), "00");
                let open = format!("open {wanted}");
                if (held, wanted) == ("input", "input") {
                    other.expect(&open, "00");
                    other.expect("read 10", "00 10     Bern   Bern");
                } else {
                    let message = other.fails(&open, "61");
                    assert!(message.contains("sharedfile"), "{message}");
                    holder.expect("close", "00");
                    other.expect(&open, "00");
                }
                other.expect("close", "00");
                if held != "input" {
                    let mut again = start();
                    again.expect(&open, "00");
                    again.expect("close", "00");
                    again.end();
                }
                holder.end();
                other.end();
                let mut maker = start();
                maker.expect("open output", "00");
                maker.expect("write 10 Bern", "00");
                maker.end();
            }
        }
    }
}

#[test]
fn until_it_ends_however_it_ends() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let start = || Session::start(*compiler, folder.path(), "sharedfile");
        let (mut holder, mut other) = (start(), start());
        holder.expect("open output", "00");
        holder.expect("write 10 Bern", "00");
        other.fails("open i-o", "61");
        holder.kill();
        other.expect("open i-o", "00");
        other.expect("read 10", "00 10     Bern   Bern");
        let mut third = start();
        third.fails("open input", "61");
        other.end();
        third.expect("open input", "00");
        third.expect("read 10", "00 10     Bern   Bern");
        third.end();
    }
}

/// OPEN WITH LOCK, which only interposing shows.
#[test]
fn with_lock_also_for_reading() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let start = || Session::start(*compiler, folder.path(), "sharedfile");
        let (mut holder, mut other) = (start(), start());
        holder.expect("open output", "00");
        holder.expect("close", "00");
        holder.expect("lock", "00");
        other.fails("open input", "61");
        holder.expect("close", "00");
        other.expect("open input", "00");
        holder.fails("lock", "61");
        holder.end();
        other.end();
    }
}

/// DELETE FILE beside a program that has it open.
#[test]
fn and_nobody_deletes_it() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let start = || Session::start(*compiler, folder.path(), "sharedfile");
        let (mut holder, mut other) = (start(), start());
        holder.expect("open output", "00");
        holder.expect("write 10 Bern", "00");
        other.fails("delete-file", "61");
        holder.expect("close", "00");
        other.expect("delete-file", "00");
        other.expect("open input", "35");
        holder.end();
        other.end();
    }
}
