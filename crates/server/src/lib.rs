//! The command line of ImmuxDB, as a library, so that its parts can be tested.

pub mod configuration;
pub mod failure;
pub mod load;
pub mod output;
