//! The binary form of a definition, as the log keeps it. docs/FORMAT.md describes it byte for byte.

use crate::error::{Error, Result};
use crate::limits;

use super::definition::{FieldPath, IndexDefinition, JsonField, KeySource, RawPart, Sparse};

/// The version of this form.
const VERSION: u8 = 1;

const UNIQUE: u8 = 1;
const DESCENDING: u8 = 1;

const SPARSE_NO: u8 = 0;
const SPARSE_MISSING: u8 = 1;
const SPARSE_FILLER: u8 = 2;

const SOURCE_JSON: u8 = 1;
const SOURCE_RAW: u8 = 2;

impl IndexDefinition {
    /// The binary form.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.encoding.to_le_bytes());
        out.push(if self.unique { UNIQUE } else { 0 });
        match self.sparse {
            Sparse::No => out.push(SPARSE_NO),
            Sparse::Missing => out.push(SPARSE_MISSING),
            Sparse::Filler(byte) => out.extend_from_slice(&[SPARSE_FILLER, byte]),
        }
        let order = |descending: bool| if descending { DESCENDING } else { 0 };
        match &self.source {
            KeySource::Json(fields) => {
                out.push(SOURCE_JSON);
                put_varint(&mut out, fields.len() as u64);
                for field in fields {
                    out.push(order(field.descending));
                    put_varint(&mut out, field.path.segments().len() as u64);
                    for segment in field.path.segments() {
                        put_varint(&mut out, segment.len() as u64);
                        out.extend_from_slice(segment.as_bytes());
                    }
                }
            }
            KeySource::Raw(parts) => {
                out.push(SOURCE_RAW);
                put_varint(&mut out, parts.len() as u64);
                for part in parts {
                    out.push(order(part.descending));
                    put_varint(&mut out, u64::from(part.offset));
                    put_varint(&mut out, u64::from(part.len));
                }
            }
        }
        out
    }

    /// The definition of a binary form.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the bytes are no definition, or one of a newer version; the errors of
    /// [`IndexDefinition::validate`].
    pub fn decode(bytes: &[u8]) -> Result<IndexDefinition> {
        let mut reader = Reader { rest: bytes };
        let version = reader.byte("the version")?;
        if version != VERSION {
            return Err(Error::Invalid(format!(
                "an index definition has version {version}, and this version of ImmuxDB knows only {VERSION}"
            )));
        }
        let low = reader.byte("the key encoding")?;
        let encoding = u16::from_le_bytes([low, reader.byte("the key encoding")?]);
        let unique = reader.flag("the flags", UNIQUE)?;
        let sparse = match reader.byte("sparse")? {
            SPARSE_NO => Sparse::No,
            SPARSE_MISSING => Sparse::Missing,
            SPARSE_FILLER => Sparse::Filler(reader.byte("the filler")?),
            _ => return Err(wrong("sparse")),
        };
        let source = match reader.byte("the source")? {
            SOURCE_JSON => KeySource::Json(reader.list(Reader::field)?),
            SOURCE_RAW => KeySource::Raw(reader.list(Reader::part)?),
            _ => return Err(wrong("the source")),
        };
        if !reader.rest.is_empty() {
            return Err(wrong("the end"));
        }
        let definition = IndexDefinition { source, unique, sparse, encoding };
        definition.validate()?;
        Ok(definition)
    }
}

fn wrong(what: &str) -> Error {
    Error::Invalid(format!("an index definition's bytes are wrong at {what}"))
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| wrong(what))?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self, what: &str) -> Result<u8> {
        Ok(self.take(1, what)?[0])
    }

    /// A byte in which only the bit `flag` may be set.
    fn flag(&mut self, what: &str, flag: u8) -> Result<bool> {
        match self.byte(what)? {
            0 => Ok(false),
            byte if byte == flag => Ok(true),
            _ => Err(wrong(what)),
        }
    }

    /// An unsigned LEB128 number of at most 32 bits, in its shortest form.
    fn varint(&mut self, what: &str) -> Result<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte(what)?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return Err(wrong(what));
                }
                return u32::try_from(value).map_err(|_| wrong(what));
            }
        }
        Err(wrong(what))
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.varint("the number of fields")? as usize;
        if count > limits::FIELDS_PER_INDEX {
            return Err(wrong("the number of fields"));
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn field(&mut self) -> Result<JsonField> {
        let descending = self.flag("a field's flags", DESCENDING)?;
        let count = self.varint("the number of segments")? as usize;
        if count > limits::JSON_DEPTH {
            return Err(wrong("the number of segments"));
        }
        let segments = (0..count).map(|_| {
            let len = self.varint("a segment's length")? as usize;
            let name = std::str::from_utf8(self.take(len, "a segment")?);
            name.map(str::to_owned).map_err(|_| wrong("a segment"))
        });
        let path = FieldPath::new(segments.collect::<Result<Vec<String>>>()?);
        Ok(JsonField { path, descending })
    }

    fn part(&mut self) -> Result<RawPart> {
        Ok(RawPart {
            descending: self.flag("a part's flags", DESCENDING)?,
            offset: self.varint("a part's offset")?,
            len: self.varint("a part's length")?,
        })
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
