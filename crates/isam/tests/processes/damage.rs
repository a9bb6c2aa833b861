//! kill -9, a full disk, damage, and what is done to a file while it is open.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use immuxdb_isam::{Connector, Direction, OpenMode, Relation, RunUnit, Status};
use tempfile::TempDir;

use super::{RECORD, Worker, make, numbers, open, record};

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let folder = TempDir::new().unwrap();
    for (round, kill_after) in [1, 40, 777, 3_000, 9_000].into_iter().enumerate() {
        let path = folder.path().join(format!("FILE{round}"));
        make(&path, 0);
        let mut other = Worker::start("write", &path);
        let mut acknowledged = 0;
        while acknowledged < kill_after {
            acknowledged = other.answer().unwrap().parse::<u32>().unwrap() + 1;
        }
        other.kill();
        while let Some(answer) = other.answer() {
            acknowledged = answer.parse::<u32>().unwrap() + 1;
        }
        let there = numbers(&path);
        assert!(there.len() as u32 >= acknowledged, "{} of {acknowledged}", there.len());
        assert!(there.len() as u32 <= acknowledged + 1, "one write was under way at most");
        assert!(there.iter().copied().eq(0..there.len() as u32), "in order, without a gap");
        // And the file takes more.
        let mut file = open(&RunUnit::default(), &path, OpenMode::Extend).unwrap();
        file.write(&record(20_000)).unwrap();
        file.close().unwrap();
        assert_eq!(numbers(&path).len(), there.len() + 1);
    }
}

#[test]
fn a_file_that_is_shortened_overwritten_or_replaced_while_it_is_open_gives_an_error_or_goes_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    let read_all = |file: &mut Connector| {
        let mut area = [0; RECORD];
        file.start(Relation::First, 0, 0, &area).unwrap();
        loop {
            if let Err(failure) = file.read_next(Direction::Next, &mut area) {
                return failure;
            }
        }
    };
    let damages: [fn(&Path); 3] = [
        |path| fs::File::options().write(true).open(path).unwrap().set_len(9_000).unwrap(),
        |path| fs::File::options().write(true).open(path).unwrap().set_len(0).unwrap(),
        |path| fs::write(path, vec![b'x'; 100_000]).unwrap(),
    ];
    for damage in damages {
        make(&path, 500);
        let mut file = open(&RunUnit::default(), &path, OpenMode::Input).unwrap();
        damage(&path);
        let failure = read_all(&mut file);
        assert_eq!(failure.status, Status::IoError);
        assert!(failure.message.unwrap().contains("FILE"), "the message names the file");
    }
    fs::remove_file(&path).unwrap();
    make(&path, 500);
    let mut file = open(&RunUnit::default(), &path, OpenMode::Input).unwrap();
    make(&folder.path().join("OTHER"), 2);
    fs::rename(folder.path().join("OTHER"), &path).unwrap();
    assert_eq!(read_all(&mut file).status, Status::End, "the file that was opened is still there");
    file.close().unwrap();
    assert_eq!(numbers(&path).len(), 2);
}

#[test]
fn a_damaged_file_is_not_opened_and_a_torn_end_is_cut_off() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 500);
    let whole = fs::read(&path).unwrap();
    // In the middle: nobody may believe that what follows was never there.
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    fs::write(&path, &flipped).unwrap();
    let failure = open(&RunUnit::default(), &path, OpenMode::InputOutput).map(drop).unwrap_err();
    assert_eq!(failure.status, Status::IoError);
    assert!(failure.message.unwrap().contains("damaged"));
    // At the end: a write that was under way.
    fs::write(&path, &whole[..whole.len() - 250]).unwrap();
    assert!((495..500).contains(&numbers(&path).len()));
    open(&RunUnit::default(), &path, OpenMode::InputOutput).unwrap().close().unwrap();
    assert!((495..500).contains(&numbers(&path).len()));
}

#[test]
fn a_full_disk_is_34_and_writing_goes_on_when_there_is_space() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    let exe = env::current_exe().unwrap();
    // Only the shell can have the signal ignored that comes with the limit.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -S -f 64; exec \"$0\" \"$@\""]).arg(&exe);
    shell.args(["--exact", "worker", "--nocapture", "--test-threads=1"]);
    shell.env("ISAM_TASK", "fill the disk").env("ISAM_FILE", &path);
    let mut other = Worker::of(shell.stdin(Stdio::piped()).stdout(Stdio::piped()));
    assert_eq!(other.answer().unwrap(), "34 34 00 00");
    let written: u32 = other.answer().unwrap().parse().unwrap();
    while other.answer().is_some() {}
    assert!(written > 50, "{written}");
    assert!(numbers(&path).into_iter().eq(0..=written));
}
