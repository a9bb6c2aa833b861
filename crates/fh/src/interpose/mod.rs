//! Functions of libcob that we export under its names, to learn and do what the handler interface leaves out.
//!
//! When the program is linked with `-Q -LDIR -Q -limmuxfh`, our library stands before libcob in its list of libraries, so
//! that the program's calls (and libcob's own, of these names) come here first. Each function goes on to libcob's.
//!
//! | function | what we do in it |
//! |---|---|
//! | `cob_extfh_open` | note the program's `cob_file`, for all that follows, and the SHARING phrase |
//! | `cob_extfh_read`, `cob_extfh_start` | note which key the statement names: the FCD has the first that begins there |
//! | `cob_close` | CANCEL: close our file; libcob's own function would crash (3.1.2) or not tell us |
//! | `cob_delete_file` | DELETE FILE: remove our file and what belongs to it; libcob would remove `NAME.1` …, or nothing |
//! | `cob_file_sort_using`, `cob_file_sort_giving` | SORT and MERGE with our files: libcob would open them by itself and crash |
//!
//! Within a call of libcob's from here ([`statement::inside_libcob`]) they only hand on: its `EXTFH` calls `cob_close`,
//! too. Where libcob's version is not one that we know, they do nothing but hand on.

mod close;
mod delete;
mod sort;
mod statements;

use std::ffi::c_void;

use crate::handler::statement;
use crate::libcob::file::CobFile;
use crate::libcob::libcob;

/// libcob's own function of a name, with its type; `None` where there is none.
macro_rules! next {
    ($name:literal as $function:ty) => {{
        static NEXT: std::sync::OnceLock<Option<$function>> = std::sync::OnceLock::new();
        *NEXT.get_or_init(|| crate::libcob::next_symbol($name).map(crate::libcob::function::<$function>))
    }};
}
use next;

/// The program's file, if it is an indexed one, of a libcob that we know, and this is not libcob calling itself.
///
/// # Safety
/// `file` is null or libcob's `cob_file`.
#[expect(unsafe_code, reason = "a structure of C")]
unsafe fn indexed(file: *mut c_void) -> Option<CobFile> {
    if statement::is_inside_libcob() {
        return None;
    }
    // SAFETY: promised by the caller.
    let file = unsafe { CobFile::new(file, libcob().family?) }?;
    file.is_indexed().then_some(file)
}
