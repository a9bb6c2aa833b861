//! The layout as a file keeps it: JSON, so that it can be read with any tool. docs/FORMAT.md describes it.

use serde::{Deserialize, Serialize};

use super::{Key, KeyPart, Layout};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    record: StoredRecord,
    keys: Vec<StoredKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRecord {
    min: u32,
    max: u32,
    variable: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKey {
    /// Offset and length of each part.
    parts: Vec<(u32, u32)>,
    duplicates: bool,
    sparse: Option<u8>,
}

/// The bytes that a file keeps.
pub(crate) fn encode(layout: &Layout) -> Vec<u8> {
    let key = |key: &Key| StoredKey {
        parts: key.joined().iter().map(|part| (part.offset, part.len)).collect(),
        duplicates: key.duplicates,
        sparse: key.sparse,
    };
    let stored = Stored {
        version: VERSION,
        record: StoredRecord { min: layout.min_record, max: layout.max_record, variable: layout.variable },
        keys: layout.keys.iter().map(key).collect(),
    };
    serde_json::to_vec(&stored).unwrap_or_else(|error| unreachable!("numbers and lists are always JSON: {error}"))
}

/// The layout of [`encode`].
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn decode(bytes: &[u8]) -> Result<Layout, String> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let unreadable = |error: serde_json::Error| format!("the file's layout cannot be read: {error}");
    let Versioned { version } = serde_json::from_slice(bytes).map_err(unreadable)?;
    if version != VERSION {
        return Err(format!(
            "the file's layout has version {version}; this program knows version {VERSION}: use a newer one"
        ));
    }
    let stored: Stored = serde_json::from_slice(bytes).map_err(unreadable)?;
    let part = |(offset, len)| KeyPart { offset, len };
    let key = |key: StoredKey| Key {
        parts: key.parts.into_iter().map(part).collect(),
        duplicates: key.duplicates,
        sparse: key.sparse,
    };
    let layout = Layout {
        keys: stored.keys.into_iter().map(key).collect(),
        min_record: stored.record.min,
        max_record: stored.record.max,
        variable: stored.record.variable,
    };
    layout.validate().map(|()| layout).map_err(|what| format!("the file's layout cannot be: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_comes_back_and_looks_as_docs_format_md_says() {
        let key = |parts: &[(u32, u32)], duplicates, sparse| Key {
            parts: parts.iter().map(|&(offset, len)| KeyPart { offset, len }).collect(),
            duplicates,
            sparse,
        };
        let layout = Layout {
            keys: vec![
                key(&[(0, 10)], false, None),
                key(&[(10, 12)], true, None),
                key(&[(30, 6), (50, 4)], false, Some(b' ')),
            ],
            min_record: 60,
            max_record: 80,
            variable: true,
        };
        let bytes = encode(&layout);
        let format = include_str!("../../../../docs/FORMAT.md");
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(format.lines().any(|line| line == text), "{text}");
        assert_eq!(decode(&bytes), Ok(layout));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(decode(b"").is_err());
        assert!(decode(br#"{"version":2}"#).unwrap_err().contains("newer"));
        let without_keys = br#"{"version":1,"record":{"min":1,"max":2,"variable":true},"keys":[]}"#;
        assert!(decode(without_keys).unwrap_err().contains("no record key"));
    }
}
