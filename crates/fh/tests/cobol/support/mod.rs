//! Compiling and running COBOL programs.

pub mod compiler;
pub mod program;
pub mod session;
pub mod transcript;
