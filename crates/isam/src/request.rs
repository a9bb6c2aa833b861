//! How a file is opened.

use std::path::Path;

use crate::layout::Layout;
use crate::settings::Settings;

/// What a program wants to do with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// INPUT: reading.
    Input,
    /// OUTPUT: starting the file anew and writing.
    Output,
    /// I-O: everything.
    InputOutput,
    /// EXTEND: writing to a file that is there.
    Extend,
}

/// ACCESS MODE: how records are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One after another; records are written in the order of the primary key.
    Sequential,
    /// By key.
    Random,
    /// Both.
    Dynamic,
}

/// What other programs may do with the file meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// As the open mode has it: beside INPUT others may read, beside all else nobody may have the file.
    #[default]
    ByMode,
    /// SHARING WITH NO OTHER, WITH LOCK: nobody may have the file. A file that this process may not write to cannot be
    /// locked so; then it is as [`Sharing::ByMode`].
    NoOther,
}

/// All that OPEN needs to know.
#[derive(Clone, Copy, Debug)]
pub struct OpenRequest<'a> {
    /// Where the file is; symbolic links are followed.
    pub path: &'a Path,
    /// What the program wants to do.
    pub mode: OpenMode,
    /// How it finds records.
    pub access: Access,
    /// SELECT OPTIONAL: that the file is missing is no error.
    pub optional: bool,
    /// What SELECT and FD declare.
    pub layout: &'a Layout,
    /// What the environment sets. Those that concern the whole file (`sync`, `memory_limit`) are taken from the connector
    /// that opens it first.
    pub settings: &'a Settings,
}
