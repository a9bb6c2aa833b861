//! From the name in ASSIGN to a path: libcob's mapping, repeated.
//!
//! A handler gets the name as the program gave it, while libcob's own routines (for sequential files, or CBL_ calls) map
//! it. Both must come to the same file. libcob's families differ:
//!
//! | | 3.1 to 3.3 | 4.0-early |
//! |---|---|---|
//! | variables for `x` | `DD_x`, `dd_x`, `x` | the same, then `DD_X` in upper case |
//! | a dot in `x` | becomes `_`; a name that begins with one is not mapped | stays |
//! | a variable that is set, but empty | counts as not set | counts |
//! | `$x` in a later place of `d/$x/f`, set | loses the slash behind it | keeps it |
//! | the same, not set | drops out | stays as it is written |
//! | `COB_FILE_PATH` | one folder, before each relative result | a list with `:`, only for names without a slash that were not mapped; the first folder that has the file, else the first |
//!
//! In both: without a slash, the whole name is looked up, without its `$`, and stays as it is written if nothing is set.
//! With slashes, the first element of a relative name is looked up even without `$`, later ones, and all of an absolute
//! name, only with it. A first element with `$` that is not set drops out; the last element stays as it is written.
//! Values are not mapped again.
//!
//! `COB_FILE_PATH` may also stand in libcob's [configuration file](mod@configuration).

pub mod configuration;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::libcob::Family;

/// The longest name, in bytes.
pub const MAX_NAME: usize = 4_095;

/// Where variables come from.
pub trait Variables {
    /// The value of a variable of the environment, if it is set.
    fn get(&self, name: &[u8]) -> Option<Vec<u8>>;
}

/// The environment of the process.
pub struct Environment;

impl Variables for Environment {
    fn get(&self, name: &[u8]) -> Option<Vec<u8>> {
        // What cannot be a variable's name is none.
        if name.is_empty() || name.contains(&b'=') || name.contains(&0) {
            return None;
        }
        std::env::var_os(OsString::from_vec(name.to_vec())).map(OsString::into_vec)
    }
}

/// The name in ASSIGN without the filler behind it: a data item is filled up with spaces.
#[must_use]
pub fn trimmed(assigned: &[u8]) -> &[u8] {
    let end = assigned.iter().position(|byte| *byte == 0).unwrap_or(assigned.len());
    let end = assigned[..end].iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &assigned[..end]
}

/// The path that a name in ASSIGN leads to; empty if the name or what it is mapped to is, or if it is too long.
///
/// `file_path` is what the configuration sets for `COB_FILE_PATH`; the environment goes before it.
#[must_use]
pub fn path(assigned: &[u8], family: Family, variables: &impl Variables, file_path: Option<&[u8]>) -> PathBuf {
    let name = trimmed(assigned);
    if name.is_empty() || name.len() > MAX_NAME {
        return PathBuf::new();
    }
    let mapping = Mapping { family, variables };
    let (mapped, changed) = mapping.map(name);
    let folders = variables.get(b"COB_FILE_PATH").or_else(|| file_path.map(<[u8]>::to_vec));
    let folders = folders.filter(|folders| !folders.is_empty());
    let found = match (folders, family) {
        (Some(folder), Family::Three) if !mapped.is_empty() && mapped[0] != b'/' => joined(&folder, &mapped),
        (Some(folders), Family::Four) if !changed && !name.contains(&b'/') => in_first_folder(&folders, &mapped),
        _ => mapped,
    };
    PathBuf::from(OsString::from_vec(found))
}

struct Mapping<'a, V> {
    family: Family,
    variables: &'a V,
}

impl<V: Variables> Mapping<'_, V> {
    /// The mapped name, and whether a variable had a part in it.
    fn map(&self, name: &[u8]) -> (Vec<u8>, bool) {
        if !name.contains(&b'/') {
            let value = self.value(name.strip_prefix(b"$").unwrap_or(name));
            let changed = value.is_some();
            return (value.unwrap_or_else(|| name.to_vec()), changed);
        }
        let absolute = name[0] == b'/';
        let mut result = if absolute { vec![b'/'] } else { Vec::new() };
        let mut changed = false;
        let elements: Vec<&[u8]> = name.split(|byte| *byte == b'/').filter(|element| !element.is_empty()).collect();
        for (place, element) in elements.iter().enumerate() {
            let (first, last) = (place == 0 && !absolute, place + 1 == elements.len());
            let variable = element.strip_prefix(b"$");
            let value = match variable {
                Some(variable) => self.value(variable),
                None if first => self.value(element),
                None => None,
            };
            let mut slash = !last;
            match (value, variable) {
                (Some(value), _) => {
                    result.extend_from_slice(&value);
                    changed = true;
                    slash &= first || self.family == Family::Four;
                }
                (None, Some(_)) if first || (!last && self.family == Family::Three) => slash = false,
                (None, _) => result.extend_from_slice(element),
            }
            if slash {
                result.push(b'/');
            }
        }
        (result, changed)
    }

    /// What is set for an element.
    fn value(&self, element: &[u8]) -> Option<Vec<u8>> {
        if element.is_empty() {
            return None;
        }
        let with = |prefix: &[u8], name: &[u8]| self.variables.get(&[prefix, name].concat());
        match self.family {
            Family::Three if element[0] == b'.' => None,
            Family::Three => {
                let name: Vec<u8> = element.iter().map(|byte| if *byte == b'.' { b'_' } else { *byte }).collect();
                let set = |value: &Vec<u8>| !value.is_empty();
                let by_prefix = with(b"DD_", &name).filter(set).or_else(|| with(b"dd_", &name).filter(set));
                by_prefix.or_else(|| with(b"", &name).filter(set))
            }
            Family::Four => with(b"DD_", element)
                .or_else(|| with(b"dd_", element))
                .or_else(|| with(b"", element))
                .or_else(|| with(b"DD_", &element.to_ascii_uppercase())),
        }
    }
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    [folder, b"/", name].concat()
}

fn in_first_folder(folders: &[u8], name: &[u8]) -> Vec<u8> {
    let mut paths = folders.split(|byte| *byte == b':').map(|folder| joined(folder, name));
    let first = paths.next().unwrap_or_else(|| name.to_vec());
    if exists(&first) {
        return first;
    }
    paths.find(|path| exists(path)).unwrap_or(first)
}

fn exists(path: &[u8]) -> bool {
    Path::new(std::ffi::OsStr::from_bytes(path)).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Variables for &[(&str, &str)] {
        fn get(&self, name: &[u8]) -> Option<Vec<u8>> {
            self.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, value)| value.as_bytes().to_vec())
        }
    }

    /// A name with variables, and what both families make of it.
    type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

    /// Seen with Debian's gnucobol3 and gnucobol4.
    const CASES: &[Case] = &[
        ("abc", &[], "abc", "abc"),
        ("abc", &[("DD_abc", "1"), ("dd_abc", "2"), ("abc", "3")], "1", "1"),
        ("abc", &[("dd_abc", "2"), ("abc", "3")], "2", "2"),
        ("abc", &[("abc", "3")], "3", "3"),
        ("abc", &[("DD_ABC", "4"), ("abc", "3")], "3", "3"),
        ("aBc", &[("DD_ABC", "4")], "aBc", "4"),
        ("abc", &[("dd_ABC", "4"), ("ABC", "5")], "abc", "abc"),
        ("abc", &[("DD_abc", ""), ("dd_abc", "2")], "2", ""),
        ("abc", &[("abc", "")], "abc", ""),
        ("abc", &[("abc", "$d/q"), ("d", "e")], "$d/q", "$d/q"),
        ("a.b", &[("DD_a_b", "1"), ("DD_a.b", "2")], "1", "2"),
        ("a.b", &[("a_b", "1")], "1", "a.b"),
        ("a.b", &[("DD_A.B", "1")], "a.b", "1"),
        ("abc.", &[("abc_", "1")], "1", "abc."),
        (".abc", &[("_abc", "1")], ".abc", ".abc"),
        (".abc", &[(".abc", "1")], ".abc", "1"),
        ("a-b", &[("a_b", "1")], "a-b", "a-b"),
        ("a-b", &[("a-b", "1")], "1", "1"),
        ("a$b", &[("b", "1")], "a$b", "a$b"),
        ("$u", &[], "$u", "$u"),
        ("$u", &[("u", "v/q")], "v/q", "v/q"),
        ("$u", &[("DD_u", "v/q")], "v/q", "v/q"),
        ("$", &[], "$", "$"),
        ("d/abc", &[("DD_d", "e")], "e/abc", "e/abc"),
        ("d/abc", &[("d", "/abs/y")], "/abs/y/abc", "/abs/y/abc"),
        ("d/abc", &[("abc", "e")], "d/abc", "d/abc"),
        ("d/abc", &[("d", "")], "d/abc", "/abc"),
        ("d/abc", &[("DD_D", "x")], "d/abc", "x/abc"),
        ("d.x/abc", &[("d_x", "e")], "e/abc", "d.x/abc"),
        ("d//abc", &[("d", "e")], "e/abc", "e/abc"),
        ("d/", &[("d", "x")], "x", "x"),
        ("./abc", &[("abc", "q"), ("_", "q")], "./abc", "./abc"),
        (".//abc", &[], "./abc", "./abc"),
        ("./$abc", &[("abc", "q")], "./q", "./q"),
        ("./$u/abc", &[], "./abc", "./$u/abc"),
        ("../abc", &[("__", "q")], "../abc", "../abc"),
        ("~/abc", &[("HOME", "/h")], "~/abc", "~/abc"),
        ("$d/abc", &[], "abc", "abc"),
        ("$d/abc", &[("d", "e")], "e/abc", "e/abc"),
        ("$u/", &[], "", ""),
        ("d/$e", &[("e", "val")], "d/val", "d/val"),
        ("d/$e", &[("e", "/abs/y")], "d//abs/y", "d//abs/y"),
        ("d/$e", &[("e", "")], "d/$e", "d/"),
        ("d/$e", &[("DD_E", "x")], "d/$e", "d/x"),
        ("d/$", &[], "d/$", "d/$"),
        ("d/e/$u", &[], "d/e/$u", "d/e/$u"),
        ("d/$u/e/abc", &[], "d/e/abc", "d/$u/e/abc"),
        ("d/$e/abc", &[("e", "map")], "d/mapabc", "d/map/abc"),
        ("d/$e/e/abc", &[("e", "map")], "d/mape/abc", "d/map/e/abc"),
        ("d/$e/abc", &[("e", "")], "d/abc", "d//abc"),
        ("$u/$v/abc", &[("u", "x")], "x/abc", "x/$v/abc"),
        ("$u/$v/abc", &[("v", "x")], "xabc", "x/abc"),
        ("$u/$v/abc", &[("v", "x"), ("u", "y")], "y/xabc", "y/x/abc"),
        ("/$u/$v/abc", &[("v", "x")], "/xabc", "/$u/x/abc"),
        ("/$u/$v/abc", &[("u", "x")], "/xabc", "/x/$v/abc"),
        ("/tmp/abc", &[("tmp", "x"), ("DD_tmp", "x")], "/tmp/abc", "/tmp/abc"),
        ("abc", &[("COB_FILE_PATH", "p1")], "p1/abc", "p1/abc"),
        ("abc", &[("COB_FILE_PATH", "p1/")], "p1//abc", "p1//abc"),
        ("abc", &[("COB_FILE_PATH", "")], "abc", "abc"),
        ("abc", &[("COB_FILE_PATH", "p1:p2")], "p1:p2/abc", "p1/abc"),
        ("abc", &[("COB_FILE_PATH", ":p2")], ":p2/abc", "/abc"),
        ("./abc", &[("COB_FILE_PATH", "p1")], "p1/./abc", "./abc"),
        ("d/abc", &[("COB_FILE_PATH", "p1")], "p1/d/abc", "d/abc"),
        ("d/abc", &[("COB_FILE_PATH", "p1"), ("d", "e")], "p1/e/abc", "e/abc"),
        ("abc", &[("COB_FILE_PATH", "p1"), ("abc", "q")], "p1/q", "q"),
        ("abc", &[("COB_FILE_PATH", "p1"), ("abc", "/abs/q")], "/abs/q", "/abs/q"),
        ("/abs/q", &[("COB_FILE_PATH", "p1")], "/abs/q", "/abs/q"),
        ("$u", &[("COB_FILE_PATH", "p1")], "p1/$u", "p1/$u"),
    ];

    #[test]
    fn names_lead_where_libcob_takes_them() {
        for (name, variables, three, four) in CASES {
            let map = |family| path(name.as_bytes(), family, variables, None).into_os_string().into_string().unwrap();
            assert_eq!(map(Family::Three), *three, "3.x: {name} with {variables:?}");
            assert_eq!(map(Family::Four), *four, "4.0: {name} with {variables:?}");
        }
    }

    #[test]
    fn of_several_folders_the_one_with_the_file_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
        std::fs::create_dir(of("two")).unwrap();
        std::fs::write(of("two/there"), "").unwrap();
        let folders = format!("{}:{}:{}", of("one"), of("two"), of("three"));
        let variables: &[(&str, &str)] = &[];
        let map = |name: &str| path(name.as_bytes(), Family::Four, &variables, Some(folders.as_bytes()));
        assert_eq!(map("there").to_str().unwrap(), of("two/there"));
        assert_eq!(map("missing").to_str().unwrap(), of("one/missing"));
    }

    #[test]
    fn filler_is_no_part_of_a_name() {
        assert_eq!(trimmed(b"abc   "), b"abc");
        assert_eq!(trimmed(b"a b\0xyz"), b"a b");
        assert_eq!(trimmed(b"    "), b"");
        let variables: &[(&str, &str)] = &[];
        assert_eq!(path(&[b'a'; 5_000], Family::Three, &variables, None), PathBuf::new());
    }
}
