use std::io;

use libimmuxdb::storage::{OpenMode, Storage};

use super::*;

fn disk(seed: u64) -> SimulatedDisk {
    let disk = SimulatedDisk::new(Random::new(seed));
    let process = disk.start_process();
    process.create_dir(Path::new("/store")).unwrap();
    process.sync_dir(Path::new("/")).unwrap();
    disk
}

fn write(process: &Process, path: &str, bytes: &[u8], sync: bool) -> io::Result<()> {
    let file = process.open(Path::new(path), OpenMode::CreateNew)?;
    file.write_at(bytes, 0)?;
    if sync {
        file.sync_data()?;
    }
    Ok(())
}

fn read(process: &Process, path: &str) -> io::Result<Vec<u8>> {
    let file = process.open(Path::new(path), OpenMode::Read)?;
    let mut bytes = vec![0; file.len()? as usize];
    assert_eq!(file.read_at(&mut bytes, 0)?, bytes.len());
    Ok(bytes)
}

#[test]
fn the_death_of_a_process_loses_no_write_and_ends_its_locks() {
    let disk = disk(1);
    let process = disk.start_process();
    write(&process, "/store/log", b"hello", false).unwrap();
    let file = process.open(Path::new("/store/log"), OpenMode::Write).unwrap();
    assert!(file.try_lock(9).unwrap());
    let other = disk.start_process();
    let theirs = other.open(Path::new("/store/log"), OpenMode::Write).unwrap();
    assert!(!theirs.try_lock(9).unwrap());
    assert!(theirs.is_locked(9).unwrap());
    assert!(!file.is_locked(9).unwrap(), "one's own lock is no obstacle");

    disk.kill(&process);
    assert!(file.write_at(b"late", 0).is_err());
    assert!(theirs.try_lock(9).unwrap());

    disk.crash(CrashKind::Process);
    assert!(theirs.len().is_err());
    let next = disk.start_process();
    assert_eq!(read(&next, "/store/log").unwrap(), b"hello");
    drop((file, theirs));
}

#[test]
fn a_lock_ends_with_its_handle() {
    let disk = disk(1);
    let process = disk.start_process();
    write(&process, "/store/log", b"", false).unwrap();
    let open = || process.open(Path::new("/store/log"), OpenMode::Write).unwrap();
    let (first, second) = (open(), open());
    assert!(first.try_lock(0).unwrap());
    assert!(first.try_lock(0).unwrap());
    assert!(!second.try_lock(0).unwrap());
    assert!(second.try_lock(1).unwrap());
    drop(first);
    assert!(second.try_lock(0).unwrap());
}

#[test]
fn a_name_is_durable_when_its_directory_was_synced() {
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let disk = disk(seed);
        let process = disk.start_process();
        write(&process, "/store/a", b"old", true).unwrap();
        process.sync_dir(Path::new("/store")).unwrap();
        write(&process, "/store/b", b"new", true).unwrap();
        let (b, a) = (Path::new("/store/b"), Path::new("/store/a"));
        process.rename(b, a).unwrap();
        assert_eq!(read(&process, "/store/a").unwrap(), b"new");
        disk.crash(CrashKind::Machine);
        let process = disk.start_process();
        let names = process.list(Path::new("/store")).unwrap();
        outcomes.insert((names.join(" "), read(&process, "/store/a").unwrap()));
    }
    let expected = [("a", "old"), ("a", "new"), ("a b", "old")]
        .map(|(names, bytes)| (names.to_owned(), bytes.as_bytes().to_vec()));
    assert_eq!(outcomes, expected.into());
}

#[test]
fn a_rename_may_be_durable_before_the_bytes() {
    let emptied = (0..100).any(|seed| {
        let disk = disk(seed);
        let process = disk.start_process();
        write(&process, "/store/new", b"bytes", false).unwrap();
        let (from, to) = (Path::new("/store/new"), Path::new("/store/manifest"));
        process.rename(from, to).unwrap();
        process.sync_dir(Path::new("/store")).unwrap();
        disk.crash(CrashKind::Machine);
        read(&disk.start_process(), "/store/manifest").unwrap() != b"bytes"
    });
    assert!(emptied);
}

#[test]
fn a_directory_that_was_never_synced_takes_its_files_with_it() {
    let gone = (0..100).any(|seed| {
        let disk = disk(seed);
        let process = disk.start_process();
        process.create_dir(Path::new("/store/chain/log.idx")).unwrap();
        write(&process, "/store/chain/log", b"bytes", true).unwrap();
        process.sync_dir(Path::new("/store/chain")).unwrap();
        disk.crash(CrashKind::Machine);
        let next = disk.start_process();
        !next.exists(Path::new("/store/chain")).unwrap()
    });
    assert!(gone);
}

#[test]
fn a_removed_file_is_read_by_those_who_have_it_open() {
    let disk = disk(1);
    let process = disk.start_process();
    write(&process, "/store/run", b"bytes", true).unwrap();
    let file = process.open(Path::new("/store/run"), OpenMode::Read).unwrap();
    process.remove(Path::new("/store/run")).unwrap();
    process.sync_dir(Path::new("/store")).unwrap();
    assert_eq!(file.len().unwrap(), 5);
    assert_eq!(&*file.map(0, 5, false).unwrap().unwrap(), b"bytes");
    assert!(file.map(0, 5, true).unwrap().is_none());
    assert!(file.map(0, 6, false).is_err());
    let error = process.open(Path::new("/store/run"), OpenMode::Read);
    assert_eq!(error.err().unwrap().kind(), io::ErrorKind::NotFound);
}

#[test]
fn the_planned_call_fails_and_the_next_does_not() {
    let disk = disk(3);
    let process = disk.start_process();
    write(&process, "/store/log", b"0123456789", true).unwrap();
    let file = process.open(Path::new("/store/log"), OpenMode::Write).unwrap();
    disk.plan(Fault { target: Target::Only(Call::Write), after: 1, effect: Effect::NoSpace });
    file.write_at(b"a", 0).unwrap();
    let error = file.write_at(b"bbbbbbbbb", 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    file.write_at(b"c", 0).unwrap();
    assert_eq!(disk.misfortunes(), 1);
    assert_eq!(disk.fired()[&(Effect::NoSpace, Call::Write)], 1);
}

#[test]
fn after_a_stop_everything_fails_until_the_crash() {
    for effect in [Effect::StopBefore, Effect::StopAmid, Effect::StopAfter] {
        let disk = disk(5);
        let process = disk.start_process();
        write(&process, "/store/log", b"bytes", false).unwrap();
        process.sync_dir(Path::new("/store")).unwrap();
        let file = process.open(Path::new("/store/log"), OpenMode::Write).unwrap();
        disk.plan(Fault { target: Target::Syncs, after: 0, effect });
        assert!(file.sync_data().is_err());
        assert!(disk.stopped());
        assert!(file.len().is_err());
        assert!(process.exists(Path::new("/store")).is_err());
        disk.crash(CrashKind::Machine);
        let next = disk.start_process();
        let left = read(&next, "/store/log").unwrap();
        if effect == Effect::StopAfter {
            assert_eq!(left, b"bytes");
        }
    }
}

#[test]
fn a_full_disk_takes_what_fits() {
    let disk = disk(1);
    let process = disk.start_process();
    write(&process, "/store/log", b"0123456789", true).unwrap();
    disk.set_quota(Some(14));
    let file = process.open(Path::new("/store/log"), OpenMode::Write).unwrap();
    let error = file.write_at(b"abcdef", 10).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(read(&process, "/store/log").unwrap(), b"0123456789abcd");
    file.write_at(b"XYZ", 0).unwrap();
    assert!(write(&process, "/store/other", b"", false).is_err());
    file.set_len(4).unwrap();
    file.write_at(b"abcdef", 4).unwrap();
    assert_eq!(read(&process, "/store/log").unwrap(), b"XYZ3abcdef");
}

#[test]
fn copies_come_back_durably() {
    let disk = disk(1);
    let process = disk.start_process();
    process.create_dir(Path::new("/store/log.idx")).unwrap();
    write(&process, "/store/log.idx/manifest", b"one", false).unwrap();
    let saved = disk.save(Path::new("/store/log.idx")).unwrap();
    write(&process, "/store/log.idx/run", b"two", true).unwrap();
    disk.crash(CrashKind::Process);
    disk.replace(Path::new("/store/log.idx"), Some(&saved)).unwrap();
    disk.crash(CrashKind::Machine);
    assert_eq!(disk.save(Path::new("/store/log.idx")).unwrap(), saved);
    disk.replace(Path::new("/store/log.idx"), None).unwrap();
    assert!(disk.save(Path::new("/store/log.idx")).is_err());
}

#[test]
fn the_same_seed_and_calls_leave_the_same_disk() {
    let run = |seed| {
        let disk = disk(seed);
        let process = disk.start_process();
        for number in 0..20 {
            write(&process, &format!("/store/{number}"), &[number; 2000], number % 3 == 0).unwrap();
        }
        disk.crash(CrashKind::Machine);
        (disk.save(Path::new("/")).unwrap(), disk.events())
    };
    assert_eq!(run(9), run(9));
    assert_ne!(run(9), run(10));
}

#[test]
fn everybody_hears_once_of_a_failed_sync() {
    let disk = disk(1);
    let process = disk.start_process();
    write(&process, "/store/log", b"bytes", false).unwrap();
    let open = || process.open(Path::new("/store/log"), OpenMode::Write).unwrap();
    let (first, second) = (open(), open());
    disk.plan(Fault { target: Target::Syncs, after: 0, effect: Effect::IoError });
    assert!(first.sync_data().is_err());
    first.sync_data().unwrap();
    open().sync_data().unwrap();
    assert_eq!(disk.wounds(), 1);
    assert!(second.sync_data().is_err());
    assert_eq!(disk.wounds(), 2);
    second.sync_data().unwrap();
}

#[test]
fn what_a_dead_process_still_does_reaches_nothing() {
    let disk = disk(1);
    let process = disk.start_process();
    write(&process, "/store/log", b"bytes", false).unwrap();
    let file = process.open(Path::new("/store/log"), OpenMode::Write).unwrap();
    disk.crash(CrashKind::Process);
    disk.replace(Path::new("/store"), None).unwrap();
    disk.crash(CrashKind::Machine);
    // The file is gone by now, and its handle is not.
    assert!(file.sync_data().is_err());
    assert!(file.write_at(b"late", 0).is_err());
    assert!(file.len().is_err());
}
