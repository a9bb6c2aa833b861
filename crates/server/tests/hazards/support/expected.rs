//! A file that says what a store must hold, beside a store whose writer is killed.
//!
//! ```text
//! try put 7 3 210        what a commit is about to do
//! ok 41                  it returned, with this height
//! try clear
//!                        killed here: the clear is there, or it is not
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Chain, Content, Height, Result, Scan, Store};

use super::Numbers;
use super::site::little_memory;

const GROUPING: &str = "expected";
const INDEX: &str = "group";
const UNITS: u64 = 60;
const GROUPS: u64 = 4;

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Several units, each with its group, at once; `None` deletes.
    Write(Vec<(u64, Option<u64>)>),
    Clear,
    CreateIndex,
    DropIndex,
}

/// A unit.
#[derive(Clone, Copy)]
struct Unit {
    group: u64,
    /// Height of its version, and place in that commit.
    version: (u64, u32),
    /// Since when the index has it in its group.
    birth: (u64, u32),
}

/// What must be there.
#[derive(Clone, Default)]
struct State {
    height: u64,
    units: BTreeMap<u64, Unit>,
    has_index: bool,
}

impl State {
    fn apply(&mut self, step: &Step) {
        self.height += 1;
        match step {
            Step::Write(changes) => {
                // The first commit defines the grouping, before all else.
                let first = u32::from(self.height == 1);
                for (place, (unit, group)) in (first..).zip(changes) {
                    let Some(group) = group else {
                        self.units.remove(unit);
                        continue;
                    };
                    let version = (self.height, place);
                    let kept = self.units.get(unit).filter(|old| self.has_index && old.group == *group);
                    let birth = kept.map_or(version, |old| old.birth);
                    self.units.insert(*unit, Unit { group: *group, version, birth });
                }
            }
            Step::Clear => self.units.clear(),
            Step::CreateIndex => {
                self.has_index = true;
                // Its entries are as old as the versions that it finds.
                self.units.values_mut().for_each(|unit| unit.birth = unit.version);
            }
            Step::DropIndex => self.has_index = false,
        }
    }

    /// A step that can be taken from here.
    fn draw(&self, numbers: &mut Numbers) -> Step {
        match numbers.below(40) {
            _ if self.height == 0 => Step::Write(vec![(0, Some(0))]),
            0 => Step::Clear,
            1 | 2 if self.has_index => Step::DropIndex,
            1..4 if !self.has_index => Step::CreateIndex,
            _ => {
                let mut changes = BTreeMap::new();
                for _ in 0..=numbers.below(5) {
                    let unit = numbers.below(UNITS);
                    let deletes = numbers.below(5) == 0 && self.units.contains_key(&unit);
                    changes.insert(unit, (!deletes).then(|| numbers.below(GROUPS)));
                }
                Step::Write(changes.into_iter().collect())
            }
        }
    }

    fn check(&self, chain: &Arc<Chain>) {
        assert_eq!(chain.height().0, self.height, "the height");
        if self.height == 0 {
            return;
        }
        let snapshot = chain.snapshot().unwrap();
        let read = |scan: Scan| -> Vec<_> {
            let units = snapshot.scan(GROUPING, scan).unwrap().map(Result::unwrap);
            units.map(|unit| (unit.key, unit.height.0, unit.content)).collect()
        };
        let found = |(number, unit): (&u64, &Unit)| {
            let height = unit.version.0;
            (key_of(*number), height, content_of(*number, unit.group, height))
        };
        assert_eq!(read(Scan::units()), self.units.iter().map(found).collect::<Vec<_>>(), "at height {}", self.height);
        let names: Vec<_> = chain.grouping(GROUPING).unwrap().indexes().into_iter().map(|index| index.name).collect();
        assert_eq!(names, if self.has_index { vec![INDEX.to_owned()] } else { Vec::new() });
        if self.has_index {
            let mut units: Vec<_> = self.units.iter().collect();
            units.sort_by_key(|(_, unit)| (unit.group, unit.birth));
            let expected: Vec<_> = units.into_iter().map(found).collect();
            assert_eq!(read(Scan::index(INDEX)), expected, "the index at height {}", self.height);
        }
    }
}

fn key_of(unit: u64) -> Vec<u8> {
    format!("unit {unit:02}").into_bytes()
}

fn content_of(unit: u64, group: u64, height: u64) -> Vec<u8> {
    let pad = "=".repeat(((unit * 7 + height * 31) % 300) as usize);
    format!(r#"{{"group":{group},"height":{height},"pad":"{pad}"}}"#).into_bytes()
}

impl Step {
    fn commit(&self, chain: &Arc<Chain>, height: u64) -> Result<Height> {
        let grouping = chain.grouping(GROUPING)?;
        match self {
            Step::Write(changes) => {
                let mut transaction = chain.begin();
                for (unit, group) in changes {
                    match group {
                        Some(group) => {
                            let content = content_of(*unit, *group, height);
                            transaction.put(&grouping, &key_of(*unit), Content::json(&content))?;
                        }
                        None => transaction.delete(&grouping, &key_of(*unit))?,
                    }
                }
                Ok(transaction.commit()?.height)
            }
            Step::Clear => Ok(grouping.clear()?.height),
            Step::CreateIndex => grouping.create_index(INDEX, IndexDefinition::json("group"), &mut |_| {}),
            Step::DropIndex => grouping.drop_index(INDEX),
        }
    }

    fn to_line(&self) -> String {
        match self {
            Step::Clear => "clear".to_owned(),
            Step::CreateIndex => "create".to_owned(),
            Step::DropIndex => "drop".to_owned(),
            Step::Write(changes) => {
                let change = |(unit, group): &(u64, Option<u64>)| {
                    format!(" {unit}:{}", group.map_or("-".to_owned(), |group| group.to_string()))
                };
                format!("write{}", changes.iter().map(change).collect::<String>())
            }
        }
    }

    fn from_line(line: &str) -> Step {
        let mut words = line.split(' ');
        match words.next().unwrap() {
            "clear" => Step::Clear,
            "create" => Step::CreateIndex,
            "drop" => Step::DropIndex,
            "write" => Step::Write(
                words
                    .map(|word| {
                        let (unit, group) = word.split_once(':').unwrap();
                        (unit.parse().unwrap(), group.parse().ok())
                    })
                    .collect(),
            ),
            other => panic!("no such step: {other}"),
        }
    }
}

/// What the file says: the state, and the step that was being tried when the last writer was killed.
fn read_file(path: &Path) -> (State, Option<Step>) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let (mut state, mut trying) = (State::default(), None);
    for line in text.split_inclusive('\n') {
        // Its writer was killed while it wrote this, and did nothing more.
        let Some(line) = line.strip_suffix('\n') else { break };
        match line.split_once(' ') {
            Some(("try", step)) => trying = Some(Step::from_line(step)),
            Some(("ok", height)) => {
                state.apply(&trying.take().expect("what was done was tried before"));
                assert_eq!(height.parse(), Ok(state.height), "the heights have no gaps");
            }
            Some(("gone", _)) => trying = None,
            _ => panic!("no such line: {line}"),
        }
    }
    (state, trying)
}

/// Finds out whether the step that was being tried has happened, and compares. Gives the state.
fn settle(chain: &Arc<Chain>, path: &Path) -> State {
    let (mut state, trying) = read_file(path);
    let mut outcome = String::new();
    if let Some(step) = trying {
        let happened = chain.height().0 > state.height;
        if happened {
            state.apply(&step);
        }
        outcome = if happened { format!("ok {}\n", state.height) } else { "gone it is\n".to_owned() };
    }
    state.check(chain);
    // Half a line of the one before goes first.
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(whole as u64).unwrap();
    append(path).write_all(outcome.as_bytes()).unwrap();
    state
}

fn append(path: &Path) -> File {
    OpenOptions::new().append(true).create(true).open(path).unwrap()
}

/// Commits random steps for ever; tells `say` each height, the first one when all that was there has been compared.
pub fn write_at_random(root: &Path, path: &Path, seed: u64, say: impl Fn(Height)) {
    let store = Store::open(root, little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    let recovery = chain.recovery();
    assert_eq!((recovery.damage.as_deref(), recovery.ignored_runs), (None, 0));
    let mut state = settle(&chain, path);
    say(Height(state.height));
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + u64::from(std::process::id()));
    let mut file = append(path);
    loop {
        let step = state.draw(&mut numbers);
        file.write_all(format!("try {}\n", step.to_line()).as_bytes()).unwrap();
        let height = step.commit(&chain, state.height + 1).unwrap();
        state.apply(&step);
        assert_eq!(height.0, state.height);
        file.write_all(format!("ok {height}\n").as_bytes()).unwrap();
        say(height);
    }
}

/// Compares the store with the file; gives the number of commits.
pub fn check_against_file(root: &Path, path: &Path) -> u64 {
    let store = Store::open(root, little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    let state = settle(&chain, path);
    drop(chain);
    store.close().unwrap();
    state.height
}
