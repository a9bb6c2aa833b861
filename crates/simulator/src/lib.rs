//! ImmuxDB under conditions that no test machine has: power losses by the thousand, at every moment, on a disk that
//! forgets whatever nobody synced.
//!
//! | module | what |
//! |---|---|
//! | [`disk`] | a disk with two images of each file: what processes see, and what survives |
//! | [`environment`] | a clock that jumps, randomness from a seed, boot ids |
//! | [`model`] | what a chain should be, as plainly as it can be said |
//! | [`driver`] | a seed's history: random operations, faults and crashes; all answers compared with the model |
//! | [`campaign`] | many seeds |
//! | `planted` | the search for faults that were put into the engine on purpose (feature `planted`) |
//!
//! The engine runs on it as it is: [`libimmuxdb::storage::Storage`] and
//! [`libimmuxdb::environment::Environment`] are the only doors through which it reaches the world.
//!
//! ```text
//! cargo run -p immuxdb_simulator --release -- --seeds 1000      many histories
//! cargo run -p immuxdb_simulator --release -- --seed 42         one, with every step and every call of the disk
//! ```

pub mod campaign;
pub mod disk;
pub mod driver;
pub mod environment;
pub mod model;
#[cfg(feature = "planted")]
pub mod planted;
pub mod random;
