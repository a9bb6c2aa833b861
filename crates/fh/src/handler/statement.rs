//! What interposed functions know of the statement that is being executed, for the handler, which libcob calls within it.

use std::cell::Cell;

use crate::libcob::file::CobFile;

thread_local! {
    static FILE: Cell<Option<CobFile>> = const { Cell::new(None) };
    static KEY: Cell<Option<usize>> = const { Cell::new(None) };
    static SHARING: Cell<Option<i32>> = const { Cell::new(None) };
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `call` as an OPEN of this file with this SHARING phrase, as libcob numbers it.
pub fn opening<T>(file: Option<CobFile>, sharing: i32, call: impl FnOnce() -> T) -> T {
    FILE.set(file);
    SHARING.set(Some(sharing));
    let result = call();
    FILE.set(None);
    SHARING.set(None);
    result
}

/// Runs `call` as a READ or START by this key.
pub fn by_key<T>(key: Option<usize>, call: impl FnOnce() -> T) -> T {
    KEY.set(key);
    let result = call();
    KEY.set(None);
    result
}

/// The program's file, if it is known.
pub fn file() -> Option<CobFile> {
    FILE.get()
}

/// OPEN's SHARING phrase, if it is known.
pub fn sharing() -> Option<i32> {
    SHARING.get()
}

/// The key that the statement names, if it is known.
pub fn key() -> Option<usize> {
    KEY.get()
}

/// Runs `call`, which is libcob's: what it calls of the functions that we interpose is between libcob and itself.
pub fn inside_libcob<T>(call: impl FnOnce() -> T) -> T {
    let before = INSIDE.replace(true);
    let result = call();
    INSIDE.set(before);
    result
}

/// Whether libcob calls, within a call of ours.
pub fn is_inside_libcob() -> bool {
    INSIDE.get()
}
