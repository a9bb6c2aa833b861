//! What a program printed, compared with what stands beside it.
//!
//! `NAME.out` is what both compilers' programs print on ImmuxDB, `NAME.err` what comes on standard error, if anything does.
//! `NAME.berkeley` says in which lines Berkeley DB prints something else, and, in lines that begin with `#`, why ours is
//! right:
//!
//! ```text
//!   # The standard asks for 21.
//!   - WRITE with a key below the last      21        ImmuxDB
//!   + WRITE with a key below the last      00        Berkeley DB
//! ```
//!
//! With `UPDATE_GOLDENFILES=1` both are written anew, the reasons kept at the top.

use std::path::{Path, PathBuf};

use super::compiler::programs;

fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDENFILES").is_some()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Compares with `NAME.out` or `NAME.err`; a file that is missing says that nothing is printed.
#[track_caller]
pub fn expect(name: &str, kind: &str, who: &str, printed: &str) {
    let path = programs().join(format!("{name}.{kind}"));
    if updating() && read(&path) != printed {
        std::fs::write(&path, printed).unwrap();
    }
    let expected = read(&path);
    assert!(expected == printed, "{who}, {}:\n{}", path.display(), differences(&expected, printed).join("\n"));
}

/// Compares what Berkeley DB's program printed with `NAME.out` and `NAME.berkeley`.
#[track_caller]
pub fn expect_berkeley(name: &str, ours: &str, theirs: &str) {
    let path = programs().join(format!("{name}.berkeley"));
    let found = differences(ours, theirs).join("\n");
    let known = read(&path);
    let reasons: String = known.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    if updating() {
        write_or_remove(&path, &reasons, &found);
    }
    let known: Vec<String> = read(&path).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    assert!(known.join("\n") == found, "{} says\n{}\n\nbut it is\n{found}", path.display(), known.join("\n"));
    assert!(found.is_empty() || !reasons.is_empty(), "{} must say why ImmuxDB is right", path.display());
}

fn write_or_remove(path: &PathBuf, reasons: &str, found: &str) {
    if found.is_empty() {
        let _ = std::fs::remove_file(path);
    } else {
        std::fs::write(path, format!("{reasons}{found}\n")).unwrap();
    }
}

/// The lines in which two texts differ: a longest common subsequence is what they share.
fn differences(left: &str, right: &str) -> Vec<String> {
    let left: Vec<&str> = left.lines().collect();
    let right: Vec<&str> = right.lines().collect();
    let mut common = vec![vec![0usize; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] =
                if left[i] == right[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(format!("- {}", left[i]).trim_end().to_owned());
            i += 1;
        } else {
            lines.push(format!("+ {}", right[j]).trim_end().to_owned());
            j += 1;
        }
    }
    lines
}
