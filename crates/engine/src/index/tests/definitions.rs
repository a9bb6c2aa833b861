//! Definitions: their text, their bytes, and what is refused.

use proptest::prelude::*;

use crate::error::Error;
use crate::index::{FieldPath, IndexDefinition, JsonField, KEY_ENCODING, KeySource, RawPart, Sparse};
use crate::limits::{CONTENT_BYTES, FIELDS_PER_INDEX, INDEX_KEY_BYTES, NAME_BYTES};

fn definitions() -> impl Strategy<Value = IndexDefinition> {
    let segment = prop_oneof!["[a-c]{1,3}", "[-.,\\\\ =é\u{0}]{1,3}"];
    let path = prop::collection::vec(segment, 1..4).prop_map(FieldPath::new);
    let field = (path, any::<bool>()).prop_map(|(path, descending)| JsonField { path, descending });
    let part = (0u32..100_000, 1u32..4000, any::<bool>()).prop_map(|(offset, len, descending)| RawPart {
        offset,
        len,
        descending,
    });
    let json = (prop::collection::vec(field, 1..=4), any::<bool>())
        .prop_map(|(fields, sparse)| (KeySource::Json(fields), if sparse { Sparse::Missing } else { Sparse::No }));
    let raw = (prop::collection::vec(part, 1..=FIELDS_PER_INDEX), any::<Option<u8>>())
        .prop_map(|(parts, filler)| (KeySource::Raw(parts), filler.map_or(Sparse::No, Sparse::Filler)));
    (prop_oneof![json, raw], any::<bool>())
        .prop_map(|((source, sparse), unique)| IndexDefinition { source, unique, sparse, encoding: KEY_ENCODING })
        .prop_filter("a field twice", |definition| definition.validate().is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn text_and_bytes_read_back(definition in definitions()) {
        prop_assert_eq!(&definition.to_string().parse::<IndexDefinition>().unwrap(), &definition);
        prop_assert_eq!(&IndexDefinition::decode(&definition.encode()).unwrap(), &definition);
    }

    #[test]
    fn damaged_bytes_are_an_error_or_a_definition(definition in definitions(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = definition.encode();
        let at = at.index(bytes.len());
        prop_assert!(IndexDefinition::decode(&bytes[..at]).is_err());
        bytes[at] = byte;
        if let Ok(other) = IndexDefinition::decode(&bytes) {
            prop_assert_eq!(other.encode(), bytes);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..4], 0..40)) {
        let _ = IndexDefinition::decode(&bytes);
        let _ = IndexDefinition::decode(&[&[1, 1, 0, 0, 0], &bytes[..]].concat());
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "(json:|raw:|)[-ab.,\\\\ +019=xé]{0,12}( unique| sparse| filler=.{0,4})?") {
        if let Ok(definition) = text.parse::<IndexDefinition>() {
            prop_assert_eq!(definition.to_string().parse::<IndexDefinition>().unwrap(), definition);
        }
    }
}

#[test]
fn builders_and_texts_agree() {
    for (text, built) in [
        ("json:district_id,-date", IndexDefinition::json("district_id").and("date").descending()),
        ("json:address.city unique sparse", IndexDefinition::json("address.city").unique().sparse()),
        (r"json:a\.b,\-c", IndexDefinition::json(FieldPath::new(["a.b"])).and("-c")),
        (
            "raw:0+18,-24+4 unique filler=0x20",
            IndexDefinition::raw(0..18).and_bytes(24..28).descending().unique().filler(b' '),
        ),
    ] {
        assert_eq!(built.to_string(), text);
        assert_eq!(text.parse::<IndexDefinition>().unwrap(), built);
    }
    let spaced: IndexDefinition = "  raw:0+1   filler=32 ".parse().unwrap();
    assert_eq!(spaced, IndexDefinition::raw(0..1).filler(b' '));
}

#[test]
fn nonsense_is_refused() {
    for text in [
        "",
        "age",
        "json:",
        "json:a,",
        "json:a..b",
        "json:a,a",
        "json:a filler=1",
        "json:a uniq",
        "raw:",
        "raw:0",
        "raw:0+0",
        "raw:0+18 sparse",
        "raw:0+x",
        "raw:-1+2+3",
        "raw:5+4294967295",
        "raw:0+1 filler=256",
    ] {
        assert!(matches!(text.parse::<IndexDefinition>(), Err(Error::Invalid(_))), "{text}");
    }
    let too_large = |definition: IndexDefinition| matches!(definition.validate(), Err(Error::TooLarge { .. }));
    assert!(too_large(IndexDefinition::json(FieldPath::new(["x".repeat(NAME_BYTES + 1)]))));
    assert!(too_large(IndexDefinition::raw(0..INDEX_KEY_BYTES as u32 + 1)));
    let end = CONTENT_BYTES as u32;
    assert!(IndexDefinition::raw(end - 1..end).validate().is_ok());
    assert!(IndexDefinition::raw(end - 1..end + 1).validate().is_err());
    assert!(IndexDefinition::json(FieldPath::new(vec!["a"; 128])).validate().is_err());
    let many = (0..FIELDS_PER_INDEX as u32).fold(IndexDefinition::raw(0..1), |d, at| d.and_bytes(at..at + 1));
    assert!(many.validate().is_err());
    let mut newer = IndexDefinition::json("a");
    newer.encoding = 2;
    assert!(IndexDefinition::decode(&newer.encode()).is_err());
}
