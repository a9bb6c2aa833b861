//! The parts of the runner of scripts.
//!
//! | part | |
//! |---|---|
//! | `commands` | what can stand in a script |
//! | `notation` | bytes as text, and back |
//! | `session` | a store, and how it is reopened |
//! | `arrangement` | what happens to the store behind a script's back |

pub mod arrangement;
mod commands;
mod notation;
pub mod session;
