//! A simulation that finds nothing must show that it would: each fault that is planted in the engine is found.

use immuxdb_simulator::planted::search_all;
use libimmuxdb::planted::Fault;

/// Seeds after which a fault counts as not found.
const SEEDS: u64 = 150;

#[test]
fn each_planted_fault_is_found() {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let found = search_all(Fault::ALL, &(0..SEEDS), threads, |fault, find| match find {
        Some(find) => println!("{fault:?}: seed {}, operation {}: {}", find.seed, find.operations, find.what),
        None => println!("{fault:?}: NOT FOUND"),
    });
    let missed: Vec<_> = found.iter().filter(|(_, find)| find.is_none()).map(|(fault, _)| fault).collect();
    assert!(missed.is_empty(), "{SEEDS} seeds do not find {missed:?}");
}
