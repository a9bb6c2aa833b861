//! The log is cut, overwritten, or has a bit flipped: below what was synced that is damage, which is said and makes the
//! chain read-only; beyond it, after a kill, it is an append that did not end, which is cut off with a note.

use std::sync::Arc;

use libimmuxdb::{Chain, Durability, Error, Store};

use crate::command::Place;
use crate::support::ledger::check_all;
use crate::support::site::{cut_to, find, flip_bit, length, little_memory, log_only, overwrite};
use crate::support::{Ledger, Numbers, Site};

const HEIGHT: u64 = 300;

/// Opens a damaged log for writing: it can be read up to where it is damaged.
#[track_caller]
fn check_damaged(site: &Site) -> u64 {
    let before = std::fs::read(site.log()).unwrap();
    let (store, chain) = site.open(&log_only()).unwrap();
    let damage =
        chain.recovery().damage.clone().unwrap_or_else(|| panic!("the damage is not reported: {:?}", chain.recovery()));
    let height = chain.height().0;
    assert!(damage.starts_with(&format!("{} is damaged at offset ", site.log().display())), "{damage}");
    assert!(damage.ends_with(&format!("what was committed up to height {height} can be read")), "{damage}");
    if height > 0 {
        check_all(&chain);
    }
    let refused = Ledger::at(height).commit_next(&chain);
    assert!(matches!(&refused, Err(Error::ReadOnly(why)) if *why == damage), "{refused:?}");
    drop(chain);
    store.close().unwrap();
    assert!(std::fs::read(site.log()).unwrap() == before, "a damaged log is left as it is");
    // A reader takes what is broken beyond the synced part for an append that is under way; it gives what is before.
    let (_store, chain) = site.open_to_read().expect("what is before the damage can be read");
    assert_eq!(chain.height().0, height);
    if height > 0 {
        check_all(&chain);
    }
    height
}

/// The same below what was synced: a reader knows it for damage.
#[track_caller]
fn check_synced_damaged(site: &Site) -> u64 {
    let height = check_damaged(site);
    let (_store, chain) = site.open_to_read().unwrap();
    let damage = chain.recovery().damage.as_ref().expect("the damage is reported to readers");
    assert!(damage.starts_with(&format!("{} is damaged at offset ", site.log().display())), "{damage}");
    height
}

#[test]
fn cut_below_what_was_synced() {
    let site = Site::with_log_only(HEIGHT);
    let all = length(&site.log());
    let mut last = HEIGHT;
    for left in [all - 1, all - 30, all - 200, all / 2, all / 3, 5000, 4097, 4096] {
        let copy = site.copy();
        cut_to(&copy.log(), left);
        let height = check_synced_damaged(&copy);
        assert!(height <= last);
        last = height;
    }
    assert_eq!(last, 0);
}

/// So short that not even the first page is whole. With an index beside it, it is not taken for a new log.
#[test]
fn cut_to_next_to_nothing() {
    for site in [Site::with_log_only(HEIGHT), Site::with_ledger(2000)] {
        for left in [0, 1, 8, 20, 67, 68, 600, 4095] {
            let copy = site.copy();
            let runs = copy.runs().len();
            cut_to(&copy.log(), left);
            let opened = copy.open(&log_only()).map(|(_store, chain)| chain.recovery().clone());
            match opened {
                Err(Error::Damaged { .. } | Error::Format { .. }) => {}
                Ok(recovery) if recovery.damage.is_some() => {}
                // An empty file, with nothing that tells of an earlier one, is a new log.
                Ok(_) if runs == 0 => {}
                other => panic!("cut to {left}: {other:?}"),
            }
            assert!(runs == 0 || copy.open_to_read().is_err() || left >= 68);
        }
    }
}

#[test]
fn overwritten_in_the_middle() {
    let site = Site::with_log_only(HEIGHT);
    let all = length(&site.log());
    let mut numbers = Numbers(3);
    for bytes in [1, 16, 300, 5000] {
        for _ in 0..5 {
            let copy = site.copy();
            let garbage: Vec<u8> = (0..bytes).map(|_| numbers.below(256) as u8 | 1).collect();
            let offset = 4096 + numbers.below(all - 4096 - bytes);
            overwrite(&copy.log(), offset, &garbage);
            let (store, chain) = copy.open(&log_only()).unwrap();
            let whole = chain.recovery().damage.is_none();
            drop((chain, store));
            // One byte may have been what it is.
            if !whole {
                check_synced_damaged(&copy);
            } else {
                assert!(bytes == 1, "{bytes} bytes at {offset} were not noticed");
            }
        }
    }
    for (from, to) in [(4096, all), (all / 2, all), (all - 64, all)] {
        let copy = site.copy();
        overwrite(&copy.log(), from, &vec![0; (to - from) as usize]);
        check_synced_damaged(&copy);
    }
}

#[test]
fn one_bit_below_what_was_synced() {
    let site = Site::with_log_only(HEIGHT);
    let all = length(&site.log());
    let mut numbers = Numbers(4);
    for _ in 0..40 {
        let copy = site.copy();
        let offset = 4096 + numbers.below(all - 4096);
        flip_bit(&copy.log(), offset, numbers.below(8) as u32);
        check_synced_damaged(&copy);
    }
}

/// Runs cover the damage, so opening does not meet it: what is damaged says so when it is read, the rest is right.
#[test]
fn one_bit_of_a_content_that_runs_cover() {
    let site = Site::with_ledger(2000);
    let ledger = Ledger::at(2000);
    let oldest = ledger.oldest_version();
    flip_bit(&site.log(), find(&site.log(), format!(r#"{{"height":{oldest},"#).as_bytes()) + 12, 0);
    let (_store, chain) = site.open(&little_memory()).unwrap();
    assert_eq!(chain.height().0, ledger.height());
    let snapshot = chain.snapshot().unwrap();
    let (mut right, mut damaged) = (0, 0);
    let keys: Vec<_> = snapshot
        .scan(crate::support::ledger::GROUPING, libimmuxdb::Scan::units().keys_only())
        .unwrap()
        .map(|unit| unit.unwrap().key)
        .collect();
    for key in keys {
        match snapshot.get(crate::support::ledger::GROUPING, &key) {
            Ok(Some(unit)) => {
                let text = String::from_utf8(unit.content).unwrap();
                assert!(text.starts_with(&format!("{{\"height\":{},", unit.height)), "{text}");
                right += 1;
            }
            Err(Error::Damaged { path, .. }) => {
                assert_eq!(path, site.log());
                damaged += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(damaged, 1);
    assert!(right > 80, "{right}");
}

/// The header: 68 bytes that never change.
#[test]
fn one_bit_of_the_header() {
    let site = Site::with_ledger(1000);
    for offset in [0, 7, 8, 10, 16, 24, 39, 40, 48, 60, 64, 67] {
        let copy = site.copy();
        flip_bit(&copy.log(), offset, 1);
        for opened in [copy.open(&log_only()), copy.open_to_read()] {
            let error = opened.map(|_| ()).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. } | Error::Format { .. }), "{offset}: {error}");
        }
    }
}

/// The status slots only help: without them all is found by reading.
#[test]
fn the_status_slots() {
    let site = Site::with_ledger(1000);
    for slots in [&[512][..], &[1024], &[512, 1024]] {
        let copy = site.copy();
        for slot in slots {
            overwrite(&copy.log(), *slot, &[0x55; 65]);
        }
        copy.check_and_go_on(1000);
    }
}

/// A store whose writer was killed after `HEIGHT` commits with durability `process`; nothing of them was synced.
fn killed() -> Site {
    let site = Site::new();
    let (_store, chain) = site.open(&log_only()).unwrap();
    Ledger::default().commit_to(&chain, HEIGHT);
    site.copy()
}

/// Opens it after a kill: the end is cut off, and saved.
#[track_caller]
fn check_cut(site: &Site, height: u64, saved: bool) {
    let (store, chain) = site.open(&log_only()).unwrap();
    let recovery = chain.recovery();
    assert_eq!(recovery.damage, None);
    let cut = recovery.cut.clone().expect("the cut is reported");
    assert_eq!(cut.saved.is_some(), saved, "{cut:?}");
    if let Some(path) = &cut.saved {
        assert_eq!(length(path), cut.bytes);
    }
    assert_eq!(chain.height().0, height);
    check_all(&chain);
    drop((chain, store));
    site.check_and_go_on(height);
}

#[test]
fn cut_beyond_what_was_synced() {
    let site = killed();
    let all = length(&site.log());
    for missing in [1, 20, 100] {
        let copy = site.copy();
        cut_to(&copy.log(), all - missing);
        // A reader sees what is whole.
        let (_store, chain) = copy.open_to_read().unwrap();
        assert_eq!(chain.height().0, HEIGHT - 1);
        check_cut(&copy, HEIGHT - 1, true);
    }
}

#[test]
fn garbage_and_zeroes_beyond_the_end() {
    for (bytes, saved) in [(vec![0; 10_000], false), (vec![7; 10], true), (b"text ".repeat(3000), true)] {
        let copy = killed();
        overwrite(&copy.log(), length(&copy.log()), &bytes);
        check_cut(&copy, HEIGHT, saved);
    }
}

/// The last commit has a flipped bit, and no other follows: it did not come to its end.
#[test]
fn one_bit_of_the_last_commit_after_a_kill() {
    let site = killed();
    let marker = format!(r#"{{"height":{HEIGHT},"#);
    let copy = site.copy();
    flip_bit(&copy.log(), find(&copy.log(), marker.as_bytes()) + 3, 5);
    check_cut(&copy, HEIGHT - 1, true);
}

/// In the middle it is damage: the machine did not stop, so the system lost nothing.
#[test]
fn one_bit_in_the_middle_after_a_kill() {
    let site = killed();
    let marker = format!(r#"{{"height":{},"#, HEIGHT / 2);
    flip_bit(&site.log(), find(&site.log(), marker.as_bytes()) + 3, 5);
    assert_eq!(check_damaged(&site), HEIGHT / 2 - 1);
}

/// What was acknowledged as synced is never cut off, however the writer ended.
#[test]
fn a_synced_commit_is_not_cut_off() {
    let site = Site::new();
    let (_store, chain) = site.open(&log_only().durability(Durability::Sync)).unwrap();
    Ledger::default().commit_to(&chain, 20);
    let copy = site.copy();
    // The commit after it knows that it was synced.
    let marker = br#"{"height":18,"#;
    flip_bit(&copy.log(), find(&copy.log(), marker) + 3, 5);
    check_damaged(&copy);
}

/// The command's words.
#[test]
fn what_the_command_says() {
    let site = Site::with_log_only(HEIGHT);
    let root = site.root();
    let root = root.to_str().unwrap();
    let place = Place::new();
    flip_bit(&site.log(), length(&site.log()) - 100, 0);
    let refused = place.run(&["put", "g", "k", "1", "--data-root", root]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("is damaged at offset"), "{}", refused.err);
    let read = place.run(&["get", "ledger", "unit 05", "--data-root", root]);
    assert_eq!(read.code, 0, "what is before the damage can be read: {}", read.err);
    assert!(read.err.contains("is damaged at offset"), "{}", read.err);

    let site = killed();
    let root = site.root();
    cut_to(&site.log(), length(&site.log()) - 5);
    let cut = place.run(&["put", "g", "k", "1", "--data-root", root.to_str().unwrap()]);
    assert_eq!(cut.code, 0, "{}", cut.err);
    assert!(cut.err.contains("the log ended with an unfinished commit"), "{}", cut.err);
    assert!(cut.err.contains("saved as "), "{}", cut.err);
}

/// What a reader follows turns out to be damaged: it keeps what it has, and says so each time.
#[test]
fn damaged_while_it_is_followed() {
    let site = Site::with_log_only(100);
    let (_store, chain) = site.open_to_read().unwrap();
    assert_eq!(chain.height().0, 100);
    site.write_ledger(&log_only(), 200);
    flip_bit(&site.log(), find(&site.log(), br#"{"height":150,"#) + 3, 5);
    for _ in 0..3 {
        let refreshed = chain.refresh();
        assert!(matches!(refreshed, Err(Error::Damaged { .. })), "{refreshed:?}");
        assert!(chain.height().0 >= 100);
    }
    // Heights that it has can be read.
    let (_store, again) = site.open_to_read().unwrap();
    assert_eq!(again.height().0, 149);
    check_all(&again);
}

/// The log is cut under a process that reads it. Bytes that are mapped and gone would end the process; what is read
/// again later is found to be missing.
#[test]
fn cut_under_a_reader() {
    let site = Site::with_log_only(HEIGHT);
    let (_store, chain): (Store, Arc<Chain>) = site.open_to_read().unwrap();
    let height = chain.height();
    cut_to(&site.log(), 5000);
    let refreshed = chain.refresh();
    assert!(matches!(refreshed, Err(Error::Damaged { .. })), "{refreshed:?}");
    assert_eq!(chain.height(), height);
}
