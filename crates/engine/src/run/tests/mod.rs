//! Runs against models.

mod damage;
mod format;
mod manifest;
mod merging;
mod model;
mod reading;
