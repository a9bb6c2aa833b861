//! A data root that may be read only: by permissions, and by the mount.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Outcome, Place, outcome};
use crate::support::site::files;
use crate::support::{is_root, skip};

/// The command for a user who is not root: a copy that everybody may run.
struct Stranger {
    place: Place,
    binary: PathBuf,
}

impl Stranger {
    fn new() -> Stranger {
        let place = Place::new();
        let binary = place.path().join("immuxdb");
        std::fs::copy(env!("CARGO_BIN_EXE_immuxdb"), &binary).unwrap();
        mode(&binary, 0o755);
        mode(place.path(), 0o755);
        Stranger { place, binary }
    }

    /// Runs it without the right to do everything.
    fn run(&self, arguments: &[&str]) -> Outcome {
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(&self.binary);
            command
        } else {
            Command::new(&self.binary)
        };
        outcome(command.args(arguments).current_dir(self.place.path()).env_clear().output().unwrap())
    }

    fn prints(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{arguments:?}");
        outcome.out
    }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn can_be_another() -> bool {
    !is_root() || Command::new("setpriv").arg("--version").output().is_ok()
}

fn fill(place: &Place) {
    let rows: String = (0..2000).map(|number| format!("{{\"id\": {number}, \"city\": {}}}\n", number % 7)).collect();
    place.file("rows.ndjson", rows);
    place.prints(&["load", "rows.ndjson", "--grouping", "g", "--index", "city=json:city"]);
    place.prints(&["put", "g", "0", r#"{"id": 0, "city": "new"}"#]);
}

/// All that reads, works.
fn check_reading(prints: impl Fn(&[&str]) -> String) {
    assert_eq!(prints(&["get", "g", "1"]), "{\"id\": 1, \"city\": 1}\n");
    assert_eq!(prints(&["get", "g", "0", "--at", "2"]), "{\"id\": 0, \"city\": 0}\n");
    assert_eq!(prints(&["history", "g", "0", "--json"]).lines().count(), 2);
    assert_eq!(prints(&["scan", "g", "--index", "city", "--limit", "5000", "--json"]).lines().count(), 2000);
    prints(&["stats"]);
    prints(&["chains"]);
    prints(&["groupings", "--count"]);
    prints(&["index", "list", "g"]);
}

#[test]
fn by_permissions() {
    if !can_be_another() {
        return skip("root needs setpriv to be somebody else");
    }
    let stranger = Stranger::new();
    fill(&stranger.place);
    let root = stranger.place.path().join("immuxdb-data");
    let before: Vec<_> = files(&root).iter().map(|file| std::fs::read(file).unwrap()).collect();
    for file in files(&root) {
        mode(&file, 0o444);
    }
    for directory in ["", "default", "default/log.idx"].map(|name| root.join(name)).iter().filter(|path| path.exists())
    {
        mode(directory, 0o555);
    }
    check_reading(|arguments| stranger.prints(arguments));
    for arguments in [&["put", "g", "1", "1"][..], &["delete", "g", "1"], &["index", "create", "g", "i", "json:id"]] {
        let refused = stranger.run(arguments);
        assert_eq!(
            (refused.code, refused.err.as_str()),
            (
                1,
                "error: ./immuxdb-data/default/log: Permission denied (os error 13)\n \
                 help: check who may write there, or choose another directory with --data-root\n"
            ),
            "{arguments:?}"
        );
    }
    let other = stranger.run(&["put", "g", "1", "1", "--chain", "other"]);
    assert_eq!(other.code, 1);
    assert!(
        other.err.contains("/other: Permission denied (os error 13)\n help: check who may write there"),
        "{}",
        other.err
    );
    mode(&root, 0o755);
    mode(&root.join("default"), 0o755);
    let after: Vec<_> = files(&root).iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(before == after, "reading changed something");
}

/// The log may be written, but nothing can be made beside it: commits work as long as no run is due.
#[test]
fn a_directory_in_which_nothing_can_be_made() {
    if !can_be_another() {
        return skip("root needs setpriv to be somebody else");
    }
    let stranger = Stranger::new();
    let refused = stranger.run(&["put", "g", "k", "1", "--data-root", "/proc/store"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.starts_with("error: /proc/store: "), "{}", refused.err);
    mode(stranger.place.path(), 0o555);
    let refused = stranger.run(&["put", "g", "k", "1"]);
    mode(stranger.place.path(), 0o755);
    assert_eq!(refused.code, 1);
    assert_eq!(
        refused.err,
        "error: ./immuxdb-data: Permission denied (os error 13)\n \
         help: check who may write there, or choose another directory with --data-root\n"
    );
}

#[test]
fn by_the_mount() {
    let place = Place::new();
    fill(&place);
    let root = place.path().join("immuxdb-data");
    let mount = |arguments: &[&str]| {
        let output = Command::new("mount").args(arguments).arg(&root).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !is_root() || !mount(&["--bind", root.to_str().unwrap()]) {
        return skip("a read-only device can be mounted by root only");
    }
    let read_only = mount(&["-o", "remount,bind,ro"]);
    let refused = place.run(&["put", "g", "1", "1"]);
    let read = std::panic::catch_unwind(|| check_reading(|arguments| place.prints(arguments)));
    let _ = Command::new("umount").arg("-l").arg(&root).status();
    assert!(read_only && read.is_ok());
    assert_eq!(
        (refused.code, refused.err.as_str()),
        (
            1,
            "error: ./immuxdb-data/default/log: Read-only file system (os error 30)\n \
             help: check who may write there, or choose another directory with --data-root\n"
        )
    );
}

/// A data root that is a file.
#[test]
fn a_root_that_is_no_directory() {
    let place = Place::new();
    place.file("immuxdb-data", "a file");
    for arguments in [&["put", "g", "k", "1"][..], &["get", "g", "k"], &["stats"]] {
        let refused = place.run(arguments);
        assert_ne!(refused.code, 0);
        assert!(refused.err.starts_with("error: "), "{}", refused.err);
        assert!(refused.err.contains("immuxdb-data"), "{}", refused.err);
        assert!(!refused.err.contains("panicked"), "{}", refused.err);
    }
    assert_eq!(std::fs::read(place.path().join("immuxdb-data")).unwrap(), b"a file");
}
