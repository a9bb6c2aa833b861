//! Through a running server.

use std::cell::RefCell;
use std::rc::Rc;

use immuxdb_client::blocking::{Client, Items};
use immuxdb_client::wire::{BulkAnswer, IndexItem, StatsItem};
use immuxdb_client::{BulkItem, BulkOptions, Durability, Error, Item, Kind};
use libimmuxdb::VersionKind;
use libimmuxdb::index::IndexDefinition;
use libimmuxdb::proof::{ExtensionProof, Root, UnitProof};

use super::{Condition, Content, Door, Found, List, RowFault, ScanRequest, Unit, Version, WrittenRows, no_chain};
use crate::configuration::Resolved;
use crate::failure::{Failure, Result};
use crate::load::Row;
use crate::moment::Moment;
use crate::progress;

pub(super) struct Remote {
    client: Client,
}

pub(super) fn chains(server: &str, resolved: &Resolved) -> Result<Vec<String>> {
    Ok(client(server, resolved, None)?.chains()?)
}

fn client(server: &str, resolved: &Resolved, durability: Option<libimmuxdb::Durability>) -> Result<Client> {
    let mut builder = Client::builder(server).chain(&resolved.configuration.chain);
    if let Some(durability) = durability {
        builder = builder.durability(match durability {
            libimmuxdb::Durability::Buffered => Durability::Buffered,
            libimmuxdb::Durability::Process => Durability::Process,
            libimmuxdb::Durability::Sync => Durability::Sync,
        });
    }
    if let Some(token) = &resolved.configuration.token {
        builder = builder.token(token);
    }
    Ok(builder.build_blocking()?)
}

impl Remote {
    pub(super) fn to_read(server: &str, resolved: &Resolved) -> Result<Remote> {
        let client = client(server, resolved, None)?;
        let chains = client.chains()?;
        let name = &resolved.configuration.chain;
        if !chains.contains(name) {
            return Err(no_chain(name, server, &chains));
        }
        Ok(Remote { client })
    }

    pub(super) fn to_write(
        server: &str,
        resolved: &Resolved,
        durability: Option<libimmuxdb::Durability>,
    ) -> Result<Remote> {
        Ok(Remote { client: client(server, resolved, durability)? })
    }
}

fn has_code<T>(result: &Result<T, Error>, code: &str) -> bool {
    result.as_ref().err().and_then(Error::code) == Some(code)
}

/// `None` where there was no such unit.
fn unless_missing<T>(result: Result<T, Error>) -> Result<Option<T>> {
    if has_code(&result, "unit_missing") {
        return Ok(None);
    }
    Ok(Some(result?))
}

impl Door for Remote {
    fn chain(&self) -> &str {
        self.client.namespace()
    }

    fn height(&self) -> Result<u64> {
        let stats = self.client.stats();
        if has_code(&stats, "chain_missing") {
            return Ok(0);
        }
        Ok(stats?.height)
    }

    fn grouping_names(&self) -> Result<Vec<String>> {
        let groupings = self.client.groupings(false);
        if has_code(&groupings, "chain_missing") {
            return Ok(Vec::new());
        }
        Ok(groupings?.into_iter().map(|item| item.grouping).collect())
    }

    fn grouping_counts(&self, grouping: &str, units: bool) -> Result<(Option<u64>, u64)> {
        let indexes = self.client.indexes(grouping)?.len() as u64;
        let scan = immuxdb_client::Scan::units();
        let units = units.then(|| self.client.count(grouping, &scan)).transpose()?;
        Ok((units.map(|counted| counted.count), indexes))
    }

    fn get(&self, grouping: &str, key: &[u8], at: Option<Moment>) -> Result<Found> {
        let reading = self.client.read(grouping, key, at.map(Moment::for_client))?;
        Ok(Found { height: reading.height, unit: reading.unit.map(unit) })
    }

    fn put(&self, grouping: &str, key: &[u8], content: Content<'_>, condition: Condition) -> Result<u64> {
        let content = match content {
            Content::Json(text) => immuxdb_client::Content::json(text),
            Content::Raw(bytes) => immuxdb_client::Content::raw(bytes),
        };
        let condition = match condition {
            Condition::Any => immuxdb_client::Condition::Any,
            Condition::Absent => immuxdb_client::Condition::Absent,
            Condition::At(height) => immuxdb_client::Condition::At(height),
        };
        Ok(self.client.put_with(grouping, key, content, condition, None)?.height)
    }

    fn delete(&self, grouping: &str, key: &[u8]) -> Result<Option<u64>> {
        Ok(unless_missing(self.client.delete(grouping, key))?.map(|written| written.height))
    }

    fn revert(&self, grouping: &str, key: &[u8], to: Moment) -> Result<Option<(u64, u64)>> {
        let reverted = unless_missing(self.client.revert_by_key(grouping, key, to.for_client()))?;
        Ok(reverted.map(|reverted| (reverted.height, reverted.to)))
    }

    fn history(&self, grouping: &str, key: &[u8], limit: Option<usize>) -> Result<List<Version>> {
        let limit = limit.map(|limit| limit as u64);
        match unless_missing(self.client.inspect_newest(grouping, key, limit))? {
            Some(versions) => Ok(list(versions, version)),
            None => Ok(List { items: Box::new(std::iter::empty()), used_index: Box::new(|| true) }),
        }
    }

    fn scan(&self, grouping: &str, request: &ScanRequest) -> Result<List<Unit>> {
        // A value that does not fit the index is found out here, and told as it always is.
        request.for_engine()?;
        Ok(list(self.client.scan(grouping, &request.for_client())?, unit))
    }

    fn count(&self, grouping: &str, request: &ScanRequest) -> Result<u64> {
        request.for_engine()?;
        Ok(self.client.count(grouping, &request.for_client())?.count)
    }

    fn indexes(&self, grouping: &str) -> Result<Vec<IndexItem>> {
        let indexes = self.client.indexes(grouping);
        if has_code(&indexes, "chain_missing") || has_code(&indexes, "grouping_missing") {
            return Ok(Vec::new());
        }
        Ok(indexes?)
    }

    fn create_index(&self, grouping: &str, index: &str, definition: &IndexDefinition) -> Result<u64> {
        let (item, created) = progress::create_index_remotely(&self.client, grouping, index, &definition.to_string())?;
        if !created {
            let (grouping, index) = (grouping.to_owned(), index.to_owned());
            return Err(libimmuxdb::Error::IndexExists { grouping, index }.into());
        }
        Ok(item.since)
    }

    fn drop_index(&self, grouping: &str, index: &str) -> Result<u64> {
        Ok(self.client.drop_index(grouping, index)?.height)
    }

    fn stats(&self) -> Result<StatsItem> {
        Ok(self.client.stats()?)
    }

    fn root(&self, at: Option<Moment>) -> Result<Root> {
        Ok(self.client.root(at.map(Moment::for_client))?)
    }

    fn prove_unit(&self, grouping: &str, key: &[u8], at: Option<Moment>) -> Result<Option<UnitProof>> {
        unless_missing(self.client.unit_proof(grouping, key, at.map(Moment::for_client)))
    }

    fn prove_extends(&self, old: u64, new: u64) -> Result<ExtensionProof> {
        Ok(self.client.extension_proof(old, new)?)
    }

    fn write_rows(&self, grouping: &str, rows: &[Row]) -> WrittenRows {
        let items = rows.iter().map(|row| BulkItem::json(&row.key, &row.content));
        let error = match self.client.bulk(grouping, items, BulkOptions::default()) {
            Ok(answer) => return written(&answer, None),
            Err(error) => error,
        };
        let Some((refused, answer)) = error.server().and_then(|refused| Some((refused, refused.bulk.as_ref()?))) else {
            return WrittenRows { fault: Some(RowFault::Other(error.into())), ..WrittenRows::default() };
        };
        let fault = match (refused.code.as_str(), answer.errors.first()) {
            ("invalid_json" | "too_large" | "duplicate_key" | "invalid" | "bad_line", Some(line)) => {
                RowFault::Row(line.failure.message.clone())
            }
            (code, _) => RowFault::Other(Failure::from_server(code, refused.message.clone(), refused.help.clone())),
        };
        written(answer, Some(fault))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn written(answer: &BulkAnswer, fault: Option<RowFault>) -> WrittenRows {
    WrittenRows {
        rows: usize::try_from(answer.written).unwrap_or(usize::MAX),
        inserted: answer.created,
        commits: answer.commits,
        fault,
    }
}

/// A list of the client as one of the doors.
fn list<T: Item + 'static, U: 'static>(items: Items<T>, convert: fn(T) -> U) -> List<U> {
    let items = Rc::new(RefCell::new(items));
    let source = Rc::clone(&items);
    List {
        items: Box::new(std::iter::from_fn(move || {
            let item = items.borrow_mut().next()?;
            Some(item.map(convert).map_err(Failure::from))
        })),
        used_index: Box::new(move || source.borrow().end().is_none_or(|end| end.used_index)),
    }
}

fn unit(unit: immuxdb_client::Unit) -> Unit {
    Unit { key: unit.key, height: unit.height, kind: kind(unit.kind), content: unit.content, value: unit.value }
}

fn version(version: immuxdb_client::Version) -> Version {
    Version {
        height: version.height,
        time: version.time,
        kind: kind(version.kind),
        size: version.size,
        content: version.content,
    }
}

fn kind(kind: Kind) -> VersionKind {
    match kind {
        Kind::Json => VersionKind::Json,
        Kind::Raw => VersionKind::Raw,
        Kind::Deleted => VersionKind::Deleted,
    }
}
