//! probe
#![allow(clippy::unwrap_used)]
use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Background, Content, Durability, Scan, Store, StoreOptions};
use tempfile::TempDir;

fn small() -> StoreOptions {
    let mut options = StoreOptions::default().durability(Durability::Process).memory_limit(512 << 10);
    options.background = Background::Manual;
    options
}

/// A fill run merged with an older run, and a clear between.
#[test]
fn a_fill_run_merged_with_an_older_one_keeps_its_entries() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), small()).unwrap();
    let chain = store.chain("default").unwrap();
    let g = chain.grouping("g").unwrap();
    let other = chain.grouping("other").unwrap();
    let mut i = 0;
    while chain.stats().runs.len() < 4 {
        i += 1;
        other.put(format!("key {i}").as_bytes(), Content::json(r#"{"a":1}"#)).unwrap();
        if i % 100 == 0 {
            chain.run_background_step().unwrap();
        }
    }
    while chain.run_background_step().unwrap() {}
    g.put(b"old", Content::json(r#"{"a":0}"#)).unwrap();
    g.clear().unwrap();
    for n in 0..10 {
        g.put(format!("u{n}").as_bytes(), Content::json(r#"{"a":1}"#)).unwrap();
    }
    g.create_index("a", IndexDefinition::json("a"), &mut |_| {}).unwrap();
    println!("runs {:?}", chain.stats().runs);
    assert_eq!(g.count(Scan::index("a")).unwrap(), 10);
    while chain.run_background_step().unwrap() {}
    println!("runs {:?}", chain.stats().runs);
    assert_eq!(g.count(Scan::index("a")).unwrap(), 10);
}

use libimmuxdb::storage::{File, OpenMode, Storage, disk::Disk};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Copies the store before each replacing of a manifest.
struct Copier {
    disk: Arc<dyn Storage>,
    root: PathBuf,
    out: PathBuf,
    n: Mutex<u32>,
}
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for e in std::fs::read_dir(from).unwrap() {
        let e = e.unwrap();
        if e.file_type().unwrap().is_dir() {
            copy(&e.path(), &to.join(e.file_name()));
        } else {
            std::fs::copy(e.path(), to.join(e.file_name())).unwrap();
        }
    }
}
impl Storage for Copier {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        self.disk.open(path, mode)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut n = self.n.lock().unwrap();
        *n += 1;
        copy(&self.root, &self.out.join(n.to_string()));
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn list(&self, d: &Path) -> io::Result<Vec<String>> {
        self.disk.list(d)
    }
    fn create_dir(&self, d: &Path) -> io::Result<()> {
        self.disk.create_dir(d)
    }
    fn sync_dir(&self, d: &Path) -> io::Result<()> {
        self.disk.sync_dir(d)
    }
    fn exists(&self, p: &Path) -> io::Result<bool> {
        self.disk.exists(p)
    }
}

#[test]
fn an_interrupted_fill_does_not_stop_merges() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("store");
    let out = directory.path().join("copies");
    let mut options = small();
    options.storage = Arc::new(Copier { disk: Disk::shared(), root: root.clone(), out: out.clone(), n: Mutex::new(0) });
    let store = Store::open(&root, options).unwrap();
    let chain = store.chain("default").unwrap();
    let g = chain.grouping("g").unwrap();
    for n in 0..10 {
        g.put(format!("u{n}").as_bytes(), Content::json(r#"{"a":1}"#)).unwrap();
    }
    g.create_index("a", IndexDefinition::json("a"), &mut |_| {}).unwrap();
    let last = std::fs::read_dir(&out).unwrap().count();
    assert_eq!(last, 2); // the copy has the first manifest, not the second
    let store = Store::open(out.join("2"), small()).unwrap();
    let chain = store.chain("default").unwrap();
    println!("runs {:?}", chain.stats().runs);
    let g = chain.grouping("g").unwrap();
    assert_eq!(g.count(Scan::index("a")).unwrap(), 10);
    let mut i = 0;
    while chain.stats().runs.len() < 8 {
        i += 1;
        g.put(format!("key {i}").as_bytes(), Content::json(r#"{"a":1}"#)).unwrap();
    }
    while chain.run_background_step().unwrap() {}
    println!("runs {:?}", chain.stats().runs);
}

#[test]
fn background_steps_at_the_same_time() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), small()).unwrap();
    let chain = store.chain("default").unwrap();
    let g = chain.grouping("g").unwrap();
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..300 {
                    chain.run_background_step().unwrap();
                    std::thread::yield_now();
                }
            });
        }
        for i in 0..20000 {
            g.put(format!("key {i}").as_bytes(), Content::json(r#"{"a":1}"#)).unwrap();
        }
    });
}
