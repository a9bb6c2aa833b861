//! One ordering of a delta: an unsorted tail and sorted pieces.

use std::cmp::Ordering as Order;
use std::sync::Arc;

use super::VersionId;
use crate::sync::Mutex;
use crate::types::{Birth, Height};

/// What happened to a key value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A unit got it, with this version.
    Live(VersionId),
    /// A unit that had got it lost it at this height.
    Kill(Height),
}

/// Set in the payload of a kill.
const KILL: u64 = 1 << 63;

/// A key value got or lost. The key's bytes stand beside the events.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    /// In a piece: the 8 bytes of the key, big-endian, that follow those which all keys of the piece have in common, so
    /// that most comparisons touch nothing else.
    prefix: u64,
    key_at: u32,
    key_len: u32,
    birth_height: u64,
    payload: u64,
    birth_place: u32,
}

impl Event {
    pub(crate) fn birth(&self) -> Birth {
        Birth::new(Height(self.birth_height), self.birth_place)
    }

    pub(crate) fn what(&self) -> What {
        if self.payload & KILL != 0 {
            What::Kill(Height(self.payload & !KILL))
        } else {
            What::Live(VersionId::from_bits(self.payload as u32))
        }
    }
}

/// Events and the bytes of their keys.
#[derive(Default)]
struct Events {
    keys: Vec<u8>,
    events: Vec<Event>,
}

impl Events {
    fn key(&self, event: &Event) -> &[u8] {
        &self.keys[event.key_at as usize..][..event.key_len as usize]
    }

    /// The number of bytes that all keys begin with.
    fn common(&self) -> usize {
        let mut keys = self.events.iter().map(|event| self.key(event));
        let Some(first) = keys.next() else {
            return 0;
        };
        let with = |common: usize, key: &[u8]| {
            let stem = &first[..common];
            if key.starts_with(stem) { common } else { shared(stem, key) }
        };
        keys.fold(first.len(), with)
    }

    fn set_prefixes(&mut self, common: usize) {
        let Events { keys, events } = self;
        for event in events {
            let key = &keys[event.key_at as usize..][..event.key_len as usize];
            event.prefix = prefix_of(&key[common..]);
        }
    }

    /// Stable: events of one key arrive in the order of their births, and a kill after its birth.
    ///
    /// Gives the number of bytes that all keys begin with.
    fn sort(&mut self, newest_first: bool) -> usize {
        let common = self.common();
        self.set_prefixes(common);
        let Events { keys, events } = self;
        let key = |event: &Event| &keys[event.key_at as usize..][..event.key_len as usize];
        events.sort_by(|a, b| {
            a.prefix
                .cmp(&b.prefix)
                .then_with(|| key(a).cmp(key(b)))
                .then_with(|| in_order(a.birth(), b.birth(), newest_first))
        });
        common
    }

    fn push(&mut self, key: &[u8], mut event: Event) {
        event.key_at = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        assert!(event.key_at < u32::MAX, "a delta is frozen long before its keys have 4 GiB");
        self.keys.extend_from_slice(key);
        self.events.push(event);
    }
}

/// Sorted events that never change.
pub(crate) struct Piece {
    events: Events,
    /// The number of bytes that all keys begin with.
    common: usize,
    newest_first: bool,
}

impl Piece {
    pub(crate) fn len(&self) -> usize {
        self.events.events.len()
    }

    pub(crate) fn key(&self, at: usize) -> &[u8] {
        self.events.key(&self.events.events[at])
    }

    pub(crate) fn event(&self, at: usize) -> &Event {
        &self.events.events[at]
    }

    /// The place of the first event that is not before (`key`, `birth`).
    pub(crate) fn seek(&self, key: &[u8], birth: Birth) -> usize {
        let Some(first) = self.events.events.first() else {
            return 0;
        };
        let stem = &self.events.key(first)[..self.common];
        let Some(rest) = key.strip_prefix(stem) else {
            return if key < stem { 0 } else { self.len() };
        };
        let prefix = prefix_of(rest);
        self.events.events.partition_point(|event| {
            let order = event
                .prefix
                .cmp(&prefix)
                .then_with(|| self.events.key(event).cmp(key))
                .then_with(|| in_order(event.birth(), birth, self.newest_first));
            order == Order::Less
        })
    }
}

/// Events of one ordering that were not yet asked for: full portions, and the one that grows.
#[derive(Default)]
struct Tail {
    full: Vec<Events>,
    growing: Events,
}

/// Events of a portion. So many are sorted in the processor's cache, and adding one never moves many others.
const PORTION: usize = 4096;

/// An ordering: see the module's essay.
pub(crate) struct Ordering {
    newest_first: bool,
    tail: Mutex<Tail>,
    pieces: Mutex<Vec<Arc<Piece>>>,
}

impl Ordering {
    /// By key, then by birth.
    pub(super) fn oldest_first() -> Ordering {
        Ordering { newest_first: false, tail: Mutex::default(), pieces: Mutex::default() }
    }

    /// By key, then by birth backwards.
    pub(super) fn newest_first() -> Ordering {
        Ordering { newest_first: true, ..Ordering::oldest_first() }
    }

    pub(super) fn push(&self, key: &[u8], birth: Birth, what: What) {
        let payload = match what {
            What::Live(id) => u64::from(id.to_bits()),
            What::Kill(end) => end.0 | KILL,
        };
        // A key's limit is far below 2^32; `Events::push` sets where it stands.
        let event = Event {
            prefix: 0,
            key_at: 0,
            key_len: key.len() as u32,
            birth_height: birth.height.0,
            payload,
            birth_place: birth.place,
        };
        let mut tail = self.tail.lock();
        tail.growing.push(key, event);
        if tail.growing.events.len() == PORTION {
            let next =
                Events { keys: Vec::with_capacity(tail.growing.keys.len()), events: Vec::with_capacity(PORTION) };
            let full = std::mem::replace(&mut tail.growing, next);
            tail.full.push(full);
        }
    }

    /// All events that were pushed before the call, as few sorted pieces, the oldest and longest first.
    pub(crate) fn pieces(&self) -> Vec<Arc<Piece>> {
        let mut pieces = self.pieces.lock();
        self.sort_tail(&mut pieces);
        while let [.., older, newer] = pieces.as_slice() {
            if older.len() > 2 * newer.len() {
                break;
            }
            let joined = Arc::new(join(older, newer));
            pieces.pop();
            pieces.pop();
            pieces.push(joined);
        }
        pieces.clone()
    }

    /// All events as one sorted piece.
    pub(crate) fn whole(&self) -> Arc<Piece> {
        let mut pieces = self.pieces.lock();
        self.sort_tail(&mut pieces);
        if let [piece] = pieces.as_slice() {
            return Arc::clone(piece);
        }
        let whole = Arc::new(merge(&pieces, self.newest_first));
        *pieces = vec![Arc::clone(&whole)];
        whole
    }

    fn sort_tail(&self, pieces: &mut Vec<Arc<Piece>>) {
        let tail = std::mem::take(&mut *self.tail.lock());
        let portions = tail.full.into_iter().chain(std::iter::once(tail.growing));
        for mut portion in portions.filter(|portion| !portion.events.is_empty()) {
            let common = portion.sort(self.newest_first);
            pieces.push(Arc::new(Piece { events: portion, common, newest_first: self.newest_first }));
        }
    }
}

fn in_order(a: Birth, b: Birth, newest_first: bool) -> Order {
    if newest_first { b.cmp(&a) } else { a.cmp(&b) }
}

/// The number of bytes that both begin with.
fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn prefix_of(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut padded = [0; 8];
            padded[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(padded)
        }
    }
}

/// Merges two sorted pieces; of equal events those of `older` come first.
fn join(older: &Piece, newer: &Piece) -> Piece {
    let mut joined = Joined::new([older, newer].into_iter(), older.newest_first);
    let (mut left, mut right) = (0, 0);
    while left < older.len() && right < newer.len() {
        if joined.order((older, left), (newer, right)) == Order::Greater {
            joined.push(newer, right);
            right += 1;
        } else {
            joined.push(older, left);
            left += 1;
        }
    }
    (left..older.len()).for_each(|at| joined.push(older, at));
    (right..newer.len()).for_each(|at| joined.push(newer, at));
    joined.finish()
}

/// Merges sorted pieces, oldest first, in one pass; of equal events those of older pieces come first.
fn merge(pieces: &[Arc<Piece>], newest_first: bool) -> Piece {
    let mut joined = Joined::new(pieces.iter().map(AsRef::as_ref), newest_first);
    // The pieces whose turn is still to come, with their ages, the one with the lowest event first.
    let mut turns: Vec<(usize, &Piece, usize)> = Vec::with_capacity(pieces.len());
    let insert = |turns: &mut Vec<(usize, &Piece, usize)>, joined: &Joined, from: usize| {
        let mut at = from;
        let is_later = |a: &(usize, &Piece, usize), b: &(usize, &Piece, usize)| {
            joined.order((a.1, a.2), (b.1, b.2)).then(a.0.cmp(&b.0)) == Order::Greater
        };
        while at + 1 < turns.len() && is_later(&turns[at], &turns[at + 1]) {
            turns.swap(at, at + 1);
            at += 1;
        }
    };
    for (age, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.len() > 0) {
        turns.insert(0, (age, piece, 0));
        insert(&mut turns, &joined, 0);
    }
    while let Some((_, piece, at)) = turns.first_mut() {
        joined.push(piece, *at);
        *at += 1;
        if *at == piece.len() {
            turns.remove(0);
        } else {
            insert(&mut turns, &joined, 0);
        }
    }
    joined.finish()
}

/// A piece that is made of others.
struct Joined {
    events: Events,
    common: usize,
    /// All of the others have this stem, so that their prefixes tell the order.
    same_stem: bool,
    newest_first: bool,
}

impl Joined {
    fn new<'a>(pieces: impl Iterator<Item = &'a Piece> + Clone, newest_first: bool) -> Joined {
        let filled = pieces.filter(|piece| piece.len() > 0);
        let stems = filled.clone().map(|piece| &piece.key(0)[..piece.common]);
        let common = stems.reduce(|a, b| &a[..shared(a, b)]).map_or(0, <[u8]>::len);
        let (keys, events) =
            filled.clone().fold((0, 0), |(keys, events), piece| (keys + piece.events.keys.len(), events + piece.len()));
        Joined {
            events: Events { keys: Vec::with_capacity(keys), events: Vec::with_capacity(events) },
            common,
            same_stem: filled.clone().all(|piece| piece.common == common),
            newest_first,
        }
    }

    #[inline]
    fn order(&self, a: (&Piece, usize), b: (&Piece, usize)) -> Order {
        let ((older, left), (newer, right)) = (a, b);
        let (a, b) = (older.event(left), newer.event(right));
        let prefixes = if self.same_stem { a.prefix.cmp(&b.prefix) } else { Order::Equal };
        prefixes
            .then_with(|| older.key(left).cmp(newer.key(right)))
            .then_with(|| in_order(a.birth(), b.birth(), self.newest_first))
    }

    #[inline]
    fn push(&mut self, piece: &Piece, at: usize) {
        let (key, mut event) = (piece.key(at), *piece.event(at));
        if piece.common != self.common {
            event.prefix = prefix_of(&key[self.common..]);
        }
        self.events.push(key, event);
    }

    fn finish(self) -> Piece {
        Piece { events: self.events, common: self.common, newest_first: self.newest_first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(pieces: &[Arc<Piece>]) -> Vec<(Vec<u8>, u64)> {
        let mut all: Vec<_> = pieces
            .iter()
            .flat_map(|piece| (0..piece.len()).map(|at| (piece.key(at).to_vec(), piece.event(at).birth().height.0)))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn pieces_stay_few_when_each_write_is_followed_by_a_read() {
        let ordering = Ordering::oldest_first();
        for height in 1..=1000u64 {
            let key = (height * 7919 % 1000).to_string();
            ordering.push(key.as_bytes(), Birth::new(Height(height), 0), What::Kill(Height(height)));
            let pieces = ordering.pieces();
            assert!(pieces.len() <= 10, "{} pieces of {height} events", pieces.len());
            assert_eq!(pieces.iter().map(|p| p.len()).sum::<usize>(), height as usize);
        }
        let whole = ordering.whole();
        let keys: Vec<_> = (0..whole.len()).map(|at| (whole.key(at).to_vec(), whole.event(at).birth())).collect();
        assert!(keys.is_sorted());
        assert_eq!(listed(&[whole]).len(), 1000);
    }

    #[test]
    fn many_pieces_become_one_in_order() {
        for newest_first in [false, true] {
            let ordering = if newest_first { Ordering::newest_first() } else { Ordering::oldest_first() };
            let count = 10 * PORTION as u64 + 7;
            for height in 1..=count {
                let key = (height * 7919 % 1000).to_string();
                ordering.push(key.as_bytes(), Birth::new(Height(height), 0), What::Kill(Height(height)));
            }
            let whole = ordering.whole();
            let sorted = (1..whole.len()).all(|at| {
                let order = |at: usize| (whole.key(at), whole.event(at).birth());
                let ((key, birth), (next_key, next_birth)) = (order(at - 1), order(at));
                key.cmp(next_key).then_with(|| in_order(birth, next_birth, newest_first)) == Order::Less
            });
            assert!(sorted && whole.len() as u64 == count);
        }
    }

    /// The older of two pieces has the birth, the newer one its kill, behind an event that comes before both.
    #[test]
    fn a_birth_comes_before_its_kill_in_whichever_piece_each_was() {
        let ordering = Ordering::oldest_first();
        let birth = Birth::new(Height(1), 0);
        ordering.push(b"k", birth, What::Live(VersionId::from_bits(0)));
        for n in 0..9 {
            ordering.push(format!("z{n}").as_bytes(), birth, What::Live(VersionId::from_bits(1)));
        }
        assert_eq!(ordering.pieces().len(), 1);
        ordering.push(b"a", birth, What::Live(VersionId::from_bits(2)));
        ordering.push(b"k", birth, What::Kill(Height(2)));
        assert_eq!(ordering.pieces().len(), 2);
        let whole = ordering.whole();
        let what: Vec<_> = (0..3).map(|at| (whole.key(at), matches!(whole.event(at).what(), What::Kill(_)))).collect();
        assert_eq!(what, [(&b"a"[..], false), (b"k", false), (b"k", true)]);
    }

    #[test]
    fn seek_finds_the_first_event_not_before() {
        let ordering = Ordering::oldest_first();
        for (key, height) in [("b", 3), ("a", 1), ("b", 2), ("longer than a prefix", 4), ("longer than b prefix", 5)] {
            ordering.push(key.as_bytes(), Birth::new(Height(height), 0), What::Kill(Height(9)));
        }
        let piece = ordering.whole();
        let at = |key: &str, height| piece.seek(key.as_bytes(), Birth::new(Height(height), 0));
        assert_eq!(at("", 0), 0);
        assert_eq!(at("b", 0), 1);
        assert_eq!(at("b", 3), 2);
        assert_eq!(at("b", 4), 3);
        assert_eq!(at("longer than b", 0), 4);
        assert_eq!(at("z", 0), 5);
    }

    #[test]
    fn units_come_newest_version_first() {
        let ordering = Ordering::newest_first();
        for height in [1, 2, 3] {
            ordering.push(b"unit", Birth::new(Height(height), 0), What::Live(VersionId::from_bits(height as u32)));
        }
        let piece = ordering.whole();
        let heights: Vec<_> = (0..3).map(|at| piece.event(at).birth().height.0).collect();
        assert_eq!(heights, [3, 2, 1]);
        assert_eq!(piece.seek(b"unit", Birth::new(Height(2), u32::MAX)), 1);
    }
}
