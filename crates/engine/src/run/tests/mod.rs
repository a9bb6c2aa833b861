//! Runs against models.

mod damage;
mod format;
mod manifest;
mod memory;
mod merging;
mod model;
mod reading;
