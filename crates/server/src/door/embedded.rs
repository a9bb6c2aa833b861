//! Through the files of a store.

use std::sync::Arc;

use immuxdb_client::wire::{IndexItem, RunItem, StatsItem};
use libimmuxdb::index::{IndexDefinition, decode_key};
use libimmuxdb::proof::{ExtensionProof, Root, UnitProof};
use libimmuxdb::{Chain, Durability, Error, Grouping, Height, RunStats, Scan, Snapshot};
use serde_json::Value;

use super::{Condition, Content, Door, Found, List, Missing, RowFault, ScanRequest, Unit, Version, WrittenRows};
use crate::configuration::{ImmuxDBConfiguration, Resolved};
use crate::failure::{Failure, Result};
use crate::load::Row;
use crate::moment::{Moment, time_text};
use crate::opened::Opened;
use crate::progress;

pub(super) struct Embedded {
    opened: Opened,
}

pub(super) fn chains(resolved: &Resolved) -> Result<Vec<String>> {
    Ok(Opened::store_to_read(&resolved.configuration)?.chains()?)
}

impl Embedded {
    pub(super) fn to_read(resolved: &Resolved) -> Result<Embedded> {
        Ok(Embedded { opened: Opened::to_read(resolved)? })
    }

    pub(super) fn to_write(
        configuration: &ImmuxDBConfiguration,
        missing: Missing,
        durability: Option<Durability>,
    ) -> Result<Embedded> {
        if missing == Missing::Refuse {
            Opened::store_to_read(configuration)?;
        }
        let mut configuration = configuration.clone();
        configuration.durability = durability.unwrap_or(configuration.durability);
        Ok(Embedded { opened: Opened::to_write(&configuration)? })
    }

    fn grouping(&self, name: &str) -> Result<Grouping> {
        Ok(self.opened.chain.grouping(name)?)
    }

    fn snapshot(&self, at: Option<Moment>) -> Result<Snapshot> {
        let chain = &self.opened.chain;
        Ok(match at {
            None => chain.snapshot()?,
            Some(at) => chain.snapshot_at(at.height(chain)?)?,
        })
    }

    /// Commits the rows at one height. Gives the number of those that were not there.
    fn commit(&self, grouping: &Grouping, rows: &[Row]) -> Result<u64, Error> {
        let mut inserted = 0;
        let mut transaction = self.opened.chain.begin();
        for row in rows {
            inserted += u64::from(grouping.get(&row.key)?.is_none());
            transaction.put(grouping, &row.key, libimmuxdb::Content::json(&row.content))?;
        }
        transaction.commit()?;
        Ok(inserted)
    }

    /// Commits the rows. When one of them can't be a unit, all before it are committed, and none after it.
    fn commit_until(&self, grouping: &Grouping, rows: &[Row], written: &mut WrittenRows) {
        if rows.is_empty() || written.fault.is_some() {
            return;
        }
        match self.commit(grouping, rows) {
            Ok(inserted) => {
                written.rows += rows.len();
                written.inserted += inserted;
                written.commits += 1;
            }
            Err(error) if !is_about_a_row(&error) => written.fault = Some(RowFault::Other(error.into())),
            Err(error) if rows.len() == 1 => written.fault = Some(RowFault::Row(error.to_string())),
            Err(_) => {
                let (front, back) = rows.split_at(rows.len() / 2);
                self.commit_until(grouping, front, written);
                self.commit_until(grouping, back, written);
            }
        }
    }
}

/// Whether the error comes from what a row holds, so that other rows may do better.
fn is_about_a_row(error: &Error) -> bool {
    matches!(error, Error::InvalidJson(_) | Error::TooLarge { .. } | Error::DuplicateKey { .. } | Error::Invalid(_))
}

/// The height, or `None` where there was no such unit.
fn unless_missing<T>(result: Result<T, Error>) -> Result<Option<T>> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(Error::UnitMissing) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Door for Embedded {
    fn chain(&self) -> &str {
        self.opened.chain.name()
    }

    fn height(&self) -> Result<u64> {
        Ok(self.opened.chain.height().0)
    }

    fn grouping_names(&self) -> Result<Vec<String>> {
        Ok(self.opened.chain.groupings().into_iter().map(|grouping| grouping.name).collect())
    }

    fn grouping_counts(&self, grouping: &str, units: bool) -> Result<(Option<u64>, u64)> {
        let grouping = self.grouping(grouping)?;
        let units = units.then(|| grouping.count(Scan::units())).transpose()?;
        Ok((units, grouping.indexes().len() as u64))
    }

    fn get(&self, grouping: &str, key: &[u8], at: Option<Moment>) -> Result<Found> {
        let snapshot = self.snapshot(at)?;
        let unit = snapshot.get(grouping, key)?;
        Ok(Found { height: snapshot.height().0, unit: unit.map(|unit| shown(unit, None)).transpose()? })
    }

    fn put(&self, grouping: &str, key: &[u8], content: Content<'_>, condition: Condition) -> Result<u64> {
        let grouping = self.grouping(grouping)?;
        let content = match content {
            Content::Json(text) => libimmuxdb::Content::json(text),
            Content::Raw(bytes) => libimmuxdb::Content::raw(bytes),
        };
        let committed = match condition {
            Condition::Any => grouping.put(key, content),
            Condition::Absent => grouping.insert(key, content),
            Condition::At(height) => grouping.compare_and_set(key, Height(height), content),
        };
        Ok(committed?.height.0)
    }

    fn delete(&self, grouping: &str, key: &[u8]) -> Result<Option<u64>> {
        Ok(unless_missing(self.grouping(grouping)?.delete(key))?.map(|committed| committed.height.0))
    }

    fn revert(&self, grouping: &str, key: &[u8], to: Moment) -> Result<Option<(u64, u64)>> {
        let to = to.height(&self.opened.chain)?;
        let committed = unless_missing(self.grouping(grouping)?.revert(key, to))?;
        Ok(committed.map(|committed| (committed.height.0, to.0)))
    }

    fn history(&self, grouping: &str, key: &[u8], limit: Option<usize>) -> Result<List<Version>> {
        let versions = self.grouping(grouping)?.inspect(key)?;
        let items = versions.take(limit.unwrap_or(usize::MAX)).map(|version| {
            let version = version?;
            Ok(Version {
                height: version.height.0,
                time: time_text(version.time),
                kind: version.kind,
                size: version.content.len() as u64,
                content: version.content,
            })
        });
        Ok(List { items: Box::new(items), used_index: Box::new(|| true) })
    }

    fn scan(&self, grouping: &str, request: &ScanRequest) -> Result<List<Unit>> {
        let scan = request.for_engine()?;
        let units = self.snapshot(request.at)?.scan(grouping, scan)?;
        let used_index = units.used_index();
        let definition = request.index.as_ref().map(|(_, definition)| definition.clone());
        let items = units.map(move |unit| shown(unit?, definition.as_ref()));
        Ok(List { items: Box::new(items), used_index: Box::new(move || used_index) })
    }

    fn count(&self, grouping: &str, request: &ScanRequest) -> Result<u64> {
        let scan = request.for_engine()?;
        Ok(self.snapshot(request.at)?.count(grouping, scan)?)
    }

    fn indexes(&self, grouping: &str) -> Result<Vec<IndexItem>> {
        let indexes = self.grouping(grouping)?.indexes();
        let items = indexes.into_iter().map(|index| IndexItem {
            grouping: grouping.to_owned(),
            index: index.name,
            definition: index.definition.to_string(),
            since: index.since.0,
            ready: index.ready,
            progress: None,
        });
        Ok(items.collect())
    }

    fn create_index(&self, grouping: &str, index: &str, definition: &IndexDefinition) -> Result<u64> {
        Ok(progress::create_index(&self.grouping(grouping)?, index, definition)?.0)
    }

    fn drop_index(&self, grouping: &str, index: &str) -> Result<u64> {
        Ok(self.grouping(grouping)?.drop_index(index)?.0)
    }

    fn stats(&self) -> Result<StatsItem> {
        Ok(chain_stats(&self.opened.chain)?)
    }

    fn root(&self, at: Option<Moment>) -> Result<Root> {
        Ok(self.opened.chain.root(self.snapshot(at)?.height())?)
    }

    fn prove_unit(&self, grouping: &str, key: &[u8], at: Option<Moment>) -> Result<Option<UnitProof>> {
        let height = self.snapshot(at)?.height();
        unless_missing(self.opened.chain.prove(grouping, key, height))
    }

    fn prove_extends(&self, old: u64, new: u64) -> Result<ExtensionProof> {
        Ok(self.opened.chain.prove_extends(Height(old), Height(new))?)
    }

    fn write_rows(&self, grouping: &str, rows: &[Row]) -> WrittenRows {
        let mut written = WrittenRows::default();
        match self.grouping(grouping) {
            Ok(grouping) => self.commit_until(&grouping, rows, &mut written),
            Err(failure) => written.fault = Some(RowFault::Other(failure)),
        }
        written
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.opened.close()
    }
}

fn shown(unit: libimmuxdb::Unit, definition: Option<&IndexDefinition>) -> Result<Unit, Failure> {
    let value = match definition {
        None => None,
        Some(definition) => {
            let mut values = decode_key(definition, &unit.index_key)?;
            Some(if values.len() == 1 { values.remove(0) } else { Value::Array(values) })
        }
    };
    Ok(Unit { key: unit.key, height: unit.height.0, kind: unit.kind, content: unit.content, value })
}

/// Sizes and counts of a chain, as they are printed and sent.
pub(crate) fn chain_stats(chain: &Arc<Chain>) -> libimmuxdb::Result<StatsItem> {
    let newest = chain.snapshot()?;
    let stats = chain.stats();
    Ok(StatsItem {
        chain: chain.name().to_owned(),
        height: stats.height.0,
        time: if stats.height.0 > 0 { Some(time_text(newest.time()?)) } else { None },
        synced_height: stats.synced.0,
        groupings: chain.groupings().len() as u64,
        log_bytes: stats.log_bytes,
        index_bytes: stats.index_bytes(),
        newest_entries_bytes: stats.delta_bytes as u64,
        runs: stats.runs.iter().map(run).collect(),
    })
}

fn run(run: &RunStats) -> RunItem {
    RunItem {
        start_height: run.start.0,
        end_height: run.end.0,
        bytes: run.bytes,
        versions: run.versions,
        live_entries: run.live,
        ended_entries: run.past,
        ends: run.kills,
    }
}
