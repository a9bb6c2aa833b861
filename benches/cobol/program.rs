//! The COBOL program that is measured, generated: fourteen keys are too many to write by hand.
//!
//! ```text
//!   i          1, 2, 3 … (or in a stride that meets each once)
//!   digits     the last nine digits of i × 618033989, and of i × 414213563: both factors have no divisor in common with
//!              10^9, so no two i give the same digits
//!   record     [ digits ][ alternate 1 ][ alternate 2 ] … [ alternate 13 ][ filler ]      260 bytes
//!   alternate  all equal: "00"; 100 values: two of the digits; unique: the digits turned round by 1, 2 … 13 places
//! ```
//!
//! One run does one phase, which the environment names: so the clock is outside, and a phase begins with OPEN and ends when
//! CLOSE and the whole process have.

use std::fmt::Write as _;

/// How many alternate keys the file has.
pub const ALTERNATES: usize = 13;

/// The alternate key along which records are read.
const READ_ALONG: usize = 1;

/// The alternate key that REWRITE changes.
const REWRITTEN: usize = 3;

/// Which values the alternate keys have.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One for all records
    Equal,
    /// 100 of them
    Hundred,
    /// One for each record
    Unique,
}

impl Values {
    /// All of them.
    pub const ALL: [Values; 3] = [Values::Equal, Values::Hundred, Values::Unique];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Values::Equal => "all equal",
            Values::Hundred => "100 values",
            Values::Unique => "unique",
        }
    }

    /// For the program.
    pub fn code(self) -> &'static str {
        match self {
            Values::Equal => "E",
            Values::Hundred => "H",
            Values::Unique => "U",
        }
    }
}

/// What one run of the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// OPEN OUTPUT and WRITE of all records.
    Write,
    /// READ of all records by primary key, in another order.
    Read,
    /// START and READ NEXT through an alternate key.
    Next,
    /// START and READ PREVIOUS through it.
    Previous,
    /// READ by primary key, and REWRITE with another value of an alternate key.
    Rewrite,
    /// DELETE of all records by primary key.
    Delete,
    /// OPEN INPUT and CLOSE, again and again.
    OpenInput,
    /// OPEN I-O and CLOSE, again and again.
    OpenInputOutput,
    /// Records by primary key, by the first alternate key forwards, by the last one backwards, and by the one that REWRITE
    /// changes, into a sequential file.
    Dump,
}

impl Phase {
    /// Those that are measured record by record, in their order.
    pub const MEASURED: [Phase; 6] =
        [Phase::Write, Phase::Read, Phase::Next, Phase::Previous, Phase::Rewrite, Phase::Delete];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Write => "WRITE",
            Phase::Read => "READ, random",
            Phase::Next => "START + READ NEXT",
            Phase::Previous => "START + READ PREVIOUS",
            Phase::Rewrite => "READ + REWRITE",
            Phase::Delete => "DELETE",
            Phase::OpenInput => "OPEN INPUT + CLOSE",
            Phase::OpenInputOutput => "OPEN I-O + CLOSE",
            Phase::Dump => "dump",
        }
    }

    /// For the program.
    pub fn code(self) -> &'static str {
        match self {
            Phase::Write => "WRITE",
            Phase::Read => "READ",
            Phase::Next => "NEXT",
            Phase::Previous => "PREVIOUS",
            Phase::Rewrite => "REWRITE",
            Phase::Delete => "DELETE",
            Phase::OpenInput => "OPENI",
            Phase::OpenInputOutput => "OPENIO",
            Phase::Dump => "DUMP",
        }
    }
}

/// The program's source, in free format.
pub fn source() -> String {
    let alternates = || 1..=ALTERNATES;
    let mut keys = String::new();
    let mut fields = String::new();
    let mut hundred = String::new();
    let mut unique = String::new();
    for number in alternates() {
        let first = number + 1;
        // Writing to a string does not fail.
        let _ = writeln!(keys, "        alternate record key is alt-{number:02} with duplicates");
        let _ = writeln!(fields, "    05  alt-{number:02} pic x(18) value \"00\".");
        let _ = writeln!(hundred, "            move twice({first}:2) to alt-{number:02}");
        let _ = writeln!(unique, "            move twice({first}:18) to alt-{number:02}");
    }
    let other = ALTERNATES + 2;
    TEMPLATE
        .replace("        @KEYS@\n", &keys)
        .replace("    @FIELDS@\n", &fields)
        .replace("            @HUNDRED@\n", &hundred)
        .replace("            @UNIQUE@\n", &unique)
        .replace("@ALONG@", &format!("alt-{READ_ALONG:02}"))
        .replace("@LAST@", &format!("alt-{ALTERNATES:02}"))
        .replace("@REWRITTEN@", &format!("alt-{REWRITTEN:02}"))
        .replace("@OTHER@", &other.to_string())
}

const TEMPLATE: &str = include_str!("template.cob");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_all_keys_and_no_gaps() {
        let source = source();
        assert_eq!(source.matches("alternate record key is").count(), ALTERNATES);
        assert!(!source.contains('@'), "{source}");
    }
}
