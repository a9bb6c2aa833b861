//! From the model's words to the engine's.

use libimmuxdb::index::{IndexDefinition, JsonField, KeySource, RawPart, Sparse, key_from_json};
use libimmuxdb::{Content, VersionKind};

use super::vocabulary::spell;
use crate::model;

/// The engine's form of a content.
pub(super) fn content(content: &model::Content) -> Content<'_> {
    match content.kind {
        VersionKind::Json => Content::json(&*content.bytes),
        VersionKind::Raw => Content::raw(&*content.bytes),
        VersionKind::Deleted => unreachable!("a deletion has no content"),
    }
}

/// The engine's form of an index.
pub(super) fn definition(spec: &model::IndexSpec) -> IndexDefinition {
    let source = match &spec.parts {
        model::Parts::Fields(fields) => {
            let field = |field: &model::Field| JsonField { path: field.path.into(), descending: field.descending };
            KeySource::Json(fields.iter().map(field).collect())
        }
        model::Parts::Bytes(ranges) => {
            let part = |range: &model::Range| RawPart {
                offset: range.offset as u32,
                len: range.len as u32,
                descending: range.descending,
            };
            KeySource::Raw(ranges.iter().map(part).collect())
        }
    };
    let sparse = match spec.filler {
        Some(filler) => Sparse::Filler(filler),
        None if spec.sparse => Sparse::Missing,
        None => Sparse::No,
    };
    let encoding = libimmuxdb::index::KEY_ENCODING;
    IndexDefinition { source, unique: spec.unique, sparse, encoding }
}

/// The bytes of a key, or of the first parts of one.
pub(super) fn key_bytes(spec: &model::IndexSpec, key: &model::Key) -> libimmuxdb::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut texts = Vec::new();
    for part in key {
        match part {
            model::KeyPart::Byte(byte) => bytes.push(*byte),
            model::KeyPart::Ascending(value) => texts.push(spell(value)),
            model::KeyPart::Descending(value) => texts.push(spell(&value.0)),
        }
    }
    if texts.is_empty() {
        return Ok(bytes);
    }
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    key_from_json(&definition(spec), &texts)
}
