//! Where a panic on our side ends: it must not unwind into C.

use std::panic::{AssertUnwindSafe, catch_unwind};

use immuxdb_isam::{Failure, Status};

/// Runs `call`; a panic in it becomes a failure like others, and its locks are released.
pub fn guarded<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no reason given");
        Err(Failure::new(Status::IoError, format!("an error in ImmuxDB itself, please report it: {text}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_status_30() {
        let number = std::hint::black_box(3);
        let failure = guarded::<()>(|| panic!("there is no page {number}")).unwrap_err();
        let expected = "status 30: an error in ImmuxDB itself, please report it: there is no page 3";
        assert_eq!(failure.to_string(), expected);
        assert_eq!(guarded::<()>(|| panic!("plain")).unwrap_err().status, Status::IoError);
        assert_eq!(guarded(|| Ok(number)), Ok(3));
        assert_eq!(guarded::<()>(|| Err(Status::End.into())), Err(Status::End.into()));
    }
}
