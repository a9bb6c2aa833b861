//! Two programs at once: any number may read, or one has the file for itself; others get 61 at once.

use super::support::compiler::{Compiler, Files};
use super::support::program::run;
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
                    let how = if held == "input" { "reading" } else { "writing" };
                    let by = format!("process {} (program), {how}", holder.process());
                    assert!(message.contains("sharedfile") && message.contains(&by), "{message}");
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

/// A child of fork has no part in its parent's files.
#[test]
fn a_forked_child_cannot_touch_them() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let ran = run(*compiler, Files::Immux, &["forker"], folder.path(), &["fork"]);
        let expected = "child: write          30\nchild: read           30\nchild: open another   30\n\
            child: close          30\nparent: write         00\nparent: close         00\n\
            parent: open input    00\n  0010\n  0030\n";
        assert!(ran.err.contains("was forked"), "{}", ran.err);
        assert_eq!(ran.good(), expected, "{}", compiler.name());
    }
}

/// A program that was started by the one with the file holds nothing of it.
#[test]
fn a_started_program_does_not_inherit_them() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let started = run(*compiler, Files::Immux, &["forker"], folder.path(), &["start"]).quiet();
        let started: u32 = started.trim().parse().unwrap();
        let is_alive = || std::path::Path::new(&format!("/proc/{started}")).exists();
        assert!(is_alive());
        let again = run(*compiler, Files::Immux, &["forker"], folder.path(), &["fork"]);
        assert!(again.out.contains("parent: open input    00"), "{}{}", again.out, again.err);
        assert!(is_alive(), "it outlived the test of it");
        let _ = std::process::Command::new("kill").arg(started.to_string()).status();
    }
}
