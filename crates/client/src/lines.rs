//! Lists: an answer of NDJSON, line by line, in bounded memory.
//!
//! ```text
//!  pieces of the body          lines                       items
//!  {"key":"a",…}\n{"ke   ──►   {"key":"a",…}        ──►    a unit
//!  y":"b",…}\n{"end":…   ──►   {"key":"b",…}        ──►    a unit
//!  }\n                   ──►   {"end":{"count":2…}} ──►    the end; without it the list was cut off
//! ```
//!
//! What has not been asked for stays with the server: pieces are read when the lines of those before are used up.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use futures_core::Stream;

use crate::connection::{Answer, Body};
use crate::error::{Error, Result};
use crate::types::{Kind, Unit, Version};
use crate::wire::{End, Line};

/// A line is at most this long: the largest content in base64, the largest key, and some fields.
const LINE_BYTES: usize = 96 << 20;

/// The bytes that have come, cut into lines.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// Up to here there is no line end.
    searched: usize,
}

impl Buffer {
    fn push(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.begin);
        self.searched -= self.begin;
        self.begin = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// The next whole line, without its end.
    fn next(&mut self) -> Option<&[u8]> {
        match memchr::memchr(b'\n', &self.bytes[self.searched..]) {
            Some(length) => {
                let (begin, end) = (self.begin, self.searched + length);
                self.begin = end + 1;
                self.searched = self.begin;
                Some(&self.bytes[begin..end])
            }
            None => {
                self.searched = self.bytes.len();
                None
            }
        }
    }

    fn unfinished(&self) -> usize {
        self.bytes.len() - self.begin
    }
}

/// The items of a list that the server sends.
pub struct List<T> {
    body: Option<Body>,
    buffer: Buffer,
    height: u64,
    count: u64,
    /// Bytes that have come.
    bytes: u64,
    end: Option<End>,
    item: PhantomData<fn() -> T>,
}

/// The units of a scan: a [`Stream`], or [`List::next`] in a loop.
pub type Units = List<Unit>;
/// The versions of a unit, newest first: a [`Stream`], or [`List::next`] in a loop.
pub type Versions = List<Version>;

/// What a list can have as items.
pub trait Item: Sized {
    #[doc(hidden)]
    fn of(line: Line<'_>) -> Result<Self, String>;
}

impl<T> List<T> {
    /// Reads no further. Tells whether there was more to read.
    pub(crate) fn give_up(&mut self) -> bool {
        self.body.take().is_some()
    }
}

impl<T: Item> List<T> {
    pub(crate) fn new(answer: Answer, height: u64) -> List<T> {
        List {
            body: Some(answer.body),
            buffer: Buffer::default(),
            height,
            count: 0,
            bytes: 0,
            end: None,
            item: PhantomData,
        }
    }

    /// The height of the snapshot that the list is of.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.height
    }

    /// How many bytes of the list have come so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// After the last item: how many there were, and where to go on when a limit ended the list.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The next item; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| self.poll_item(cx)).await
    }

    /// The next item if it has come already; the outer `None` when more must be read.
    pub(crate) fn next_here(&mut self) -> Option<Option<Result<T>>> {
        let body = self.body.as_ref()?;
        let line = self.buffer.next()?;
        let parsed = serde_json::from_slice::<Line<'_>>(line).map_err(|error| error.to_string());
        let item = match parsed {
            Ok(Line { end: Some(end), .. }) if end.count == self.count => {
                self.end = Some(end);
                // The connection can be used again when its very end has been seen.
                return None;
            }
            Ok(Line { end: Some(end), .. }) => {
                Err(format!("the list says that it has {} items, and had {}", end.count, self.count))
            }
            Ok(Line { error: Some(failure), .. }) => {
                self.body = None;
                return Some(Some(Err(Error::refused(200, failure))));
            }
            Ok(_) if self.end.is_some() => Err("there is a line after the end of a list".to_owned()),
            Ok(line) => T::of(line),
            Err(error) => Err(error),
        };
        match item {
            Ok(item) => {
                self.count += 1;
                Some(Some(Ok(item)))
            }
            Err(what) => {
                let server = body.server();
                self.body = None;
                Some(Some(Err(Error::Protocol { server, what })))
            }
        }
    }

    pub(crate) fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        loop {
            if let Some(item) = self.next_here() {
                return Poll::Ready(item);
            }
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            let error = match body.poll_piece(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(piece))) => {
                    self.bytes += piece.len() as u64;
                    self.buffer.push(&piece);
                    if self.buffer.unfinished() <= LINE_BYTES {
                        continue;
                    }
                    Error::Protocol { server: body.server(), what: format!("a line has more than {LINE_BYTES} bytes") }
                }
                Poll::Ready(Some(Err(error))) => error,
                Poll::Ready(None) if self.end.is_some() => {
                    self.body = None;
                    return Poll::Ready(None);
                }
                Poll::Ready(None) => Error::CutOff,
            };
            self.body = None;
            return Poll::Ready(Some(Err(error)));
        }
    }
}

impl<T: Item> Stream for List<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        self.get_mut().poll_item(cx)
    }
}

impl Item for Unit {
    fn of(line: Line<'_>) -> Result<Unit, String> {
        let key = match (line.key, line.key_hex) {
            (Some(key), None) => key.into_owned().into_bytes(),
            (None, Some(hex)) => HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map_err(|error| error.to_string())?,
            _ => return Err("a unit has not exactly one of key and key_hex".to_owned()),
        };
        let kind = kind(&line.kind)?;
        let content = content(line.content, line.content_base64.as_deref())?;
        Ok(Unit { key, height: line.height, kind, content, value: line.value })
    }
}

impl Item for Version {
    fn of(line: Line<'_>) -> Result<Version, String> {
        let content = content(line.content, line.content_base64.as_deref())?;
        Ok(Version {
            height: line.height,
            time: line.time.ok_or("a version has no time")?.into_owned(),
            kind: kind(&line.kind)?,
            size: line.size.unwrap_or(content.len() as u64),
            content,
        })
    }
}

fn kind(name: &str) -> Result<Kind, String> {
    match name {
        "json" => Ok(Kind::Json),
        "raw" => Ok(Kind::Raw),
        "deleted" => Ok(Kind::Deleted),
        other => Err(format!("there is no kind of content {other:?}")),
    }
}

fn content(json: Option<&serde_json::value::RawValue>, base64: Option<&str>) -> Result<Vec<u8>, String> {
    match (json, base64) {
        (Some(json), None) => Ok(json.get().as_bytes().to_vec()),
        (None, Some(base64)) => BASE64.decode(base64.as_bytes()).map_err(|error| error.to_string()),
        (None, None) => Ok(Vec::new()),
        (Some(_), Some(_)) => Err("there are two contents".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&str]) -> Vec<String> {
        let mut buffer = Buffer::default();
        let mut lines = Vec::new();
        for piece in pieces {
            buffer.push(piece.as_bytes());
            while let Some(line) = buffer.next() {
                lines.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
        lines.push(format!("({} left)", buffer.unfinished()));
        lines
    }

    #[test]
    fn pieces_end_anywhere() {
        assert_eq!(lines(&["one\ntwo\n", "three\n"]), ["one", "two", "three", "(0 left)"]);
        assert_eq!(lines(&["o", "ne", "\n", "\nt", "wo\nthr"]), ["one", "", "two", "(3 left)"]);
        let text = "first\nsecond\nthird\n";
        for size in 1..text.len() {
            let pieces: Vec<&str> =
                (0..text.len()).step_by(size).map(|at| &text[at..text.len().min(at + size)]).collect();
            assert_eq!(lines(&pieces), ["first", "second", "third", "(0 left)"], "pieces of {size}");
        }
    }

    fn unit(line: &str) -> Result<Unit, String> {
        Unit::of(serde_json::from_str(line).map_err(|error| error.to_string())?)
    }

    #[test]
    fn units() {
        let ada =
            unit(r#"{"value":["x",1.50],"key":"a\"da","height":7,"kind":"json","content":{"a": 1.50},"later":1}"#)
                .unwrap();
        assert_eq!((ada.key.as_slice(), ada.height, ada.kind), (&b"a\"da"[..], 7, Kind::Json));
        assert_eq!(ada.content, br#"{"a": 1.50}"#);
        assert_eq!(ada.value, Some(serde_json::json!(["x", 1.5])));
        let raw = unit(r#"{"key_hex":"00ff","height":1,"kind":"raw","content_base64":"YWIA"}"#).unwrap();
        assert_eq!((raw.key.as_slice(), raw.content.as_slice()), (&[0, 0xff][..], &b"ab\0"[..]));
        // The content null is one; a scan for keys has none.
        let null = unit(r#"{"value":null,"key":"n","height":1,"kind":"json","content":null}"#).unwrap();
        assert_eq!((null.content.as_slice(), null.value), (&b"null"[..], Some(serde_json::Value::Null)));
        assert_eq!(unit(r#"{"key":"n","height":1,"kind":"json"}"#).unwrap().content, b"");
        for wrong in [
            r#"{"height":1,"kind":"json","content":1}"#,
            r#"{"key":"a","key_hex":"61","height":1,"kind":"json","content":1}"#,
            r#"{"key":"a","height":1,"kind":"xml","content":1}"#,
            r#"{"key":"a","height":1,"kind":"raw","content_base64":"*"}"#,
            r#"{"key":"a","height":1,"kind":"raw","content":1,"content_base64":""}"#,
            r#"{"key":"a","height":-1,"kind":"json","content":1}"#,
            r#"{"key":"a""#,
        ] {
            assert!(unit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn versions() {
        let line = r#"{"height":4,"time":"2026-11-30T20:52:31.331020Z","kind":"deleted","size":0}"#;
        let version = Version::of(serde_json::from_str(line).unwrap()).unwrap();
        assert_eq!((version.height, version.kind, version.size), (4, Kind::Deleted, 0));
        assert!(Version::of(serde_json::from_str(r#"{"height":4,"kind":"raw"}"#).unwrap()).is_err());
    }
}
