//! Random operations of several connectors, against a model so simple that it can be believed: lists of entries, searched
//! from the beginning each time.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;

use immuxdb_isam::{
    Access, Connector, Direction, Key, KeyPart, Layout, OpenMode, OpenRequest, Relation, RunUnit, Settings, Status,
};
use proptest::prelude::*;

/// The record: primary key of 2 bytes, an alternate with duplicates, a split one without, a sparse one with duplicates,
/// and up to 3 bytes of anything.
const SHORTEST: usize = 6;
const LONGEST: usize = 9;
const AREA: usize = 10;
const SPARSE: u8 = b'a';

fn layout() -> Layout {
    let key = |parts: &[(u32, u32)], duplicates, sparse| Key {
        parts: parts.iter().map(|&(offset, len)| KeyPart { offset, len }).collect(),
        duplicates,
        sparse,
    };
    Layout {
        keys: vec![
            key(&[(0, 2)], false, None),
            key(&[(2, 1)], true, None),
            key(&[(3, 1), (5, 1)], false, None),
            key(&[(4, 1)], true, Some(SPARSE)),
        ],
        min_record: SHORTEST as u32,
        max_record: LONGEST as u32,
        variable: true,
    }
}

/// The value of a key in a record; `None` when it is left out.
fn value(key: usize, record: &[u8]) -> Option<Vec<u8>> {
    match key {
        0 => Some(record[..2].to_vec()),
        1 => Some(vec![record[2]]),
        2 => Some(vec![record[3], record[5]]),
        _ => (record[4] != SPARSE).then(|| vec![record[4]]),
    }
}

/// A record, and since when it has each of its key values.
#[derive(Clone, Debug)]
struct Stored {
    record: Vec<u8>,
    since: [u64; 4],
}

#[derive(Default)]
struct File {
    records: BTreeMap<Vec<u8>, Stored>,
    clock: u64,
}

type Place = (Vec<u8>, u64);

impl File {
    /// All that is in the order of a key.
    fn entries(&self, key: usize) -> Vec<(Place, Vec<u8>)> {
        let entry = |stored: &Stored| Some(((value(key, &stored.record)?, stored.since[key]), stored.record.clone()));
        let mut entries: Vec<_> = self.records.values().filter_map(entry).collect();
        entries.sort();
        entries
    }

    /// Puts a record in the place of an old one, if there is one: the status.
    fn put(&mut self, record: &[u8]) -> Status {
        let primary = record[..2].to_vec();
        let old = self.records.get(&primary).cloned();
        self.clock += 1;
        let mut stored = Stored { record: record.to_vec(), since: [self.clock; 4] };
        let mut duplicate = false;
        for key in 1..4 {
            let new = value(key, record);
            if let Some(old) = &old
                && value(key, &old.record) == new
            {
                stored.since[key] = old.since[key];
                continue;
            }
            let others = self.records.iter().filter(|(other, _)| **other != primary);
            let taken = new.is_some() && others.into_iter().any(|(_, other)| value(key, &other.record) == new);
            if taken && key == 2 {
                return Status::DuplicateKey;
            }
            duplicate |= taken;
        }
        // The primary key orders by itself.
        stored.since[0] = 0;
        self.records.insert(primary, stored);
        if duplicate { Status::Duplicate } else { Status::Ok }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stand {
    Opened,
    Behind,
    On,
    End,
    Beginning,
    Nowhere,
}

/// What a connector is in the model.
struct Model {
    mode: OpenMode,
    access: Access,
    key: usize,
    stand: Stand,
    place: Place,
    read_last: Option<Vec<u8>>,
}

type Outcome<T> = Result<T, Status>;

impl Model {
    fn new(mode: OpenMode, access: Access) -> Model {
        let place = (Vec::new(), 0);
        Model { mode, access, key: 0, stand: Stand::Opened, place, read_last: None }
    }

    fn read(&mut self, file: &File, direction: Direction) -> Outcome<Vec<u8>> {
        self.read_last = None;
        let entries = file.entries(self.key);
        let mut ahead: Vec<_> = entries.iter().collect();
        if direction == Direction::Previous {
            ahead.reverse();
        }
        let place = self.place.clone();
        let next = direction == Direction::Next;
        let found = match (self.stand, direction) {
            (Stand::Nowhere, _) | (Stand::End, Direction::Next) | (Stand::Beginning, Direction::Previous) => {
                return Err(Status::NoNextRecord);
            }
            (Stand::Opened, Direction::Previous) => None,
            (Stand::Opened | Stand::Beginning, _) | (Stand::End, _) => ahead.first(),
            (Stand::Behind, _) => ahead.iter().find(|(at, _)| if next { *at > place } else { *at < place }),
            (Stand::On, _) => ahead.iter().find(|(at, _)| if next { *at >= place } else { *at <= place }),
        };
        match found {
            Some((place, record)) => {
                self.place = place.clone();
                self.stand = Stand::Behind;
                self.read_last = Some(record[..2].to_vec());
                Ok(record.clone())
            }
            None => {
                self.stand = if next { Stand::End } else { Stand::Beginning };
                Err(Status::End)
            }
        }
    }

    fn read_key(&mut self, file: &File, key: usize, wanted: &[u8]) -> Outcome<Vec<u8>> {
        self.read_last = None;
        self.key = key;
        self.stand = Stand::Nowhere;
        let entries = file.entries(key);
        let ((place, since), record) = entries.iter().find(|((value, _), _)| value == wanted).ok_or(Status::Missing)?;
        self.place = (place.clone(), *since);
        self.stand = Stand::Behind;
        self.read_last = Some(record[..2].to_vec());
        Ok(record.clone())
    }

    fn start(&mut self, file: &File, relation: Relation, key: usize, wanted: &[u8]) -> Outcome<()> {
        self.read_last = None;
        self.key = key;
        self.stand = Stand::Nowhere;
        let entries = file.entries(key);
        let cut = |value: &[u8]| value[..wanted.len()].to_vec();
        let mut forward = entries.iter();
        let found = match relation {
            Relation::First => forward.next(),
            Relation::Last => forward.next_back(),
            Relation::Equal => forward.find(|((value, _), _)| cut(value) == wanted),
            Relation::Greater => forward.find(|((value, _), _)| cut(value).as_slice() > wanted),
            Relation::NotLess => forward.find(|((value, _), _)| cut(value).as_slice() >= wanted),
            Relation::Less => forward.rev().find(|((value, _), _)| cut(value).as_slice() < wanted),
            Relation::NotGreater => forward.rev().find(|((value, _), _)| cut(value).as_slice() <= wanted),
        };
        let (place, _) = found.ok_or(Status::Missing)?;
        self.place = place.clone();
        self.stand = Stand::On;
        Ok(())
    }

    fn write(&mut self, file: &mut File, record: &[u8]) -> Outcome<Status> {
        self.read_last = None;
        if self.mode == OpenMode::Input || self.access == Access::Sequential {
            return Err(Status::NotOutput);
        }
        if !(SHORTEST..=LONGEST).contains(&record.len()) {
            return Err(Status::RecordLength);
        }
        if file.records.contains_key(&record[..2]) {
            return Err(Status::DuplicateKey);
        }
        succeed(file.put(record))
    }

    fn rewrite(&mut self, file: &mut File, record: &[u8]) -> Outcome<Status> {
        let read_last = self.read_last.take();
        if self.mode == OpenMode::Input {
            return Err(Status::NotInputOutput);
        }
        if self.access == Access::Sequential && read_last.is_none() {
            return Err(Status::NoCurrentRecord);
        }
        if !(SHORTEST..=LONGEST).contains(&record.len()) {
            return Err(Status::RecordLength);
        }
        if self.access == Access::Sequential && read_last.is_some_and(|last| last != record[..2]) {
            return Err(Status::Sequence);
        }
        if !file.records.contains_key(&record[..2]) {
            return Err(Status::Missing);
        }
        succeed(file.put(record))
    }

    fn delete(&mut self, file: &mut File, primary: &[u8]) -> Outcome<Status> {
        let read_last = self.read_last.take();
        if self.mode == OpenMode::Input {
            return Err(Status::NotInputOutput);
        }
        let primary = match (self.access, read_last) {
            (Access::Sequential, None) => return Err(Status::NoCurrentRecord),
            (Access::Sequential, Some(last)) => last,
            _ => primary.to_vec(),
        };
        file.records.remove(&primary).map(|_| Status::Ok).ok_or(Status::Missing)
    }
}

fn succeed(status: Status) -> Outcome<Status> {
    if status.is_success() { Ok(status) } else { Err(status) }
}

#[derive(Clone, Debug)]
enum Operation {
    Read(Direction),
    ReadKey(usize, Vec<u8>),
    Start(Relation, usize, Vec<u8>),
    Write(Vec<u8>),
    Rewrite(Vec<u8>),
    /// REWRITE of the record that this connector stands behind, with other alternate keys.
    RewriteRead(Vec<u8>),
    Delete(Vec<u8>),
    Reopen(OpenMode, Access),
}

fn letter(most: u8) -> impl Strategy<Value = u8> {
    (0..most).prop_map(|number| b'a' + number)
}

fn primary() -> impl Strategy<Value = Vec<u8>> {
    (letter(5), letter(4)).prop_map(|(a, b)| vec![a, b])
}

fn record() -> impl Strategy<Value = Vec<u8>> {
    let rest = (letter(4), letter(4), letter(3), letter(5), proptest::collection::vec(letter(26), 0..3), 0..40_u8);
    (primary(), rest).prop_map(|(mut record, (a, b, c, d, more, odd))| {
        record.extend([a, b, c, d]);
        record.extend(more);
        match odd {
            0 => record.truncate(SHORTEST - 1),
            1 => record.resize(LONGEST + 1, b'x'),
            _ => {}
        }
        record
    })
}

/// A key, and a value of it.
fn keyed() -> impl Strategy<Value = (usize, Vec<u8>)> {
    (0..4_usize, letter(6), letter(5)).prop_map(|(key, a, b)| match key {
        0 | 2 => (key, vec![a, b]),
        _ => (key, vec![a]),
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let direction = prop_oneof![Just(Direction::Next), Just(Direction::Previous)];
    let relation = prop_oneof![
        Just(Relation::Equal),
        Just(Relation::Greater),
        Just(Relation::NotLess),
        Just(Relation::Less),
        Just(Relation::NotGreater),
        Just(Relation::First),
        Just(Relation::Last),
    ];
    let access = prop_oneof![Just(Access::Sequential), Just(Access::Random), Just(Access::Dynamic)];
    let mode = prop_oneof![Just(OpenMode::Input), Just(OpenMode::InputOutput)];
    prop_oneof![
        12 => direction.prop_map(Operation::Read),
        3 => keyed().prop_map(|(key, value)| Operation::ReadKey(key, value)),
        4 => (relation, keyed(), any::<bool>()).prop_map(|(relation, (key, mut value), partial)| {
            value.truncate(if partial { 1 } else { 2 });
            Operation::Start(relation, key, value)
        }),
        8 => record().prop_map(Operation::Write),
        3 => record().prop_map(Operation::Rewrite),
        4 => record().prop_map(Operation::RewriteRead),
        3 => primary().prop_map(Operation::Delete),
        1 => (mode, access).prop_map(|(mode, access)| Operation::Reopen(mode, access)),
    ]
}

/// A record area with a key's value in its place.
fn area_with(key: usize, value: &[u8]) -> [u8; AREA] {
    let mut area = [b'~'; AREA];
    let mut rest = value.iter();
    for part in &layout().keys[key].parts {
        for at in part.offset..part.offset + part.len {
            if let Some(byte) = rest.next() {
                area[at as usize] = *byte;
            }
        }
    }
    area
}

fn status<T>(outcome: Result<T, immuxdb_isam::Failure>) -> Outcome<T> {
    outcome.map_err(|failure| failure.status)
}

struct Bench {
    run_unit: RunUnit,
    folder: tempfile::TempDir,
    settings: Settings,
}

impl Bench {
    fn open(&self, mode: OpenMode, access: Access) -> Connector {
        let path = self.folder.path().join("FILE");
        let layout = Layout { max_record: AREA as u32, ..layout() };
        // The file has shorter records than these programs declare, but for the one that makes it.
        let layout = if mode == OpenMode::Output { self::layout() } else { layout };
        let settings = &self.settings;
        let request = OpenRequest { path: &path, mode, access, optional: false, layout: &layout, settings };
        self.run_unit.open(&request).unwrap().0
    }
}

fn check(bench: &Bench, operations: Vec<(usize, Operation)>) -> Result<(), TestCaseError> {
    bench.open(OpenMode::Output, Access::Sequential).close().unwrap();
    let mut file = File::default();
    let opened = |mode, access| Some((Model::new(mode, access), bench.open(mode, access)));
    let mut connectors = [
        opened(OpenMode::InputOutput, Access::Dynamic),
        opened(OpenMode::InputOutput, Access::Sequential),
        opened(OpenMode::Input, Access::Dynamic),
    ];
    for (which, operation) in operations {
        if let Operation::Reopen(mode, access) = operation {
            connectors[which] = None;
            connectors[which] = opened(mode, access);
            continue;
        }
        let (model, connector) = connectors[which].as_mut().unwrap();
        match &operation {
            Operation::Read(direction) => {
                let expected = model.read(&file, *direction);
                let mut area = [b'~'; AREA];
                let given = status(connector.read_next(*direction, &mut area));
                let given = given.map(|read| (area, read.len));
                prop_assert_eq!(given, expected.map(shown), "{:?}", operation);
            }
            Operation::ReadKey(key, value) => {
                let expected = model.read_key(&file, *key, value);
                let mut area = area_with(*key, value);
                let given = status(connector.read_key(*key, &mut area));
                let given = given.map(|read| (area[..read.len].to_vec(), read.len));
                prop_assert_eq!(given, expected.map(|record| (record.clone(), record.len())), "{:?}", operation);
            }
            Operation::Start(relation, key, value) => {
                let expected = model.start(&file, *relation, *key, value).map(|()| Status::Ok);
                let area = area_with(*key, value);
                let given = status(connector.start(*relation, *key, value.len(), &area));
                prop_assert_eq!(given, expected, "{:?}", operation);
            }
            Operation::Write(record) => {
                let expected = model.write(&mut file, record);
                prop_assert_eq!(status(connector.write(record)), expected, "{:?}", operation);
            }
            Operation::Rewrite(record) => {
                let expected = model.rewrite(&mut file, record);
                prop_assert_eq!(status(connector.rewrite(record)), expected, "{:?}", operation);
            }
            Operation::RewriteRead(record) => {
                let mut record = record.clone();
                if let Some(read_last) = &model.read_last {
                    record[..2].copy_from_slice(read_last);
                }
                let expected = model.rewrite(&mut file, &record);
                prop_assert_eq!(status(connector.rewrite(&record)), expected, "{:?}", operation);
            }
            Operation::Delete(primary) => {
                let expected = model.delete(&mut file, primary);
                let area = area_with(0, primary);
                prop_assert_eq!(status(connector.delete(&area)), expected, "{:?}", operation);
            }
            Operation::Reopen(..) => unreachable!("done above"),
        }
    }
    // At the end everything is there, by each key, in both directions; also after opening again.
    drop(connectors);
    let mut reader = bench.open(OpenMode::Input, Access::Dynamic);
    let mut model = Model::new(OpenMode::Input, Access::Dynamic);
    for (key, relation, direction) in
        (0..4).flat_map(|key| [(key, Relation::First, Direction::Next), (key, Relation::Last, Direction::Previous)])
    {
        let expected = model.start(&file, relation, key, &[]).map(|()| Status::Ok);
        prop_assert_eq!(status(reader.start(relation, key, 0, &[b'~'; AREA])), expected);
        loop {
            let expected = model.read(&file, direction);
            let mut area = [b'~'; AREA];
            let given = status(reader.read_next(direction, &mut area)).map(|read| (area, read.len));
            let over = given.is_err();
            prop_assert_eq!(given, expected.map(shown));
            if over {
                break;
            }
        }
    }
    Ok(())
}

/// A record as a READ shows it: in its area, and its length.
fn shown(record: Vec<u8>) -> ([u8; AREA], usize) {
    let mut area = [b'~'; AREA];
    area[..record.len()].copy_from_slice(&record);
    (area, record.len())
}

fn bench(memory_limit: usize) -> Bench {
    let settings = Settings { memory_limit, ..Settings::default() };
    Bench { run_unit: RunUnit::default(), folder: tempfile::TempDir::new().unwrap(), settings }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn connectors_do_what_the_model_does(operations in proptest::collection::vec((0..3_usize, operation()), 1..250)) {
        check(&bench(Settings::default().memory_limit), operations)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn with_little_memory_too(operations in proptest::collection::vec((0..3_usize, operation()), 500..900)) {
        check(&bench(32 << 10), operations)?;
    }
}
