//! The FCD: the block of 216 bytes by which libcob and a file handler tell each other about one file.
//!
//! Integers are big-endian, pointers native. The layout (version 1, "FCD3") is the same in GnuCOBOL 3.1 to 4.0; other
//! bytes are libcob's own or unused.
//!
//! | offset | bytes | field | who writes it |
//! |---|---|---|---|
//! | 0 | 2 | file status, two characters | handler |
//! | 5 | 1 | organization: 0 line sequential, 1 sequential, 2 indexed, 3 relative | libcob |
//! | 6 | 1 | access: 0 sequential, 4 random, 8 dynamic | libcob |
//! | 7 | 1 | open mode: 0 input, 1 output, 2 I-O, 3 extend, 128 closed | handler, at OPEN and CLOSE |
//! | 8 | 1 | record mode: 1 variable | libcob |
//! | 21 | 1 | flags: 0x80 OPTIONAL | libcob |
//! | 28 | 1 | lock mode: 1 exclusive, 2 automatic, 4 manual | libcob |
//! | 54 | 2 | length of the file name | libcob |
//! | 60 | 2 | number of the key that READ and START go by | libcob |
//! | 66 | 2 | length of the key value that START compares | libcob |
//! | 84 | 4 | options; at CLOSE 1 is WITH LOCK | libcob |
//! | 88 | 4 | record length: of the record to write, or that was read | both |
//! | 92, 96 | 4 | shortest and longest record | libcob |
//! | 152 | 8 | file handle | handler: libcob leaves it alone |
//! | 160, 168, 184 | 8 | pointers to the record area, the file name, the [key definition block](mod@keys) | libcob |
//!
//! What is in it is taken as it comes: any bytes but the pointers may be nonsense, and give a status, not a crash.

pub mod keys;

use immuxdb_isam::{Access, OpenMode, Status};

/// Its length in bytes.
pub const FCD_LEN: usize = 216;

/// The longest record that is taken: what one commit of the engine certainly holds, far above what compilers allow.
pub const MAX_RECORD: u32 = 64 << 20;

const STATUS: usize = 0;
const ORGANIZATION: usize = 5;
const ACCESS: usize = 6;
const OPEN_MODE: usize = 7;
const RECORD_MODE: usize = 8;
const FLAGS: usize = 21;
const LOCK_MODE: usize = 28;
const NAME_LEN: usize = 54;
const KEY: usize = 60;
const KEY_LEN: usize = 66;
const OPTIONS: usize = 84;
const CURRENT_LEN: usize = 88;
const MIN_LEN: usize = 92;
const MAX_LEN: usize = 96;
const HANDLE: usize = 152;
const RECORD: usize = 160;
const NAME: usize = 168;
const KEYS: usize = 184;

/// The organizations that matter here.
pub const LINE_SEQUENTIAL: u8 = 0;
/// ORGANIZATION INDEXED.
pub const INDEXED: u8 = 2;
/// The open mode of a file that is not open.
pub const CLOSED: u8 = 128;

/// A typed view of an FCD that a caller owns. Copies see the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fcd {
    at: *mut u8,
}

#[expect(unsafe_code, reason = "the block belongs to C; every access is within it, as promised to `Fcd::new`")]
impl Fcd {
    /// The view of the block at `at`.
    ///
    /// # Safety
    /// `at` points to [`FCD_LEN`] bytes that may be read and written for as long as the view is used, and that nothing
    /// else accesses during a call of a method. Its pointers to record, name and keys are null or lead to what they say,
    /// of the lengths that it says.
    #[must_use]
    pub const unsafe fn new(at: *mut u8) -> Fcd {
        Fcd { at }
    }

    /// Where the block is: what tells files apart.
    #[must_use]
    pub fn address(self) -> usize {
        self.at.addr()
    }

    /// The block, to hand it on to libcob.
    #[must_use]
    pub fn as_ptr(self) -> *mut u8 {
        self.at
    }

    fn get<const N: usize>(self, offset: usize) -> [u8; N] {
        assert!(offset + N <= FCD_LEN);
        // SAFETY: within the block, by the assertion; bytes have no alignment.
        unsafe { self.at.add(offset).cast::<[u8; N]>().read() }
    }

    fn set<const N: usize>(self, offset: usize, bytes: [u8; N]) {
        assert!(offset + N <= FCD_LEN);
        // SAFETY: as for `get`.
        unsafe { self.at.add(offset).cast::<[u8; N]>().write(bytes) }
    }

    fn pointer(self, offset: usize) -> *mut u8 {
        assert!(offset + size_of::<*mut u8>() <= FCD_LEN);
        // SAFETY: as for `get`; read without alignment. Reading as a pointer, not as an integer, keeps its provenance.
        unsafe { self.at.add(offset).cast::<*mut u8>().read_unaligned() }
    }

    /// The first `len` bytes of the record area; none if there is no area.
    ///
    /// # Safety
    /// The area has that many bytes, and nothing else accesses them while the slice lives.
    pub unsafe fn record<'a>(self, len: usize) -> &'a mut [u8] {
        let record = self.pointer(RECORD);
        if record.is_null() {
            return &mut [];
        }
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(record, len) }
    }

    /// The file name, as the program gave it in ASSIGN.
    ///
    /// # Safety
    /// As for [`Fcd::new`]; the slice does not outlive the call of the handler.
    #[must_use]
    pub unsafe fn name<'a>(self) -> &'a [u8] {
        let name = self.pointer(NAME);
        if name.is_null() {
            return &[];
        }
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts(name, usize::from(u16::from_be_bytes(self.get(NAME_LEN)))) }
    }

    /// The key definition block: as many bytes as it says that it has. `None` if there is none.
    ///
    /// # Safety
    /// As for [`Fcd::name`].
    #[must_use]
    pub unsafe fn key_block<'a>(self) -> Option<&'a [u8]> {
        let block = self.pointer(KEYS);
        if block.is_null() {
            return None;
        }
        // SAFETY: a block begins with its length, in two bytes.
        let len = u16::from_be_bytes(unsafe { block.cast::<[u8; 2]>().read() });
        // SAFETY: promised by the caller.
        Some(unsafe { std::slice::from_raw_parts(block, usize::from(len)) })
    }
}

impl Fcd {
    /// The two characters of the last status.
    #[must_use]
    pub fn status(self) -> [u8; 2] {
        self.get(STATUS)
    }

    /// Tells what became of the operation.
    pub fn set_status(self, status: Status) {
        self.set_status_bytes(status.code());
    }

    /// As [`Fcd::set_status`], by the characters.
    pub fn set_status_bytes(self, code: [u8; 2]) {
        self.set(STATUS, code);
    }

    /// ORGANIZATION, as a number.
    #[must_use]
    pub fn organization(self) -> u8 {
        self.get::<1>(ORGANIZATION)[0]
    }

    /// Changes the organization.
    pub fn set_organization(self, organization: u8) {
        self.set(ORGANIZATION, [organization]);
    }

    /// ACCESS MODE. What is neither sequential nor random counts as dynamic, which permits all.
    #[must_use]
    pub fn access(self) -> Access {
        match self.get::<1>(ACCESS)[0] {
            0 => Access::Sequential,
            4 => Access::Random,
            _ => Access::Dynamic,
        }
    }

    /// The open mode, as a number.
    #[must_use]
    pub fn open_mode(self) -> u8 {
        self.get::<1>(OPEN_MODE)[0]
    }

    /// Sets the open mode: [`CLOSED`], or that of OPEN.
    pub fn set_open_mode(self, mode: u8) {
        self.set(OPEN_MODE, [mode]);
    }

    /// Whether records have lengths of their own.
    #[must_use]
    pub fn is_variable(self) -> bool {
        self.get::<1>(RECORD_MODE)[0] == 1
    }

    /// SELECT OPTIONAL.
    #[must_use]
    pub fn is_optional(self) -> bool {
        self.get::<1>(FLAGS)[0] & 0x80 != 0
    }

    /// LOCK MODE, as bits.
    #[must_use]
    pub fn lock_mode(self) -> u8 {
        self.get::<1>(LOCK_MODE)[0]
    }

    /// The number of the key that READ and START go by: the first of those that begin where the program's key begins.
    #[must_use]
    pub fn key(self) -> usize {
        usize::from(u16::from_be_bytes(self.get(KEY)))
    }

    /// How many bytes of the key START compares.
    #[must_use]
    pub fn key_len(self) -> usize {
        usize::from(u16::from_be_bytes(self.get(KEY_LEN)))
    }

    /// The options of the operation, as bits.
    #[must_use]
    pub fn options(self) -> u32 {
        u32::from_be_bytes(self.get(OPTIONS))
    }

    /// The length of the record to be written, or that was read last.
    #[must_use]
    pub fn current_len(self) -> u32 {
        u32::from_be_bytes(self.get(CURRENT_LEN))
    }

    /// Tells the length of the record that was read.
    pub fn set_current_len(self, len: u32) {
        self.set(CURRENT_LEN, len.to_be_bytes());
    }

    /// The shortest record.
    #[must_use]
    pub fn min_len(self) -> u32 {
        u32::from_be_bytes(self.get(MIN_LEN))
    }

    /// The longest record, which is the length of the record area.
    #[must_use]
    pub fn max_len(self) -> u32 {
        u32::from_be_bytes(self.get(MAX_LEN))
    }

    /// Our own number of the open file; 0 at first.
    #[must_use]
    pub fn handle(self) -> u64 {
        u64::from_ne_bytes(self.get(HANDLE))
    }

    /// Sets our own number.
    pub fn set_handle(self, handle: u64) {
        self.set(HANDLE, handle.to_ne_bytes());
    }
}

/// The number of an open mode in the FCD.
#[must_use]
pub fn open_mode_number(mode: OpenMode) -> u8 {
    match mode {
        OpenMode::Input => 0,
        OpenMode::Output => 1,
        OpenMode::InputOutput => 2,
        OpenMode::Extend => 3,
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the block is the test's own")]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_table_says() {
        let mut block = [0u8; FCD_LEN];
        block[5] = 2;
        block[6] = 8;
        block[8] = 1;
        block[21] = 0x80;
        block[60..62].copy_from_slice(&[1, 2]);
        block[66..68].copy_from_slice(&[0, 9]);
        block[84..88].copy_from_slice(&[1, 0, 0, 0x10]);
        block[92..100].copy_from_slice(&[0, 0, 0, 4, 0, 1, 0, 0]);
        // SAFETY: the block has the length of an FCD; its pointers are null.
        let fcd = unsafe { Fcd::new(block.as_mut_ptr()) };
        assert_eq!((fcd.organization(), fcd.access()), (INDEXED, Access::Dynamic));
        assert!(fcd.is_variable() && fcd.is_optional());
        assert_eq!((fcd.key(), fcd.key_len(), fcd.options()), (258, 9, 0x0100_0010));
        assert_eq!((fcd.min_len(), fcd.max_len()), (4, 65_536));
        // SAFETY: null pointers lead to nothing.
        unsafe {
            assert!(fcd.record(10).is_empty() && fcd.name().is_empty() && fcd.key_block().is_none());
        }
        fcd.set_status(Status::End);
        fcd.set_open_mode(CLOSED);
        fcd.set_current_len(300);
        fcd.set_handle(7);
        assert_eq!((block[0..2].to_vec(), block[7], block[88..92].to_vec()), (b"10".to_vec(), 128, vec![0, 0, 1, 44]));
        assert_eq!(block[152..160], 7u64.to_ne_bytes());
    }
}
