//! CANCEL. (CLOSE itself comes through the handler.)

use std::ffi::{c_int, c_void};

use immuxdb_isam::Status;

use super::{indexed, next};
use crate::handler::table::{Standing, TABLE};
use crate::handler::{guarded, told};
use crate::libcob::file::{CobFile, Field};

/// What a cancelled module calls for each of its files, and libcob at its own end for those that it takes as open. For
/// files of ours there is nothing that libcob could close.
///
/// # Safety
/// Called by a compiled program or by libcob.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "called from C, with pointers")]
pub unsafe extern "C" fn cob_close(file: *mut c_void, status: *mut c_void, option: c_int, remat: c_int) {
    type Next = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int, c_int);
    // SAFETY: the file is the program's.
    if let Some(ours) = unsafe { indexed(file) } {
        let standing = TABLE.lock().standing_of(ours);
        if standing != Standing::Unknown {
            let status_of_close = close(ours);
            if standing == Standing::Open {
                // SAFETY: the status field is null or the program's.
                unsafe { save_status(ours, status, status_of_close) };
            }
            return;
        }
    }
    if let Some(next) = next!(c"cob_close" as Next) {
        // SAFETY: handed on as it came.
        unsafe { next(file, status, option, remat) }
    }
}

fn close(file: CobFile) -> Status {
    let open = TABLE.lock().close_file(file);
    let Some(open) = open else { return Status::Ok };
    told(guarded(|| open.connector.close()))
}

/// Leaves a status where the program looks for it.
///
/// # Safety
/// `field` is null or a field of the program.
#[expect(unsafe_code, reason = "a field of the program")]
pub unsafe fn save_status(file: CobFile, field: *mut c_void, status: Status) {
    file.set_status(status.code());
    // SAFETY: promised by the caller.
    if let Some(field) = unsafe { Field::new(field) } {
        // SAFETY: as before; nothing else accesses the field now.
        let bytes = unsafe { field.bytes() };
        for (byte, code) in bytes.iter_mut().zip(status.code()) {
            *byte = code;
        }
    }
}
