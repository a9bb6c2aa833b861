//! ImmuxDB, as it comes, at the level `Process`.

use std::path::Path;

use anyhow::Result;
use immuxdb_benches::engine as helpers;
use immuxdb_benches::records::{ALTERNATES, Alternate, Key, RECORD, index_name, range};
use libimmuxdb::{Content, Durability, Error, Grouping, Scan, StoreOptions, WriteOptions};

use crate::engine::{Engine, Inserted, Table, Work};

/// The engine.
pub struct ImmuxDb;

struct Records {
    grouping: Grouping,
    names: Vec<String>,
}

impl Engine for ImmuxDb {
    fn name(&self) -> &'static str {
        "ImmuxDB"
    }

    fn open(&self, root: &Path, work: &mut Work<'_>) -> Result<()> {
        let options = StoreOptions { durability: Durability::Process, ..StoreOptions::default() };
        let is_new = std::fs::read_dir(root)?.next().is_none();
        let store = helpers::open(root, options)?;
        let grouping = store.grouping("records")?;
        let names: Vec<_> = (0..ALTERNATES).map(index_name).collect();
        if is_new {
            for (alternate, name) in names.iter().enumerate() {
                let bytes = range(alternate);
                helpers::index_bytes(&grouping, name, bytes.start as u32..bytes.end as u32)?;
            }
        }
        let grouping = grouping.with(WriteOptions::default().report_duplicates());
        let mut records = Records { grouping, names };
        work(&mut records)?;
        drop(records);
        Ok(store.drain_and_close()?)
    }
}

impl Table for Records {
    fn insert(&mut self, key: &Key, record: &[u8; RECORD]) -> Result<Inserted> {
        match self.grouping.insert(key, Content::raw(record)) {
            Ok(committed) if committed.duplicates => Ok(Inserted::Duplicate),
            Ok(_) => Ok(Inserted::New),
            Err(Error::UnitExists { .. }) => Ok(Inserted::Refused),
            Err(error) => Err(error.into()),
        }
    }

    fn get(&mut self, key: &Key, record: &mut Vec<u8>) -> Result<bool> {
        let unit = self.grouping.get(key)?;
        Ok(unit.map(|unit| *record = unit.content).is_some())
    }

    fn first(&mut self, alternate: usize, value: &Alternate, record: &mut Vec<u8>) -> Result<bool> {
        let unit = helpers::first(&self.grouping, &self.names[alternate], value)?;
        Ok(unit.map(|unit| *record = unit.content).is_some())
    }

    fn scan(&mut self, alternate: usize, backward: bool, show: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut scan = Scan::index(self.names[alternate].as_str());
        if backward {
            scan = scan.backward();
        }
        for unit in self.grouping.scan(scan)? {
            show(&unit?.content);
        }
        Ok(())
    }
}
