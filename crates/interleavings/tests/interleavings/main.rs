//! The engine's own sources under a scheduler that decides at each lock, atomic number and call of the disk who goes on.
//!
//! | file | what |
//! |---|---|
//! | `schedules` | many schedules of one history |
//! | `memory` | a disk in memory |
//! | `engine` | writers, readers, a new index, runs written and merged, all at once |
//! | here | parts alone: group commit's turn, dead stretches |
//!
//! A test that passes proves little unless the same schedules find mistakes: each history is told with some, too.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod engine;
mod memory;
mod schedules;

use immuxdb_interleavings::interleavings::{dead_stretches, group_commit, with_forgetful_conditions};
use schedules::{explore, must_fail};

const SCHEDULES: usize = 10_000;

#[test]
fn group_commit_syncs_once_at_a_time_and_loses_nobody() {
    explore(SCHEDULES, || group_commit(4, false));
    explore(SCHEDULES, || group_commit(4, true));
}

#[test]
fn group_commit_that_wakes_only_one_is_found() {
    must_fail("a sync that wakes one of those who wait", &["deadlock"], || {
        with_forgetful_conditions(|| explore(SCHEDULES, || group_commit(4, false)));
    });
}

#[test]
fn dead_stretches_hide_nothing_that_is_born() {
    explore(SCHEDULES, || dead_stretches(false));
}

#[test]
fn entries_that_are_said_after_they_are_added_are_found() {
    must_fail("`apply` after `born`", &["leaps over"], || explore(SCHEDULES, || dead_stretches(true)));
}
