//! From the content of a unit to its keys, in one pass for all indexes of the grouping.

use crate::error::{Error, Result};
use crate::limits::{CONTENT_BYTES, INDEX_KEY_BYTES};
use crate::types::{IndexId, VersionKind};

use super::definition::{FieldPath, IndexDefinition, KeySource, RawPart, Sparse};
use super::fields::Fields;
use super::json::validate_json;
use super::key_set::KeySet;
use super::transcode::put_json;
use super::value::tag;

/// Makes the keys of units. One for each grouping, made anew when an index is defined or dropped.
#[derive(Debug)]
pub struct KeyExtractor {
    indexes: Vec<Index>,
    fields: Fields,
    /// Whether any index has a JSON source.
    json: bool,
}

#[derive(Debug)]
struct Index {
    id: IndexId,
    source: Source,
    sparse: Sparse,
}

#[derive(Debug)]
enum Source {
    Json(Vec<WantedField>),
    Raw(Vec<RawPart>),
}

#[derive(Debug)]
struct WantedField {
    slot: usize,
    descending: bool,
}

impl KeyExtractor {
    /// An extractor for these indexes.
    ///
    /// # Errors
    /// [`Error::Invalid`] when an index is there twice; the errors of [`IndexDefinition::validate`].
    pub fn new(indexes: &[(IndexId, IndexDefinition)]) -> Result<KeyExtractor> {
        let mut paths: Vec<FieldPath> = Vec::new();
        for (_, definition) in indexes {
            definition.validate()?;
            if let KeySource::Json(fields) = &definition.source {
                paths.extend(fields.iter().map(|field| field.path.clone()));
            }
        }
        let json = !paths.is_empty();
        let fields = Fields::new(paths);
        let mut indexes: Vec<Index> =
            indexes.iter().map(|(id, definition)| Index::new(*id, definition, &fields)).collect();
        indexes.sort_by_key(|index| index.id);
        if let Some(pair) = indexes.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(Error::Invalid(format!("index {} is there twice", pair[0].id.0)));
        }
        Ok(KeyExtractor { indexes, fields, json })
    }

    /// Replaces `out` by the keys of a unit with this content. JSON content is validated, even when no index reads it.
    ///
    /// # Errors
    /// [`Error::InvalidJson`] when the kind is JSON and the content is not; [`Error::TooLarge`] when a key has more than
    /// [`INDEX_KEY_BYTES`] bytes or the content more than [`CONTENT_BYTES`]. `out` is then empty.
    pub fn extract(&self, kind: VersionKind, content: &[u8], out: &mut KeySet) -> Result<()> {
        out.clear();
        let extracted = self.try_extract(kind, content, out);
        if extracted.is_err() {
            out.clear();
        }
        extracted
    }

    fn try_extract(&self, kind: VersionKind, content: &[u8], out: &mut KeySet) -> Result<()> {
        check_size("content", content.len(), CONTENT_BYTES)?;
        match kind {
            VersionKind::Deleted => return Ok(()),
            VersionKind::Json if self.json => self.fields.find(content, &mut out.spans)?,
            VersionKind::Json => validate_json(content)?,
            VersionKind::Raw => {}
        }
        for index in &self.indexes {
            let start = out.bytes.len();
            let present = match &index.source {
                Source::Json(fields) if kind == VersionKind::Json => index.put_fields(fields, content, out),
                Source::Json(_) => false,
                Source::Raw(parts) => index.put_parts(parts, content, &mut out.bytes),
            };
            if present {
                check_size("index key", out.bytes.len() - start, INDEX_KEY_BYTES)?;
                out.close(index.id, start);
            } else {
                out.bytes.truncate(start);
            }
        }
        Ok(())
    }
}

impl Index {
    fn new(id: IndexId, definition: &IndexDefinition, all: &Fields) -> Index {
        let source = match &definition.source {
            KeySource::Raw(parts) => Source::Raw(parts.clone()),
            KeySource::Json(fields) => Source::Json(
                fields
                    .iter()
                    .map(|field| WantedField {
                        slot: all
                            .slot(&field.path)
                            .unwrap_or_else(|| unreachable!("the tree has the paths of all indexes")),
                        descending: field.descending,
                    })
                    .collect(),
            ),
        };
        Index { id, source, sparse: definition.sparse }
    }

    /// Appends the key of a JSON content; false when the unit is left out.
    fn put_fields(&self, fields: &[WantedField], content: &[u8], out: &mut KeySet) -> bool {
        let KeySet { bytes, spans, .. } = out;
        let missing = |field: &WantedField| spans[field.slot].is_missing();
        if self.sparse == Sparse::Missing && fields.iter().all(missing) {
            return false;
        }
        let limit = bytes.len() + INDEX_KEY_BYTES;
        for field in fields {
            let start = bytes.len();
            if missing(field) {
                bytes.push(tag::NULL);
            } else {
                put_json(bytes, spans[field.slot].of(content), limit);
            }
            if field.descending {
                invert(&mut bytes[start..]);
            }
        }
        true
    }

    /// Appends the key of raw bytes; false when the unit is left out.
    fn put_parts(&self, parts: &[RawPart], content: &[u8], out: &mut Vec<u8>) -> bool {
        let mut filled = matches!(self.sparse, Sparse::Filler(_));
        for part in parts {
            let Some(bytes) = part.of_content(content) else {
                return false;
            };
            if let (true, Sparse::Filler(filler)) = (filled, self.sparse) {
                filled = bytes.iter().all(|byte| *byte == filler);
            }
            let start = out.len();
            out.extend_from_slice(bytes);
            if part.descending {
                invert(&mut out[start..]);
            }
        }
        !filled
    }
}

/// Turns the order of bytes.
pub(super) fn invert(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

pub(super) fn check_size(what: &'static str, actual: usize, limit: usize) -> Result<()> {
    if actual > limit {
        return Err(Error::TooLarge { what, actual, limit });
    }
    Ok(())
}
