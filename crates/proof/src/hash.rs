//! Hashes and log ids, and their text: lower-case hexadecimal digits, in one form only.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A text that is not the hexadecimal form of what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {digits} hexadecimal digits in lower case")]
pub struct NotHex {
    /// How many.
    pub digits: usize,
}

macro_rules! hex_bytes {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $bytes]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&HEXLOWER.encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotHex;

            fn from_str(text: &str) -> Result<Self, NotHex> {
                let bytes = HEXLOWER.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
                bytes.map($name).ok_or(NotHex { digits: 2 * $bytes })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

pub(crate) use hex_bytes;

hex_bytes! {
    /// A hash: 32 bytes of BLAKE3.
    Hash, 32
}

hex_bytes! {
    /// The random name that a log gets when it is made. Copies and backups of a log share it.
    LogId, 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_one_form() {
        let hash = Hash([0xab; 32]);
        let text = "ab".repeat(32);
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        for bad in ["", "ab", &text.to_uppercase(), &format!("{text}00"), &"zz".repeat(32), &"ä".repeat(32)] {
            assert_eq!(bad.parse::<Hash>(), Err(NotHex { digits: 64 }), "{bad}");
        }
    }
}
