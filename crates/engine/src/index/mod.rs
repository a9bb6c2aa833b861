//! What an index is, and how the content of a unit becomes its key.
//!
//! An index is an ordering of the units of a grouping by *key bytes*. This module ends there: it turns content into bytes
//! whose plain byte order (`memcmp`) is the order that people expect of the values. Everything below (delta, runs, merges,
//! scans) compares bytes and knows nothing of numbers, strings or descending fields.
//!
//! ```text
//!   IndexDefinition          content of a unit
//!   json:city,-age           {"age":41,"name":"Ada","city":"Brno"}
//!          \                   /
//!           KeyExtractor: one pass over the text, for all indexes of the grouping at once
//!                    |
//!   KeySet           30 "Brno" 00 | inverted (20 C044800000000000)
//!                    `- string -' `- number, descending ----------'
//! ```
//!
//! Three properties carry the rest of the engine:
//!
//! | property | why it is needed |
//! |---|---|
//! | bytes order as values do | a range of values is a range of keys |
//! | no key of an index is a prefix of another, unless equal | key and birth can be written one after the other and still order by key, then birth |
//! | each field ends itself | the first fields of a key, encoded alone, are a prefix to scan by |
//!
//! There are two kinds of source. A **JSON** definition names fields by path; values of different types order as in
//! MongoDB, and a missing field has the key of `null`. A **raw** definition names stretches of bytes, which are copied: that is what the
//! keys of a COBOL record are, and it costs a few nanoseconds a key.
//!
//! The way of a unit through the files: [`KeyExtractor`] (extract.rs) finds the wanted fields with the scanner (json.rs), which
//! also proves that the text is JSON; transcode.rs writes each as key bytes, using number.rs and value.rs; the result is a
//! [`KeySet`]. In the other direction, [`key_from_values`] makes the bounds of a scan and [`decode_key`] shows a key.
//! docs/FORMAT.md describes all bytes that are kept on disk, with examples that a test checks.

mod definition;
mod definition_bytes;
mod definition_text;
mod extract;
mod fields;
mod json;
mod key;
mod key_set;
mod number;
#[cfg(test)]
mod tests;
mod transcode;
mod value;

pub use definition::{FieldPath, IndexDefinition, JsonField, KEY_ENCODING, KeySource, RawPart, Sparse};
pub use extract::KeyExtractor;
pub use json::validate_json;
pub use key::{decode_key, key_from_json, key_from_values};
pub use key_set::KeySet;
