//! What libcob's configuration file says of `COB_FILE_PATH`, which the environment does not show.
//!
//! The file is the one that `COB_RUNTIME_CONFIG` names, else `runtime.cfg` in `COB_CONFIG_DIR`, else in the folder that
//! Debian's packages use. Of its lines only these matter here:
//!
//! ```text
//!   file_path ${HOME}/data         also with '=', also as COB_FILE_PATH
//!   reset file_path
//!   include more.cfg               includeif: the same, if it is there
//! ```
//!
//! `setenv` needs nothing: libcob puts those into the environment.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::Variables;

/// Where Debian's packages have the file.
const SYSTEM_FILE: &str = "/etc/gnucobol/runtime.cfg";
/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// How deep files may include each other.
const MAX_DEPTH: usize = 8;

/// What is configured for `COB_FILE_PATH`, if anything is.
#[must_use]
pub fn file_path(variables: &impl Variables) -> Option<Vec<u8>> {
    let path = |name: &[u8]| {
        let value = variables.get(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(OsString::from_vec(value)))
    };
    let file = path(b"COB_RUNTIME_CONFIG")
        .or_else(|| Some(path(b"COB_CONFIG_DIR")?.join("runtime.cfg")))
        .unwrap_or_else(|| PathBuf::from(SYSTEM_FILE));
    let mut found = None;
    read(&file, variables, 0, &mut found);
    found
}

fn read(file: &Path, variables: &impl Variables, depth: usize, found: &mut Option<Vec<u8>>) {
    let small = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE);
    if depth > MAX_DEPTH || !small {
        return;
    }
    // libcob itself complains of what cannot be read.
    let Ok(text) = std::fs::read(file) else { return };
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            continue;
        }
        let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'=' | b':')).unwrap_or(line.len());
        let word = line[..end].to_ascii_lowercase();
        let rest = line[end..].trim_ascii_start();
        let rest = rest.strip_prefix(b"=").or_else(|| rest.strip_prefix(b":")).unwrap_or(rest).trim_ascii();
        match word.as_slice() {
            b"file_path" | b"cob_file_path" => {
                let value = expanded(unquoted(rest), variables);
                *found = (!value.is_empty()).then_some(value);
            }
            b"reset" if matches!(rest.to_ascii_lowercase().as_slice(), b"file_path" | b"cob_file_path") => {
                *found = None
            }
            b"include" | b"includeif" => {
                let included = PathBuf::from(OsString::from_vec(expanded(unquoted(rest), variables)));
                let beside = file.parent().map_or_else(|| included.clone(), |folder| folder.join(&included));
                read(if included.exists() { &included } else { &beside }, variables, depth + 1, found);
            }
            _ => {}
        }
    }
}

fn unquoted(value: &[u8]) -> &[u8] {
    let inner = |quote: u8| value.strip_prefix(&[quote])?.strip_suffix(&[quote]);
    inner(b'"').or_else(|| inner(b'\'')).unwrap_or(value)
}

/// The value with each `${NAME}`, `${NAME:default}` and `${NAME:-default}` replaced.
fn expanded(mut value: &[u8], variables: &impl Variables) -> Vec<u8> {
    let mut result = Vec::with_capacity(value.len());
    while let Some(at) = value.windows(2).position(|pair| pair == b"${") {
        let Some(len) = value[at..].iter().position(|byte| *byte == b'}') else { break };
        result.extend_from_slice(&value[..at]);
        let inner = &value[at + 2..at + len];
        let end = inner.iter().position(|byte| *byte == b':').unwrap_or(inner.len());
        let default = inner[end..].strip_prefix(b":").unwrap_or_default();
        let default = default.strip_prefix(b"-").unwrap_or(default);
        result.extend_from_slice(&variables.get(&inner[..end]).unwrap_or_else(|| default.to_vec()));
        value = &value[at + len + 1..];
    }
    result.extend_from_slice(value);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_speaks_of_it_counts() {
        let folder = tempfile::tempdir().unwrap();
        let main = folder.path().join("runtime.cfg");
        let of = |text: &str, more: &str| {
            std::fs::write(&main, text).unwrap();
            std::fs::write(folder.path().join("more.cfg"), more).unwrap();
            let config = main.to_str().unwrap().to_owned();
            let variables = [("COB_RUNTIME_CONFIG", config.as_str()), ("HOME", "/home/anna")];
            file_path(&variables.as_slice()).map(|value| String::from_utf8(value).unwrap())
        };
        assert_eq!(of("# file_path /no\nFILE_PATH ${HOME}/data\n", ""), Some("/home/anna/data".to_owned()));
        assert_eq!(of("COB_FILE_PATH = \"/a b\"\nls_nulls true\n", ""), Some("/a b".to_owned()));
        assert_eq!(of("file_path=${NOTHING:-/else}\n", ""), Some("/else".to_owned()));
        assert_eq!(of("file_path /a\nreset file_path\n", ""), None);
        assert_eq!(of("file_path /a\ninclude more.cfg\n", "file_path /b"), Some("/b".to_owned()));
        assert!(of("file_path /a\ninclude more.cfg\n", "include runtime.cfg").is_some(), "a circle has an end");
        assert_eq!(of("includeif nothing.cfg\n", ""), None);
    }
}
