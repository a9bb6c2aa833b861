//! One process writes, others read, or want to write too.

use libimmuxdb::{Error, Store};

use crate::command::Place;
use crate::support::site::{flip_bit, little_memory};
use crate::support::{Site, Worker};

#[test]
fn a_second_writer_is_told_who_holds_the_store() {
    let place = Place::new();
    place.prints(&["put", "g", "k", "1", "--data-root", "store"]);
    let root = place.path().join("store");
    let store = Store::open(&root, little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    for arguments in [&["put", "g", "k", "2"][..], &["delete", "g", "k"], &["revert", "g", "k", "--to", "1"]] {
        let refused = place.fails(1, &[arguments, &["--data-root", "store"]].concat());
        assert_eq!(
            refused,
            format!(
                "error: store/default/log is held by another writer (process {}); close it, or open the store read-only\n \
                 help: wait until the other process has ended; reading works meanwhile\n",
                std::process::id()
            )
        );
    }
    assert_eq!(place.prints(&["get", "g", "k", "--data-root", "store"]), "1\n");
    chain.grouping("g").unwrap().put(b"k", libimmuxdb::Content::json("3")).unwrap();
    assert_eq!(place.prints(&["get", "g", "k", "--data-root", "store"]), "3\n");
    drop(chain);
    store.close().unwrap();
    place.prints(&["put", "g", "k", "4", "--data-root", "store"]);
}

/// Eight processes read while one writes, runs are written, and merged.
#[test]
fn eight_readers_see_whole_commits_in_order() {
    let site = Site::new();
    std::fs::create_dir_all(site.root()).unwrap();
    const UNTIL: u64 = 8000;
    let readers: Vec<Worker> = (0..8).map(|_| Worker::reader(&site.root(), UNTIL)).collect();
    let writer = Worker::writer(&site.root(), UNTIL);
    writer.finish();
    for reader in readers {
        reader.finish();
    }
    assert!(!site.runs().is_empty());
    site.check_and_go_on(UNTIL);
}

/// A reader goes on over writers that come and go, some of them killed.
#[test]
fn readers_go_on_from_writer_to_writer() {
    let site = Site::with_ledger(100);
    const UNTIL: u64 = 4000;
    let readers: Vec<Worker> = (0..2).map(|_| Worker::reader(&site.root(), UNTIL)).collect();
    for round in 0..8 {
        let mut writer = Worker::writer(&site.root(), UNTIL);
        if round % 2 == 0 {
            if writer.next_height().is_some() {
                for _ in 0..200 {
                    writer.next_height();
                }
            }
            writer.kill();
        } else {
            writer.finish();
            break;
        }
    }
    Worker::writer(&site.root(), UNTIL).finish();
    for reader in readers {
        reader.finish();
    }
    site.check_and_go_on(UNTIL);
}

/// A damaged chain is held too, by whoever opened it to write, though nothing is written to it.
#[test]
fn a_damaged_store_is_held() {
    let site = Site::with_log_only(100);
    flip_bit(&site.log(), 5000, 3);
    let (_store, chain) = site.open(&little_memory()).unwrap();
    assert!(chain.recovery().damage.is_some());
    let second = site.open(&little_memory()).map(|_| ());
    assert!(matches!(second, Err(Error::Held { .. })), "{second:?}");
}
