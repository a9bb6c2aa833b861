//! SORT USING and GIVING, and MERGE, with indexed files.
//!
//! libcob would open such files with its own routines, not with the handler. So for ours its loops are repeated here, by
//! the functions that a compiled program calls for OPEN, READ NEXT, WRITE and CLOSE, and for RELEASE and RETURN.

#![expect(
    unsafe_code,
    reason = "called from C, with pointers; a function without a body of Rust takes no lint of its own"
)]

use std::ffi::{c_int, c_void};

use super::statements::cob_extfh_open;
use super::{indexed, next};
use crate::handler::{immuxfh, is_ours};
use crate::libcob::file::{CobFile, Field};
use crate::libcob::{Handler, libcob};
use crate::message;

const INPUT: c_int = 1;
const OUTPUT: c_int = 2;
const READ_NEXT: c_int = 1;

/// SORT USING: the records of a file into the sort.
///
/// # Safety
/// Called by a compiled program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cob_file_sort_using(sort: *mut c_void, file: *mut c_void) {
    type Next = unsafe extern "C" fn(*mut c_void, *mut c_void);
    // SAFETY: the files are the program's.
    unsafe {
        match (indexed(file), functions(sort)) {
            (Some(ours), Some(functions)) if is_ours(ours) => using(&functions, ours),
            _ => {
                if let Some(next) = next!(c"cob_file_sort_using" as Next) {
                    next(sort, file);
                }
            }
        }
    }
}

/// SORT GIVING: the sorted records into each of some files.
///
/// libcob's function takes any number of files, which no function in Rust can. This one leaves the arguments where they
/// are, has [`giving`] look at them, and goes on to libcob's function with the very same if that says so.
///
/// # Safety
/// Called by a compiled program.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cob_file_sort_giving() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 48",
        // The arguments that came in registers: sort, count, and the first four files.
        "mov [rbp - 8], rdi",
        "mov [rbp - 16], rsi",
        "mov [rbp - 48], rdx",
        "mov [rbp - 40], rcx",
        "mov [rbp - 32], r8",
        "mov [rbp - 24], r9",
        // giving(sort, count, first four files, further files)
        "lea rdx, [rbp - 48]",
        "lea rcx, [rbp + 16]",
        "call {giving}",
        "mov r11, rax",
        "mov rdi, [rbp - 8]",
        "mov rsi, [rbp - 16]",
        "mov rdx, [rbp - 48]",
        "mov rcx, [rbp - 40]",
        "mov r8, [rbp - 32]",
        "mov r9, [rbp - 24]",
        "leave",
        "test r11, r11",
        "jz 2f",
        // A function with any number of arguments wants the number of those in vector registers.
        "xor eax, eax",
        "jmp r11",
        "2:",
        "ret",
        giving = sym giving,
    )
}

/// Does GIVING if a file is ours, and gives null then; else the function to go on to.
///
/// # Safety
/// `sort` is the program's; the two lists together hold `count` pointers to its files.
unsafe extern "C" fn giving(
    sort: *mut c_void,
    count: c_int,
    first: *const *mut c_void,
    further: *const *mut c_void,
) -> *mut c_void {
    const IN_REGISTERS: usize = 4;
    let next = || crate::libcob::next_symbol(c"cob_file_sort_giving").unwrap_or(std::ptr::null_mut());
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: promised by the caller.
    unsafe {
        let file = |number: usize| {
            let place = if number < IN_REGISTERS { first.add(number) } else { further.add(number - IN_REGISTERS) };
            place.read()
        };
        let files: Vec<*mut c_void> = (0..count).map(file).collect();
        let any_ours = files.iter().any(|file| indexed(*file).is_some_and(is_ours));
        let (Some(family), Some(functions), true) = (libcob().family, functions(sort), any_ours) else { return next() };
        let Some(files) = files.into_iter().map(|file| CobFile::new(file, family)).collect::<Option<Vec<_>>>() else {
            return next();
        };
        give(&functions, &files);
    }
    std::ptr::null_mut()
}

/// What the loops call in libcob, and the sort that they are about.
struct Functions {
    sort: CobFile,
    read_next: unsafe extern "C" fn(Handler, *mut c_void, *mut c_void, c_int),
    write: unsafe extern "C" fn(Handler, *mut c_void, *mut c_void, c_int, *mut c_void, c_int),
    close: unsafe extern "C" fn(Handler, *mut c_void, *mut c_void, c_int, c_int),
    release: unsafe extern "C" fn(*mut c_void),
    return_: unsafe extern "C" fn(*mut c_void),
}

/// # Safety
/// `sort` is the program's.
unsafe fn functions(sort: *mut c_void) -> Option<Functions> {
    // SAFETY: libcob's functions of these names have these types.
    unsafe {
        Some(Functions {
            sort: CobFile::new(sort, libcob().family?)?,
            read_next: next!(c"cob_extfh_read_next" as unsafe extern "C" fn(Handler, *mut c_void, *mut c_void, c_int))?,
            write: next!(
                c"cob_extfh_write"
                    as unsafe extern "C" fn(Handler, *mut c_void, *mut c_void, c_int, *mut c_void, c_int)
            )?,
            close: next!(c"cob_extfh_close" as unsafe extern "C" fn(Handler, *mut c_void, *mut c_void, c_int, c_int))?,
            release: next!(c"cob_file_release" as unsafe extern "C" fn(*mut c_void))?,
            return_: next!(c"cob_file_return" as unsafe extern "C" fn(*mut c_void))?,
        })
    }
}

fn succeeded(file: CobFile) -> bool {
    file.status()[0] == b'0'
}

/// Says that a file of a SORT gave a status: the statement itself has no way to.
fn report(file: CobFile, what: &str) {
    message::tell(&format!("SORT {what} {}: status {}", file.name(), String::from_utf8_lossy(&file.status())));
}

/// # Safety
/// The files are the program's.
unsafe fn using(functions: &Functions, file: CobFile) {
    let none = std::ptr::null_mut();
    // SAFETY: as a compiled program calls them.
    unsafe {
        cob_extfh_open(immuxfh, file.as_ptr(), INPUT, 0, none);
        if !succeeded(file) {
            report(file, "USING");
            return;
        }
        loop {
            (functions.read_next)(immuxfh, file.as_ptr(), none, READ_NEXT);
            if !succeeded(file) {
                break;
            }
            if let Some(from) = file.record()
                && let Some(to) = functions.sort.record_of_len(from.size)
            {
                copy(from, to);
            }
            (functions.release)(functions.sort.as_ptr());
        }
        if file.status() != *b"10" {
            report(file, "USING");
        }
        (functions.close)(immuxfh, file.as_ptr(), none, 0, 0);
    }
}

/// # Safety
/// The files are the program's.
unsafe fn give(functions: &Functions, files: &[CobFile]) {
    let none = std::ptr::null_mut();
    let mut open = Vec::with_capacity(files.len());
    // SAFETY: as a compiled program calls them.
    unsafe {
        for file in files {
            cob_extfh_open(immuxfh, file.as_ptr(), OUTPUT, 0, none);
            if succeeded(*file) {
                open.push(*file);
            } else {
                report(*file, "GIVING");
            }
        }
        loop {
            (functions.return_)(functions.sort.as_ptr());
            if !succeeded(functions.sort) {
                break;
            }
            for file in &open {
                let Some(from) = functions.sort.record() else { continue };
                let Some(to) = file.record_of_len(from.size) else { continue };
                copy(from, to);
                (functions.write)(immuxfh, file.as_ptr(), to.at, 0, none, 0);
                if !succeeded(*file) {
                    report(*file, "GIVING");
                }
            }
        }
        for file in open {
            (functions.close)(immuxfh, file.as_ptr(), none, 0, 0);
        }
    }
}

/// MOVE of a record: what is longer is cut, what is shorter filled up with spaces.
fn copy(from: Field, to: Field) {
    if from.data == to.data {
        return;
    }
    // SAFETY: record areas of files that are in use; two files' areas are apart, or the same, which was excluded.
    let (from, to) = unsafe { (from.bytes(), to.bytes()) };
    let len = from.len().min(to.len());
    to[..len].copy_from_slice(&from[..len]);
    to[len..].fill(b' ');
}
