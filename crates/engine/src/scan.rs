//! What to scan: an ordering, a range of it, a direction, and where to go on.

use crate::error::{Error, Result};
use crate::types::{Birth, Height};

/// A request to list units in order, by unit key or by an index.
///
/// Bounds are unit keys, or encoded index keys (see [`crate::index`]) of which the first fields are enough: a bound
/// that is a prefix of longer keys sorts before them, and [`Scan::through`] includes all keys that begin with it.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    pub(crate) index: Option<String>,
    pub(crate) from: Option<Vec<u8>>,
    pub(crate) to: Option<Vec<u8>>,
    pub(crate) backward: bool,
    pub(crate) limit: Option<u64>,
    pub(crate) keys_only: bool,
    pub(crate) resume: Option<Cursor>,
    empty: bool,
}

impl Scan {
    /// All units by unit key.
    #[must_use]
    pub fn units() -> Scan {
        Scan::default()
    }

    /// All units that index `name` has, by its key, duplicates in the order in which they got it.
    #[must_use]
    pub fn index(name: impl Into<String>) -> Scan {
        Scan { index: Some(name.into()), ..Scan::default() }
    }

    /// Only keys at or above `key`.
    #[must_use]
    pub fn from(mut self, key: impl Into<Vec<u8>>) -> Scan {
        let key = key.into();
        if self.from.as_ref().is_none_or(|from| *from < key) {
            self.from = Some(key);
        }
        self
    }

    /// Only keys above `key` and above all that begin with it.
    #[must_use]
    pub fn after(mut self, key: impl Into<Vec<u8>>) -> Scan {
        match end_of_prefix(key.into()) {
            Some(end) => self.from(end),
            None => {
                self.empty = true;
                self
            }
        }
    }

    /// Only keys below `key`.
    #[must_use]
    pub fn to(mut self, key: impl Into<Vec<u8>>) -> Scan {
        let key = key.into();
        if self.to.as_ref().is_none_or(|to| *to > key) {
            self.to = Some(key);
        }
        self
    }

    /// Only keys at or below `key`, and those that begin with it.
    #[must_use]
    pub fn through(self, key: impl Into<Vec<u8>>) -> Scan {
        match end_of_prefix(key.into()) {
            Some(end) => self.to(end),
            None => self,
        }
    }

    /// Only keys that begin with `prefix`.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<Vec<u8>>) -> Scan {
        let prefix = prefix.into();
        self.from(prefix.clone()).through(prefix)
    }

    /// From the last key to the first; duplicates too come in the opposite order.
    #[must_use]
    pub fn backward(mut self) -> Scan {
        self.backward = true;
        self
    }

    /// At most `count` units.
    #[must_use]
    pub fn limit(mut self, count: u64) -> Scan {
        self.limit = Some(count);
        self
    }

    /// Do not read contents.
    #[must_use]
    pub fn keys_only(mut self) -> Scan {
        self.keys_only = true;
        self
    }

    /// Go on after the unit at which `cursor` was taken, in either direction.
    #[must_use]
    pub fn resume(mut self, cursor: Cursor) -> Scan {
        self.resume = Some(cursor);
        self
    }

    /// Whether no key can be in the range.
    pub(crate) fn is_empty(&self) -> bool {
        let inverted = matches!((&self.from, &self.to), (Some(from), Some(to)) if from >= to);
        self.empty || inverted || self.limit == Some(0)
    }
}

/// The first key above all that begin with `prefix`; `None` when there is none.
fn end_of_prefix(mut prefix: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = prefix.pop() {
        if last < u8::MAX {
            prefix.push(last + 1);
            return Some(prefix);
        }
    }
    None
}

/// The place of a unit in an ordering: from here a scan goes on, in another process and after other writes, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) key: Vec<u8>,
    pub(crate) birth: Birth,
}

const CURSOR_VERSION: u8 = 1;

impl Cursor {
    /// The cursor as bytes: version 1, birth height (8, little-endian), birth place (4), key.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![CURSOR_VERSION];
        bytes.extend_from_slice(&self.birth.height.0.to_le_bytes());
        bytes.extend_from_slice(&self.birth.place.to_le_bytes());
        bytes.extend_from_slice(&self.key);
        bytes
    }

    /// The cursor of [`Cursor::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Invalid`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Cursor> {
        let unknown = || Error::Invalid("this is no cursor of a scan".to_owned());
        let rest = bytes.strip_prefix(&[CURSOR_VERSION]).ok_or_else(unknown)?;
        let (height, rest) = rest.split_first_chunk().ok_or_else(unknown)?;
        let (place, key) = rest.split_first_chunk().ok_or_else(unknown)?;
        let birth = Birth::new(Height(u64::from_le_bytes(*height)), u32::from_le_bytes(*place));
        Ok(Cursor { key: key.to_vec(), birth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_where_the_next_begins() {
        assert_eq!(end_of_prefix(b"ab".to_vec()), Some(b"ac".to_vec()));
        assert_eq!(end_of_prefix(vec![1, 255, 255]), Some(vec![2]));
        assert_eq!(end_of_prefix(vec![255]), None);
        assert_eq!(end_of_prefix(vec![]), None);
    }

    #[test]
    fn bounds_narrow_each_other() {
        let scan = Scan::units().from("b").prefix("a");
        assert!(scan.is_empty());
        let scan = Scan::units().prefix("b").from("bb").to("c").to("bd");
        assert_eq!((scan.from.as_deref(), scan.to.as_deref()), (Some(&b"bb"[..]), Some(&b"bd"[..])));
        assert!(Scan::units().after([255]).is_empty());
    }

    #[test]
    fn cursors_survive_as_bytes() {
        let cursor = Cursor { key: b"k".to_vec(), birth: Birth::new(Height(7), 2) };
        assert_eq!(Cursor::from_bytes(&cursor.to_bytes()).unwrap(), cursor);
        assert!(Cursor::from_bytes(b"").is_err());
        assert!(Cursor::from_bytes(&[9; 20]).is_err());
    }
}
