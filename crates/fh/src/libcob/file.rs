//! A view of libcob's `cob_file`: what a compiled program's SELECT and FD become in memory.
//!
//! Only fields that compiled programs themselves fill in are used: their places are part of what a program compiled for
//! one version relies on, and cannot change while the soname stays.
//!
//! | field | libcob.so.4 | libcob.so.5 |
//! |---|---|---|
//! | SELECT's name, a C string | 0 | 8 |
//! | the status of the last operation | 8, by pointer | 16, in place |
//! | ASSIGN, a field | 16 | 24 |
//! | record, a field | 24 | 32 |
//! | DEPENDING ON, a field | 32 | 40 |
//! | keys | 40 | 48 |
//! | shortest and longest record | 80, 88, u64 | 88, 92, u32 |
//! | number of keys | 96 | 96, u32 |
//! | organization | 108 | 1 |
//! | lock mode | 110 | 144 |
//! | in a key: its size, where its field is | 104, 0 | 96, 16 |

use std::ffi::{CStr, c_char, c_void};

use super::Family;

/// ORGANIZATION INDEXED in a `cob_file`, which counts otherwise than the FCD.
const INDEXED: u8 = 3;

/// The most keys that are looked at.
const MAX_KEYS: usize = 255;

struct Offsets {
    name: usize,
    status: usize,
    status_in_place: bool,
    assign: usize,
    record: usize,
    depending: usize,
    keys: usize,
    min_len: usize,
    max_len: usize,
    key_count: usize,
    organization: usize,
    lock_mode: usize,
    key_size: usize,
    key_field: usize,
}

const THREE: Offsets = Offsets {
    name: 0,
    status: 8,
    status_in_place: false,
    assign: 16,
    record: 24,
    depending: 32,
    keys: 40,
    min_len: 80,
    max_len: 88,
    key_count: 96,
    organization: 108,
    lock_mode: 110,
    key_size: 104,
    key_field: 0,
};

const FOUR: Offsets = Offsets {
    name: 8,
    status: 16,
    status_in_place: true,
    assign: 24,
    record: 32,
    depending: 40,
    keys: 48,
    min_len: 88,
    max_len: 92,
    key_count: 96,
    organization: 1,
    lock_mode: 144,
    key_size: 96,
    key_field: 16,
};

/// A `cob_field`: where a program's data item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field itself.
    pub at: *mut c_void,
    /// Where its bytes are.
    pub data: *mut u8,
    /// How many.
    pub size: usize,
}

#[expect(unsafe_code, reason = "a structure of C, by offsets")]
impl Field {
    /// The field at an address; `None` for null.
    ///
    /// # Safety
    /// `at` is null or leads to a `cob_field`.
    pub unsafe fn new(at: *mut c_void) -> Option<Field> {
        if at.is_null() {
            return None;
        }
        let words = at.cast::<usize>();
        // SAFETY: a field begins with its size and the address of its data.
        let (size, data) = unsafe { (words.read(), words.add(1).cast::<*mut u8>().read()) };
        (!data.is_null()).then_some(Field { at, data, size })
    }

    /// Its bytes.
    ///
    /// # Safety
    /// The program's data item is still there, and nothing else accesses it while the slice lives.
    pub unsafe fn bytes<'a>(self) -> &'a mut [u8] {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.size) }
    }
}

/// A `cob_file` of a program. Copies see the same.
#[derive(Clone, Copy)]
pub struct CobFile {
    at: *mut u8,
    offsets: &'static Offsets,
}

// SAFETY: it is an address; what is done with it is up to the thread that executes a statement on the file.
#[expect(unsafe_code, reason = "a structure of C, by offsets")]
unsafe impl Send for CobFile {}

#[expect(unsafe_code, reason = "a structure of C, by offsets")]
impl CobFile {
    /// The view of a `cob_file`; `None` for null.
    ///
    /// # Safety
    /// `at` is null or leads to a `cob_file` of this family, which lives as long as the view is used.
    pub unsafe fn new(at: *mut c_void, family: Family) -> Option<CobFile> {
        let offsets = match family {
            Family::Three => &THREE,
            Family::Four => &FOUR,
        };
        (!at.is_null()).then_some(CobFile { at: at.cast(), offsets })
    }

    /// Where it is: what tells files apart.
    #[must_use]
    pub fn address(self) -> usize {
        self.at.addr()
    }

    /// The same, to hand it on to libcob.
    #[must_use]
    pub fn as_ptr(self) -> *mut c_void {
        self.at.cast()
    }

    fn pointer(self, offset: usize) -> *mut c_void {
        // SAFETY: the offset is that of a pointer in a `cob_file`, by the table above.
        unsafe { self.at.add(offset).cast::<*mut c_void>().read() }
    }

    fn byte(self, offset: usize) -> u8 {
        // SAFETY: the offset is that of a byte in a `cob_file`, by the table above.
        unsafe { self.at.add(offset).read() }
    }

    fn field(self, offset: usize) -> Option<Field> {
        // SAFETY: the offset is that of a pointer to a field.
        unsafe { Field::new(self.pointer(offset)) }
    }

    /// Whether it is an indexed file.
    #[must_use]
    pub fn is_indexed(self) -> bool {
        self.byte(self.offsets.organization) == INDEXED
    }

    /// SELECT's name.
    #[must_use]
    pub fn name(self) -> String {
        let name = self.pointer(self.offsets.name).cast::<c_char>();
        if name.is_null() {
            return "a file".to_owned();
        }
        // SAFETY: a C string of the program.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// LOCK MODE, as libcob's bits.
    #[must_use]
    pub fn lock_mode(self) -> u8 {
        self.byte(self.offsets.lock_mode)
    }

    /// What ASSIGN names.
    #[must_use]
    pub fn assign(self) -> Option<Field> {
        self.field(self.offsets.assign)
    }

    /// The record area.
    #[must_use]
    pub fn record(self) -> Option<Field> {
        self.field(self.offsets.record)
    }

    /// The item of RECORD VARYING DEPENDING ON.
    #[must_use]
    pub fn depending(self) -> Option<Field> {
        self.field(self.offsets.depending)
    }

    /// Of a 32-bit number, or of the low half of a 64-bit one.
    fn number(self, offset: usize) -> usize {
        // SAFETY: the offset is that of a number in a `cob_file`, by the table above.
        unsafe { self.at.add(offset).cast::<u32>().read() as usize }
    }

    /// Gives the record area the length of the next record: `len`, or what the file permits that is nearest to it. The
    /// area with that length.
    #[must_use]
    pub fn record_of_len(self, len: usize) -> Option<Field> {
        let field = self.record()?;
        let (min, max) = (self.number(self.offsets.min_len), self.number(self.offsets.max_len));
        let size = len.max(min).min(max);
        // SAFETY: a field begins with its size; the area has room for the longest record.
        unsafe { field.at.cast::<usize>().write(size) };
        Some(Field { size, ..field })
    }

    fn status_place(self) -> *mut u8 {
        if self.offsets.status_in_place {
            self.at.wrapping_add(self.offsets.status)
        } else {
            self.pointer(self.offsets.status).cast()
        }
    }

    /// The status of the last operation.
    #[must_use]
    pub fn status(self) -> [u8; 2] {
        let place = self.status_place();
        if place.is_null() {
            return *b"00";
        }
        // SAFETY: the place holds at least two characters.
        unsafe { place.cast::<[u8; 2]>().read() }
    }

    /// Sets it.
    pub fn set_status(self, code: [u8; 2]) {
        let place = self.status_place();
        if !place.is_null() {
            // SAFETY: as for `status`.
            unsafe { place.cast::<[u8; 2]>().write(code) }
        }
    }

    fn keys(self) -> impl Iterator<Item = (usize, Field)> {
        let keys = self.pointer(self.offsets.keys).cast::<u8>();
        let count = self.number(self.offsets.key_count);
        let count = if keys.is_null() { 0 } else { count.min(MAX_KEYS) };
        (0..count).filter_map(move |number| {
            // SAFETY: the program's array has `count` keys, each with a pointer to a field.
            let field = unsafe {
                let field = keys.add(number * self.offsets.key_size + self.offsets.key_field);
                Field::new(field.cast::<*mut c_void>().read())
            };
            Some((number, field?))
        })
    }

    /// The number of the key that a statement names by its data item: the very item, or one at the same place with the
    /// same length (as another program describes an EXTERNAL file), or else the shortest key that begins with it.
    #[must_use]
    pub fn key_of(self, field: Field) -> Option<usize> {
        let same = self.keys().find(|(_, key)| key.at == field.at);
        let alike = || self.keys().find(|(_, key)| (key.data, key.size) == (field.data, field.size));
        let begun = || {
            self.keys()
                .filter(|(_, key)| key.data == field.data && key.size > field.size)
                .min_by_key(|(_, key)| key.size)
        };
        same.or_else(alike).or_else(begun).map(|(number, _)| number)
    }
}
