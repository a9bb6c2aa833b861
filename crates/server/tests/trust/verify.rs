//! `immuxdb verify`: finds nothing where nothing is wrong, and everything that is.

use std::fs;
use std::path::Path;

use libimmuxdb::Content;
use serde_json::Value;

use crate::command::{Outcome, Place};
use crate::support::site::{cut_to, find, flip_bit, length, little_memory, log_only, overwrite};
use crate::support::{Ledger, Numbers, Site, Worker};

const HEIGHT: u64 = 2000;

fn run(site: &Site, more: &[&str]) -> Outcome {
    let root = site.root();
    Place::new().run(&[&["verify", "--data-root", root.to_str().unwrap()], more].concat())
}

/// Verifies; nothing may be wrong.
#[track_caller]
fn check_sound(site: &Site) -> Value {
    let outcome = run(site, &["--json"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
    serde_json::from_str(&outcome.out).unwrap()
}

/// Verifies; something must be wrong. Gives the faults.
#[track_caller]
fn faults(site: &Site) -> Vec<Value> {
    let outcome = run(site, &["--json"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let mut objects: Vec<Value> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = objects.pop().unwrap();
    assert_eq!(summary["faults"].as_u64().unwrap(), objects.len() as u64, "{}", outcome.out);
    assert!(!objects.is_empty());
    objects
}

#[test]
fn a_sound_store() {
    let site = Site::with_ledger(HEIGHT);
    let found = check_sound(&site);
    assert_eq!(found["height"], HEIGHT);
    assert_eq!(found["commits"], HEIGHT);
    assert!(found["runs"].as_u64().unwrap() > 0);
    assert!(found["compared"].as_u64().unwrap() > found["covered_height"].as_u64().unwrap());
    let said = run(&site, &[]);
    assert!(said.out.starts_with("chain default: no fault; read 2,000 commits up to height 2000, "), "{}", said.out);

    // Without the derived part there is less to do; with little memory it takes files, and leaves none.
    assert_eq!(check_sound(&Site::with_log_only(300))["runs"], 0);
    let scratch = tempfile::tempdir().unwrap();
    let scratch_path = scratch.path().to_str().unwrap();
    let outcome = run(&site, &["--memory-limit", "1MiB", "--scratch", scratch_path]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    // A log by itself, wherever it is.
    let elsewhere = scratch.path().join("elsewhere");
    fs::copy(site.log(), &elsewhere).unwrap();
    let outcome = Place::new().run(&["verify", "--log", elsewhere.to_str().unwrap()]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
}

#[test]
fn what_is_not_there() {
    let place = Place::new();
    assert!(place.fails(3, &["verify"]).contains("there is no store at"));
    let site = Site::with_log_only(20);
    assert_eq!(run(&site, &["--chain", "defalt"]).code, 3);
    assert!(run(&site, &["--chain", "defalt"]).err.contains("did you mean \"default\"?"));
    assert_eq!(place.run(&["verify", "--log", "nowhere"]).code, 1);
}

/// Beside a writer in another process, which writes and merges runs.
#[test]
fn beside_a_writer() {
    let site = Site::new();
    let mut writer = Worker::writer(&site.root(), 20_000);
    writer.wait_for(50);
    let mut last = 0;
    for _ in 0..12 {
        let found = check_sound(&site);
        let height = found["height"].as_u64().unwrap();
        assert!(height >= last.max(50));
        last = height;
    }
    let killed = writer.kill();
    let found = check_sound(&site);
    assert!(found["height"].as_u64() >= killed, "{found}");
}

/// After a kill in the middle of an append: no fault, and a note.
#[test]
fn an_unfinished_end() {
    let site = Site::new();
    let (_store, chain) = site.open(&log_only()).unwrap();
    Ledger::default().commit_to(&chain, 100);
    let copy = site.copy();
    cut_to(&copy.log(), length(&copy.log()) - 10);
    let found = check_sound(&copy);
    assert_eq!(found["height"], 99);
    assert!(found["notes"][0].as_str().unwrap().starts_with("the log ends with an unfinished commit, "), "{found}");
    // Below what was synced it is damage.
    let site = Site::with_log_only(100);
    cut_to(&site.log(), length(&site.log()) - 10);
    let found = faults(&site);
    assert_eq!((&found[0]["part"], &found[0]["height"]), (&"log".into(), &100.into()), "{found:?}");
}

/// Any bit of any frame, whether runs cover it or not; the fault has offset and height.
#[test]
fn a_bit_of_the_log() {
    let site = Site::with_ledger(HEIGHT);
    let all = length(&site.log());
    let mut numbers = Numbers(11);
    for _ in 0..40 {
        let copy = site.copy();
        let offset = 4096 + numbers.below(all - 4096);
        flip_bit(&copy.log(), offset, numbers.below(8) as u32);
        let found = faults(&copy);
        let log = copy.log().display().to_string();
        let named = found.iter().find(|fault| fault["part"] == "log" && fault["file"] == log.as_str());
        let named = named.unwrap_or_else(|| panic!("offset {offset}: {found:?}"));
        let at = named["offset"].as_u64().unwrap();
        assert!(at <= offset && offset - at < 1000, "flipped at {offset}: {named}");
        assert!(named["height"].as_u64().is_some_and(|height| height <= HEIGHT + 1), "{named}");
    }
}

/// Damage in several places: all of it is told, with what is lost.
#[test]
fn several_damages() {
    let site = Site::with_ledger(HEIGHT);
    let log = site.log();
    let body_of = |height: u64| find(&log, format!(r#"{{"height":{height},"#).as_bytes());
    flip_bit(&log, body_of(150) + 4, 1);
    flip_bit(&log, body_of(700) + 4, 1);
    let found = faults(&site);
    let heights: Vec<_> = found.iter().map(|fault| fault["height"].as_u64().unwrap()).collect();
    assert_eq!(heights, [150, 700], "{found:?}");
    for fault in &found {
        let what = fault["fault"].as_str().unwrap();
        assert!(what.contains("the checksum of the body is wrong; it is of grouping \"ledger\""), "{what}");
    }
    let said = run(&site, &[]);
    assert!(said.err.contains("these groupings were not compared with it: ledger"), "{}", said.err);
    assert!(said.err.contains("error: 2 faults found\n help: "), "{}", said.err);
    assert!(said.err.contains("immuxdb repair"), "{}", said.err);

    // Whole commits.
    let (from, to) = (body_of(300), body_of(310));
    overwrite(&log, from, &vec![0xaa; (to - from) as usize]);
    let found = faults(&site);
    let gap = found.iter().find(|fault| fault["fault"].as_str().unwrap().contains("are no frames")).unwrap();
    assert_eq!(gap["height"], 301, "{found:?}");
    assert!(gap["fault"].as_str().unwrap().ends_with("the commits at heights 301 to 310 were in them"), "{gap}");
    assert!(found.iter().any(|fault| fault["height"] == 700), "reading goes on behind it: {found:?}");
    let limited = run(&site, &["--limit", "1"]);
    assert_eq!(limited.out.lines().filter(|line| line.starts_with("fault: ")).count(), 1);
}

/// Each bit of the runs and the manifest counts.
#[test]
fn a_bit_of_the_derived_part() {
    let site = Site::with_ledger(HEIGHT);
    let mut numbers = Numbers(12);
    let files: Vec<_> = site.runs().into_iter().chain([site.index().join("manifest")]).collect();
    for file in files {
        let in_copy = |copy: &Site| copy.root().join(file.strip_prefix(site.root()).unwrap());
        let all = length(&file);
        let fixed = [0, 9, 20, 50, 75, 77, all - 1, all - 5, all - 20, all - 90];
        let random: Vec<_> = (0..25).map(|_| numbers.below(all)).collect();
        for offset in fixed.into_iter().chain(random) {
            let copy = site.copy();
            let path = in_copy(&copy);
            flip_bit(&path, offset, numbers.below(8) as u32);
            let found = faults(&copy);
            let named = found.iter().all(|fault| Path::new(fault["file"].as_str().unwrap()) == path);
            assert!(named, "{} at {offset}: {found:?}", path.display());
        }
    }
    for file in site.runs() {
        let copy = site.copy();
        fs::remove_file(copy.root().join(file.strip_prefix(site.root()).unwrap())).unwrap();
        assert!(faults(&copy)[0]["fault"].as_str().unwrap().contains("No such file"));
    }
}

/// A run of a history that went another way.
#[test]
fn an_index_that_is_not_the_logs() {
    let site = Site::with_ledger(HEIGHT);
    let other = Site::with_ledger(HEIGHT);
    fs::copy(other.log(), site.log()).unwrap();
    let found = faults(&site);
    assert!(found[0]["fault"].as_str().unwrap().contains("belongs to another log"), "{found:?}");
    let older = Site::with_ledger(HEIGHT);
    let old = fs::read(older.log()).unwrap();
    older.write_ledger(&little_memory(), 2 * HEIGHT);
    fs::write(older.log(), old).unwrap();
    let found = faults(&older);
    assert!(found.iter().any(|fault| fault["fault"].as_str().unwrap().contains("the log ends at height")), "{found:?}");
    // The next writer makes it again.
    older.check_and_go_on(HEIGHT);
    check_sound(&older);
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// An entry that is wrong, with checksums that are right: only the log tells.
#[test]
fn an_entry_that_is_wrong() {
    let site = Site::new();
    let (store, chain) = site.open(&log_only()).unwrap();
    let people = chain.grouping("people").unwrap();
    people.create_index("city", libimmuxdb::index::IndexDefinition::json("city"), &mut |_| {}).unwrap();
    for n in 0..20_000 {
        let content = format!(r#"{{"city":"Bern","pad":"{}"}}"#, "=".repeat(450));
        people.put(format!("unit {n:05}").as_bytes(), Content::json(&content)).unwrap();
    }
    drop((people, chain));
    store.close().unwrap();
    check_sound(&site);
    let run = site.runs().pop().expect("a close writes a run for so long a log");
    let mut bytes = fs::read(&run).unwrap();
    // Footer and directory lead to the live entries of the index: FORMAT.md has the offsets.
    let footer = bytes.len() - 96;
    let directory = number(&bytes, footer + 8) as usize;
    let sections = number(&bytes, footer + 16) as usize;
    let record = (0..sections).map(|n| directory + 128 * n).find(|record| bytes[record + 8] == 1).unwrap();
    let (first, index) = (number(&bytes, record + 48) as usize, number(&bytes, record + 56) as usize);
    let common = u32::from_le_bytes(bytes[record + 112..record + 116].try_into().unwrap()) as usize;
    let blocks = number(&bytes, record + 72) as usize;
    assert!(blocks > 1);
    let second = number(&bytes, index + common + 8 * blocks + 32) as usize;
    // In the first block, the unit key of the first entry.
    let at = bytes[first..second].windows(10).position(|window| window == b"unit 00000").unwrap();
    bytes[first + at + 1] = b'X';
    let header_crc = u32::from_le_bytes(bytes[72..76].try_into().unwrap());
    let crc = crc32c::crc32c_append(header_crc ^ first as u32, &bytes[first..second - 4]);
    bytes[second - 4..second].copy_from_slice(&crc.to_le_bytes());
    fs::write(&run, bytes).unwrap();
    let found = faults(&site);
    let what = found[0]["fault"].as_str().unwrap();
    assert!(what.starts_with("index \"city\" of grouping \"people\": the entry "), "{what}");
    assert!(what.ends_with("of unit \"unit 00000\" is of unit \"uXit 00000\" as the run says"), "{what}");
    assert_eq!((&found[0]["height"], &found[0]["part"]), (&2.into(), &"run".into()));
}

/// The last frame names another version as the one that it replaces, with a checksum that is right.
#[test]
fn a_version_before_that_is_not_it() {
    let site = Site::new();
    let (store, chain) = site.open(&log_only()).unwrap();
    let grouping = chain.grouping("g").unwrap();
    grouping.put(b"unit", Content::raw(b"one")).unwrap();
    grouping.put(b"unit", Content::raw(b"two")).unwrap();
    let before = length(&site.log()) as usize;
    grouping.put(b"unit", Content::raw(b"three")).unwrap();
    drop((grouping, chain));
    store.close().unwrap();
    check_sound(&site);
    let mut bytes = fs::read(site.log()).unwrap();
    // Height − synced, kind, flags, grouping, body length, then the distance to the version before.
    let head = u32::from_le_bytes(bytes[before + 4..before + 8].try_into().unwrap()) as usize;
    let distance = before + 38 + 1 + 1 + 1 + 1 + 1 + 1;
    assert_eq!(bytes[distance], 1);
    bytes[distance] = 2;
    let seed = crc32c::crc32c(&bytes[24..40]);
    let seed = crc32c::crc32c_append(seed, &bytes[10..12]);
    let crc = crc32c::crc32c_append(seed, &(before as u64).to_le_bytes());
    let crc = crc32c::crc32c_append(crc, &bytes[before..before + 8]);
    let crc = crc32c::crc32c_append(crc, &bytes[before + 12..before + head]);
    bytes[before + 8..before + 12].copy_from_slice(&crc.to_le_bytes());
    fs::write(site.log(), bytes).unwrap();
    let found = faults(&site);
    let texts: Vec<_> = found.iter().map(|fault| fault["fault"].as_str().unwrap()).collect();
    let wanted = "operation 0, on unit \"unit\" of grouping \"g\": as the version before, it names that of height 1, and it is \
                  that of height 2";
    assert!(texts.contains(&wanted), "{texts:?}");
}
