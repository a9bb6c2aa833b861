//! DELETE FILE.

use std::ffi::c_void;

use immuxdb_isam::{Failure, RunUnit, Status};

use super::close::save_status;
use super::{indexed, next};
use crate::handler::table::{Standing, TABLE};
use crate::handler::{assigned_name, guarded, is_ours, path, told};
use crate::libcob::file::CobFile;

/// DELETE FILE. The third argument is there in some versions only.
///
/// # Safety
/// Called by a compiled program.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "called from C, with pointers")]
pub unsafe extern "C" fn cob_delete_file(file: *mut c_void, status: *mut c_void, more: usize) {
    type Next = unsafe extern "C" fn(*mut c_void, *mut c_void, usize);
    // SAFETY: the file is the program's.
    if let Some(ours) = unsafe { indexed(file) }
        && let Some(outcome) = guarded(|| delete(ours)).transpose()
    {
        // SAFETY: the status field is null or the program's.
        unsafe { save_status(ours, status, told(outcome)) };
        return;
    }
    if let Some(next) = next!(c"cob_delete_file" as Next) {
        // SAFETY: handed on as it came.
        unsafe { next(file, status, more) }
    }
}

/// Removes the file; `None` if it is not one of ours but one that libcob itself can remove.
fn delete(file: CobFile) -> Result<Option<Status>, Failure> {
    if TABLE.lock().standing_of(file) == Standing::Open {
        return Err(Status::AlreadyOpen.into());
    }
    if !is_ours(file) {
        return Ok(None);
    }
    let Some(name) = assigned_name(file) else { return Ok(None) };
    let path = path(name);
    if path.as_os_str().is_empty() {
        return Err(Status::BadName.into());
    }
    RunUnit::global().remove(&path).map(Some)
}
