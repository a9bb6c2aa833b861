//! The limits of the engine, in one place. Each is checked where data enters, and named in the error.

/// Bytes of a unit key.
pub const UNIT_KEY_BYTES: usize = 64 << 10;
/// Bytes of a unit's content.
pub const CONTENT_BYTES: usize = 64 << 20;
/// Bytes of the name of a chain, grouping or index.
pub const NAME_BYTES: usize = 255;
/// Bytes of an encoded index key.
pub const INDEX_KEY_BYTES: usize = 128 << 10;
/// Indexes of one grouping.
pub const INDEXES_PER_GROUPING: usize = 1024;
/// Fields of one index.
pub const FIELDS_PER_INDEX: usize = 32;
/// Groupings of one chain.
pub const GROUPINGS_PER_CHAIN: usize = 1 << 20;
/// Operations of one commit.
pub const OPERATIONS_PER_COMMIT: usize = 1 << 20;
/// Bytes of one commit's frame in the log.
pub const FRAME_BYTES: usize = 256 << 20;
/// Levels of nesting of a JSON content.
pub const JSON_DEPTH: usize = 127;
