//! A simulated disk and a model of the engine.

pub mod disk;
pub mod environment;
pub mod model;
pub mod random;
