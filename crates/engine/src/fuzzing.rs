//! Every decoder survives arbitrary bytes: it gives an error, or something that can be used. It does not panic, and what
//! it allocates is bounded by the bytes that there are.
//!
//! Each function here feeds bytes to decoders. `fuzz/` calls them with what libFuzzer thinks of; the tests below with
//! random bytes and with files that were spoilt at some places. Checksums would stop nearly all of that at the door, so
//! the first byte says which one is not looked at (see [`planted`](crate::planted)).

use std::path::Path;

use serde_json::Value;

use crate::chain::catalog::decode_catalog;
use crate::index::{IndexDefinition, decode_key, key_from_json, key_from_values, validate_json};
use crate::planted::{self, Fault};
use crate::run::{Manifest, memory};
use crate::types::{Birth, GroupingId, Height};

/// Frames, bodies and the first page of a log.
pub fn log(bytes: &[u8]) {
    without(bytes, &[Fault::HeadChecksumDropped, Fault::BodyChecksumDropped], crate::log::fuzzing::read_everything);
}

/// A run: all sections forwards, backwards and by seeking.
pub fn run(bytes: &[u8]) {
    without(bytes, &[Fault::BlockChecksumDropped], |bytes| {
        let _ = read_run(bytes);
    });
}

/// A manifest, and the catalog in it.
pub fn manifest(bytes: &[u8]) {
    without(bytes, &[Fault::ManifestChecksumDropped], |bytes| {
        if let Ok(manifest) = Manifest::decode(bytes, Path::new("manifest")) {
            let again = Manifest::decode(&manifest.encode(), Path::new("manifest"));
            assert!(again.is_ok_and(|again| again == manifest), "what was read can be written and read again");
            decode_catalog(&manifest.catalog);
        }
    });
}

/// A catalog, and an index's definition.
pub fn catalog(bytes: &[u8]) {
    decode_catalog(bytes);
    if let Ok(definition) = IndexDefinition::decode(bytes) {
        let again = IndexDefinition::decode(&definition.encode());
        assert!(again.is_ok_and(|again| again == definition), "what was read can be written and read again");
    }
}

/// Index keys: any bytes are a key or an error. Of two JSON texts, divided by a zero byte, the keys order as the values
/// do, and lead back to them.
pub fn index_key(bytes: &[u8]) {
    let ascending = IndexDefinition::json("a");
    let descending = IndexDefinition::json("a").descending();
    for definition in [&ascending, &descending] {
        let _ = decode_key(definition, bytes);
    }
    let mut texts = bytes.split(|byte| *byte == 0).map(std::str::from_utf8);
    let (Some(Ok(a)), Some(Ok(b))) = (texts.next(), texts.next()) else {
        return;
    };
    let key = |definition: &IndexDefinition, text: &str| key_from_json(definition, &[text]);
    let (Ok(key_a), Ok(key_b)) = (key(&ascending, a), key(&ascending, b)) else {
        return;
    };
    if let (Ok(down_a), Ok(down_b)) = (key(&descending, a), key(&descending, b)) {
        assert_eq!(key_a.cmp(&key_b), down_b.cmp(&down_a), "the other way round: {a} and {b}");
    }
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (parsed(a), parsed(b)) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => {
            if let (Some(a), Some(b)) = (a.as_i128(), b.as_i128()) {
                assert_eq!(key_a.cmp(&key_b), a.cmp(&b), "{a} and {b}");
            }
        }
        (Some(Value::String(a)), Some(Value::String(b))) => {
            assert_eq!(key_a.cmp(&key_b), a.cmp(&b), "{a:?} and {b:?}");
        }
        _ => {}
    }
    if let Ok(values) = decode_key(&ascending, &key_a) {
        let again = key_from_values(&ascending, &values);
        assert!(again.is_ok_and(|again| again == key_a), "{a} leads to a key that leads to {values:?}");
    }
}

/// The JSON scanner accepts what `serde_json` parses, and nothing else.
pub fn json(bytes: &[u8]) {
    let expected = serde_json::from_slice::<Value>(bytes).is_ok();
    assert_eq!(validate_json(bytes).is_ok(), expected, "{:?}", String::from_utf8_lossy(bytes));
}

/// Reads what follows the first byte, which says which checksum is not looked at.
fn without(bytes: &[u8], checksums: &[Fault], read: impl Fn(&[u8])) {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    planted::plant(checksums.get(choice as usize % (checksums.len() + 1)).copied());
    read(bytes);
    planted::plant(None);
}

fn read_run(bytes: &[u8]) -> crate::Result<()> {
    let run = memory::open(bytes.to_vec())?;
    let _ = run.marks()?.iter().count();
    let probe = bytes.get(..4).unwrap_or_default();
    for section in run.sections() {
        let mut cursor = run.cursor(section);
        cursor.seek_first()?;
        while cursor.valid() {
            let _ = cursor.entry();
            cursor.next()?;
        }
        cursor.seek(probe, Birth::new(Height(5), 0))?;
        cursor.seek_last()?;
        while cursor.valid() {
            let _ = cursor.entry();
            cursor.prev()?;
        }
    }
    run.find_version(GroupingId(1), probe, crate::run::key_hash(probe), Height::MAX).map(|_| ())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is spoilt: at a place, by another byte, by one more, by one less.
    type Spoils = Vec<(prop::sample::Index, u8, u8)>;

    fn spoils() -> impl Strategy<Value = (u8, Spoils)> {
        (0..3u8, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..6u8), 0..6))
    }

    fn spoilt(whole: &[u8], (choice, spoils): (u8, Spoils)) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        for (at, byte, how) in spoils {
            let at = at.index(bytes.len());
            match how {
                0 => bytes.insert(at, byte),
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                2 => bytes[at] ^= 1 << (byte % 8),
                _ => bytes[at] = byte,
            }
        }
        bytes.insert(0, choice);
        bytes
    }

    fn sample_of_manifest() -> Vec<u8> {
        let mut catalog = vec![1, 2, 1, 1, b'g', 1, 1, 3, 1, 2, 1, b'i'];
        let definition = IndexDefinition::json("city").unique().encode();
        catalog.push(definition.len() as u8);
        catalog.extend_from_slice(&definition);
        catalog.extend_from_slice(&[2, 0, 1]);
        assert!(decode_catalog(&catalog), "the sample is whole");
        Manifest { log_id: [7; 16], generation: 0, runs: Vec::new(), next_run: 3, catalog }.encode()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for target in [log, run, manifest, catalog, index_key, json] {
                target(&bytes);
            }
        }

        #[test]
        fn spoilt_logs(spoils in spoils()) {
            log(&spoilt(&crate::log::fuzzing::sample(), spoils));
        }

        #[test]
        fn spoilt_manifests(spoils in spoils()) {
            let whole = sample_of_manifest();
            manifest(&spoilt(&whole, spoils));
        }

        #[test]
        fn spoilt_catalogs(spoils in spoils()) {
            let manifest = Manifest::decode(&sample_of_manifest(), Path::new("manifest")).unwrap();
            catalog(&spoilt(&manifest.catalog, spoils)[1..]);
        }

        #[test]
        fn spoilt_runs(spoils in spoils()) {
            run(&spoilt(&crate::run::memory::sample(), spoils));
        }

        #[test]
        fn pairs_of_values(a in "-?[0-9]{1,20}(\\.[0-9]{1,3})?|\"[a-c\u{0}é]{0,3}\"|null|true|\\[1\\]", b in "-?[0-9]{1,20}|\"[a-c\u{1}é]{0,3}\"") {
            index_key(format!("{a}\0{b}").as_bytes());
        }
    }
}
