//! Indexed files without a program: what `immuxdb file` needs beside `immuxdb_isam`.
//!
//! | module | |
//! |---|---|
//! | [`keys`] | keys as they are written on the command line: `1:10,11:12:dup` |
//! | [`mod@format`] | records as bytes, as lines, as JSON: in and out |

pub mod format;
pub mod keys;
