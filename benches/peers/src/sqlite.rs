//! SQLite by rusqlite: WAL, `synchronous=NORMAL`, prepared statements, one implicit transaction a record.
//!
//! One rowid table with a column for the unit key (unique) and one for each alternate key, and an index on each. The rowid goes up with each record, and
//! an index keeps equal values in the order of their rowids, which is the order of writing.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use immuxdb_benches::records::{ALTERNATES, Alternate, Key, RECORD, range};
use rusqlite::{Connection, ErrorCode, Row, Statement, params_from_iter};

use crate::engine::{Engine, Inserted, Table, Work};

/// The engine.
pub struct Sqlite;

/// The settings, each tried against its neighbours; see the README.
const SETTINGS: &str = "
    PRAGMA page_size = 2048;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -524288;
    PRAGMA mmap_size = 17179869184;
    PRAGMA wal_autocheckpoint = 32000;
    PRAGMA temp_store = MEMORY;
";

struct Records<'c> {
    insert: Statement<'c>,
    duplicate: Statement<'c>,
    get: Statement<'c>,
    first: Vec<Statement<'c>>,
    connection: &'c Connection,
}

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn open(&self, root: &Path, work: &mut Work<'_>) -> Result<()> {
        let file = root.join("records.sqlite");
        let is_new = !file.exists();
        let connection = Connection::open(file)?;
        connection.execute_batch(SETTINGS)?;
        if is_new {
            connection.execute_batch(&schema())?;
        }
        let mut records = Records::prepare(&connection)?;
        work(&mut records)?;
        drop(records);
        // Closing the last connection moves the write-ahead log into the database.
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

fn columns(mut each: impl FnMut(usize) -> String) -> String {
    let columns: Vec<_> = (1..=ALTERNATES).map(&mut each).collect();
    columns.join(", ")
}

fn schema() -> String {
    let alternates = columns(|n| format!("a{n} BLOB NOT NULL"));
    let mut schema = format!(
        "CREATE TABLE records (birth INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, {alternates}, filler BLOB NOT NULL);"
    );
    for n in 1..=ALTERNATES {
        let _ = write!(schema, "CREATE INDEX i{n} ON records (a{n});");
    }
    schema
}

/// The columns that make up a record.
fn record_columns() -> String {
    format!("key, {}, filler", columns(|n| format!("a{n}")))
}

impl<'c> Records<'c> {
    fn prepare(connection: &'c Connection) -> rusqlite::Result<Records<'c>> {
        let record = record_columns();
        let places = columns(|n| format!("?{}", n + 1));
        // OR stops at the first that is found.
        let duplicate: Vec<_> =
            (1..=ALTERNATES).map(|n| format!("EXISTS (SELECT 1 FROM records WHERE a{n} = ?{n})")).collect();
        let first = (1..=ALTERNATES)
            .map(|n| {
                connection.prepare(&format!("SELECT {record} FROM records WHERE a{n} = ?1 ORDER BY birth LIMIT 1"))
            })
            .collect::<Result<_, _>>()?;
        Ok(Records {
            insert: connection
                .prepare(&format!("INSERT INTO records ({record}) VALUES (?1, {places}, ?{})", ALTERNATES + 2))?,
            duplicate: connection.prepare(&format!("SELECT {}", duplicate.join(" OR ")))?,
            get: connection.prepare(&format!("SELECT {record} FROM records WHERE key = ?1"))?,
            first,
            connection,
        })
    }
}

impl Table for Records<'_> {
    fn insert(&mut self, key: &Key, record: &[u8; RECORD]) -> Result<Inserted> {
        let alternates = (0..ALTERNATES).map(|alternate| &record[range(alternate)]);
        let duplicate = self.duplicate.query_row(params_from_iter(alternates.clone()), |row| row.get(0))?;
        let filler = &record[range(ALTERNATES - 1).end..];
        let columns = std::iter::once(&key[..]).chain(alternates).chain(std::iter::once(filler));
        match self.insert.execute(params_from_iter(columns)) {
            Ok(_) if duplicate => Ok(Inserted::Duplicate),
            Ok(_) => Ok(Inserted::New),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => Ok(Inserted::Refused),
            Err(error) => Err(error.into()),
        }
    }

    fn get(&mut self, key: &Key, record: &mut Vec<u8>) -> Result<bool> {
        read_one(&mut self.get, key, record)
    }

    fn first(&mut self, alternate: usize, value: &Alternate, record: &mut Vec<u8>) -> Result<bool> {
        read_one(&mut self.first[alternate], value, record)
    }

    fn scan(&mut self, alternate: usize, backward: bool, show: &mut dyn FnMut(&[u8])) -> Result<()> {
        let (columns, n) = (record_columns(), alternate + 1);
        let order = if backward { "DESC" } else { "ASC" };
        // Without INDEXED BY it might read the table and sort, which gives no first row before the last is read.
        let mut scan = self
            .connection
            .prepare(&format!("SELECT {columns} FROM records INDEXED BY i{n} ORDER BY a{n} {order}, birth {order}"))?;
        let mut record = Vec::with_capacity(RECORD);
        let mut rows = scan.query([])?;
        while let Some(row) = rows.next()? {
            assemble(row, &mut record)?;
            show(&record);
        }
        Ok(())
    }
}

fn read_one(statement: &mut Statement<'_>, key: &[u8], record: &mut Vec<u8>) -> Result<bool> {
    let mut rows = statement.query([key])?;
    match rows.next()? {
        Some(row) => assemble(row, record).map(|()| true),
        None => Ok(false),
    }
}

/// Puts the columns together to the record that was taken apart.
fn assemble(row: &Row<'_>, record: &mut Vec<u8>) -> Result<()> {
    record.clear();
    for column in 0..ALTERNATES + 2 {
        record.extend_from_slice(row.get_ref(column)?.as_blob()?);
    }
    Ok(())
}
