//! LMDB by heed: a writable map without syncs, one transaction a record.
//!
//! | table | key | value |
//! |---|---|---|
//! | `records` | unit key | birth, 8 bytes, and the record |
//! | `alternate-01` to `-13` (DUPSORT, DUPFIXED) | value of the alternate key | birth, 8 bytes, big-endian, and unit key |
//!
//! The birth is a number that goes up by one with each record, so duplicates are appended (APPENDDUP) and come out in the order of writing.

use std::path::Path;

use anyhow::{Context, Result};
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, DatabaseFlags, Env, EnvFlags, EnvOpenOptions, MdbError, PutFlags, WithoutTls};
use immuxdb_benches::records::{ALTERNATES, Alternate, KEY, Key, RECORD, index_name, range};

use crate::engine::{Engine, Inserted, Table, Work};

/// The engine.
pub struct Lmdb;

/// The most that a store can grow to. The file is sparse; only what is used counts.
const MAP: usize = 64 << 30;
const BIRTH: usize = 8;

type Bytewise<'e> = Database<'e, Bytes, Bytes>;

struct Records<'e> {
    env: &'e Env<WithoutTls>,
    records: Bytewise<'e>,
    alternates: Vec<Bytewise<'e>>,
    birth: u64,
}

impl Engine for Lmdb {
    fn name(&self) -> &'static str {
        "LMDB"
    }

    fn open(&self, root: &Path, work: &mut Work<'_>) -> Result<()> {
        let env = open_env(root)?;
        let records = database(&env, "records", DatabaseFlags::empty())?;
        let flags = DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED;
        let alternates =
            (0..ALTERNATES).map(|alternate| database(&env, &index_name(alternate), flags)).collect::<Result<_>>()?;
        let txn = env.read_txn()?;
        let birth = records.len(&txn)?;
        drop(txn);
        work(&mut Records { env: &env, records, alternates, birth })?;
        env.prepare_for_closing().wait();
        Ok(())
    }
}

fn database<'e>(env: &'e Env<WithoutTls>, name: &str, flags: DatabaseFlags) -> Result<Bytewise<'e>> {
    let created = env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
        opener
            .database_options()
            .types::<Bytes, Bytes>()
            .name(name)
            .flags(flags)
            .create(txn)
            .map(CommitOrAbort::<_, ()>::Commit)
    })?;
    Ok(created.unwrap_commit())
}

#[allow(unsafe_code)]
fn open_env(root: &Path) -> Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP).max_dbs(ALTERNATES as u32 + 1);
    // SAFETY: the flags give up safety from power loss, not from this process's death, which is the promise here. The directory is this program's
    // own, and nothing else changes the file while it is mapped.
    let env = unsafe {
        options.flags(EnvFlags::WRITE_MAP | EnvFlags::NO_SYNC | EnvFlags::NO_META_SYNC | EnvFlags::NO_MEM_INIT);
        options.open(root)?
    };
    Ok(env)
}

impl Table for Records<'_> {
    fn insert(&mut self, key: &Key, record: &[u8; RECORD]) -> Result<Inserted> {
        let mut txn = self.env.write_txn()?;
        let birth = self.birth.to_be_bytes();
        let mut value = [0; BIRTH + RECORD];
        value[..BIRTH].copy_from_slice(&birth);
        value[BIRTH..].copy_from_slice(record);
        match self.records.put_with_flags(&mut txn, PutFlags::NO_OVERWRITE, key, &value) {
            Err(heed::Error::Mdb(MdbError::KeyExist)) => return Ok(Inserted::Refused),
            result => result?,
        }
        let mut entry = [0; BIRTH + KEY];
        entry[..BIRTH].copy_from_slice(&birth);
        entry[BIRTH..].copy_from_slice(key);
        let mut inserted = Inserted::New;
        for (alternate, database) in self.alternates.iter().enumerate() {
            let value = &record[range(alternate)];
            // One duplicate is enough to know; the rest needn't be looked up.
            if inserted == Inserted::New && database.get(&txn, value)?.is_some() {
                inserted = Inserted::Duplicate;
            }
            database.put_with_flags(&mut txn, PutFlags::APPEND_DUP, value, &entry)?;
        }
        txn.commit()?;
        self.birth += 1;
        Ok(inserted)
    }

    fn get(&mut self, key: &Key, record: &mut Vec<u8>) -> Result<bool> {
        let txn = self.env.read_txn()?;
        let found = self.records.get(&txn, key)?;
        Ok(found.map(|value| copy(record, &value[BIRTH..])).is_some())
    }

    fn first(&mut self, alternate: usize, value: &Alternate, record: &mut Vec<u8>) -> Result<bool> {
        let txn = self.env.read_txn()?;
        let Some(entry) = self.alternates[alternate].get(&txn, value)? else {
            return Ok(false);
        };
        let found = self.records.get(&txn, &entry[BIRTH..])?;
        let value = found.context("an entry leads to no record")?;
        copy(record, &value[BIRTH..]);
        Ok(true)
    }

    fn scan(&mut self, alternate: usize, backward: bool, show: &mut dyn FnMut(&[u8])) -> Result<()> {
        let txn = self.env.read_txn()?;
        let database = &self.alternates[alternate];
        let mut show = |entry: Result<(&[u8], &[u8]), heed::Error>| -> Result<()> {
            let (_, entry) = entry?;
            let found = self.records.get(&txn, &entry[BIRTH..])?;
            show(&found.context("an entry leads to no record")?[BIRTH..]);
            Ok(())
        };
        if backward {
            database.rev_iter(&txn)?.try_for_each(&mut show)
        } else {
            database.iter(&txn)?.try_for_each(&mut show)
        }
    }
}

fn copy(record: &mut Vec<u8>, from: &[u8]) {
    record.clear();
    record.extend_from_slice(from);
}
