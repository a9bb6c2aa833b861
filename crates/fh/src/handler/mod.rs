//! The handler: from a call of libcob to an operation on a file.

mod finish;
mod guard;
mod open;
pub mod statement;
pub mod table;

use std::ffi::c_int;
use std::time::Instant;

use immuxdb_isam::{Failure, Maker, Read, Status};

use crate::fcd::{CLOSED, Fcd, INDEXED, MAX_RECORD};
use crate::libcob::file::{CobFile, Field};
use crate::libcob::{Family, libcob};
use crate::message;
use crate::operation::Operation;
use crate::trace::trace;
use table::{OpenFile, Standing, TABLE};

pub use guard::guarded;
pub use open::path;

/// The option of CLOSE that is WITH LOCK.
const WITH_LOCK: u32 = 1;

/// What GnuCOBOL calls for each statement on a file: reads what to do from the code and the FCD, does it, and leaves the
/// status in the FCD. Files that are not indexed are handed to libcob's own handler.
///
/// # Safety
/// `code` is null or leads to two bytes, `fcd` is null or leads to an FCD of 216 bytes, whose pointers are null or lead to
/// what they say, of the lengths that it says.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "called from C, with pointers")]
pub unsafe extern "C" fn immuxfh(code: *mut u8, fcd: *mut u8) -> c_int {
    if code.is_null() || fcd.is_null() {
        return -1;
    }
    // SAFETY: promised by the caller.
    let (operation, view) = unsafe { (code.cast::<[u8; 2]>().read(), Fcd::new(fcd)) };
    if view.organization() != INDEXED {
        // SAFETY: promised by the caller.
        return statement::inside_libcob(|| unsafe { libcob().extfh(code, fcd) }).unwrap_or(-1);
    }
    // SAFETY: promised by the caller.
    unsafe { handle(operation, view) };
    0
}

/// Does an operation on an indexed file.
///
/// # Safety
/// As for [`immuxfh`].
#[expect(unsafe_code, reason = "the FCD is the caller's")]
unsafe fn handle(code: [u8; 2], fcd: Fcd) {
    let trace = trace().map(|trace| (trace, Instant::now()));
    let operation = Operation::decode(code);
    // SAFETY: promised by the caller.
    let status = told(guarded(|| unsafe { perform(operation, code, fcd) }));
    fcd.set_status(status);
    if status.is_success() {
        libcob().after_success();
        if matches!(operation, Some(Operation::Close | Operation::CloseWithLock)) {
            // SAFETY: the FCD is libcob's.
            statement::inside_libcob(|| unsafe { libcob().after_close(fcd) });
        }
    } else {
        let is_open = || TABLE.lock().standing(fcd) == Standing::Open;
        // SAFETY: the FCD is libcob's.
        statement::inside_libcob(|| unsafe { libcob().after_error(fcd, is_open) });
    }
    if let Some((trace, start)) = trace {
        let by_key = matches!(operation, Some(Operation::ReadKey | Operation::Start(_)));
        let key = by_key.then(|| statement::key().unwrap_or_else(|| fcd.key()));
        let name = TABLE.lock().find(fcd).map(|open| open.name.clone());
        // SAFETY: promised by the caller.
        let name = name.unwrap_or_else(|| name_of(unsafe { open::name_to_open(fcd) }));
        trace.operation(&name, operation.map_or("UNKNOWN", Operation::name), key, status.code(), start);
    }
}

/// The status of an outcome; tells of a failure what there is to tell.
pub fn told(outcome: Result<Status, Failure>) -> Status {
    outcome.unwrap_or_else(|failure| {
        message::tell_failure(&failure);
        failure.status
    })
}

/// # Safety
/// As for [`immuxfh`].
#[expect(unsafe_code, reason = "the FCD is the caller's")]
unsafe fn perform(operation: Option<Operation>, code: [u8; 2], fcd: Fcd) -> Result<Status, Failure> {
    let Some(operation) = operation else {
        let text = format!(
            "the operation {:02x}{:02x} is not known; was the program compiled by another cobc?",
            code[0], code[1]
        );
        return Err(Failure::new(Status::IoError, text));
    };
    if finish::is_forked() {
        return Err(finish::forked());
    }
    match operation {
        // SAFETY: promised by the caller.
        Operation::Open(mode) => unsafe { open::open(mode, fcd) },
        Operation::Close => close(fcd, fcd.options() & 0xf == WITH_LOCK),
        Operation::CloseWithLock => close(fcd, true),
        // SAFETY: promised by the caller.
        _ => unsafe { on_open_file(operation, fcd) },
    }
}

/// CLOSE.
fn close(fcd: Fcd, with_lock: bool) -> Result<Status, Failure> {
    let open = TABLE.lock().close(fcd, with_lock);
    let Some(open) = open else { return Err(Status::NotOpen.into()) };
    fcd.set_open_mode(CLOSED);
    open.connector.close()
}

/// An operation on a file that must be open.
///
/// # Safety
/// As for [`immuxfh`].
#[expect(unsafe_code, reason = "the record area is the program's")]
unsafe fn on_open_file(operation: Operation, fcd: Fcd) -> Result<Status, Failure> {
    let mut table = TABLE.lock();
    let Some(open) = table.find(fcd) else {
        return Err(Failure::from(match operation {
            Operation::Write => Status::NotOutput,
            Operation::Rewrite | Operation::Delete => Status::NotInputOutput,
            _ => Status::NotInput,
        }));
    };
    // The area may have become shorter: another program may describe an EXTERNAL file otherwise.
    let area_len = open.area_len.min(fcd.max_len().min(MAX_RECORD) as usize);
    // SAFETY: the record area has the length of the longest record; within this call it is ours.
    let area = unsafe { fcd.record(area_len) };
    if area.len() < area_len || area_len < open.area_len {
        let text = format!("{}: the program passes no record area, or one that is too short", open.name);
        return Err(Failure::new(Status::IoError, text));
    }
    match operation {
        Operation::ReadNext(direction) => {
            let read = open.connector.read_next(direction, area)?;
            Ok(delivered(fcd, open, read))
        }
        Operation::ReadKey => {
            let key = key_number(fcd, open)?;
            let read = open.connector.read_key(key, area)?;
            Ok(delivered(fcd, open, read))
        }
        Operation::Start(relation) => {
            let key = key_number(fcd, open)?;
            open.connector.start(relation, key, fcd.key_len(), area)
        }
        Operation::Write => {
            let len = record_len(fcd, open)?;
            open.connector.write(&area[..len])
        }
        Operation::Rewrite => {
            let len = record_len(fcd, open)?;
            open.connector.rewrite(&area[..len])
        }
        Operation::Delete => open.connector.delete(area),
        Operation::Open(_) | Operation::Close | Operation::CloseWithLock => unreachable!("these need no open file"),
    }
}

/// The key that a statement goes by: the one that it names, where interposing tells, else the FCD's.
fn key_number(fcd: Fcd, open: &OpenFile) -> Result<usize, Failure> {
    let key = statement::key().unwrap_or_else(|| fcd.key());
    if key < open.key_count {
        Ok(key)
    } else {
        Err(Failure::new(
            Status::IoError,
            format!("{}: key {key} is asked for, the program declares {}", open.name, open.key_count),
        ))
    }
}

/// Tells the program how long a record is that was read: in the FCD, and in DEPENDING ON's item, which libcob leaves out.
fn delivered(fcd: Fcd, open: &OpenFile, read: Read) -> Status {
    let len = read.len.min(open.area_len);
    fcd.set_current_len(u32::try_from(len).unwrap_or(MAX_RECORD));
    if let Some(field) = open.varying.and_then(CobFile::depending) {
        set_number(field, len);
    }
    read.status
}

/// The length of a record to be written. DEPENDING ON's item says it, where there is one: libcob cuts what is too long to
/// the longest record, and at REWRITE forgets the item.
fn record_len(fcd: Fcd, open: &OpenFile) -> Result<usize, Failure> {
    let len = match open.varying.and_then(CobFile::depending).and_then(number) {
        Some(len) => len,
        None => fcd.current_len() as usize,
    };
    if len < open.min_len || len > open.area_len {
        return Err(Status::RecordLength.into());
    }
    Ok(len)
}

#[expect(unsafe_code, reason = "an item of the program")]
fn set_number(field: Field, number: usize) {
    let number = c_int::try_from(number).unwrap_or(c_int::MAX);
    // SAFETY: the field is DEPENDING ON's item in a file that is open.
    unsafe { libcob().set_int(field.at, number) }
}

/// `None` where libcob has no function for it; a negative number is too short a record.
#[expect(unsafe_code, reason = "an item of the program")]
fn number(field: Field) -> Option<usize> {
    // SAFETY: as for `set_number`.
    unsafe { libcob().get_int(field.at) }.map(|number| usize::try_from(number).unwrap_or(0))
}

/// What a program's file names in ASSIGN.
#[expect(unsafe_code, reason = "a field of the program")]
pub fn assigned_name<'a>(file: CobFile) -> Option<&'a [u8]> {
    // SAFETY: the field is the program's, and looked at within a statement on the file.
    file.assign().map(|field| &*unsafe { field.bytes() })
}

/// Whether an indexed file of the program is ours, or is to be, by what is at its path: programs of one process may be
/// compiled with and without the handler, and 3.x has indexed files of its own.
pub fn is_ours(file: CobFile) -> bool {
    let known = TABLE.lock().standing_of(file) != Standing::Unknown;
    if known || libcob().family == Some(Family::Four) {
        return true;
    }
    let Some(path) = assigned_name(file).map(path) else { return true };
    Maker::of(&path).map_or(true, |maker| matches!(maker, Maker::ImmuxDb | Maker::Empty))
}

/// A name in ASSIGN, for people.
fn name_of(assigned: &[u8]) -> String {
    String::from_utf8_lossy(crate::name::trimmed(assigned)).into_owned()
}
