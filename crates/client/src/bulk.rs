//! Bulk writes: any number of operations in one request, in bounded memory.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use data_encoding::{BASE64, HEXLOWER};
use futures_core::Stream;
use memchr::memchr2;
use serde_json::value::RawValue;

use crate::error::Result;
use crate::types::{Condition, Content, Durability, Kind};
use crate::wire::BulkLine;

/// Lines are sent in pieces of about this size.
const PIECE_BYTES: usize = 64 << 10;
/// This many pieces may wait for the network.
pub(crate) const PIECES_AHEAD: usize = 4;

/// One operation of a bulk write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkItem<K, V> {
    key: K,
    condition: Condition,
    /// None to delete.
    content: Option<(Kind, V)>,
}

impl<K: AsRef<[u8]>, V: AsRef<[u8]>> BulkItem<K, V> {
    /// Writes a unit with JSON content.
    pub fn json(key: K, text: V) -> BulkItem<K, V> {
        BulkItem { key, condition: Condition::Any, content: Some((Kind::Json, text)) }
    }

    /// Writes a unit with a raw record.
    pub fn raw(key: K, bytes: V) -> BulkItem<K, V> {
        BulkItem { key, condition: Condition::Any, content: Some((Kind::Raw, bytes)) }
    }

    /// Deletes a unit.
    pub fn delete(key: K) -> BulkItem<K, V> {
        BulkItem { key, condition: Condition::Any, content: None }
    }

    /// Only if this is so.
    #[must_use]
    pub fn when(self, condition: Condition) -> BulkItem<K, V> {
        BulkItem { condition, ..self }
    }

    /// Appends the operation to a body, as a line.
    fn write(&self, body: &mut Vec<u8>) -> Result<()> {
        let key = std::str::from_utf8(self.key.as_ref());
        let content = self.content.as_ref().map(|(kind, bytes)| Content { kind: *kind, bytes: bytes.as_ref() });
        let mut line = BulkLine {
            op: match (content, self.condition) {
                (None, _) => Some("delete".into()),
                (Some(_), Condition::Absent) => Some("insert".into()),
                (Some(_), _) => None,
            },
            key: key.ok().map(Into::into),
            key_hex: key.err().map(|_| HEXLOWER.encode(self.key.as_ref()).into()),
            if_match: match self.condition {
                Condition::At(height) => Some(height),
                Condition::Any | Condition::Absent => None,
            },
            ..BulkLine::default()
        };
        match content {
            Some(Content { kind: Kind::Raw, bytes }) => line.content_base64 = Some(BASE64.encode(bytes).into()),
            Some(Content { bytes, .. }) => {
                // Also finds out that it is JSON: anything else would break the line.
                let json = serde_json::from_slice::<&RawValue>(bytes)?;
                // As a content it would lose what breaks the line, or stands around the value.
                if json.get().len() == bytes.len() && memchr2(b'\n', b'\r', bytes).is_none() {
                    line.content = Some(json);
                } else {
                    line.content_base64 = Some(BASE64.encode(bytes).into());
                    line.kind = Some("json".into());
                }
            }
            None => (),
        }
        serde_json::to_writer(&mut *body, &line)?;
        body.push(b'\n');
        Ok(())
    }
}

/// How a bulk write goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkOptions {
    /// What its commits survive when the answer comes; `None` for the client's.
    pub durability: Option<Durability>,
    /// Whether lines after one that fails are written, too. Without this, none after it is.
    pub go_on: bool,
}

/// Operations as pieces of a request's body.
pub(crate) struct Pieces<S> {
    items: Option<S>,
}

impl<S> Pieces<S> {
    pub(crate) fn new(items: S) -> Pieces<S> {
        Pieces { items: Some(items) }
    }

    /// The next piece; `None` at the end.
    pub(crate) fn poll_piece<K, V>(&mut self, piece: &mut Vec<u8>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes>>>
    where
        S: Stream<Item = BulkItem<K, V>> + Unpin,
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        while let Some(items) = &mut self.items {
            match ready!(Pin::new(items).poll_next(cx)) {
                None => self.items = None,
                Some(item) => {
                    if let Err(error) = item.write(piece) {
                        self.items = None;
                        return Poll::Ready(Some(Err(error)));
                    }
                    if piece.len() >= PIECE_BYTES {
                        break;
                    }
                }
            }
        }
        let whole = std::mem::take(piece);
        Poll::Ready((!whole.is_empty()).then(|| Ok(whole.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<K: AsRef<[u8]>, V: AsRef<[u8]>>(item: BulkItem<K, V>) -> String {
        let mut body = Vec::new();
        item.write(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }

    #[test]
    fn operations_are_lines() {
        assert_eq!(line(BulkItem::json(b"a", "{ \"b\": 1.50 }")), "{\"key\":\"a\",\"content\":{ \"b\": 1.50 }}\n");
        for (text, base64) in [("{\n}", "ewp9"), (" 1", "IDE=")] {
            let expected = format!("{{\"key\":\"a\",\"content_base64\":\"{base64}\",\"kind\":\"json\"}}\n");
            assert_eq!(line(BulkItem::json(b"a", text)), expected);
        }
        assert_eq!(line(BulkItem::json(b"a", "null")), "{\"key\":\"a\",\"content\":null}\n");
        assert_eq!(
            line(BulkItem::raw(&[0xff, 0], b"ab\0").when(Condition::At(7))),
            "{\"key_hex\":\"ff00\",\"if_match\":7,\"content_base64\":\"YWIA\"}\n"
        );
        assert_eq!(
            line(BulkItem::json(b"", "1").when(Condition::Absent)),
            "{\"op\":\"insert\",\"key\":\"\",\"content\":1}\n"
        );
        assert_eq!(line(BulkItem::<&str, &str>::delete("a")), "{\"op\":\"delete\",\"key\":\"a\"}\n");
        assert!(BulkItem::json(b"a", "{} {}").write(&mut Vec::new()).is_err());
    }
}
