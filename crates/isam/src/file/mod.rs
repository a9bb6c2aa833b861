//! A file of the run unit: from a path to an engine, and who may have it meanwhile.
//!
//! | file | what |
//! |---|---|
//! | `place` | where a path leads, and what is there |
//! | `storage` | the disk, as a shop expects it: nothing mapped that somebody may shorten, owners and modes kept |
//! | `hold` | the lock between programs |
//! | `create`, `replace` | a new file; OPEN OUTPUT of one that is there |
//! | `shared` | the open file, which connectors share |
//! | `trouble` | from the engine's errors to file status |

mod create;
mod hold;
mod place;
mod replace;
mod shared;
mod storage;
mod trouble;

pub(crate) use create::{read_layout, write_layout};
pub(crate) use hold::{Hold, Holding, is_denied};
pub(crate) use place::{Identity, Place, There};
pub(crate) use replace::{index_directory, make_beside, name_beside, remove_index, remove_left_behind, replace};
pub(crate) use shared::SharedFile;
pub(crate) use storage::{FILE_OPTIONS, open_chain, options};
pub(crate) use trouble::{at_open, engine, engine_at_open};

/// The grouping of the records.
pub(crate) const RECORDS: &str = "records";
/// The grouping of what there is to know of the file, and the unit of its layout.
pub(crate) const FILE: &str = "file";
pub(crate) const LAYOUT: &[u8] = b"layout";
