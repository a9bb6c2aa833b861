//! The command line of ImmuxDB, as a library, so that its parts can be tested.

pub mod command_line;
mod commands;
pub mod configuration;
pub mod failure;
mod index_value;
pub mod load;
mod moment;
mod opened;
pub mod output;
mod progress;
