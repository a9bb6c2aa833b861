//! Keys and contents: hashed with salts, so that a hash alone tells nothing about them.
//!
//! Without a salt, whoever has the hash of a short content ("yes", a birthday) finds the content by trying. Each body in
//! the log has a random salt. When a content is erased, its salt goes with it; the hash stays, and with it all roots and
//! proofs, and nobody can find out what it was made from.
//!
//! Key and content get a salt each, derived from the body's: so the key can be shown without giving away what one needs to
//! guess the content.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::domain::Domain;
use crate::hash::{Hash, NotHex, hex_bytes};

hex_bytes! {
    /// What is hashed with a key or a content.
    Salt, 16
}

/// The salts of a unit key and its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salts {
    /// The key's.
    pub key: Salt,
    /// The content's.
    pub content: Salt,
}

impl Salts {
    /// The salts that follow from a body's.
    #[must_use]
    pub fn of_body(salt: &[u8; 16]) -> Salts {
        let Hash(both) = Domain::Salts.hash(&[salt]);
        let (mut key, mut content) = ([0; 16], [0; 16]);
        key.copy_from_slice(&both[..16]);
        content.copy_from_slice(&both[16..]);
        Salts { key: Salt(key), content: Salt(content) }
    }
}

/// The hash that stands for a unit key.
#[must_use]
pub fn key_hash(salt: &Salt, key: &[u8]) -> Hash {
    Domain::Key.hash(&[&salt.0, key])
}

/// The hash that stands for a content; of a deletion, which has none, for no bytes.
#[must_use]
pub fn content_hash(salt: &Salt, content: &[u8]) -> Hash {
    Domain::Content.hash(&[&salt.0, content])
}

/// Bytes that are shown, with their salt. In JSON `text` where they are UTF-8, else `hex`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salted {
    /// The salt.
    pub salt: Salt,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A content, shown or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Hidden {
    /// The content.
    Shown(Salted),
    /// Its hash only, because it was erased, or is nobody's business.
    Hash(OnlyHash),
}

/// A hash in the place of what it was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlyHash {
    /// The hash.
    pub hash: Hash,
}

impl Hidden {
    /// The content, if it is shown.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Hidden::Shown(salted) => Some(&salted.bytes),
            Hidden::Hash(_) => None,
        }
    }

    /// Its hash.
    #[must_use]
    pub fn hash(&self) -> Hash {
        match self {
            Hidden::Shown(salted) => content_hash(&salted.salt, &salted.bytes),
            Hidden::Hash(only) => only.hash,
        }
    }
}

/// The JSON form of [`Salted`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaltedText {
    salt: Salt,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl Serialize for Salted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = std::str::from_utf8(&self.bytes).ok().map(str::to_owned);
        let hex = text.is_none().then(|| HEXLOWER.encode(&self.bytes));
        SaltedText { salt: self.salt, text, hex }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Salted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SaltedText { salt, text, hex } = SaltedText::deserialize(deserializer)?;
        let bytes = match (text, hex) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(hex)) => HEXLOWER.decode(hex.as_bytes()).map_err(de::Error::custom)?,
            _ => return Err(de::Error::custom("expected either `text` or `hex`")),
        };
        Ok(Salted { salt, bytes })
    }
}
