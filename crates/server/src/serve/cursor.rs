//! The place at which a scan goes on, as clients carry it with them.
//!
//! It is base64url of:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | version: 1 |
//! | 8 | the height of the scan, little-endian: the pages of a scan are of one snapshot |
//! | 8 | XXH3 of chain, grouping, number of the index and direction, little-endian: a cursor is of no use to another scan |
//! | rest | the engine's cursor |

use data_encoding::BASE64URL_NOPAD;
use libimmuxdb::{Cursor, Height};
use xxhash_rust::xxh3::xxh3_64;

use super::problem::{Code, Problem};

const VERSION: u8 = 1;

/// What a cursor belongs to.
pub(crate) struct Ordering {
    pub(crate) chain: String,
    pub(crate) grouping: String,
    /// The index's number, which is never given to another one; 0 for the order of unit keys.
    pub(crate) index: u32,
    pub(crate) backward: bool,
}

impl Ordering {
    fn hash(&self) -> u64 {
        // Names have no control characters.
        let text = format!("{}\0{}\0{}\0{}", self.chain, self.grouping, self.index, self.backward);
        xxh3_64(text.as_bytes())
    }
}

/// The text of a cursor.
pub(crate) fn encode(ordering: &Ordering, height: Height, cursor: &Cursor) -> String {
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(&height.0.to_le_bytes());
    bytes.extend_from_slice(&ordering.hash().to_le_bytes());
    bytes.extend_from_slice(&cursor.to_bytes());
    BASE64URL_NOPAD.encode(&bytes)
}

/// The height and the place that a text stands for.
pub(crate) fn decode(ordering: &Ordering, text: &str) -> Result<(Height, Cursor), Problem> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok();
    let parts = bytes.as_deref().and_then(|bytes| {
        let rest = bytes.strip_prefix(&[VERSION])?;
        let (height, rest) = rest.split_first_chunk()?;
        let (hash, rest) = rest.split_first_chunk()?;
        let cursor = Cursor::from_bytes(rest).ok()?;
        Some((Height(u64::from_le_bytes(*height)), u64::from_le_bytes(*hash), cursor))
    });
    let help = "give back the cursor of the end line as it is, with the same grouping, index and order";
    match parts {
        None => Err(Problem::new(Code::BadCursor, "this is no cursor of a scan").help(help)),
        Some((_, hash, _)) if hash != ordering.hash() => {
            Err(Problem::new(Code::CursorMismatch, "the cursor belongs to another scan").help(help))
        }
        Some((height, _, cursor)) => Ok((height, cursor)),
    }
}
