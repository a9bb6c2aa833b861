//! Programs that are killed: what they had acknowledged is there, whole, and by every key.
//!
//! `IMMUXDB_HAZARD_ROUNDS` sets how often those are that write.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use super::support::compiler::{Compiler, Files};
use super::support::program::{command, run};

const RECORDS: u32 = 10_000;

/// Starts the writer and kills it after it has acknowledged `after` records; all that it acknowledged.
fn write_and_kill(compiler: Compiler, folder: &Path, first: u32, after: usize) -> BTreeSet<u32> {
    let mut writer = command(compiler, Files::Immux, &["writer"], folder);
    writer.args([RECORDS.to_string(), first.to_string()]).stderr(Stdio::piped());
    let mut child = writer.spawn().unwrap();
    let mut acknowledged = BTreeSet::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        // The last line may be cut off by the kill; then it was not acknowledged.
        if line.len() == 6 {
            acknowledged.insert(line.parse().unwrap_or_else(|_| panic!("the writer says {line:?}")));
        }
        if acknowledged.len() == after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    acknowledged
}

fn numbers_in_file(compiler: Compiler, folder: &Path) -> BTreeSet<u32> {
    let out = run(compiler, Files::Immux, &["reader"], folder, &[]).quiet();
    out.lines().map(|line| line.parse().unwrap_or_else(|_| panic!("the reader says {line:?}"))).collect()
}

/// After how many records the writers are killed.
const KILLED_AFTER: [usize; 5] = [1, 700, 4_000, 60, 2_500];

/// As many lives as one file has numbers for, which are six digits long.
const MOST_LIVES: usize = 45;

#[test]
fn in_the_middle_of_ten_thousand_writes_lose_nothing() {
    let rounds = std::env::var("IMMUXDB_HAZARD_ROUNDS").map_or(KILLED_AFTER.len(), |rounds| rounds.parse().unwrap());
    for compiler in Compiler::all() {
        for begun in (0..rounds).step_by(MOST_LIVES) {
            lives_of_one_file(*compiler, MOST_LIVES.min(rounds - begun));
        }
    }
}

fn lives_of_one_file(compiler: Compiler, lives: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeSet::new();
    for (round, after) in KILLED_AFTER.into_iter().cycle().take(lives).enumerate() {
        let first = u32::try_from(round).unwrap() * 2 * RECORDS + 1;
        let written = write_and_kill(compiler, folder.path(), first, after);
        assert!(written.len() >= after && written.len() < RECORDS as usize, "it was killed too late");
        acknowledged.extend(written);
        let found = numbers_in_file(compiler, folder.path());
        let lost: Vec<_> = acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "{}: acknowledged and lost: {lost:?}", compiler.name());
        let more: Vec<_> = found.difference(&acknowledged).collect();
        assert!(more.len() <= round + 1, "one write a life may have happened without having been told: {more:?}");
    }
}

/// `cp` of a file that a program is writing to: all that was acknowledged before, by every key.
#[test]
fn or_that_are_copied_meanwhile_give_a_valid_backup() {
    for compiler in Compiler::all() {
        let (folder, backup) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut writer = command(*compiler, Files::Immux, &["writer"], folder.path());
        let mut child = writer.args([RECORDS.to_string(), "1".to_owned()]).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        for after in [1, 500, 3_000] {
            let acknowledged = lines.find_map(|line| line.unwrap().parse().ok().filter(|number| *number >= after));
            let file = backup.path().join("writtenfile");
            std::fs::copy(folder.path().join("writtenfile"), &file).unwrap();
            let found = numbers_in_file(*compiler, backup.path());
            let first = acknowledged.unwrap();
            let count = u32::try_from(found.len()).unwrap();
            assert!(count >= first && found.into_iter().eq(1..=count), "{}: {count} of {first}", compiler.name());
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// STOP RUN without CLOSE, and a program that dies of libcob's own error.
#[test]
fn or_that_close_nothing_lose_nothing() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        run(*compiler, Files::Immux, &["writer"], folder.path(), &["300", "1"]).good();
        assert_eq!(numbers_in_file(*compiler, folder.path()), (1..=300).collect());
        run(*compiler, Files::ImmuxPlain, &["writer"], folder.path(), &["300", "1001"]).good();
        assert_eq!(numbers_in_file(*compiler, folder.path()).len(), 600);
        let died = run(*compiler, Files::Immux, &["bare"], folder.path(), &["key"]);
        assert_ne!(died.code, Some(0));
        assert!(died.err.contains("status = 22") && !died.err.contains("immuxfh"), "{}", died.err);
        assert!(std::fs::metadata(folder.path().join("barefile")).unwrap().len() > 0);
    }
}
