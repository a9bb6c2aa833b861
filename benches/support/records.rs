//! The record of the artificial loads: 250 bytes, as a COBOL program would define them.
//!
//! ```text
//! 01 RECORD.                                    bytes
//!    05 UNIT-KEY     PIC X(12).                  0..12    RECORD KEY
//!    05 ALTERNATE    PIC X(18) OCCURS 13.       12..246   13 × ALTERNATE RECORD KEY … WITH DUPLICATES
//!    05 FILLER       PIC X(4).                 246..250
//! ```
//!
//! Records come in ascending order of their unit keys, which is the number of the record. How many records share a value of an alternate key is what
//! the loads differ in: [`Values`]. Values of neighbouring records are far apart in their order, so an index is filled at random places.

use std::ops::Range;

use clap::ValueEnum;

use crate::random::mix;

/// Bytes of a record.
pub const RECORD: usize = 250;
/// Bytes of a unit key.
pub const KEY: usize = 12;
/// Bytes of an alternate key.
pub const ALTERNATE: usize = 18;
/// Alternate keys of a record.
pub const ALTERNATES: usize = 13;

/// Two digits a byte, from a table: making a record shall cost next to nothing beside writing it.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789ABCDEF";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// A unit key.
pub type Key = [u8; KEY];
/// A value of an alternate key.
pub type Alternate = [u8; ALTERNATE];

/// How many different values each alternate key has.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One: all records are duplicates of each other
    Equal,
    /// A hundred
    Hundred,
    /// Another for each record
    Unique,
}

impl Values {
    /// All distributions.
    pub const ALL: [Values; 3] = [Values::Equal, Values::Hundred, Values::Unique];

    /// The name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Values::Equal => "equal",
            Values::Hundred => "hundred",
            Values::Unique => "unique",
        }
    }

    /// Which of its values alternate key `alternate` of record `number` has.
    fn which(self, number: u64, alternate: usize) -> u64 {
        match self {
            Values::Equal => 0,
            Values::Hundred => mix(number * ALTERNATES as u64 + alternate as u64) % 100,
            Values::Unique => number,
        }
    }

    /// The value of alternate key `alternate` (0 to 12) of record `number`.
    #[must_use]
    pub fn alternate(self, number: u64, alternate: usize) -> Alternate {
        // One to one, so that unique values are unique.
        let spread = mix(self.which(number, alternate) * ALTERNATES as u64 + alternate as u64);
        let mut value = *b"K0----------------";
        value[1] = b'A' + alternate as u8;
        for (digits, byte) in value[2..].chunks_exact_mut(2).zip(spread.to_be_bytes()) {
            digits.copy_from_slice(&HEX[usize::from(byte)]);
        }
        value
    }

    /// Writes record `number`.
    pub fn write(self, number: u64, record: &mut [u8; RECORD]) {
        record[..KEY].copy_from_slice(&key(number));
        for alternate in 0..ALTERNATES {
            record[range(alternate)].copy_from_slice(&self.alternate(number, alternate));
        }
        record[range(ALTERNATES - 1).end..].fill(b' ');
    }

    /// How many of the first `count` records share a value of some alternate key with a record before them.
    #[must_use]
    pub fn duplicates(self, count: u64) -> u64 {
        match self {
            Values::Equal => count.saturating_sub(1),
            Values::Unique => 0,
            Values::Hundred => {
                let mut seen = [[false; 100]; ALTERNATES];
                let is_duplicate = |number: &u64| {
                    (0..ALTERNATES).fold(false, |duplicate, alternate| {
                        let which = self.which(*number, alternate) as usize;
                        std::mem::replace(&mut seen[alternate][which], true) || duplicate
                    })
                };
                (0..count).filter(is_duplicate).count() as u64
            }
        }
    }
}

/// The unit key of record `number`.
#[must_use]
pub fn key(number: u64) -> Key {
    let mut key = *b"R00000000000";
    let mut left = number;
    for digit in key[1..].iter_mut().rev() {
        *digit += (left % 10) as u8;
        left /= 10;
    }
    key
}

/// The number of the record with a unit key; `None` when no record has such a key.
#[must_use]
pub fn number(key: &[u8]) -> Option<u64> {
    std::str::from_utf8(key.strip_prefix(b"R")?).ok()?.parse().ok()
}

/// Where an alternate key (0 to 12) stands in a record.
#[must_use]
pub fn range(alternate: usize) -> Range<usize> {
    let start = KEY + alternate * ALTERNATE;
    start..start + ALTERNATE
}

/// The name of an alternate key's index.
#[must_use]
pub fn index_name(alternate: usize) -> String {
    format!("alternate-{:02}", alternate + 1)
}

/// Checks that a scan by an alternate key gives what it must: ascending (or descending) values, and the duplicates of each in the order of writing.
pub struct ScanCheck {
    values: Values,
    alternate: usize,
    backward: bool,
    before: Option<(Alternate, u64)>,
    count: u64,
}

impl ScanCheck {
    /// A check for a scan in one direction.
    #[must_use]
    pub fn new(values: Values, alternate: usize, backward: bool) -> ScanCheck {
        ScanCheck { values, alternate, backward, before: None, count: 0 }
    }

    /// Takes the next record of the scan. Cheap: the value is taken from the record, and compared with the one before.
    ///
    /// # Panics
    /// When the record isn't the right one: the figures of an engine that gives wrong answers are worth nothing.
    pub fn next(&mut self, record: &[u8]) {
        assert_eq!(record.len(), RECORD, "a record came back with another length");
        let mut value = [0; ALTERNATE];
        value.copy_from_slice(&record[range(self.alternate)]);
        let Some(number) = number(&record[..KEY]) else {
            panic!("a record came back with a key that was never written");
        };
        let this = (value, number);
        if let Some(before) = self.before {
            let in_order = if self.backward { before > this } else { before < this };
            assert!(in_order, "scan out of order: {before:?}, then {this:?}");
        }
        self.before = Some(this);
        self.count += 1;
    }

    /// Ends the scan.
    ///
    /// # Panics
    /// When another number of records came than were written.
    pub fn finish(self, expected: u64) {
        assert_eq!(self.count, expected, "the scan is short or long");
        if let Some((value, number)) = self.before {
            assert_eq!(value, self.values.alternate(number, self.alternate), "a record came back with another content");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_record_has_its_keys_where_the_indexes_look() {
        let mut record = [0; RECORD];
        Values::Unique.write(42, &mut record);
        assert_eq!(&record[..KEY], b"R00000000042");
        assert_eq!(number(&record[..KEY]), Some(42));
        assert_eq!(record[range(12)], Values::Unique.alternate(42, 12));
        assert_eq!(range(12).end, 246);
        assert!(record.is_ascii());
    }

    #[test]
    fn values_are_as_many_as_they_say() {
        for (values, expected) in [(Values::Equal, 1), (Values::Hundred, 100), (Values::Unique, 5_000)] {
            let different: HashSet<_> = (0..5_000).map(|n| values.alternate(n, 3)).collect();
            assert_eq!(different.len(), expected, "{values:?}");
        }
    }

    #[test]
    fn duplicates_are_counted() {
        assert_eq!(Values::Equal.duplicates(1_000), 999);
        assert_eq!(Values::Unique.duplicates(1_000), 0);
        let hundred = Values::Hundred.duplicates(1_000);
        assert!((980..1_000).contains(&hundred), "{hundred}");
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn a_wrong_order_is_seen() {
        let mut check = ScanCheck::new(Values::Equal, 0, false);
        let mut record = [0; RECORD];
        for number in [2, 1] {
            Values::Equal.write(number, &mut record);
            check.next(&record);
        }
    }
}
