//! The file status: two characters that a program finds after each operation.

use std::fmt;

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// What became of an operation. The first character tells the kind: 0 it happened, 1 the end, 2 a key, 3 the file
        /// itself, 4 the program's order of operations, 5 and 6 somebody else holds the record or the file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Status {
            $($(#[$doc])* $name,)*
        }

        impl Status {
            /// All of them, in the order of their codes.
            pub const ALL: &'static [Status] = &[$(Status::$name,)*];

            /// The two characters.
            #[must_use]
            pub fn code(self) -> [u8; 2] {
                match self {
                    $(Status::$name => *$code,)*
                }
            }

            /// What it says, in words.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Status::$name => $text,)*
                }
            }
        }
    };
}

statuses! {
    /// The operation happened.
    Ok = b"00", "it happened";
    /// It happened; a key that allows duplicates has this value in another record, too.
    Duplicate = b"02", "it happened; another record has this key value, too";
    /// A record was read that is longer than the record area, which holds its beginning.
    RecordLongerThanArea = b"04", "the record is longer than the record area";
    /// An optional file that is missing was opened: for input it has no records, otherwise it was made.
    OptionalMissing = b"05", "the optional file was missing";
    /// There is no next (or previous) record.
    End = b"10", "there are no more records";
    /// A key of sequential access is not above the one before, or a sequential REWRITE changes the primary key.
    Sequence = b"21", "the keys are not in ascending order, or the primary key was changed";
    /// Another record has the value of a key that allows no duplicates. Nothing was changed.
    DuplicateKey = b"22", "another record has this value of a key without duplicates";
    /// No record has this key.
    Missing = b"23", "no record has this key";
    /// The operating system reports an error, or what is on disk is not what was written.
    IoError = b"30", "input or output failed";
    /// The file's name is empty or cannot be.
    BadName = b"31", "the file has no name, or one that cannot be";
    /// There is no space on the device. Nothing was changed; it works again when there is space.
    NoSpace = b"34", "there is no space on the device";
    /// There is no such file.
    FileMissing = b"35", "there is no such file";
    /// The file's permissions, or what it is, do not allow this open mode.
    NoPermission = b"37", "the file does not permit this open mode";
    /// The file was closed WITH LOCK.
    ClosedWithLock = b"38", "the file was closed with lock";
    /// The program declares keys or lengths that are not those of the file.
    AttributesClash = b"39", "the program's keys or record lengths are not those of the file";
    /// OPEN of a file that is open.
    AlreadyOpen = b"41", "the file is open already";
    /// CLOSE of a file that is not open.
    NotOpen = b"42", "the file is not open";
    /// A sequential REWRITE or DELETE without a successful READ right before.
    NoCurrentRecord = b"43", "there was no successful READ before";
    /// A record is shorter or longer than the file's records may be.
    RecordLength = b"44", "the record's length is not allowed";
    /// A sequential READ after the end, or after a READ or START that failed.
    NoNextRecord = b"46", "there is no position to read on from";
    /// READ or START, and the file is not open for input or I-O.
    NotInput = b"47", "the file is not open for input";
    /// WRITE, and the file is not open for output, extend, or (random or dynamic access) I-O.
    NotOutput = b"48", "the file is not open for output";
    /// REWRITE or DELETE, and the file is not open I-O.
    NotInputOutput = b"49", "the file is not open I-O";
    /// Another program holds the record.
    RecordHeld = b"51", "another program holds the record";
    /// Another program holds the file.
    FileHeld = b"61", "another program holds the file";
}

impl Status {
    /// Whether the operation happened: a code that begins with 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self.code()[0] == b'0'
    }
}

impl fmt::Display for Status {
    /// The two characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [kind, detail] = self.code();
        write!(f, "{}{}", char::from(kind), char::from(detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_stand_for_one_status_each() {
        assert!(Status::ALL.windows(2).all(|pair| pair[0].code() < pair[1].code()));
        assert_eq!(Status::DuplicateKey.to_string(), "22");
        assert!(Status::OptionalMissing.is_success() && !Status::End.is_success());
    }
}
