//! Whether a program's layout is one of a file, and which of the file's keys its keys are.

use super::{Key, Layout};

/// For each key of the program the number of the file's key. `strict`: the program must declare all keys of the file.
///
/// # Errors
/// What differs and how, in words.
pub(crate) fn match_keys(program: &Layout, file: &Layout, strict: bool) -> Result<Vec<usize>, String> {
    let (ours, theirs) = (program.primary(), file.primary());
    if ours.joined() != theirs.joined() {
        return Err(format!("the program's record key is {ours}, the file's is {theirs}"));
    }
    if program.max_record < file.max_record {
        return Err(format!(
            "the program's records have up to {} bytes, the file's up to {}",
            program.max_record, file.max_record
        ));
    }
    let mut numbers = vec![0];
    for (number, key) in program.keys.iter().enumerate().skip(1) {
        numbers.push(find(number, key, file, &numbers)?);
    }
    if strict && program.keys.len() < file.keys.len() {
        let missing = (1..file.keys.len()).find(|number| !numbers.contains(number)).unwrap_or_default();
        return Err(format!(
            "the program declares {} keys, the file has {}: key {missing} ({}) is not declared, and COB_KEYCHECK is on",
            program.keys.len(),
            file.keys.len(),
            file.keys[missing]
        ));
    }
    Ok(numbers)
}

/// The file's alternate key that is the program's `key`. One that is taken already is taken again only if there is no
/// other: two keys may well be the same.
fn find(number: usize, key: &Key, file: &Layout, taken: &[usize]) -> Result<usize, String> {
    let there = || file.keys.iter().enumerate().skip(1).filter(|(_, other)| other.joined() == key.joined());
    let same = || there().filter(|(_, other)| (other.duplicates, other.sparse) == (key.duplicates, key.sparse));
    let found = same().find(|(number, _)| !taken.contains(number)).or_else(|| same().next());
    if let Some((number, _)) = found {
        return Ok(number);
    }
    Err(match there().next() {
        Some((_, other)) => format!("the program's key {number} is {key}; the file's key there is {other}"),
        None => {
            let keys: Vec<String> = file.keys.iter().map(Key::to_string).collect();
            format!("the program's key {number} is {key}; the file's keys are {}", keys.join("; "))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::KeyPart;
    use super::*;

    fn key(parts: &[(u32, u32)], duplicates: bool) -> Key {
        let parts = parts.iter().map(|&(offset, len)| KeyPart { offset, len }).collect();
        Key { parts, duplicates, sparse: None }
    }

    fn layout(keys: Vec<Key>) -> Layout {
        Layout { keys, min_record: 60, max_record: 60, variable: false }
    }

    fn file() -> Layout {
        layout(vec![key(&[(0, 10)], false), key(&[(10, 12)], true), key(&[(30, 6), (50, 4)], false)])
    }

    #[test]
    fn keys_are_matched_by_place_and_attributes() {
        let program =
            layout(vec![key(&[(0, 4), (4, 6)], false), key(&[(30, 6), (50, 4)], false), key(&[(10, 12)], true)]);
        assert_eq!(match_keys(&program, &file(), true), Ok(vec![0, 2, 1]));
        let some = layout(vec![key(&[(0, 10)], false), key(&[(30, 6), (50, 4)], false)]);
        assert_eq!(match_keys(&some, &file(), false), Ok(vec![0, 2]));
    }

    #[test]
    fn a_clash_says_which_key_differs_and_how() {
        let says = |keys, strict, what: &str| assert_eq!(match_keys(&layout(keys), &file(), strict).unwrap_err(), what);
        says(vec![key(&[(0, 9)], false)], false, "the program's record key is bytes 1-9, the file's is bytes 1-10");
        says(
            vec![key(&[(0, 10)], false), key(&[(10, 12)], false)],
            false,
            "the program's key 1 is bytes 11-22; the file's key there is bytes 11-22, with duplicates",
        );
        says(
            vec![key(&[(0, 10)], false), key(&[(22, 3)], true)],
            false,
            "the program's key 1 is bytes 23-25, with duplicates; the file's keys are bytes 1-10; bytes 11-22, with \
             duplicates; bytes 31-36 and 51-54",
        );
        says(
            vec![key(&[(0, 10)], false), key(&[(10, 12)], true)],
            true,
            "the program declares 2 keys, the file has 3: key 2 (bytes 31-36 and 51-54) is not declared, and \
             COB_KEYCHECK is on",
        );
        let shorter = Layout { max_record: 59, min_record: 59, ..file() };
        assert_eq!(
            match_keys(&shorter, &file(), false).unwrap_err(),
            "the program's records have up to 59 bytes, the file's up to 60"
        );
    }
}
