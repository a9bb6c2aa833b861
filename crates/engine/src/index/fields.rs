//! The fields that some index wants, as a tree, and the pass over a JSON text that finds them.
//!
//! ```text
//! wanted: address.city, address.zip, age       slots: 0, 1, 2
//!
//!            root
//!           /    \
//!     address     age=2        on an `address` its whole range of slots, 0..2, is emptied first:
//!      /    \                  in {"address":{"city":"Brno"},"address":5} the city is missing,
//!  city=0  zip=1               because the last of two equal names counts
//! ```
//!
//! Slots are numbered in the order of the sorted paths, so that all below a node have numbers in a row.

use std::ops::Range;

use crate::error::Result;

use super::definition::FieldPath;
use super::json::{self, Fault, Quoted, Scanner};
use super::transcode::unquote;

/// The stretch of the text at which a field's value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The span of a field that is missing. (No value is empty.)
    pub(super) const MISSING: Span = Span { start: 0, end: 0 };

    pub(super) fn is_missing(self) -> bool {
        self.end == 0
    }

    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// The fields that some index wants.
#[derive(Debug)]
pub(super) struct Fields {
    paths: Vec<FieldPath>,
    root: Node,
}

#[derive(Debug)]
struct Node {
    /// The slots of this node and of all below it.
    slots: Range<usize>,
    /// Whether the node is a wanted field: its slot is then the first.
    wanted: bool,
    /// By fingerprint of the name.
    children: Vec<(Box<[u8]>, Node)>,
    /// For each fingerprint, the place in `children` where those begin that have it or a larger one. Most names of a text fall
    /// through here without being compared. Empty when there are no children.
    starts: Box<[u32]>,
    /// The children that can be elements of an array: number and place in `children`, by number.
    elements: Vec<(usize, usize)>,
}

impl Fields {
    /// The tree of these paths.
    pub(super) fn new(mut paths: Vec<FieldPath>) -> Fields {
        paths.sort();
        paths.dedup();
        let root = Node::new(&paths, 0..paths.len(), 0);
        Fields { paths, root }
    }

    /// The slot of a path that is in the tree.
    pub(super) fn slot(&self, path: &FieldPath) -> Option<usize> {
        self.paths.binary_search(path).ok()
    }

    /// Validates a JSON text and finds the fields: a span for each slot.
    pub(super) fn find(&self, text: &[u8], spans: &mut Vec<Span>) -> Result<()> {
        spans.clear();
        spans.resize(self.paths.len(), Span::MISSING);
        json::scan(text, |scanner| self.root.walk(scanner, spans))
    }
}

impl Node {
    /// The node for the paths in `slots`, which have `depth` segments in common.
    fn new(paths: &[FieldPath], slots: Range<usize>, depth: usize) -> Node {
        let wanted = paths.get(slots.start).is_some_and(|path| path.segments().len() == depth);
        let mut children = Vec::new();
        let mut start = slots.start + usize::from(wanted);
        while start < slots.end {
            let name = &paths[start].segments()[depth];
            let count = paths[start..slots.end].iter().take_while(|path| path.segments()[depth] == *name).count();
            let child = Node::new(paths, start..start + count, depth + 1);
            children.push((name.as_bytes().into(), child));
            start += count;
        }
        children.sort_by_key(|(name, _): &(Box<[u8]>, Node)| fingerprint(name));
        let start = |wanted| children.partition_point(|(name, _)| usize::from(fingerprint(name)) < wanted) as u32;
        let starts = if children.is_empty() { 0..0 } else { 0..FINGERPRINTS + 1 };
        let starts = starts.map(start).collect();
        let number = |(place, (name, _)): (usize, &(Box<[u8]>, Node))| Some((element(name)?, place));
        let mut elements: Vec<_> = children.iter().enumerate().filter_map(number).collect();
        elements.sort_unstable();
        Node { slots, wanted, children, starts, elements }
    }

    /// Passes a value, looking for the children in it.
    fn walk(&self, scanner: &mut Scanner<'_>, spans: &mut [Span]) -> Result<(), Fault> {
        match scanner.peek() {
            b'{' if !self.children.is_empty() => scanner.object(|scanner, name| match self.child(name)? {
                Some(child) => child.take(scanner, spans),
                None => scanner.value(),
            }),
            b'[' if !self.elements.is_empty() => {
                let mut number = 0;
                let mut next = self.elements.as_slice();
                scanner.array(|scanner| {
                    let taken = match next {
                        [(wanted, place), rest @ ..] if *wanted == number => {
                            next = rest;
                            self.children[*place].1.take(scanner, spans)
                        }
                        _ => scanner.value(),
                    };
                    number += 1;
                    taken
                })
            }
            _ => scanner.value(),
        }
    }

    /// Passes this node's value and notes where it stands.
    fn take(&self, scanner: &mut Scanner<'_>, spans: &mut [Span]) -> Result<(), Fault> {
        spans[self.slots.clone()].fill(Span::MISSING);
        let start = scanner.at();
        self.walk(scanner, spans)?;
        if self.wanted {
            spans[self.slots.start] = Span { start: start as u32, end: scanner.at() as u32 };
        }
        Ok(())
    }

    #[inline]
    fn child(&self, name: Quoted<'_>) -> Result<Option<&Node>, Fault> {
        if name.escaped {
            return Ok(self.child_named(&unquote(name)?));
        }
        Ok(self.child_named(name.text))
    }

    #[inline]
    fn child_named(&self, name: &[u8]) -> Option<&Node> {
        let fingerprint = usize::from(fingerprint(name));
        let (start, end) = (self.starts[fingerprint], self.starts[fingerprint + 1]);
        let same = &self.children[start as usize..end as usize];
        same.iter().find(|(child, _)| **child == *name).map(|(_, node)| node)
    }
}

const FINGERPRINTS: usize = 256;

/// A number that tells most names apart, from what is at hand: the length, the first and the last byte.
#[inline]
fn fingerprint(name: &[u8]) -> u8 {
    let (Some(first), Some(last)) = (name.first(), name.last()) else {
        return 0;
    };
    first.wrapping_mul(31).wrapping_add(last.wrapping_mul(7)).wrapping_add(name.len() as u8)
}

/// The number that a path segment is in an array: digits without a leading zero.
fn element(name: &[u8]) -> Option<usize> {
    let canonical = name == b"0" || (name.iter().all(u8::is_ascii_digit) && name.first() != Some(&b'0'));
    let number = std::str::from_utf8(name).ok()?;
    if canonical { number.parse().ok() } else { None }
}
