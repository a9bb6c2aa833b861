//! The end of the process, with or without CLOSE, and the beginning of another by fork.
//!
//! STOP RUN closes nothing. So files that are open are finished when the process exits, from our own table: libcob has
//! freed its FCDs by then. A process that is killed finishes nothing; what it acknowledged is in the files all the same.
//!
//! A child of fork shares the descriptors, and with them the locks, of its parent. It takes no part in the files: it does
//! nothing with them, not even at its exit. (A program that is started by exec has no descriptor of ours.)

use std::panic::catch_unwind;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use immuxdb_isam::{Failure, RunUnit, Status};

use super::table::{TABLE, open_count};
use crate::libcob::libcob;
use crate::message;
use crate::trace::trace;

/// Whether this process was forked from one with open files.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from one with open files.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// What an operation in such a process gives.
pub fn forked() -> Failure {
    let text =
        "this process was forked from one that has indexed files open, and cannot use any; start a program of its own";
    Failure::new(Status::IoError, text)
}

/// Before the first file is opened: arranges for the end.
pub fn prepare() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        arrange();
        if let (Some(trace), libcob) = (trace(), libcob())
            && libcob.family.is_none()
        {
            trace.note(&format!("libcob {} is not known: nothing is interposed", libcob.version));
        }
    });
}

#[expect(unsafe_code, reason = "atexit, pthread_atfork")]
fn arrange() {
    // SAFETY: the functions take nothing and live as long as the process: the library is never unloaded with files open,
    // since libcob unloads none. They can fail only for want of memory; then files are finished as after a kill.
    unsafe {
        libc::atexit(at_exit);
        libc::pthread_atfork(None, None, Some(in_child));
    }
}

extern "C" fn in_child() {
    if open_count() > 0 {
        FORKED.store(true, Ordering::Relaxed);
    }
}

extern "C" fn at_exit() {
    // A panic has nowhere to go from here, and the files are as after a kill.
    let _ = catch_unwind(|| {
        if is_forked() {
            return;
        }
        // Another thread may be within an operation for ever; exit waits for none.
        let Some(mut table) = TABLE.try_lock_for(std::time::Duration::from_secs(5)) else { return };
        for open in table.take_all() {
            if let Err(failure) = open.connector.close() {
                message::tell_failure(&failure);
            }
        }
        if let Err(failure) = RunUnit::global().close_all() {
            message::tell_failure(&failure);
        }
    });
}
