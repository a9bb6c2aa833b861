//! Three hundred histories, each of at least 1,000 operations and 50 crashes.

use immuxdb_simulator::campaign;

const SEEDS: u64 = 300;

#[test]
fn three_hundred_histories_go_as_they_must() {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let result = campaign::run(0..SEEDS, threads, |failure| println!("{failure}"));
    // Printed to the last: the coverage of faults and operations belongs into the log of a build.
    print_all(&result.coverage);
    assert!(result.failures.is_empty(), "{} of {SEEDS} histories failed; see above", result.failures.len());

    // A simulation that meets nothing proves nothing.
    assert!(result.coverage.of("operations") >= 1_000 * SEEDS);
    assert!(result.coverage.of("crashes") >= 50 * SEEDS);
    for event in [
        "fault: bit flipped in Read",
        "fault: bit flipped in Map",
        "fault: kill at Sync",
        "fault: kill at Write",
        "crash: the writer alone",
        "reader goes on without a writer",
        "crash: Process",
        "crash: Machine",
        "fault: stop before Sync",
        "fault: stop in Sync",
        "fault: stop after Sync",
        "fault: stop before SyncDir",
        "fault: stop after SyncDir",
        "fault: stop in Write",
        "fault: EIO Sync",
        "fault: EIO Write",
        "fault: EIO Read",
        "fault: ENOSPC Write",
        "disk: full disk",
        "disk: unsynced write torn",
        "disk: unsynced change out of order",
        "recovered: some commits lost",
        "opening failed",
        "tampering: the index is removed",
        "tampering: an old copy of the index is put back",
        "tampering: an old copy of the log is put back, beside the newer index",
        "tampering: a bit of the log flips",
        "tampering: a bit of the index flips",
        "tampering: two copies go different ways, and one gets the other's index",
        "rot: read-only up to the damage",
        "create index: done",
        "drop index: done",
        "clear: done",
        "revert: done",
        "reader sees less",
        "step of a scan",
        "scan without its index",
        "resumed scan",
        "second writer turned away",
        "clock ran backwards",
    ] {
        assert!(result.coverage.of(event) > 0, "no history came across {event:?}");
    }
}

/// Prints past the test harness, which keeps what a test that passes has printed to itself.
fn print_all(coverage: &immuxdb_simulator::driver::Coverage) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "what {SEEDS} histories came across:\n{coverage}");
}
