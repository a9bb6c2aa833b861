//! A simulated disk and a model of the engine.
