//! `immuxdb scan`: units in order, by their keys or by an index, now or in the past.

use std::ffi::OsString;

use clap::Args;
use libimmuxdb::index::{IndexDefinition, decode_key};
use libimmuxdb::{Grouping, Unit};
use serde::Serialize;
use serde_json::Value;

use super::unit::key_bytes;
use crate::configuration::Resolved;
use crate::failure::{Failure, Result};
use crate::index_value::{index_key, index_prefix};
use crate::moment::Moment;
use crate::opened::Opened;
use crate::output::{
    Column, ContentFields, KeyFields, List, Output, kind_name, note, printable_text, shown_content, shown_key,
};

/// List units in order
///
/// Without --index the order is that of the unit keys' bytes.
#[derive(Debug, Args)]
#[command(after_help = VALUES_HELP)]
pub struct Scan {
    /// The grouping
    grouping: String,
    /// In the order of this index; units with the same value in the order in which they got it
    #[arg(long, short, value_name = "NAME")]
    index: Option<String>,
    /// Only units with this value
    #[arg(long, allow_hyphen_values = true, requires = "index", conflicts_with_all = ["from", "to", "through", "prefix"])]
    value: Option<OsString>,
    /// From this value (or unit key) on
    #[arg(long, allow_hyphen_values = true, value_name = "VALUE")]
    from: Option<OsString>,
    /// Up to this value, without it
    #[arg(long, allow_hyphen_values = true, value_name = "VALUE", conflicts_with = "through")]
    to: Option<OsString>,
    /// Up to this value, and with it
    #[arg(long, allow_hyphen_values = true, value_name = "VALUE")]
    through: Option<OsString>,
    /// Only values that begin with this
    #[arg(long, allow_hyphen_values = true, value_name = "VALUE")]
    prefix: Option<OsString>,
    /// Bounds of unit keys are written in hexadecimal digits
    #[arg(long, conflicts_with = "index")]
    hex: bool,
    /// From the last to the first
    #[arg(long, short)]
    reverse: bool,
    /// At most this many
    #[arg(long, short, value_name = "COUNT")]
    limit: Option<u64>,
    /// As it was at this height or time (RFC 3339)
    #[arg(long, value_name = "HEIGHT|TIME")]
    at: Option<Moment>,
    /// Without contents
    #[arg(long)]
    keys_only: bool,
    /// Only say how many there are
    #[arg(long)]
    count: bool,
}

const VALUES_HELP: &str = "\
A value of an index is JSON: 10, '\"10\"', true, null; what is no JSON is text: PRAGUE, 007.
For an index of several fields it is an array of the first ones or of all: '[10, \"PRAGUE\"]'.
For an index over raw bytes all is text, but for '{\"hex\": \"00ff\"}'.";

#[derive(Serialize)]
struct Item<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(flatten)]
    key: KeyFields<'a>,
    height: u64,
    kind: &'static str,
    #[serde(flatten)]
    content: Option<ContentFields>,
}

impl Scan {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let opened = Opened::to_read(resolved)?;
        let grouping = opened.grouping(&self.grouping)?;
        let definition = self.definition(&grouping)?;
        let scan = self.request(definition.as_ref())?;
        let snapshot = match self.at {
            None => opened.chain.snapshot()?,
            Some(at) => opened.chain.snapshot_at(at.height(&opened.chain)?)?,
        };
        if self.count {
            let count = snapshot.count(&self.grouping, scan)?;
            return output.say(&serde_json::json!({ "count": count }), count);
        }
        let units = snapshot.scan(&self.grouping, scan)?;
        if definition.is_some() && !units.used_index() {
            note("the index is younger than this height: all units were read");
        }
        let mut columns = vec![Column::text("key"), Column::number("height")];
        if definition.is_some() {
            columns.insert(0, Column::text("value"));
        }
        if !self.keys_only {
            columns.push(Column::text("content"));
        }
        let mut list = output.list(columns);
        for unit in units {
            self.print(&unit?, definition.as_ref(), &mut list)?;
        }
        list.end()
    }

    fn definition(&self, grouping: &Grouping) -> Result<Option<IndexDefinition>> {
        let Some(name) = &self.index else {
            return Ok(None);
        };
        let indexes = grouping.indexes();
        match indexes.iter().find(|index| index.name == *name) {
            Some(index) => Ok(Some(index.definition.clone())),
            None => {
                let names: Vec<&str> = indexes.iter().map(|index| index.name.as_str()).collect();
                Err(Failure::not_found(format!("there is no index {name:?} in grouping {:?}", self.grouping)).help(
                    match names.as_slice() {
                        [] => "make one with `immuxdb index create`".to_owned(),
                        names => format!("there are: {}", names.join(", ")),
                    },
                ))
            }
        }
    }

    fn request(&self, definition: Option<&IndexDefinition>) -> Result<libimmuxdb::Scan> {
        let bound = |value: &OsString, whole: bool| match definition {
            None => key_bytes(value, self.hex),
            Some(definition) => {
                let text = value.to_str().ok_or_else(|| {
                    Failure::usage(format!("the value {} is not UTF-8 text", value.display()))
                        .help("bytes of a raw index are written as '{\"hex\": \"00ff\"}'")
                })?;
                if whole { index_key(definition, text) } else { index_prefix(definition, text) }
            }
        };
        let mut scan = match &self.index {
            None => libimmuxdb::Scan::units(),
            Some(name) => libimmuxdb::Scan::index(name.as_str()),
        };
        if let Some(value) = &self.value {
            scan = scan.prefix(bound(value, true)?);
        }
        if let Some(value) = &self.from {
            scan = scan.from(bound(value, true)?);
        }
        if let Some(value) = &self.to {
            scan = scan.to(bound(value, true)?);
        }
        if let Some(value) = &self.through {
            let key = bound(value, true)?;
            scan = match definition {
                Some(_) => scan.through(key),
                // Other than an index key, a unit key is not complete in itself: the next one after it has a zero byte more.
                None => scan.to([key, vec![0]].concat()),
            };
        }
        if let Some(value) = &self.prefix {
            scan = scan.prefix(bound(value, false)?);
        }
        if let Some(limit) = self.limit {
            scan = scan.limit(limit);
        }
        if self.reverse {
            scan = scan.backward();
        }
        if self.keys_only {
            scan = scan.keys_only();
        }
        Ok(scan)
    }

    fn print(&self, unit: &Unit, definition: Option<&IndexDefinition>, list: &mut List<'_>) -> Result<()> {
        let value = match definition {
            None => None,
            Some(definition) => {
                let mut values = decode_key(definition, &unit.index_key)?;
                Some(if values.len() == 1 { values.remove(0) } else { Value::Array(values) })
            }
        };
        let item = Item {
            value,
            key: KeyFields::new(&unit.key),
            height: unit.height.0,
            kind: kind_name(unit.kind),
            content: (!self.keys_only).then(|| ContentFields::new(unit.kind, &unit.content)),
        };
        list.item(&item, || {
            let mut cells = vec![shown_key(&unit.key), item.height.to_string()];
            if let Some(value) = &item.value {
                cells.insert(0, shown_value(value));
            }
            if !self.keys_only {
                cells.push(shown_content(unit.kind, &unit.content));
            }
            cells
        })
    }
}

/// A value of an index, for people: a text without its quotes.
fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => printable_text(text),
        other => printable_text(&other.to_string()),
    }
}
