//! What libcob's configuration file says of `COB_FILE_PATH`, `COB_SYNC` and `COB_KEYCHECK`, which the environment does not
//! show.
//!
//! The file is the one that `COB_RUNTIME_CONFIG` names, else `runtime.cfg` in `COB_CONFIG_DIR`, else in the folder that
//! Debian's packages use. Of its lines only these matter here:
//!
//! ```text
//!   file_path ${HOME}/data         also with '=', also as COB_FILE_PATH
//!   sync true
//!   keycheck on
//!   reset file_path
//!   include more.cfg               includeif: the same, if it is there
//! ```
//!
//! `setenv` needs nothing: libcob puts those into the environment.

use std::collections::HashMap;
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

/// The parameters that matter: the names of their variables, in small letters.
const PARAMETERS: [&[u8]; 3] = [b"cob_file_path", b"cob_sync", b"cob_keycheck"];

/// What is configured.
#[derive(Debug, Default)]
pub struct Configuration {
    values: HashMap<&'static [u8], Vec<u8>>,
}

impl Configuration {
    /// Reads the file that these variables lead to.
    #[must_use]
    pub fn read(variables: &impl Variables) -> Configuration {
        let path = |name: &[u8]| {
            let value = variables.get(name).filter(|value| !value.is_empty())?;
            Some(PathBuf::from(OsString::from_vec(value)))
        };
        let file = path(b"COB_RUNTIME_CONFIG")
            .or_else(|| Some(path(b"COB_CONFIG_DIR")?.join("runtime.cfg")))
            .unwrap_or_else(|| PathBuf::from(SYSTEM_FILE));
        let mut configuration = Configuration::default();
        read(&file, variables, 0, &mut configuration.values);
        configuration
    }

    /// What is configured for a variable, `COB_FILE_PATH` for example; `None` also for one that does not matter here.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<&[u8]> {
        self.values.get(variable.to_ascii_lowercase().as_bytes()).map(Vec::as_slice)
    }
}

/// The parameter of a word, which may leave out `COB_`.
fn parameter(word: &[u8]) -> Option<&'static [u8]> {
    let word = word.to_ascii_lowercase();
    PARAMETERS.into_iter().find(|name| *name == word || name.strip_prefix(b"cob_") == Some(&word))
}

fn read(file: &Path, variables: &impl Variables, depth: usize, found: &mut HashMap<&'static [u8], Vec<u8>>) {
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
        if let Some(parameter) = parameter(&word) {
            match expanded(unquoted(rest), variables) {
                value if value.is_empty() => found.remove(parameter),
                value => found.insert(parameter, value),
            };
            continue;
        }
        match word.as_slice() {
            b"reset" => {
                parameter(rest).and_then(|parameter| found.remove(parameter));
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
            let configuration = Configuration::read(&variables.as_slice());
            let text = |name| configuration.get(name).map(|value| String::from_utf8(value.to_vec()).unwrap());
            assert_eq!(text("COB_LS_NULLS"), None);
            text("COB_FILE_PATH").or_else(|| text("COB_SYNC"))
        };
        assert_eq!(of("# file_path /no\nFILE_PATH ${HOME}/data\n", ""), Some("/home/anna/data".to_owned()));
        assert_eq!(of("COB_FILE_PATH = \"/a b\"\nls_nulls true\n", ""), Some("/a b".to_owned()));
        assert_eq!(of("file_path=${NOTHING:-/else}\n", ""), Some("/else".to_owned()));
        assert_eq!(of("file_path /a\nreset file_path\n", ""), None);
        assert_eq!(of("file_path /a\ninclude more.cfg\n", "file_path /b"), Some("/b".to_owned()));
        assert!(of("file_path /a\ninclude more.cfg\n", "include runtime.cfg").is_some(), "a circle has an end");
        assert_eq!(of("includeif nothing.cfg\n", ""), None);
        assert_eq!(of("SYNC: TRUE\n", ""), Some("TRUE".to_owned()));
        assert_eq!(of("cob_sync on\nRESET sync\n", ""), None);
    }
}
