//! Whatever is changed in a proof or a root, by a single bit or in one piece, the proof no longer holds.

use crate::support::Chain;
use immuxdb_proof::{Proof, Refused, Root};
use serde_json::Value;

/// All documents that differ from this one in a single bit of one value, or in one element of a list, or by a field.
fn changed(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::String(text) => {
            for at in 0..text.len() {
                for bit in 0..8 {
                    let mut bytes = text.clone().into_bytes();
                    bytes[at] ^= 1 << bit;
                    all.extend(String::from_utf8(bytes).map(Value::String));
                }
            }
            all.push(Value::String(format!("{text} ")));
        }
        Value::Number(number) => {
            let number = number.as_u64().unwrap();
            all.extend((0..64).map(|bit| Value::from(number ^ 1 << bit)));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let with = |put: &[Value]| Value::Array([&items[..at], put, &items[at + 1..]].concat());
                all.push(with(&[]));
                all.push(with(&[item.clone(), item.clone()]));
                all.extend(changed(item).into_iter().map(|changed| with(&[changed])));
            }
            let mut turned = items.clone();
            turned.reverse();
            if turned != *items {
                all.push(Value::Array(turned));
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let mut without = fields.clone();
                without.remove(name);
                all.push(Value::Object(without));
                for changed in changed(field) {
                    let mut with = fields.clone();
                    with.insert(name.clone(), changed);
                    all.push(Value::Object(with));
                }
            }
            let mut more = fields.clone();
            more.insert("more".to_owned(), Value::from(1));
            all.push(Value::Object(more));
        }
        Value::Null | Value::Bool(_) => {}
    }
    all
}

fn refused(proof: &Proof, verify: impl Fn(&Proof) -> Result<(), Refused>) -> usize {
    verify(proof).unwrap();
    let document = serde_json::to_value(proof).unwrap();
    assert_eq!(&serde_json::from_value::<Proof>(document.clone()).unwrap(), proof);
    let all = changed(&document);
    for changed in &all {
        // What is no proof at all is refused as well.
        if let Ok(tampered) = serde_json::from_value::<Proof>(changed.clone()) {
            assert!(verify(&tampered).is_err(), "{changed:#}\nof\n{document:#}");
        }
    }
    all.len()
}

#[test]
fn every_bit_of_a_unit_proof_counts() {
    let chain = Chain::of(13);
    let root = chain.root(13);
    let verify = |proof: &Proof| match proof {
        Proof::Unit(proof) => proof.verify(&root),
        Proof::Extension(_) => unreachable!("another kind of proof"),
    };
    let mut tried = 0;
    for commit in [1, 2, 6, 13] {
        let proof = chain.unit(commit, 13);
        tried += refused(&Proof::Unit(Box::new(proof.clone().without_content())), verify);
        tried += refused(&Proof::Unit(Box::new(proof)), verify);
    }
    assert!(tried > 10_000, "{tried}");
}

#[test]
fn every_bit_of_an_extension_proof_counts() {
    let chain = Chain::of(16);
    for (old, new) in [(0, 0), (0, 5), (1, 16), (3, 7), (4, 7), (6, 7), (7, 7), (8, 8), (8, 16), (11, 16)] {
        let (older, newer) = (chain.root(old), chain.root(new));
        refused(&Proof::Extension(chain.extension(old, new)), |proof| match proof {
            Proof::Extension(proof) => proof.verify(&older, &newer),
            Proof::Unit(_) => unreachable!("another kind of proof"),
        });
    }
}

#[test]
fn every_bit_of_a_root_counts() {
    let chain = Chain::of(7);
    let root = chain.root(7);
    let document = serde_json::to_value(root).unwrap();
    for changed in changed(&document) {
        if let Ok(tampered) = serde_json::from_value::<Root>(changed) {
            assert!(chain.unit(5, 7).verify(&tampered).is_err(), "{tampered:?}");
            assert!(chain.extension(3, 7).verify(&chain.root(3), &tampered).is_err(), "{tampered:?}");
            assert!(chain.extension(7, 7).verify(&tampered, &root).is_err(), "{tampered:?}");
        }
    }
}

/// Rewriters of histories: what they can make extends nothing that was kept.
#[test]
fn a_history_that_was_rewritten_does_not_extend_the_kept_root() {
    let (honest, kept) = (Chain::of(12), Chain::of(12).root(9));
    for height in 1..=9 {
        let mut rewritten = Chain::of(12);
        rewritten.commits[height - 1].commit.time += 1;
        let proof = rewritten.extension(9, 12);
        assert!(matches!(proof.verify(&kept, &rewritten.root(12)), Err(Refused::NotInHistory(_))), "{height}");
        let unit = rewritten.unit(height as u64, 12);
        unit.verify(&rewritten.root(12)).unwrap();
        unit.verify(&honest.root(12)).unwrap_err();
    }
}

#[test]
fn a_definition_after_the_version_is_a_contradiction() {
    let chain = Chain::of(5);
    let mut proof = chain.unit(2, 5);
    proof.grouping.evidence.place = 9;
    assert!(matches!(proof.verify(&chain.root(5)), Err(Refused::Path(_))));
    let mut proof = chain.unit(2, 5);
    proof.version.previous = Some(2);
    assert!(matches!(proof.verify(&chain.root(5)), Err(Refused::Contradiction(_))));
    proof.version.previous = Some(0);
    assert!(matches!(proof.verify(&chain.root(5)), Err(Refused::Contradiction(_))));
}
