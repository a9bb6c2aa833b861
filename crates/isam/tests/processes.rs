//! What must hold between programs: locks, kill -9, and what a shop does to files behind a program's back.
//!
//! The other programs are this test itself, started again with only the test [`worker`], which does what its environment
//! says. It answers on standard output, in lines that begin with '@'.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that fails may panic, and a worker talks")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use immuxdb_isam::{
    Access, Connector, Direction, Failure, Key, KeyPart, Layout, OpenMode, OpenRequest, Relation, RunUnit, Settings,
    Sharing, Status,
};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tempfile::TempDir;

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

#[test]
fn many_may_read_or_one_may_have_the_file() {
    let folder = TempDir::new().unwrap();
    for (first, _, _) in MODES {
        for (second, mode, sharing) in MODES {
            let path = folder.path().join("FILE");
            make(&path, 3);
            let mut other = Worker::start(first, &path);
            assert_eq!(other.answer().as_deref(), Some("00"));
            let run_unit = RunUnit::default();
            let outcome = open_in(&run_unit, &path, mode, sharing, &Settings::default());
            let expected = if first == "input" && second == "input" { "00" } else { "61" };
            assert_eq!(status_of(&outcome), expected, "{second} beside {first}");
            // However the other one ends, the file is free at once.
            if second == "io" {
                other.kill();
            } else {
                other.go_on();
                while other.answer().is_some() {}
            }
            drop(outcome);
            let freed = open_in(&run_unit, &path, mode, sharing, &Settings::default());
            assert_eq!(status_of(&freed), "00", "{second} after {first}");
        }
    }
}

#[test]
fn a_run_unit_takes_more_and_gives_it_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    let status = |task| Worker::start(task, &path).answer().unwrap();
    let run_unit = RunUnit::default();
    let reader = open(&run_unit, &path, OpenMode::Input).unwrap();
    let other = {
        let mut other = Worker::start("input", &path);
        assert_eq!(other.answer().unwrap(), "00");
        other
    };
    assert_eq!(status_of(&open(&run_unit, &path, OpenMode::InputOutput)), "61", "another program reads");
    assert_eq!(status("input"), "00", "what failed took nothing away");
    drop(other);
    let writer = open(&run_unit, &path, OpenMode::InputOutput).unwrap();
    assert_eq!(status("input"), "61");
    writer.close().unwrap();
    assert_eq!((status("input"), status("io")), ("00".to_owned(), "61".to_owned()), "it only reads again");
    reader.close().unwrap();
    assert_eq!(status("io"), "00");
}

#[test]
fn a_lock_is_not_inherited() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    let run_unit = RunUnit::default();
    let file = open(&run_unit, &path, OpenMode::InputOutput).unwrap();
    let mut started = Worker::start("wait", &path);
    assert_eq!(started.answer().unwrap(), "here");
    file.close().unwrap();
    assert_eq!(Worker::start("io", &path).answer().unwrap(), "00", "while the program that was started goes on");
    started.go_on();
}

#[test]
fn a_program_may_change_its_directory_while_it_has_a_file_open() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    assert_eq!(Worker::start("change directory", &path).answer().unwrap(), "00");
    assert_eq!(numbers(&path).len(), 2_000);
    assert!(folder.path().join("FILE.idx").exists());
}

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
fn a_file_made_anew_keeps_its_mode_and_its_index_has_it_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    let little = Settings { memory_limit: 32 << 10, ..Settings::default() };
    let run_unit = RunUnit::default();
    let mut file = open_in(&run_unit, &path, OpenMode::Output, Sharing::ByMode, &little).unwrap();
    assert!(file.warning().is_none());
    for number in 0..2_000 {
        file.write(&record(number)).unwrap();
    }
    file.close().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_ne!(fs::metadata(&path).unwrap().ino(), inode);
    assert_eq!(mode(&path), 0o640);
    let index = folder.path().join("FILE.idx");
    assert_eq!(mode(&index), 0o750);
    let files: Vec<PathBuf> = fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 2 && files.iter().all(|file| mode(file) == 0o640), "{files:?}");
    // The index may be lost, or be of another file.
    let expected = numbers(&path);
    fs::remove_dir_all(&index).unwrap();
    assert_eq!(numbers(&path), expected);
    drop(open_in(&run_unit, &path, OpenMode::InputOutput, Sharing::ByMode, &little).unwrap());
    make(&folder.path().join("OTHER"), 2);
    fs::copy(folder.path().join("OTHER"), &path).unwrap();
    assert_eq!(numbers(&path), [0, 1]);
    // Started anew, a small file has none.
    make(&path, 2);
    assert!(!index.exists());
}

/// By root, who may give files away; any other user keeps the group, if he is in it.
#[test]
fn a_file_made_anew_keeps_its_owner_and_group() {
    const OTHER: u32 = 54_321;
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    let owners = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid())
    };
    chown(&path, Some(OTHER), Some(OTHER + 1)).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    let little = Settings { memory_limit: 32 << 10, ..Settings::default() };
    let mut file = open_in(&RunUnit::default(), &path, OpenMode::Output, Sharing::ByMode, &little).unwrap();
    assert!(file.warning().is_none());
    for number in 0..2_000 {
        file.write(&record(number)).unwrap();
    }
    file.close().unwrap();
    assert_ne!(fs::metadata(&path).unwrap().ino(), inode);
    let index = folder.path().join("FILE.idx");
    let mut all: Vec<PathBuf> = fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(all.len() >= 2);
    all.extend([index.clone(), path.clone()]);
    assert!(all.iter().all(|path| owners(path) == (OTHER, OTHER + 1)), "{all:?}");
    // Who may not give files away is told so, and has the file.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let copy = TempDir::new().unwrap();
    let exe = copy.path().join("worker");
    fs::copy(env::current_exe().unwrap(), &exe).unwrap();
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let start = |task| Worker::of(command(&exe, task, &path).uid(OTHER + 2).gid(OTHER + 2));
    // While its index is another's, it can only be emptied.
    assert_eq!(start("output").answer().unwrap(), "00");
    assert_eq!((numbers(&path).len(), owners(&path)), (0, (OTHER, OTHER + 1)));
    fs::set_permissions(&index, fs::Permissions::from_mode(0o700)).unwrap();
    let mut other = start("io");
    assert_eq!(other.answer().unwrap(), "37");
    let message = other.answer().unwrap();
    assert!(message.contains("FILE.idx"), "it is the index that may not be used: {message}");
    fs::remove_dir_all(&index).unwrap();
    let mut other = start("output");
    assert_eq!(other.answer().unwrap(), "00");
    let warning = other.answer().unwrap();
    let (now, group) = (OTHER + 2, OTHER + 1);
    let expected = format!("now the file's group is {now}, which was {group}; its owner is {now}, who was {OTHER}");
    assert_eq!(warning, format!("{}: {expected}", path.display()));
}

#[test]
fn what_a_killed_program_left_behind_is_removed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    let left = [".FILE.new-4711-0", ".FILE.new-4711-1"];
    let others = [".FILE.new-model", ".FILES.new-1-1", "FILE.new-1-1"];
    for name in left.iter().chain(&others) {
        fs::write(folder.path().join(name), "").unwrap();
    }
    make(&path, 3);
    assert!(left.iter().all(|name| !folder.path().join(name).exists()));
    assert!(others.iter().all(|name| folder.path().join(name).exists()));
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

#[test]
fn what_may_not_be_written_to_is_37() {
    const NOBODY: u32 = 65534;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("FILE");
    make(&path, 3);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may everything: another user has to ask.
    let root = nix::unistd::geteuid().is_root();
    let copy = TempDir::new().unwrap();
    let exe = copy.path().join("worker");
    fs::copy(env::current_exe().unwrap(), &exe).unwrap();
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let status = |task: &str, path: &Path| {
        let mut command = command(&exe, task, path);
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Worker::of(&mut command).answer().unwrap()
    };
    let given = ["input", "input alone", "io", "extend", "output"].map(|task| status(task, &path));
    assert_eq!(given, ["00", "00", "37", "37", "37"]);
    assert_eq!(status("output", &folder.path().join("NEW")), "37");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(status("input", &path), "37");
    // A file that may be written to in a directory that may not: OUTPUT empties it.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(status("output", &path), "00");
    assert_eq!(numbers(&path).len(), 0);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}
