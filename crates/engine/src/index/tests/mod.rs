//! The tests of index definitions, keys and extraction.

mod definitions;
mod extraction;
mod golden;
mod json;
mod key_sets;
mod keys;
mod values;
