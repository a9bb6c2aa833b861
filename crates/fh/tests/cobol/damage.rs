//! Files that are not what a program expects: other makers' files, damaged ones, ones that change under its feet, no
//! space, no permission. A clear status and message, never a crash, and no valid record lost.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use super::support::compiler::{Compiler, Files};
use super::support::program::{command, run};
use super::support::session::Session;

/// A file of a few hundred records, made by a program that is done.
fn make(compiler: Compiler, folder: &Path, file: &str) {
    let mut session = Session::start(compiler, folder, file);
    session.expect("open output", "00");
    session.expect("write 100000 Bern", "00");
    for key in 100_001..100_300 {
        session.expect(&format!("write {key} Bern"), "02");
    }
    session.expect("close", "00");
    session.end();
}

/// The records that READ NEXT gives until something else than 00 comes, and what that is.
fn walk(session: &mut Session) -> (usize, String) {
    let mut count = 0;
    loop {
        let answer = session.ask("next");
        if !answer.starts_with("00 ") {
            return (count, answer);
        }
        count += 1;
    }
}

#[test]
fn files_of_others_are_named_and_left_alone() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("datafile");
        let mut contents = vec![
            (b"A text file, with lines.\nNothing else.\n".repeat(400), "text"),
            (vec![0u8; 8192], "zero"),
            ((0..9_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect(), ""),
        ];
        if Compiler::all().contains(&Compiler::Three) {
            let berkeley = tempfile::tempdir().unwrap();
            run(Compiler::Three, Files::Berkeley, &["writer"], berkeley.path(), &["50", "1"]).good();
            contents.push((fs::read(berkeley.path().join("writtenfile")).unwrap(), "Berkeley DB"));
        }
        for (content, name) in contents {
            fs::write(&path, &content).unwrap();
            let mut session = Session::start(*compiler, folder.path(), "datafile");
            for mode in ["input", "i-o", "extend"] {
                let message = session.fails(&format!("open {mode}"), "30");
                assert!(message.contains("datafile") && message.contains(name), "{message}");
            }
            session.expect("read 10", "47");
            session.end();
            assert_eq!(fs::read(&path).unwrap(), content, "it is as it was");
        }
    }
}

/// A file that was cut off at any place has all records before that place; one with a flipped bit gives a clear status.
#[test]
fn a_damaged_file_gives_what_is_whole_or_says_so() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        make(*compiler, folder.path(), "wholefile");
        let whole = fs::read(folder.path().join("wholefile")).unwrap();
        let damaged = folder.path().join("datafile");
        for part in [1, 3, 6, 9, 13] {
            fs::write(&damaged, &whole[..whole.len() * part / 14]).unwrap();
            let mut session = Session::start(*compiler, folder.path(), "datafile");
            let opened = session.ask("open input");
            let len = whole.len() * part / 14;
            if opened == "00" {
                let (count, end) = walk(&mut session);
                assert_eq!(end, "10", "{len} bytes");
                assert!(count * 200 <= len && count < 300, "{count} records of {len} bytes");
                assert!(part < 6 || count > 80, "{count} records of {len} bytes");
            } else {
                let (message, status) = opened.rsplit_once('\n').unwrap();
                assert!(matches!(status, "30" | "39") && message.contains("datafile"), "{opened}");
            }
            session.end();
        }
        let mut lost = 0;
        for place in (4_200..whole.len()).step_by(whole.len() / 9) {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            fs::write(&damaged, &bytes).unwrap();
            let _ = fs::remove_dir_all(folder.path().join("datafile.idx"));
            let mut session = Session::start(*compiler, folder.path(), "datafile");
            let opened = session.ask("open i-o");
            if opened.ends_with("30") {
                assert!(opened.contains("immuxfh: ") && opened.contains("datafile"), "{opened}");
                lost += 1;
            } else {
                assert!(opened.ends_with("00"), "{opened}");
                let (count, end) = walk(&mut session);
                assert!(count == 300 || end.ends_with("30") || place > whole.len() * 99 / 100, "{count} {end}");
                lost += usize::from(count < 300);
            }
            session.end();
            assert_eq!(fs::read(&damaged).unwrap()[..place], bytes[..place], "nothing is cut off before the damage");
        }
        assert!(lost > 0, "no damage was noticed");
    }
}

/// While a program has it open, somebody overwrites the file, cuts it, or puts another in its place.
#[test]
fn a_file_that_changes_under_a_program_gives_an_error_not_a_crash() {
    for compiler in Compiler::all() {
        for what in ["overwritten", "shortened", "emptied", "replaced", "removed"] {
            let folder = tempfile::tempdir().unwrap();
            make(*compiler, folder.path(), "datafile");
            let path = folder.path().join("datafile");
            let mut session = Session::start(*compiler, folder.path(), "datafile");
            session.expect("open i-o", "00");
            session.expect("next", "00 100000 Bern   Bern");
            match what {
                "overwritten" => {
                    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
                    let len = file.metadata().unwrap().len();
                    file.write_all_at(&vec![b'#'; usize::try_from(len).unwrap() - 4_096], 4_096).unwrap();
                }
                "shortened" => fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(9_000).unwrap(),
                "emptied" => fs::write(&path, "").unwrap(),
                "replaced" => {
                    fs::write(folder.path().join("new"), "something else").unwrap();
                    fs::rename(folder.path().join("new"), &path).unwrap();
                }
                _ => fs::remove_file(&path).unwrap(),
            }
            let answers = [session.ask("read 100200"), session.ask("next"), session.ask("write 200000 Chur")];
            match what {
                // The program goes on with the file that it has; nobody else sees it.
                "replaced" | "removed" => assert_eq!(answers[0], "00 100200 Bern   Bern", "{what}"),
                _ => assert!(answers[0].ends_with("30"), "{what}: {answers:?}"),
            }
            for answer in &answers {
                let status = answer.lines().last().unwrap();
                assert!(["00", "02", "10", "30", "46"].contains(&&status[..2]), "{what}: {answers:?}");
            }
            let closed = session.ask("close");
            assert!(matches!(closed.lines().last(), Some("00" | "30")), "{what}: {closed}");
            session.end();
        }
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// New files have 0666 less umask.
#[test]
fn a_new_file_has_the_mode_that_umask_leaves() {
    for compiler in Compiler::all() {
        for (umask, mode) in [("000", 0o666), ("027", 0o640)] {
            let folder = tempfile::tempdir().unwrap();
            let driver = compiler.compile(Files::Immux, &["driver"]);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("umask {umask}; exec \"$0\" datafile")]).arg(driver).current_dir(folder.path());
            let mut session = Session::of(shell.env("LD_LIBRARY_PATH", super::support::compiler::library_folder()));
            session.expect("open output", "00");
            session.end();
            let metadata = fs::metadata(folder.path().join("datafile")).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, mode, "{umask}");
        }
    }
}

/// `setpriv` and a driver for a user who is not root.
fn stranger(compiler: Compiler, folder: &Path, file: &str) -> Command {
    let driver = compiler.compile(Files::Immux, &["driver"]);
    // The programs' own folder is for this user alone.
    let copy = folder.join("driver");
    fs::copy(driver, &copy).unwrap();
    let library = super::support::compiler::library_folder().join("libimmuxfh.so");
    fs::copy(library, folder.join("libimmuxfh.so")).unwrap();
    if let Some(libcob) = compiler.unpacked_libcob() {
        fs::copy(&libcob, folder.join(libcob.file_name().unwrap())).unwrap();
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(copy).arg(file);
    command.current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").env("LD_LIBRARY_PATH", folder);
    command
}

#[test]
fn a_folder_or_file_that_may_only_be_read_can_be_read() {
    if !is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        eprintln!("skipped: becoming another user takes root and setpriv");
        return;
    }
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        make(*compiler, folder.path(), "datafile");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut session = Session::of(&mut stranger(*compiler, folder.path(), "datafile"));
        session.expect("open input", "00");
        assert_eq!(walk(&mut session), (300, "10".to_owned()));
        session.expect("close", "00");
        for mode in ["i-o", "extend", "output"] {
            let message = session.fails(&format!("open {mode}"), "37");
            assert!(message.contains("datafile"), "{message}");
        }
        session.fails("delete-file", "37");
        session.end();
        let mut session = Session::of(&mut stranger(*compiler, folder.path(), "newfile"));
        session.fails("open output", "37");
        session.expect("open i-o", "35");
        session.end();
        fs::set_permissions(folder.path().join("datafile"), fs::Permissions::from_mode(0o600)).unwrap();
        let mut session = Session::of(&mut stranger(*compiler, folder.path(), "datafile"));
        session.fails("open input", "37");
        session.end();
    }
}

/// A device of its own, of a few megabytes; gone at the end of the test.
struct Device<'a>(&'a Path);

impl Device<'_> {
    /// `None` where this process may mount nothing.
    fn mount(at: &Path) -> Option<Device<'_>> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(at).output();
        (is_root() && mount.is_ok_and(|output| output.status.success())).then_some(Device(at))
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_refuses_writes_and_keeps_what_was_acknowledged() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let Some(_device) = Device::mount(folder.path()) else {
            eprintln!("skipped: a small device can be mounted by root only");
            return;
        };
        let mut session = Session::start(*compiler, folder.path(), "datafile");
        session.expect("open output", "00");
        session.expect("write 100000 Bern", "00");
        let mut key = 100_001;
        let refused = loop {
            let answer = session.ask(&format!("write {key} Bern"));
            if answer != "02" {
                break answer;
            }
            key += 1;
            assert!(key < 110_000, "the device is never full");
        };
        let (message, status) = refused.rsplit_once('\n').unwrap();
        assert!(status == "34" && message.contains("datafile") && message.contains("space"), "{refused}");
        session.fails(&format!("write {key} Bern"), "34");
        // Closed and opened again, on the device that is full.
        session.expect("close", "00");
        session.expect("open input", "00");
        assert_eq!(walk(&mut session), (key - 100_000, "10".to_owned()));
        session.expect("close", "00");
        let larger = Command::new("mount").args(["-o", "remount,size=4m"]).arg(folder.path()).status().unwrap();
        assert!(larger.success());
        session.expect("open i-o", "00");
        session.expect(&format!("write {key} Bern"), "02");
        session.expect(&format!("read {key}"), &format!("00 {key} Bern   Bern"));
        session.end();
    }
}

/// Compiled without the flags that put the library before libcob: a plain handler still does all that it gets to know.
#[test]
fn a_plain_handler_works_and_closes() {
    for compiler in Compiler::all() {
        let folder = tempfile::tempdir().unwrap();
        let mut session =
            Session::of(command(*compiler, Files::ImmuxPlain, &["driver"], folder.path()).arg("datafile"));
        for line in ["open output", "write 10 Bern", "close", "open i-o"] {
            session.expect(line, "00");
        }
        session.expect("town Bern", "00 10     Bern   Bern");
        session.expect("open i-o", "41");
        session.expect("read 11", "23");
        session.expect("close", "00");
        session.expect("close", "42");
        session.end();
    }
}
