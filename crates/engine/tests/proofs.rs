//! Roots and proofs of real stores: whatever becomes of the derived hashes, the roots are those that the log has.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::proof::{Hidden, Root, UnitProof, VersionKind};
use libimmuxdb::{Background, Chain, Content, Durability, Error, Hashing, Height, Store, StoreOptions, WriteOptions};
use support::copy_directory;
use support::storage::Hasty;
use tempfile::TempDir;

const HASHES: &str = "default/log.idx/hashes";

fn options(hashing: Hashing) -> StoreOptions {
    let mut options = StoreOptions::default().durability(Durability::Process).hashing(hashing);
    options.background = Background::Manual;
    options.storage = Arc::new(Hasty::default());
    options
}

struct Opened {
    store: Store,
    chain: Arc<Chain>,
}

fn open(root: &Path, hashing: Hashing) -> Opened {
    let store = Store::open(root, options(hashing)).unwrap();
    let chain = store.chain("default").unwrap();
    Opened { store, chain }
}

fn read(root: &Path) -> Opened {
    let store = Store::open_read_only(root, options(Hashing::OnDemand)).unwrap();
    let chain = store.chain("default").unwrap();
    Opened { store, chain }
}

impl Opened {
    fn close(self) {
        drop(self.chain);
        self.store.close().unwrap();
    }

    fn roots(&self, heights: &[u64]) -> Vec<Root> {
        heights.iter().map(|height| self.chain.root(Height(*height)).unwrap()).collect()
    }
}

fn content(number: u64) -> String {
    format!(r#"{{"number":{number}}}"#)
}

/// Commits of all kinds, up to `heights`.
fn write(chain: &Arc<Chain>, heights: u64) {
    let units = chain.grouping("units").unwrap();
    while chain.height().0 < heights {
        let number = chain.height().0;
        let key = format!("key {}", number % 7);
        match number % 50 {
            10 => drop(units.create_index("number", IndexDefinition::json("number"), &mut |_| {}).unwrap()),
            20 => drop(units.drop_index("number").unwrap()),
            30 => drop(units.clear().unwrap()),
            40 => {
                let others = chain.grouping("others").unwrap();
                let mut several = chain.begin();
                several.set_actor("eve");
                for place in 0..number % 11 + 2 {
                    several.put(&others, format!("{place}").as_bytes(), Content::raw(b"\xff\x00")).unwrap();
                }
                several.commit().unwrap();
            }
            31..35 => drop(units.put(b"kept", Content::json(&content(number))).unwrap()),
            35 => drop(units.delete(b"kept").unwrap()),
            _ => drop(units.put(key.as_bytes(), Content::json(&content(number))).unwrap()),
        }
    }
}

const HEIGHTS: [u64; 12] = [0, 1, 2, 9, 255, 256, 257, 500, 511, 512, 513, 700];

/// A closed store with 700 commits, and its roots as they are computed from the log alone.
fn written(hashing: Hashing) -> (TempDir, Vec<Root>) {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), hashing);
    write(&opened.chain, 700);
    opened.chain.drain().unwrap();
    opened.close();
    let bare = tempfile::tempdir().unwrap();
    copy_directory(folder.path(), bare.path()).unwrap();
    let _ = std::fs::remove_file(bare.path().join(HASHES));
    let roots = read(bare.path()).roots(&HEIGHTS);
    (folder, roots)
}

#[test]
fn roots_are_the_same_from_hashes_and_from_the_log() {
    let (folder, roots) = written(Hashing::Background);
    assert!(folder.path().join(HASHES).exists());
    assert_eq!(read(folder.path()).roots(&HEIGHTS), roots);
    for hashing in [Hashing::Background, Hashing::OnDemand] {
        let opened = open(folder.path(), hashing);
        assert_eq!(opened.roots(&HEIGHTS), roots, "{hashing:?}");
        opened.close();
    }
    // Each height has a root of its own.
    let mut hashes: Vec<_> = roots.iter().map(|root| root.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), roots.len());
}

#[test]
fn a_store_without_hashing_and_a_small_one_have_no_file_of_hashes() {
    let (folder, _) = written(Hashing::OnDemand);
    assert!(!folder.path().join(HASHES).exists());
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), Hashing::Background);
    write(&opened.chain, 9);
    opened.chain.drain().unwrap();
    assert_eq!(opened.chain.stats().hashed, Height(9));
    opened.close();
    assert!(!folder.path().join("default/log.idx").exists());
}

#[test]
fn hashes_that_were_cut_or_damaged_at_any_place_change_no_root() {
    let (folder, roots) = written(Hashing::Background);
    let path = folder.path().join(HASHES);
    let whole = std::fs::read(&path).unwrap();
    let mut variants: Vec<Vec<u8>> =
        (0..whole.len()).step_by(whole.len() / 40).map(|len| whole[..len].to_vec()).collect();
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        variants.push(flipped);
    }
    let mut torn = whole.clone();
    torn.extend_from_slice(&[0; 5000]);
    variants.push(torn);
    for (number, bytes) in variants.iter().enumerate() {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(folder.path()).roots(&HEIGHTS), roots, "{number}");
        // The writer mends the file.
        let opened = open(folder.path(), Hashing::Background);
        assert_eq!(opened.roots(&HEIGHTS), roots, "{number}");
        opened.close();
        assert_eq!(read(folder.path()).roots(&HEIGHTS), roots, "{number}");
    }
    assert!(std::fs::read(&path).unwrap().len() >= whole.len());
}

#[test]
fn hashes_of_another_history_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), Hashing::Background);
    write(&opened.chain, 400);
    opened.close();
    // Two copies go different ways, and one gets the hashes of the other.
    let copy = tempfile::tempdir().unwrap();
    copy_directory(folder.path(), copy.path()).unwrap();
    let mut kept = Vec::new();
    for root in [folder.path(), copy.path()] {
        let opened = open(root, Hashing::Background);
        write(&opened.chain, 900);
        opened.chain.drain().unwrap();
        kept.push(opened.roots(&[400, 900]));
        opened.close();
    }
    assert_eq!(kept[0][0], kept[1][0]);
    assert_ne!(kept[0][1], kept[1][1]);
    std::fs::copy(copy.path().join(HASHES), folder.path().join(HASHES)).unwrap();
    assert_eq!(read(folder.path()).roots(&[400, 900]), kept[0]);
    let opened = open(folder.path(), Hashing::Background);
    assert_eq!(opened.roots(&[400, 900]), kept[0]);
    write(&opened.chain, 1000);
    let newest = opened.roots(&[1000]);
    opened.close();
    assert_eq!(read(folder.path()).roots(&[1000]), newest);

    // Also where only the leaves of the last tile, which is not full, are others.
    let copy = tempfile::tempdir().unwrap();
    copy_directory(folder.path(), copy.path()).unwrap();
    let [ours, theirs] = [folder.path(), copy.path()].map(|root| {
        let opened = open(root, Hashing::Background);
        write(&opened.chain, 1020);
        opened.chain.drain().unwrap();
        let root = opened.roots(&[1020]);
        opened.close();
        root
    });
    assert_ne!(ours, theirs);
    std::fs::copy(copy.path().join(HASHES), folder.path().join(HASHES)).unwrap();
    let opened = open(folder.path(), Hashing::Background);
    assert_eq!(opened.roots(&[1020]), ours);
    opened.close();

    // Those of another log are not used either.
    let (other, _) = written(Hashing::Background);
    std::fs::copy(other.path().join(HASHES), folder.path().join(HASHES)).unwrap();
    let opened = open(folder.path(), Hashing::Background);
    assert_eq!(opened.roots(&[400, 900]), kept[0]);
    opened.close();
}

#[test]
fn every_version_is_proven_at_every_height_from_its_own_on() {
    let (folder, _) = written(Hashing::Background);
    let Opened { chain, .. } = read(folder.path());
    for height in (1..=700).step_by(23) {
        let height = Height(height);
        let root = chain.root(height).unwrap();
        let snapshot = chain.snapshot_at(height).unwrap();
        for (grouping, key) in (0..7)
            .map(|key| ("units", format!("key {key}")))
            .chain([("units", "kept".to_owned()), ("others", "1".to_owned())])
        {
            let there = snapshot.get(grouping, key.as_bytes()).unwrap();
            let proof = match chain.prove(grouping, key.as_bytes(), height) {
                Ok(proof) => proof,
                Err(Error::UnitMissing | Error::GroupingMissing(_)) => {
                    assert!(there.is_none(), "{grouping} {key} at {height}");
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            proof.verify(&root).unwrap();
            assert_eq!((proof.height, proof.grouping.name.as_str()), (height.0, grouping));
            assert_eq!(proof.version.key.bytes, key.as_bytes());
            match there {
                Some(unit) => {
                    assert_eq!(proof.version.content.bytes(), Some(&unit.content[..]));
                    assert_eq!(proof.version.evidence.commit.height, unit.height.0);
                    assert_eq!(proof.version.kind == VersionKind::Raw, grouping == "others");
                }
                None => assert_eq!(proof.version.kind, VersionKind::Deleted),
            }
            let older = proof.version.previous;
            assert!(older.is_none_or(|older| chain.prove(grouping, key.as_bytes(), Height(older)).is_ok()));
        }
    }
    assert!(matches!(chain.prove("units", b"never", Height(700)), Err(Error::UnitMissing)));
    assert!(matches!(chain.prove("never", b"key 1", Height(700)), Err(Error::GroupingMissing(_))));
    assert!(matches!(chain.prove("others", b"1", Height(3)), Err(Error::GroupingMissing(_))));
    assert!(matches!(chain.root(Height(701)), Err(Error::HeightUnknown { .. })));
    assert!(matches!(chain.prove("units", b"key 1", Height(701)), Err(Error::HeightUnknown { .. })));
}

#[test]
fn later_roots_extend_earlier_ones() {
    let (folder, roots) = written(Hashing::Background);
    let Opened { chain, .. } = read(folder.path());
    for new in &roots {
        for old in roots.iter().filter(|old| old.height <= new.height) {
            let proof = chain.prove_extends(Height(old.height), Height(new.height)).unwrap();
            proof.verify(old, new).unwrap();
            assert!(old == new || proof.verify(new, old).is_err());
        }
    }
    assert!(matches!(chain.prove_extends(Height(2), Height(1)), Err(Error::Invalid(_))));
    assert!(matches!(chain.prove_extends(Height(1), Height(701)), Err(Error::HeightUnknown { .. })));
}

#[test]
fn a_proof_that_was_kept_holds_for_ever_and_shows_what_its_maker_wants() {
    let folder = tempfile::tempdir().unwrap();
    let opened = open(folder.path(), Hashing::OnDemand);
    write(&opened.chain, 5);
    let (proof, root) =
        (opened.chain.prove("units", b"key 3", Height(5)).unwrap(), opened.chain.root(Height(5)).unwrap());
    write(&opened.chain, 300);
    opened.close();
    let text = serde_json::to_string(&proof).unwrap();
    let read: UnitProof = serde_json::from_str(&text).unwrap();
    assert_eq!(read, proof);
    read.verify(&root).unwrap();
    let hidden = read.without_content();
    hidden.verify(&root).unwrap();
    assert!(matches!(hidden.version.content, Hidden::Hash(_)));
    assert!(!serde_json::to_string(&hidden).unwrap().contains("number"));
}

/// The thread of a chain follows the log by itself, and roots wait for what it has not done.
#[test]
fn the_background_follows_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let threads = StoreOptions::default().durability(Durability::Process).hashing(Hashing::Background);
    let store = Store::open(folder.path(), threads).unwrap();
    let chain = store.chain("default").unwrap();
    for round in 1..=4 {
        write(&chain, round * 300);
        // Nobody asks for it.
        let began = Instant::now();
        while chain.stats().hashed < chain.height() {
            assert!(began.elapsed() < Duration::from_secs(60), "hashing has stopped at {}", chain.stats().hashed);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let quick = chain.grouping("units").unwrap();
    let quick = quick.with(WriteOptions::durability(Durability::Buffered));
    for number in 0..600 {
        quick.put(b"one", Content::json(&content(number))).unwrap();
        if number % 100 == 0 {
            let height = chain.height();
            assert_eq!(chain.root(height).unwrap(), chain.root(height).unwrap());
        }
    }
    let newest = chain.height();
    let root = chain.root(newest).unwrap();
    chain.prove("units", b"one", newest).unwrap().verify(&root).unwrap();
    drop((chain, quick));
    store.close().unwrap();
    assert_eq!(read(folder.path()).roots(&[newest.0]), [root]);
}
