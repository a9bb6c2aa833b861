//! Files of other makers, which a program may meet where it expects one of ours.

/// What a file that is not ours seems to be, by its first bytes; `None` for a log of the engine.
pub(crate) fn foreign(beginning: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| beginning.starts_with(magic);
    if starts(b"IMMUXLOG") {
        return None;
    }
    if let Some(name) = berkeley_db(beginning) {
        return Some(name);
    }
    Some(if starts(&[0xfe, 0x53]) {
        "a C-ISAM index file"
    } else if starts(b"VB") && beginning.get(2..4).is_some_and(|version| version[0] < 0x10) {
        "a VBISAM index file"
    } else if starts(&[0x30, 0x7e]) || starts(&[0x30, 0x00, 0x00, 0x7c]) || starts(&[0x33, 0xfe]) {
        "a Micro Focus indexed file"
    } else if starts(b"SQLite format 3\0") {
        "an SQLite database"
    } else if starts(b"IMMUXRUN") || starts(b"IMMUXMAN") {
        "a part of the .idx directory of an ImmuxDB file"
    } else if beginning.iter().all(|byte| *byte == 0) {
        "a file that begins with zeroes (was the machine switched off while it was being written?)"
    } else if beginning.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1a | 0x20..=0x7e)) {
        "a text file, or a sequential one"
    } else {
        "a file of another kind"
    })
}

/// Berkeley DB keeps its magic at byte 12, in the order of the machine that wrote it.
fn berkeley_db(beginning: &[u8]) -> Option<&'static str> {
    let bytes: [u8; 4] = beginning.get(12..16)?.try_into().ok()?;
    [u32::from_le_bytes(bytes), u32::from_be_bytes(bytes)].into_iter().find_map(|magic| match magic {
        0x0005_3162 => Some("a Berkeley DB file (btree)"),
        0x0006_1561 => Some("a Berkeley DB file (hash)"),
        0x0004_2253 => Some("a Berkeley DB file (queue)"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_are_known_by_their_magic() {
        let mut page = vec![0; 512];
        page[12..16].copy_from_slice(&[0x62, 0x31, 0x05, 0]);
        assert_eq!(foreign(&page), Some("a Berkeley DB file (btree)"));
        page[12..16].copy_from_slice(&[0, 0x05, 0x31, 0x62]);
        assert_eq!(foreign(&page), Some("a Berkeley DB file (btree)"));
        assert_eq!(foreign(&[0xfe, 0x53, 2]), Some("a C-ISAM index file"));
        assert_eq!(foreign(b"VB\x02\x02"), Some("a VBISAM index file"));
        assert_eq!(foreign(&[0x33, 0xfe, 0, 0]), Some("a Micro Focus indexed file"));
        assert_eq!(foreign(b"0001 Ada\n"), Some("a text file, or a sequential one"));
        assert_eq!(foreign(&[1, 2, 3]), Some("a file of another kind"));
        assert_eq!(foreign(b"IMMUXLOG\x01\0"), None);
        assert!(foreign(&[0; 512]).is_some_and(|what| what.contains("zeroes")));
    }
}
