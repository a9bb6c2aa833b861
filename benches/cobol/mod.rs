//! The COBOL benchmark's parts.
//!
//! | module | |
//! |---|---|
//! | [`program`] | the COBOL program that is measured, generated |
//! | [`compilers`] | the compilers that are here, and what they make of it: on ImmuxDB, on Berkeley DB, on nothing |
//! | [`run`] | running one phase, with a clock; comparing what two programs wrote out |
//! | [`table`] | how figures stand side by side |

pub mod compilers;
pub mod program;
pub mod run;
pub mod table;
