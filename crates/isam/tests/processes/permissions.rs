//! Owners, modes and directories: what a file made anew keeps, and what may not be written to.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use immuxdb_isam::{OpenMode, RunUnit, Settings, Sharing};
use tempfile::TempDir;

use super::{Worker, command, make, numbers, open_in, record};

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
