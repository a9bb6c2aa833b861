//! OPEN, READ by key, START: what they name, before libcob makes an FCD of it.

use std::ffi::{c_int, c_void};

use super::{indexed, next};
use crate::handler::statement;
use crate::libcob::Handler;
use crate::libcob::file::{CobFile, Field};

/// OPEN. The program's file is noted while libcob calls the handler.
///
/// # Safety
/// Called by a compiled program.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "called from C, with pointers")]
pub unsafe extern "C" fn cob_extfh_open(
    handler: Handler,
    file: *mut c_void,
    mode: c_int,
    sharing: c_int,
    status: *mut c_void,
) {
    type Next = unsafe extern "C" fn(Handler, *mut c_void, c_int, c_int, *mut c_void);
    let Some(next) = next!(c"cob_extfh_open" as Next) else { return };
    // SAFETY: the file is the program's.
    let known = unsafe { indexed(file) };
    // SAFETY: handed on as it came.
    statement::opening(known, sharing, || unsafe { next(handler, file, mode, sharing, status) });
}

/// READ by key.
///
/// # Safety
/// Called by a compiled program.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "called from C, with pointers")]
pub unsafe extern "C" fn cob_extfh_read(
    handler: Handler,
    file: *mut c_void,
    key: *mut c_void,
    status: *mut c_void,
    options: c_int,
) {
    type Next = unsafe extern "C" fn(Handler, *mut c_void, *mut c_void, *mut c_void, c_int);
    let Some(next) = next!(c"cob_extfh_read" as Next) else { return };
    // SAFETY: file and key are the program's.
    let number = unsafe { key_number(indexed(file), key) };
    // SAFETY: handed on as it came.
    statement::by_key(number, || unsafe { next(handler, file, key, status, options) });
}

/// START.
///
/// # Safety
/// Called by a compiled program.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "called from C, with pointers")]
pub unsafe extern "C" fn cob_extfh_start(
    handler: Handler,
    file: *mut c_void,
    relation: c_int,
    key: *mut c_void,
    size: *mut c_void,
    status: *mut c_void,
) {
    type Next = unsafe extern "C" fn(Handler, *mut c_void, c_int, *mut c_void, *mut c_void, *mut c_void);
    let Some(next) = next!(c"cob_extfh_start" as Next) else { return };
    // SAFETY: file and key are the program's.
    let number = unsafe { key_number(indexed(file), key) };
    // SAFETY: handed on as it came.
    statement::by_key(number, || unsafe { next(handler, file, relation, key, size, status) });
}

/// # Safety
/// `key` is null or a field of the program.
#[expect(unsafe_code, reason = "a field of the program")]
unsafe fn key_number(file: Option<CobFile>, key: *mut c_void) -> Option<usize> {
    // SAFETY: promised by the caller.
    file?.key_of(unsafe { Field::new(key) }?)
}
