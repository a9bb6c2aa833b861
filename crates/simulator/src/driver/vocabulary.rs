//! What the histories are about: few groupings, few keys and few values, so that everything collides with everything.

use std::collections::BTreeMap;

use libimmuxdb::VersionKind;

use crate::model::{Content, Field, IndexSpec, Key, KeyPart, Parts, Range, UnitKey, Value};
use crate::random::Random;

/// The groupings that a history writes to.
pub(super) const GROUPINGS: [&str; 3] = ["accounts", "Zähler", "r"];

/// The names that indexes get, in any grouping.
pub(super) const INDEXES: [&str; 4] = ["one", "two", "three", "quatre ❤"];

/// Numbers in quarters, and how JSON may spell them.
const NUMBERS: [(i128, &[&str]); 12] = [
    (0, &["0", "0.0", "-0", "0e7"]),
    (1, &["0.25", "25e-2"]),
    (4, &["1", "1.0", "10E-1"]),
    (8, &["2", "0.2e+1"]),
    (-4, &["-1", "-1.00"]),
    (-6, &["-1.5"]),
    (4 << 53, &["9007199254740992", "9007199254740992.0"]),
    ((4 << 53) + 4, &["9007199254740993"]),
    (4 * (i64::MAX as i128), &["9223372036854775807"]),
    (4 << 63, &["9223372036854775808", "9223372036854775808.0"]),
    (4 * (i64::MIN as i128), &["-9223372036854775808", "-9.223372036854775808e18"]),
    (40, &["10", "1e1"]),
];

const TEXTS: [&str; 7] = ["", "a", "ab", "b", "a\0", "a\u{1}", "žluťoučký"];

const RAW_ALPHABET: [u8; 5] = [b' ', b'a', b'b', 0, 255];

/// What one history draws from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vocabulary {
    /// Common unit keys. With few of them units have many versions, with many a scan takes up several views.
    keys: u64,
    /// Common values of a field. With few of them an index has long stretches of duplicates, dead and alive.
    values: usize,
    /// Percent of the transactions that are large.
    large_batches: u64,
    /// The most operations of a large transaction.
    largest_batch: u64,
}

impl Vocabulary {
    /// Draws the character of a history.
    pub fn draw(random: &mut Random) -> Vocabulary {
        let (keys, large_batches, largest_batch) = random.weighted(&[
            (50, (30, 5, 120)),
            (20, (8, 5, 40)),
            (15, (2, 10, 10)),
            (12, (300, 15, 200)),
            (3, (2500, 30, 600)),
        ]);
        Vocabulary { keys, values: *random.pick(&[2, 4, 4, 12]), large_batches, largest_batch }
    }

    /// How many operations a transaction has.
    pub fn batch(&self, random: &mut Random) -> u64 {
        if random.chance(self.large_batches) { random.between(7, self.largest_batch) } else { random.below(7) }
    }

    /// A unit key; the same ones again and again.
    pub fn unit_key(&self, random: &mut Random) -> UnitKey {
        match random.below(40) {
            0 => vec![0],
            1 => vec![0, 0],
            2 => vec![255, 255],
            3 => vec![0; 300],
            4 => [vec![b'k'; 2000], vec![random.below(3) as u8]].concat(),
            5 => (0..=255).collect(),
            6..12 => vec![b'k', *random.pick(&RAW_ALPHABET)],
            _ => format!("key {:02}", random.below(self.keys)).into_bytes(),
        }
    }

    /// A content: mostly small, sometimes empty, seldom huge.
    pub fn content(&self, random: &mut Random) -> Content {
        if random.chance(60) { self.json(random) } else { raw(random) }
    }

    fn json(&self, random: &mut Random) -> Content {
        let mut fields = BTreeMap::new();
        let mut members = Vec::new();
        for path in ["a", "b", "n.x", "u"] {
            if random.chance(if path == "u" { 10 } else { 25 }) {
                continue;
            }
            let (value, text) = self.value(random, path);
            members.push(match path.split_once('.') {
                Some((outer, inner)) => format!("\"{outer}\":{{\"{inner}\" : {text}}}"),
                None => format!("\"{path}\":{text}"),
            });
            fields.insert(path, value);
        }
        if random.chance(10) {
            let len = if random.chance(5) { random.between(10_000, 100_000) } else { random.below(2_000) };
            members.push(format!("\"pad\":\"{}\"", "p".repeat(len as usize)));
        }
        for last in (1..members.len()).rev() {
            members.swap(last, random.index(last + 1));
        }
        let separator = *random.pick(&[",", ", ", " ,\n"]);
        let text = format!("{{{}}}", members.join(separator));
        Content { kind: VersionKind::Json, bytes: text.into_bytes().into(), fields }
    }

    /// A value of a field, and a spelling of it.
    fn value(&self, random: &mut Random, path: &str) -> (Value, String) {
        if path == "u" {
            let n = random.below(10 * self.keys);
            return (Value::Quarters(4 * i128::from(n)), n.to_string());
        }
        let strings = if path == "b" { 20 } else { 4 };
        let common = random.chance(70);
        match random.weighted(&[(10, 0), (strings, 1), (2, 2), (2, 3), (1, 4)]) {
            0 => {
                let among = if common { self.values } else { NUMBERS.len() };
                let (quarters, spellings) = NUMBERS[random.index(among)];
                (Value::Quarters(quarters), (*random.pick(spellings)).to_owned())
            }
            1 => {
                let among = if common { self.values.min(TEXTS.len()) } else { TEXTS.len() };
                let value = Value::Text((*random.pick(&TEXTS[..among])).to_owned());
                let text = spell(&value);
                (value, text)
            }
            2 => (Value::Null, "null".to_owned()),
            3 => {
                let truth = random.chance(50);
                (Value::Bool(truth), truth.to_string())
            }
            _ => (Value::EmptyObject, "{}".to_owned()),
        }
    }

    /// The first parts of a key that an index might have: something to begin or end a scan at.
    pub fn bound(&self, random: &mut Random, spec: &IndexSpec) -> Key {
        match &spec.parts {
            Parts::Fields(fields) => {
                let count = 1 + random.index(fields.len());
                fields[..count].iter().map(|field| field.part(self.value(random, field.path).0)).collect()
            }
            Parts::Bytes(ranges) => {
                let total = ranges.iter().map(|range| range.len).sum();
                let mut key: Key = (0..total).map(|_| KeyPart::Byte(*random.pick(&RAW_ALPHABET))).collect();
                key.truncate(1 + random.index(total));
                key
            }
        }
    }
}

fn raw(random: &mut Random) -> Content {
    let len = match random.below(200) {
        0 => random.between(10_000, 200_000),
        1..20 => random.between(100, 3_000),
        _ => random.below(9),
    };
    let mut bytes: Vec<u8> = (0..len.min(8)).map(|_| *random.pick(&RAW_ALPHABET)).collect();
    bytes.resize(len as usize, 0);
    if len > 8 {
        random.fill(&mut bytes[8..]);
    }
    Content { kind: VersionKind::Raw, bytes: bytes.into(), fields: BTreeMap::new() }
}

/// A spelling of a value in JSON.
pub(super) fn spell(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Quarters(quarters) if quarters % 4 == 0 => (quarters / 4).to_string(),
        Value::Quarters(quarters) => (*quarters as f64 / 4.0).to_string(),
        Value::Text(text) => {
            let escaped = text.chars().map(|c| match c {
                '"' | '\\' => format!("\\{c}"),
                c if c.is_control() => format!("\\u{:04x}", c as u32),
                c => c.to_string(),
            });
            format!("\"{}\"", escaped.collect::<String>())
        }
        Value::EmptyObject => "{}".to_owned(),
        Value::Bool(truth) => truth.to_string(),
    }
}

/// An index to create.
pub(super) fn index_spec(random: &mut Random) -> IndexSpec {
    let unique = random.chance(20);
    if random.chance(70) {
        let mut paths = if unique { vec!["u", "a"] } else { vec!["a", "b", "n.x", "u"] };
        if !unique {
            let first = random.index(paths.len());
            paths.rotate_left(first);
        }
        paths.truncate(1 + random.index(2));
        let fields = paths.into_iter().map(|path| Field { path, descending: random.chance(30) }).collect();
        IndexSpec { parts: Parts::Fields(fields), unique, sparse: random.chance(40), filler: None }
    } else {
        let ranges = (0..random.between(1, 2)).map(|_| {
            let len = if unique { random.between(4, 7) } else { random.between(1, 2) };
            Range { offset: random.index(3), len: len as usize, descending: random.chance(30) }
        });
        let parts = Parts::Bytes(ranges.collect());
        let filler = random.chance(40).then(|| *random.pick(&RAW_ALPHABET));
        IndexSpec { parts, unique, sparse: false, filler }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_tells_the_same_story() {
        let tell = || {
            let mut random = Random::new(5);
            let vocabulary = Vocabulary::draw(&mut random);
            (0..100).map(|_| (vocabulary.unit_key(&mut random), vocabulary.content(&mut random))).collect::<Vec<_>>()
        };
        assert_eq!(tell(), tell());
    }

    #[test]
    fn spellings_mean_the_numbers_that_they_stand_for() {
        for (quarters, spellings) in NUMBERS {
            for text in spellings {
                let exact = text.parse::<i128>().map(|whole| 4 * whole).unwrap_or_else(|_| {
                    let double: f64 = text.parse().unwrap();
                    (double * 4.0) as i128
                });
                assert_eq!(exact, quarters, "{text}");
            }
        }
    }

    #[test]
    fn keys_and_contents_collide() {
        let mut random = Random::new(1);
        let vocabulary = Vocabulary { keys: 30, values: 4, large_batches: 0, largest_batch: 7 };
        let keys: std::collections::BTreeSet<_> = (0..1000).map(|_| vocabulary.unit_key(&mut random)).collect();
        assert!((20..60).contains(&keys.len()), "{} keys", keys.len());
        let spec = index_spec(&mut random);
        let found: std::collections::BTreeSet<_> =
            (0..1000).filter_map(|_| spec.key(&vocabulary.content(&mut random))).collect();
        assert!(found.len() < 500, "{} index keys", found.len());
    }
}
