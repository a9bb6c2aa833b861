//! The operation codes: two bytes, `0xFA` and one of these.
//!
//! | code | operation | code | operation |
//! |---|---|---|---|
//! | 00 to 03 | OPEN INPUT, OUTPUT, I-O, EXTEND | F3 | WRITE |
//! | 80 to 85 | CLOSE, in its variants | F4 | REWRITE |
//! | F5 | READ NEXT | F7 | DELETE |
//! | F6 | READ by key | E8, EA, EB | START equal, greater, not less |
//! | F9 | READ PREVIOUS | FE, FF | START less, not greater |
//! | | | ED, EC | START first, last |

use immuxdb_isam::{Direction, OpenMode, Relation};

/// The first byte of each code.
const FILE_OPERATION: u8 = 0xfa;

/// What libcob asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// OPEN.
    Open(OpenMode),
    /// CLOSE. Of its variants only WITH LOCK means something here: code 81, or code 80 and an option.
    Close,
    /// CLOSE WITH LOCK, by its code.
    CloseWithLock,
    /// READ by key.
    ReadKey,
    /// READ NEXT or PREVIOUS.
    ReadNext(Direction),
    /// WRITE.
    Write,
    /// REWRITE.
    Rewrite,
    /// DELETE.
    Delete,
    /// START.
    Start(Relation),
}

impl Operation {
    /// The operation of a code; `None` if there is none.
    #[must_use]
    pub fn decode(code: [u8; 2]) -> Option<Operation> {
        if code[0] != FILE_OPERATION {
            return None;
        }
        Some(match code[1] {
            0x00 => Operation::Open(OpenMode::Input),
            0x01 => Operation::Open(OpenMode::Output),
            0x02 => Operation::Open(OpenMode::InputOutput),
            0x03 => Operation::Open(OpenMode::Extend),
            0x81 => Operation::CloseWithLock,
            0x80 | 0x82..=0x85 => Operation::Close,
            0xe8 => Operation::Start(Relation::Equal),
            0xea => Operation::Start(Relation::Greater),
            0xeb => Operation::Start(Relation::NotLess),
            0xec => Operation::Start(Relation::Last),
            0xed => Operation::Start(Relation::First),
            0xf3 => Operation::Write,
            0xf4 => Operation::Rewrite,
            0xf5 => Operation::ReadNext(Direction::Next),
            0xf6 => Operation::ReadKey,
            0xf7 => Operation::Delete,
            0xf9 => Operation::ReadNext(Direction::Previous),
            0xfe => Operation::Start(Relation::Less),
            0xff => Operation::Start(Relation::NotGreater),
            _ => return None,
        })
    }

    /// Its name in a trace.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Operation::Open(OpenMode::Input) => "OPEN-INPUT",
            Operation::Open(OpenMode::Output) => "OPEN-OUTPUT",
            Operation::Open(OpenMode::InputOutput) => "OPEN-I-O",
            Operation::Open(OpenMode::Extend) => "OPEN-EXTEND",
            Operation::Close | Operation::CloseWithLock => "CLOSE",
            Operation::ReadKey => "READ",
            Operation::ReadNext(Direction::Next) => "READ-NEXT",
            Operation::ReadNext(Direction::Previous) => "READ-PREVIOUS",
            Operation::Write => "WRITE",
            Operation::Rewrite => "REWRITE",
            Operation::Delete => "DELETE",
            Operation::Start(Relation::Equal) => "START-EQUAL",
            Operation::Start(Relation::Greater) => "START-GREATER",
            Operation::Start(Relation::NotLess) => "START-NOT-LESS",
            Operation::Start(Relation::Less) => "START-LESS",
            Operation::Start(Relation::NotGreater) => "START-NOT-GREATER",
            Operation::Start(Relation::First) => "START-FIRST",
            Operation::Start(Relation::Last) => "START-LAST",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_stand_for_operations_with_names_of_their_own() {
        let known: Vec<u8> = (0..=255).filter(|code| Operation::decode([0xfa, *code]).is_some()).collect();
        let expected = [
            0x00, 0x01, 0x02, 0x03, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0xe8, 0xea, 0xeb, 0xec, 0xed, 0xf3, 0xf4, 0xf5,
            0xf6, 0xf7, 0xf9, 0xfe, 0xff,
        ];
        assert_eq!(known, expected);
        let names: HashSet<_> =
            known.iter().filter_map(|code| Operation::decode([0xfa, *code])).map(Operation::name).collect();
        assert_eq!(names.len(), known.len() - 5, "the variants of CLOSE have one name");
        assert_eq!(Operation::decode([0, 0xf5]), None);
    }
}
