//! One writer and eight readers share a store, and any of them is killed at any moment, again and again.
//!
//! `IMMUXDB_HAZARD_ROUNDS` sets how often (`cargo xtask processes --rounds N`).

use std::time::Duration;

use crate::support::expected::check_against_file;
use crate::support::{Ledger, Numbers, Site, Worker};

const READERS: usize = 8;

fn rounds() -> u64 {
    std::env::var("IMMUXDB_HAZARD_ROUNDS").map_or(30, |rounds| rounds.parse().expect("a number of rounds"))
}

/// Each acknowledged commit is there, once; each reader sees whole commits, in order; the next writer takes over.
#[test]
fn of_kills() {
    let site = Site::with_ledger(1_000);
    let mut numbers = Numbers(u64::from(std::process::id()));
    let mut readers: Vec<Worker> = (0..READERS).map(|_| Worker::reader(&site.root(), u64::MAX)).collect();
    let mut writer = Worker::writer(&site.root(), u64::MAX);
    let (mut acknowledged, mut seen, mut writers, mut killed_readers) = (1_000, 1_000, 0, 0);
    for round in 0..rounds() {
        // Some are killed while they open the store, others when they are at work.
        std::thread::sleep(Duration::from_micros(numbers.below(40_000)));
        if numbers.below(10) < 4 {
            let last = writer.kill().unwrap_or(acknowledged);
            assert!(last >= acknowledged, "round {round}: height {last} was acknowledged after {acknowledged}");
            acknowledged = last;
            let (_store, chain) = site.open_to_read().unwrap();
            let found = chain.height().0;
            assert!(found >= acknowledged, "round {round}: {acknowledged} was acknowledged, {found} is there");
            assert!(found >= seen, "round {round}: {seen} was seen by a reader, {found} is there");
            Ledger::at(found).check(&chain.snapshot().unwrap());
            writer = Worker::writer(&site.root(), u64::MAX);
            writers += 1;
        } else {
            let reader = &mut readers[numbers.below(READERS as u64) as usize];
            seen = seen.max(reader.kill().unwrap_or(0));
            *reader = Worker::reader(&site.root(), u64::MAX);
            killed_readers += 1;
        }
    }
    let last = writer.kill().unwrap_or(acknowledged);
    for reader in &mut readers {
        // A reader that had found something wrong would have ended by itself.
        reader.assert_runs();
        reader.kill();
    }
    let until = last.max(seen) + 300;
    Worker::writer(&site.root(), until).finish();
    eprintln!("{writers} writers and {killed_readers} readers were killed, {last} commits acknowledged");
    site.check_and_go_on(until);
}

/// Random commits of all kinds, each written to a file before it is tried and when it is done. Whoever comes after a kill
/// finds what that file says, with or without the one commit that was being tried.
#[test]
fn of_kills_with_an_expected_state() {
    let site = Site::new();
    std::fs::create_dir_all(site.root()).unwrap();
    let expected = site.path().join("expected");
    let mut numbers = Numbers(u64::from(std::process::id()) + 1);
    for round in 0..rounds() {
        let mut writer = Worker::random_writer(&site.root(), round);
        if round % 5 != 0 {
            writer.next_height().expect("the writer finds what the file says, and goes on");
        }
        std::thread::sleep(Duration::from_micros(numbers.below(60_000)));
        writer.assert_runs();
        writer.kill();
    }
    let commits = check_against_file(&site.root(), &expected);
    assert!(commits > rounds(), "the writers hardly wrote: {commits}");
    eprintln!("{commits} commits");
}
