//! kill -9.

use std::time::Duration;

use crate::support::ledger::check_all;
use crate::support::site::little_memory;
use crate::support::{Ledger, Numbers, Site, Worker};

const ROUNDS: u64 = 30;

/// The writer is killed at any moment, again and again; what it acknowledged is there, and the next one takes over at
/// once.
#[test]
fn a_writer_at_random_moments() {
    let site = Site::new();
    let mut numbers = Numbers(std::process::id().into());
    let (mut acknowledged, mut torn) = (0, 0);
    for round in 0..ROUNDS {
        let mut writer = Worker::writer(&site.root(), u64::MAX);
        if round % 4 != 0 {
            // Otherwise it is killed while it opens the store.
            acknowledged = writer.next_height().unwrap();
        }
        std::thread::sleep(Duration::from_micros(numbers.below(60_000)));
        acknowledged = writer.kill().unwrap_or(acknowledged);
        if !site.log().exists() {
            continue;
        }
        if acknowledged > 0 {
            let (_store, chain) = site.open_to_read().unwrap();
            assert!(chain.height().0 >= acknowledged, "round {round}: {acknowledged} was acknowledged");
            Ledger::at(chain.height().0).check(&chain.snapshot().unwrap());
        }
        if round % 3 == 0 {
            let (store, chain) = site.open(&little_memory()).unwrap();
            let recovery = chain.recovery();
            assert_eq!((recovery.damage.as_deref(), recovery.ignored_runs), (None, 0), "round {round}");
            torn += u64::from(recovery.cut.is_some());
            assert!(chain.height().0 >= acknowledged, "round {round}: {acknowledged} was acknowledged");
            check_all(&chain);
            drop(chain);
            // Every other time it is not closed, but dropped.
            if round % 2 == 0 { drop(store) } else { store.close().unwrap() }
        }
    }
    assert!(acknowledged > ROUNDS, "the writers hardly wrote: {acknowledged}");
    eprintln!("{acknowledged} commits were acknowledged, {torn} tails cut");
    Worker::writer(&site.root(), acknowledged + 500).finish();
    site.check_and_go_on(acknowledged.max(acknowledged + 500));
}

#[test]
fn readers_at_random_moments() {
    let site = Site::new();
    std::fs::create_dir_all(site.root()).unwrap();
    const UNTIL: u64 = 3000;
    let mut writer = Worker::writer(&site.root(), UNTIL);
    writer.wait_for(10);
    let mut numbers = Numbers(5);
    let mut killed = 0;
    for _ in 0..12 {
        let mut reader = Worker::reader(&site.root(), u64::MAX);
        std::thread::sleep(Duration::from_micros(10_000 + numbers.below(40_000)));
        reader.kill();
        killed += 1;
    }
    writer.finish();
    assert_eq!(killed, 12);
    site.check_and_go_on(UNTIL);
}

/// The command in the middle of loading.
#[test]
fn a_load() {
    let place = crate::command::Place::new();
    let rows: String = (0..60_000).map(|number| format!("{{\"id\": {number}, \"city\": {}}}\n", number % 7)).collect();
    place.file("rows.ndjson", rows);
    let arguments = [
        "load",
        "rows.ndjson",
        "--grouping",
        "g",
        "--index",
        "city=json:city",
        "--durability",
        "process",
        "--batch",
        "50",
    ];
    let mut loaded = 0;
    for round in 1..=3 {
        let mut child = place.command(&arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        if !place.path().join("immuxdb-data/default/log").exists() {
            continue;
        }
        let count = place.objects(&["groupings", "--count"]);
        let units = count.first().map_or(0, |grouping| grouping["units"].as_u64().unwrap());
        assert!(units >= loaded && units % 50 == 0, "a batch is whole or absent: {units} after {loaded}");
        loaded = units;
    }
    place.prints(&["load", "rows.ndjson", "--grouping", "g"]);
    assert_eq!(place.objects(&["groupings", "--count"])[0]["units"], 60_000);
    let third =
        place.prints(&["scan", "g", "--index", "city", "--from", "3", "--through", "3", "--limit", "100000", "--json"]);
    assert_eq!(third.lines().count(), 60_000 / 7);
}
