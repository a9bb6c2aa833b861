//! What several test files use.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod storage;

use std::path::Path;

/// A delta is full at 4 KiB with this memory.
pub const LITTLE_MEMORY: usize = 32 << 10;

/// The files as the operating system has them now: what a process finds that is started after this one was killed.
pub fn copy_directory(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
