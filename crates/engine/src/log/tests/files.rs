//! Appending, syncing and reading.

use super::super::header::PAGE_BYTES;
use super::*;
use crate::Error;

#[test]
fn what_is_appended_is_read_and_outlives_a_close() {
    for no_maps in [false, true] {
        let bench = Bench::new();
        bench.faults.no_maps.store(no_maps, Ordering::Relaxed);
        let (log, report, seen) = bench.open(&opening(1, 10));
        assert_eq!((report.commits, seen.len()), (0, 0));
        let contents: Vec<Vec<u8>> = (0..50).map(|i| vec![i as u8; i * 97]).collect();
        let positions: Vec<_> = contents
            .iter()
            .enumerate()
            .map(|(i, content)| {
                let durability = [Durability::Buffered, Durability::Process, Durability::Buffered][i % 3];
                put(&log, content, durability).unwrap()
            })
            .collect();
        let check = |log: &LocalLog| {
            for (i, (position, content)) in positions.iter().zip(&contents).enumerate() {
                let body = log.read_body(*position).unwrap();
                assert_eq!(body.content(), content);
                assert_eq!(body.key(), format!("key {}", i + 1).as_bytes());
                assert_eq!(body.kind(), VersionKind::Raw);
                let meta = log.frame_meta(body.frame_offset()).unwrap();
                assert_eq!(meta.height, Height(i as u64 + 1));
                assert_eq!(meta.time, Timestamp(1_001 + i as u64));
            }
        };
        check(&log);
        log.close().unwrap();
        assert!(matches!(put(&log, b"", Durability::Process), Err(Error::ReadOnly(_))));
        check(&log);
        drop(log);
        let (log, report, seen) = bench.open(&opening(1, 11));
        assert_eq!((report.commits, report.rewritten), (50, 0));
        assert_eq!(report.cut, None);
        let read: Vec<_> = seen.into_iter().flat_map(|s| s.contents).collect();
        assert_eq!(read, contents);
        check(&log);
    }
}

#[test]
fn frames_are_iterated_from_any_point_and_long_ones_too() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    let start = log.newest();
    let mut points = vec![start];
    for size in [10, 3 << 20, 0, 1 << 20, 500] {
        put(&log, &vec![5; size], Durability::Buffered).unwrap();
        points.push(log.newest());
    }
    for (skipped, point) in points.iter().enumerate() {
        let mut reader = log.frames(*point).unwrap();
        let mut heights = Vec::new();
        while let Some(frame) = reader.next().unwrap() {
            heights.push(frame.height().0);
        }
        let expected: Vec<_> = (skipped as u64 + 1..=5).collect();
        assert_eq!(heights, expected);
        assert_eq!(reader.at(), log.newest());
    }
}

#[test]
fn positions_that_lead_nowhere_are_errors() {
    for no_maps in [false, true] {
        let bench = Bench::new();
        bench.faults.no_maps.store(no_maps, Ordering::Relaxed);
        let (log, ..) = bench.open(&opening(1, 10));
        let position = put(&log, b"content", Durability::Process).unwrap();
        let unwritten = put(&log, b"content", Durability::Buffered).unwrap();
        for at in (0..position.offset() + 400).filter(|at| ![position.offset(), unwritten.offset()].contains(at)) {
            let error = log.read_body(Position::new(0, at)).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{at}: {error}");
        }
        let frame = log.read_body(position).unwrap().frame_offset();
        let unwritten = log.read_body(unwritten).unwrap().frame_offset();
        for at in (0..position.offset() + 400).filter(|at| ![PAGE_BYTES, frame, unwritten].contains(at)) {
            assert!(log.frame_meta(at).is_err(), "{at}");
        }
        assert!(log.read_body(Position::new(1, position.offset())).is_err());
        assert!(log.read_body(Position::new(0, Position::MAX_OFFSET)).is_err());
    }
}

#[test]
fn a_second_writer_is_refused_and_told_who_holds_the_log() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 4711));
    let error = open(&bench.storage, &bench.path, &opening(1, 2)).err().unwrap();
    let Error::Held { holder: Some(holder), .. } = &error else { panic!("{error}") };
    assert_eq!(holder, "process 4711");
    drop(log);
    bench.open(&opening(1, 2));
}

#[test]
fn a_full_device_refuses_a_commit_and_takes_the_next_one_when_there_is_room() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    put(&log, b"one", Durability::Process).unwrap();
    put(&log, b"in memory", Durability::Buffered).unwrap();
    let full = log.newest().offset + 50;
    bench.faults.capacity.store(full, Ordering::Relaxed);
    for durability in [Durability::Process, Durability::Sync] {
        let error = put(&log, &[0; 500], durability).unwrap_err();
        assert!(matches!(error, Error::NoSpace { .. }), "{error}");
        assert_eq!(log.newest().height, Height(2));
        let file = bench.storage.open(&bench.path, OpenMode::Read).unwrap();
        assert_eq!(file.len().unwrap(), log.newest().offset);
    }
    bench.faults.capacity.store(u64::MAX, Ordering::Relaxed);
    let position = put(&log, &[1; 500], Durability::Process).unwrap();
    assert_eq!(log.read_body(position).unwrap().content(), &[1; 500]);
    drop(log);
    let (_, report, seen) = bench.open(&opening(1, 11));
    assert_eq!((report.commits, report.cut), (3, None));
    assert_eq!(seen[2].contents, [b"in memory"]);
}

#[test]
fn buffered_commits_wait_in_memory_while_the_device_is_full() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    bench.faults.capacity.store(log.newest().offset + 10, Ordering::Relaxed);
    let position = put(&log, b"kept", Durability::Buffered).unwrap();
    assert!(matches!(log.sync(Height(1)), Err(Error::NoSpace { .. })));
    assert_eq!(log.read_body(position).unwrap().content(), b"kept");
    let big = vec![0; 2 << 20];
    assert!(put(&log, &big, Durability::Buffered).is_err());
    bench.faults.capacity.store(u64::MAX, Ordering::Relaxed);
    put(&log, &big, Durability::Buffered).unwrap();
    assert_eq!(log.sync(Height(2)).unwrap(), log.newest());
    assert_eq!(log.read_body(position).unwrap().content(), b"kept");
}

#[test]
fn a_failed_write_or_sync_stops_writing_and_leaves_reading() {
    for sync in [false, true] {
        let bench = Bench::new();
        let (log, ..) = bench.open(&opening(1, 10));
        let position = put(&log, b"one", Durability::Process).unwrap();
        let fault = if sync { &bench.faults.sync } else { &bench.faults.write };
        fault.store(true, Ordering::Relaxed);
        let error =
            if sync { log.sync(Height(1)).unwrap_err() } else { put(&log, b"two", Durability::Process).unwrap_err() };
        assert!(matches!(error, Error::Io { .. }), "{error}");
        fault.store(false, Ordering::Relaxed);
        for error in [
            put(&log, b"three", Durability::Buffered).unwrap_err(),
            log.sync(Height(1)).unwrap_err(),
            log.checkpoint().unwrap_err(),
            log.close().unwrap_err(),
        ] {
            assert!(matches!(error, Error::Poisoned(_)), "{error}");
        }
        assert_eq!(log.durable_height(), Height(0));
        assert_eq!(log.read_body(position).unwrap().content(), b"one");
        drop(log);
        // The tail may be clean pages that never reached the device: it is written once more.
        let before = bench.faults.rewritten.load(Ordering::Relaxed);
        let (log, report, _) = bench.open(&opening(1, 11));
        assert_eq!(report.commits, 1);
        let rewritten = bench.faults.rewritten.load(Ordering::Relaxed) - before;
        assert_eq!((report.rewritten, rewritten), (report.end.offset - 4096, report.rewritten));
        assert_eq!(log.durable_height(), Height(1));
    }
}

#[test]
fn a_sync_covers_all_that_was_appended_before_it() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    for _ in 0..3 {
        put(&log, b"x", Durability::Buffered).unwrap();
    }
    let before = bench.faults.syncs.load(Ordering::Relaxed);
    for through in [2, 1, 3] {
        assert_eq!(log.sync(Height(through)).unwrap(), log.newest());
    }
    assert_eq!(bench.faults.syncs.load(Ordering::Relaxed) - before, 1);
    assert_eq!(log.durable_height(), Height(3));
}

#[test]
fn a_commit_for_another_height_is_a_conflict() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    let mut frame = FrameBuilder::new();
    frame.begin(&meta(2)).unwrap();
    let newest = Height(0);
    assert_eq!(log.append(&mut frame).unwrap(), Appended::Conflict { newest });
}

#[test]
fn readers_follow_a_writer_and_take_part_of_a_frame_for_the_end() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    put(&log, b"one", Durability::Process).unwrap();
    let reader = LocalLog::open_reader(&bench.storage, &bench.path).unwrap();
    let follow = |from| {
        let mut contents = Vec::new();
        let end = reader
            .follow(from, &mut |frame| {
                contents.extend(Seen::of(frame).contents);
                Ok(())
            })
            .unwrap();
        (end, contents)
    };
    let (end, contents) = follow(reader.header().base());
    assert_eq!(contents, [b"one"]);
    assert_eq!(end, log.newest());
    put(&log, b"unwritten", Durability::Buffered).unwrap();
    assert_eq!(follow(end), (end, vec![]));
    let position = put(&log, b"two", Durability::Process).unwrap();
    let (end, contents) = follow(end);
    assert_eq!(contents, [&b"unwritten"[..], b"two"]);
    assert_eq!(reader.read_body(position).unwrap().content(), b"two");

    // The writer synced nothing yet. A commit that is to survive power loss is synced by the one who tells of it.
    assert_eq!(reader.durable_height(), Height(0));
    put(&log, b"three", Durability::Sync).unwrap();
    let (end, _) = follow(end);
    assert_eq!((end.height, reader.durable_height()), (Height(4), Height(4)));
    put(&log, b"four", Durability::Process).unwrap();
    log.checkpoint().unwrap();
    put(&log, b"five", Durability::Process).unwrap();
    let syncs = bench.faults.syncs.load(Ordering::Relaxed);
    let (end, _) = follow(end);
    assert_eq!((end.height, reader.durable_height()), (Height(6), Height(5)));
    assert_eq!(bench.faults.syncs.load(Ordering::Relaxed), syncs);

    let file = bench.storage.open(&bench.path, OpenMode::Write).unwrap();
    file.write_at(&[90, 0, 0, 0, 90, 0, 0, 0, 1], end.offset).unwrap();
    assert_eq!(follow(end), (end, vec![]));
    let error = put(&reader, b"", Durability::Process).unwrap_err();
    assert!(matches!(error, Error::ReadOnly(_)));
}

#[test]
fn many_threads_read_while_one_appends() {
    let bench = Bench::new();
    let (log, ..) = bench.open(&opening(1, 10));
    let published = parking_lot::Mutex::new(Vec::new());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut reads = 0;
                while !done.load(Ordering::Relaxed) || reads == 0 {
                    let newest = published.lock().last().copied();
                    if let Some((height, position)) = newest {
                        let body = log.read_body(position).unwrap();
                        assert_eq!(body.content(), vec![height as u8; 100]);
                        let meta = log.frame_meta(body.frame_offset()).unwrap();
                        assert_eq!(meta.height, Height(height));
                        reads += 1;
                    }
                }
            });
        }
        for height in 1..=3_000u64 {
            let durability = if height % 7 == 0 { Durability::Process } else { Durability::Buffered };
            let position = put(&log, &[height as u8; 100], durability).unwrap();
            published.lock().push((height, position));
            if height % 500 == 0 {
                log.sync(Height(height)).unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}
