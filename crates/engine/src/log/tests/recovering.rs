//! Opening logs that were left in every possible state.

use std::fs;

use super::*;
use crate::Error;

/// A log of several frames on `boot`, synced up to `synced`, and left by a process that died. Gives the ends of the
/// frames: first that of the open record.
fn abandoned(bench: &Bench, boot: u8, frames: u64, synced: u64) -> Vec<u64> {
    let (log, ..) = bench.open(&opening(boot, 10));
    let mut ends = vec![log.newest().offset];
    for height in 1..=frames {
        put(&log, &[height as u8; 40], Durability::Process).unwrap();
        ends.push(log.newest().offset);
        if height == synced {
            log.sync(Height(height)).unwrap();
            log.write_status().unwrap();
        }
    }
    ends
}

#[test]
fn every_cut_recovers_to_the_whole_frames_before_it() {
    let bench = Bench::new();
    let ends = abandoned(&bench, 1, 5, 0);
    let whole = fs::read(&bench.path).unwrap();
    for len in 4096..=whole.len() {
        for entry in fs::read_dir(bench.folder.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(&bench.path, &whole[..len]).unwrap();
        let (log, report, _) = bench.open(&opening(1, 11));
        let kept = ends.iter().filter(|end| **end <= len as u64).count();
        let end = if kept == 0 { 4096 } else { ends[kept - 1] };
        assert_eq!(report.commits, kept.saturating_sub(1) as u64, "{len}");
        assert_eq!(report.end.offset, end);
        assert_eq!(report.damage, None);
        match report.cut {
            None => assert_eq!(end, len as u64),
            Some(cut) => {
                assert_eq!((cut.offset, cut.bytes), (end, len as u64 - end));
                let saved = fs::read(cut.saved.unwrap()).unwrap();
                assert_eq!(saved, &whole[end as usize..len]);
            }
        }
        // The next commit goes where the cut was, and is there the next time.
        put(&log, b"more", Durability::Process).unwrap();
        drop(log);
        let (_, report, seen) = bench.open(&opening(1, 12));
        assert_eq!((report.cut, report.damage), (None, None));
        assert_eq!(seen.last().unwrap().contents, [b"more"]);
    }
}

#[test]
fn every_cut_of_the_first_page_makes_a_new_log_or_is_refused() {
    let bench = Bench::new();
    drop(bench.open(&opening(1, 10)));
    let page = fs::read(&bench.path).unwrap();
    for len in 0..4096 {
        fs::write(&bench.path, &page[..len]).unwrap();
        let (log, report, _) = bench.open(&opening(1, 11));
        assert_eq!(report.commits, 0);
        assert_eq!(log.header().log_id, LOG_ID);
    }
    for foreign in [&b"a text"[..], &[0xff; 5000], &[0; 4097]] {
        fs::write(&bench.path, foreign).unwrap();
        let error = open(&bench.storage, &bench.path, &opening(1, 11)).err();
        assert!(matches!(error, Some(Error::Format { .. })), "{error:?}");
        assert_eq!(fs::read(&bench.path).unwrap(), foreign);
    }
}

/// Flips a bit in the frame after each of `ends`, opens the log on `boot`, and gives what was found.
fn flip(bench: &Bench, whole: &[u8], at: u64, boot: u8) -> (LocalLog, Recovery) {
    let mut bytes = whole.to_vec();
    bytes[at as usize] ^= 0x10;
    fs::write(&bench.path, &bytes).unwrap();
    let (log, report, _) = bench.open(&opening(boot, 11));
    (log, report)
}

#[test]
fn damage_below_the_synced_height_leaves_the_log_read_only() {
    let bench = Bench::new();
    let ends = abandoned(&bench, 1, 5, 3);
    let whole = fs::read(&bench.path).unwrap();
    for boot in [1, 2] {
        for frame in 0..3 {
            // In the head, in the length, in the body: all the same.
            for at in [ends[frame] + 20, ends[frame], ends[frame + 1] - 1] {
                let (log, report) = flip(&bench, &whole, at, boot);
                let damage = report.damage.unwrap();
                assert_eq!(damage.offset, ends[frame]);
                assert!(damage.what.contains("synced up to height 3"), "{}", damage.what);
                assert_eq!(report.commits, frame as u64);
                assert_eq!(report.cut, None);
                let error = put(&log, b"", Durability::Process).unwrap_err();
                assert!(matches!(error, Error::ReadOnly(_)), "{error}");
                log.close().unwrap();
                assert_eq!(fs::metadata(&bench.path).unwrap().len(), whole.len() as u64);
            }
        }
    }
    // A file that ends before what was synced is damaged as well.
    fs::write(&bench.path, &whole[..ends[2] as usize]).unwrap();
    let (_, report, _) = bench.open(&opening(2, 11));
    assert!(report.damage.unwrap().what.contains("the file ends here"));
}

#[test]
fn a_bad_frame_beyond_is_damage_on_the_same_boot_and_the_end_after_a_restart() {
    let bench = Bench::new();
    let ends = abandoned(&bench, 1, 5, 2);
    let whole = fs::read(&bench.path).unwrap();
    for frame in 2..5 {
        for at in [ends[frame] + 20, ends[frame], ends[frame + 1] - 1] {
            let followed = frame < 4;
            let (_, report) = flip(&bench, &whole, at, 1);
            assert_eq!(report.damage.is_some(), followed, "{report:?}");
            assert_eq!(report.cut.is_some(), !followed);
            let (_, report) = flip(&bench, &whole, at, 2);
            assert_eq!(report.damage, None);
            let cut = report.cut.unwrap();
            assert_eq!((cut.offset, report.commits), (ends[frame], frame as u64));
            assert_eq!(report.rewritten, 0);
        }
    }
}

#[test]
fn a_later_frame_that_knows_of_a_sync_is_believed_after_a_restart() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    let start = log.newest().offset;
    put(&log, b"one", Durability::Process).unwrap();
    log.sync(Height(1)).unwrap(); // and no status slot says so
    put(&log, b"two", Durability::Process).unwrap();
    drop(log);
    let whole = fs::read(&bench.path).unwrap();
    let (_, report) = flip(&bench, &whole, start + 20, 2);
    let damage = report.damage.unwrap();
    assert!(damage.what.contains("synced up to height 1"), "{}", damage.what);
}

#[test]
fn zeroes_at_the_end_are_cut_and_not_saved() {
    let bench = Bench::new();
    let ends = abandoned(&bench, 1, 2, 0);
    let mut whole = fs::read(&bench.path).unwrap();
    whole.resize(whole.len() + (3 << 20), 0);
    fs::write(&bench.path, &whole).unwrap();
    let (log, report, _) = bench.open(&opening(1, 11));
    let cut = report.cut.unwrap();
    assert_eq!((cut.offset, cut.bytes, cut.saved), (ends[2], 3 << 20, None));
    assert_eq!(report.commits, 2);
    drop(log);
}

#[test]
fn saved_tails_do_not_replace_each_other() {
    let bench = Bench::new();
    let ends = abandoned(&bench, 1, 1, 0);
    let whole = fs::read(&bench.path).unwrap();
    let mut names = Vec::new();
    for tail in [b"first", b"other"] {
        fs::write(&bench.path, [&whole[..], tail].concat()).unwrap();
        let (_, report, _) = bench.open(&opening(1, 11));
        let saved = report.cut.unwrap().saved.unwrap();
        assert_eq!(fs::read(&saved).unwrap(), tail);
        names.push(saved.file_name().unwrap().to_str().unwrap().to_owned());
    }
    let name = format!("log.tail-{}", ends[1]);
    assert_eq!(names, [name.clone(), format!("{name}.1")]);
}

#[test]
fn recovery_begins_at_a_point_that_fits() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    let mut points = vec![log.header().base(), log.newest()];
    for _ in 0..4 {
        put(&log, b"x", Durability::Process).unwrap();
        points.push(log.newest());
    }
    assert_eq!(log.checkpoint().unwrap(), log.newest());
    drop(log);
    let log = LocalLog::open_writer(&bench.storage, &bench.path, &opening(1, 11)).unwrap();
    for point in &points {
        assert!(log.fits(point).unwrap(), "{point:?}");
        let mut other = *point;
        other.chain ^= 1;
        assert!(!log.fits(&other).unwrap());
        other = *point;
        other.offset += 1;
        assert!(!log.fits(&other).unwrap());
        other = *point;
        other.height = other.height.next();
        assert!(!log.fits(&other).unwrap());
    }
    let mut heights = Vec::new();
    let report = log
        .recover(points[3], &opening(1, 11), &mut |frame| {
            heights.push(frame.height().0);
            // Everything up to the frame can be read already.
            for operation in frame.operations() {
                let Operation::Version(version) = operation else { panic!("{operation:?}") };
                assert_eq!(log.read_body(version.position).unwrap().content(), b"x");
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(heights, [3, 4]);
    assert_eq!((report.commits, report.rewritten), (2, 0));
}

#[test]
fn a_checkpoint_after_an_open_record_fits_for_readers() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    put(&log, b"x", Durability::Sync).unwrap();
    drop(log);
    let log = LocalLog::open_writer(&bench.storage, &bench.path, &opening(1, 11)).unwrap();
    log.recover(log.header().base(), &opening(1, 11), &mut |_| Ok(())).unwrap();
    // Its open record is the log's end, and nothing is committed after it.
    let end = log.checkpoint().unwrap();
    assert_eq!(end, log.newest());
    let reader = LocalLog::open_reader(&bench.storage, &bench.path).unwrap();
    assert!(reader.fits(&end).unwrap());
}

#[test]
fn a_point_beyond_the_end_of_the_file_does_not_fit() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    put(&log, b"x", Durability::Process).unwrap();
    let end = log.checkpoint().unwrap();
    drop(log);
    let file = bench.storage.open(&bench.path, OpenMode::Write).unwrap();
    file.set_len(end.offset - 1).unwrap();
    let log = LocalLog::open_writer(&bench.storage, &bench.path, &opening(1, 11)).unwrap();
    assert!(!log.fits(&end).unwrap());
    let error = log.recover(end, &opening(1, 11), &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    let reader = LocalLog::open_reader(&bench.storage, &bench.path).unwrap();
    let error = reader.follow(end, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

#[test]
fn copies_that_are_both_written_to_look_different() {
    let bench = Bench::new();
    abandoned(&bench, 1, 1, 0);
    let copy = bench.folder.path().join("copy");
    fs::copy(&bench.path, &copy).unwrap();
    let (log, ..) = bench.open(&opening(1, 11));
    let (other, ..) = open(&bench.storage, &copy, &opening(1, 12)).unwrap();
    put(&log, b"same", Durability::Process).unwrap();
    put(&other, b"same", Durability::Process).unwrap();
    assert_eq!(log.newest().offset, other.newest().offset);
    assert_ne!(log.newest().chain, other.newest().chain);
    put(&other, b"more", Durability::Process).unwrap();
    assert!(!other.fits(&log.newest()).unwrap());
}

#[test]
fn a_reader_reports_damage_to_what_was_synced() {
    let bench = Bench::new();
    let ends = abandoned(&bench, 1, 3, 2);
    let mut bytes = fs::read(&bench.path).unwrap();
    bytes[ends[0] as usize + 20] ^= 1;
    fs::write(&bench.path, &bytes).unwrap();
    let reader = LocalLog::open_reader(&bench.storage, &bench.path).unwrap();
    let error = reader.follow(reader.header().base(), &mut |_| Ok(())).unwrap_err();
    assert!(matches!(&error, Error::Damaged { offset, .. } if *offset == ends[0]), "{error}");
}
