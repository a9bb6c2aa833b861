//! What must hold between programs: locks, kill -9, and what a shop does to files behind a program's back.
//!
//! The other programs are this test itself, started again with only the test [`worker`], which does what its environment
//! says. It answers on standard output, in lines that begin with '@'.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that fails may panic, and a worker talks")]

mod damage;
mod permissions;
mod sharing;

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use immuxdb_isam::{
    Access, Connector, Direction, Failure, Key, KeyPart, Layout, OpenMode, OpenRequest, Relation, RunUnit, Settings,
    Sharing,
};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

const RECORD: usize = 100;

fn layout() -> Layout {
    let key = |offset, duplicates| Key { parts: vec![KeyPart { offset, len: 8 }], duplicates, sparse: None };
    let record = RECORD as u32;
    Layout { keys: vec![key(0, false), key(8, true)], min_record: record, max_record: record, variable: false }
}

/// A record with this number, in the primary key and all over.
fn record(number: u32) -> [u8; RECORD] {
    let mut record = [b'0' + (number % 10) as u8; RECORD];
    record[..8].copy_from_slice(format!("{number:08}").as_bytes());
    record[8..16].copy_from_slice(format!("{:08}", number % 7).as_bytes());
    record
}

fn open_in(
    run_unit: &RunUnit,
    path: &Path,
    mode: OpenMode,
    sharing: Sharing,
    settings: &Settings,
) -> Result<Connector, Failure> {
    let layout = layout();
    let request = OpenRequest { path, mode, access: Access::Dynamic, optional: false, layout: &layout, settings };
    run_unit.open_sharing(&request, sharing).map(|(connector, _)| connector)
}

fn open(run_unit: &RunUnit, path: &Path, mode: OpenMode) -> Result<Connector, Failure> {
    open_in(run_unit, path, mode, Sharing::ByMode, &Settings::default())
}

/// A file with records of the numbers below `count`.
fn make(path: &Path, count: u32) {
    let mut file = open(&RunUnit::default(), path, OpenMode::Output).unwrap();
    for number in 0..count {
        file.write(&record(number)).unwrap();
    }
    file.close().unwrap();
}

/// The numbers of the records of a file, by primary key; each must be as it was written.
fn numbers(path: &Path) -> Vec<u32> {
    let mut file = open(&RunUnit::default(), path, OpenMode::Input).unwrap();
    let mut by_primary = Vec::new();
    let mut area = [0; RECORD];
    while file.read_next(Direction::Next, &mut area).is_ok() {
        let number = std::str::from_utf8(&area[..8]).unwrap().parse().unwrap();
        assert_eq!(area, record(number));
        by_primary.push(number);
    }
    let mut by_alternate = 0;
    let any = file.start(Relation::First, 1, 0, &area).is_ok();
    while any && file.read_next(Direction::Next, &mut area).is_ok() {
        by_alternate += 1;
    }
    assert_eq!(by_alternate, by_primary.len(), "each record is in the index once");
    by_primary
}

const MODES: [(&str, OpenMode, Sharing); 5] = [
    ("input", OpenMode::Input, Sharing::ByMode),
    ("input alone", OpenMode::Input, Sharing::NoOther),
    ("output", OpenMode::Output, Sharing::ByMode),
    ("io", OpenMode::InputOutput, Sharing::ByMode),
    ("extend", OpenMode::Extend, Sharing::ByMode),
];

/// Another program. It is killed when it goes out of scope.
struct Worker {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

fn command(exe: &Path, task: &str, path: &Path) -> Command {
    let mut command = Command::new(exe);
    command.args(["--exact", "worker", "--nocapture", "--test-threads=1"]);
    command.env("ISAM_TASK", task).env("ISAM_FILE", path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

impl Worker {
    fn start(task: &str, path: &Path) -> Worker {
        Worker::of(&mut command(&env::current_exe().unwrap(), task, path))
    }

    fn of(command: &mut Command) -> Worker {
        let mut child = command.spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Worker { child, answers }
    }

    /// The next answer; `None` when it has ended.
    fn answer(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The harness begins a line with the test's name.
            if let Some((_, answer)) = line.split_once('@') {
                return Some(answer.trim_end().to_owned());
            }
        }
    }

    fn go_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(what: &str) {
    println!("@{what}");
    std::io::stdout().flush().unwrap();
}

fn wait_for_word() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

fn status_of<T>(outcome: &Result<T, Failure>) -> String {
    outcome.as_ref().map_or_else(|failure| failure.status.to_string(), |_| "00".to_owned())
}

/// Not a test of its own: what the other programs do.
#[test]
fn worker() {
    let (Ok(task), Ok(path)) = (env::var("ISAM_TASK"), env::var("ISAM_FILE")) else {
        return;
    };
    let (run_unit, path) = (RunUnit::default(), PathBuf::from(path));
    match task.as_str() {
        "write" => {
            let mut file = open(&run_unit, &path, OpenMode::InputOutput).unwrap();
            for number in 0..10_000 {
                file.write(&record(number)).unwrap();
                say(&number.to_string());
            }
        }
        "change directory" => {
            env::set_current_dir(path.parent().unwrap()).unwrap();
            let little = Settings { memory_limit: 32 << 10, ..Settings::default() };
            let name = Path::new(path.file_name().unwrap());
            let mut file = open_in(&run_unit, name, OpenMode::Output, Sharing::ByMode, &little).unwrap();
            env::set_current_dir("/").unwrap();
            for number in 0..2_000 {
                file.write(&record(number)).unwrap();
            }
            say(&status_of(&file.close()));
        }
        "wait" => {
            say("here");
            wait_for_word();
        }
        "fill the disk" => {
            // The limit of a file's size stands for a full disk; the shell made the signal for it be ignored.
            let mut file = open(&run_unit, &path, OpenMode::Output).unwrap();
            let mut number = 0;
            let failure = loop {
                match file.write(&record(number)) {
                    Ok(_) => number += 1,
                    Err(failure) => break failure,
                }
            };
            let again = file.write(&record(number));
            let mut area = record(number - 1);
            let read = file.close().and_then(|_| open(&run_unit, &path, OpenMode::InputOutput)).map(|mut file| {
                let read = file.read_key(0, &mut area).map(|read| read.status);
                (file, read)
            });
            let (soft, hard) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
            assert!(soft < hard);
            setrlimit(Resource::RLIMIT_FSIZE, hard, hard).unwrap();
            let (mut file, read) = read.unwrap();
            let written = file.write(&record(number));
            file.close().unwrap();
            say(&format!("{} {} {} {}", failure.status, status_of(&again), status_of(&read), status_of(&written)));
            say(&number.to_string());
        }
        mode => {
            let (_, mode, sharing) = MODES.iter().find(|(name, _, _)| *name == mode).unwrap();
            let outcome = open_in(&run_unit, &path, *mode, *sharing, &Settings::default());
            say(&status_of(&outcome));
            let more = match &outcome {
                Ok(file) => file.warning(),
                Err(failure) => failure.message.as_deref(),
            };
            if let Some(more) = more {
                say(more);
            }
            wait_for_word();
        }
    }
}
