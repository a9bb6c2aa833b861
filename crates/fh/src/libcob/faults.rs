//! Faults of libcob that a handler must work around, and how.
//!
//! | fault | versions | what happens | workaround |
//! |---|---|---|---|
//! | the exception stays | 3.2, 3.3 | after AT END, the next operation that succeeds enters the error handler | clear it on success |
//! | "file in error" is not set | 3.2, 3.3 | an error without AT END or INVALID KEY crashes | let libcob's own handler fail once |
//! | the FCD outlives CLOSE | 3.2, 3.3, 4.0-early | a changed ASSIGN name is ignored, DELETE FILE gives 41 | let libcob's own handler close once |
//!
//! The last one's workaround crashes 3.1.2, where CLOSE, CANCEL and DELETE FILE are [interposed](crate::interpose) instead.
//! A libcob that we don't know gets none of the first two's, which would be a guess, and not the last one's.

use super::{Family, Libcob};
use crate::fcd::{Fcd, INDEXED, LINE_SEQUENTIAL};

/// Which workarounds a version needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The exception of AT END is not cleared.
    pub exception_stays: bool,
    /// The pointer to the "file in error" is not set.
    pub error_file_unset: bool,
    /// libcob goes on thinking that a closed file is open.
    pub fcd_outlives_close: bool,
}

const OPEN_INPUT: [u8; 2] = [0xfa, 0x00];
const CLOSE: [u8; 2] = [0xfa, 0x80];
const GET_INFO: [u8; 2] = [0x00, 0x06];

impl Faults {
    /// The workarounds for a version.
    #[must_use]
    pub fn of(family: Option<Family>, version: Option<&str>) -> Faults {
        match (family, version) {
            (Some(Family::Three), Some(version)) if !version.starts_with("3.1") => {
                Faults { exception_stays: true, error_file_unset: true, fcd_outlives_close: true }
            }
            (Some(Family::Four), _) => Faults { fcd_outlives_close: true, ..Faults::default() },
            _ => Faults::default(),
        }
    }
}

/// What of an FCD is put back after libcob's own handler was called with it.
struct Saved {
    status: [u8; 2],
    current_len: u32,
    open_mode: u8,
    handle: u64,
}

impl Saved {
    fn of(fcd: Fcd) -> Saved {
        Saved { status: fcd.status(), current_len: fcd.current_len(), open_mode: fcd.open_mode(), handle: fcd.handle() }
    }

    fn put_back(&self, fcd: Fcd) {
        fcd.set_status_bytes(self.status);
        fcd.set_current_len(self.current_len);
        fcd.set_open_mode(self.open_mode);
        fcd.set_handle(self.handle);
    }
}

#[expect(unsafe_code, reason = "calls of libcob's handler")]
impl Libcob {
    /// After an operation that succeeded.
    pub fn after_success(&self) {
        if self.faults.exception_stays {
            self.set_exception(0);
        }
    }

    /// After an operation that failed; `is_open` tells whether the file is open.
    ///
    /// libcob's handler fails too, and on its way notes the file as the one in error: it refuses to open a file that is
    /// open (41), or to close one that is not (42). The other way round it would try to do it.
    ///
    /// # Safety
    /// `fcd` is an FCD that libcob made.
    pub unsafe fn after_error(&self, fcd: Fcd, is_open: impl FnOnce() -> bool) {
        if self.faults.error_file_unset {
            let saved = Saved::of(fcd);
            let mut code = if is_open() { OPEN_INPUT } else { CLOSE };
            // SAFETY: the code is two bytes; the FCD is as promised.
            unsafe { self.extfh(code.as_mut_ptr(), fcd.as_ptr()) };
            saved.put_back(fcd);
        }
    }

    /// After CLOSE: makes libcob, too, take the file as closed.
    ///
    /// Its handler would call the indexed files of its own, so the file passes for line sequential meanwhile. (Not for
    /// sequential: that may close descriptor 0.)
    ///
    /// # Safety
    /// `fcd` is an FCD that libcob made.
    pub unsafe fn after_close(&self, fcd: Fcd) {
        if self.faults.fcd_outlives_close {
            let saved = Saved::of(fcd);
            let (mut close, mut get_info) = (CLOSE, GET_INFO);
            fcd.set_organization(LINE_SEQUENTIAL);
            // SAFETY: the codes are two bytes; the FCD is as promised.
            unsafe { self.extfh(close.as_mut_ptr(), fcd.as_ptr()) };
            fcd.set_organization(INDEXED);
            // SAFETY: as before.
            unsafe { self.extfh(get_info.as_mut_ptr(), fcd.as_ptr()) };
            saved.put_back(fcd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_gets_what_it_needs() {
        let three = |version| Faults::of(Some(Family::Three), Some(version));
        assert_eq!(three("3.1.2"), Faults::default());
        assert_eq!(three("3.2.0"), Faults { exception_stays: true, error_file_unset: true, fcd_outlives_close: true });
        assert_eq!(three("3.3-dev"), three("3.2"));
        assert_eq!(Faults::of(Some(Family::Four), None), Faults { fcd_outlives_close: true, ..Faults::default() });
        assert_eq!(Faults::of(None, Some("5.0")), Faults::default());
    }
}
