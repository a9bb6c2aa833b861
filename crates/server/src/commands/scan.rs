//! `immuxdb scan`: units in order, by their keys or by an index, now or in the past.

use std::ffi::OsString;

use clap::Args;
use libimmuxdb::index::IndexDefinition;
use serde::Serialize;
use serde_json::Value;

use super::unit::key_bytes;
use crate::configuration::Resolved;
use crate::door::{self, Door, ScanRequest, Unit};
use crate::failure::{Failure, Result};
use crate::moment::Moment;
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
    value: Option<&'a Value>,
    #[serde(flatten)]
    key: KeyFields<'a>,
    height: u64,
    kind: &'static str,
    #[serde(flatten)]
    content: Option<ContentFields>,
}

impl Scan {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let door = door::to_read(resolved)?;
        door.expect_grouping(&self.grouping)?;
        let request = self.request(&*door)?;
        if self.count {
            let count = door.count(&self.grouping, &request)?;
            return output.say(&serde_json::json!({ "count": count }), count);
        }
        let units = door.scan(&self.grouping, &request)?;
        let mut columns = vec![Column::text("key"), Column::number("height")];
        if request.index.is_some() {
            columns.insert(0, Column::text("value"));
        }
        if !self.keys_only {
            columns.push(Column::text("content"));
        }
        let mut list = output.list(columns);
        for unit in units.items {
            self.print(&unit?, &mut list)?;
        }
        list.end()?;
        if !(units.used_index)() {
            note("the index is younger than this height: all units were read");
        }
        Ok(())
    }

    fn request(&self, door: &dyn Door) -> Result<ScanRequest> {
        let bound = |value: &Option<OsString>| match value {
            None => Ok(None),
            Some(value) => key_bytes(value, self.hex).map(Some),
        };
        Ok(ScanRequest {
            index: self.index.as_ref().map(|name| self.definition(door, name)).transpose()?,
            value: bound(&self.value)?,
            from: bound(&self.from)?,
            to: bound(&self.to)?,
            through: bound(&self.through)?,
            prefix: bound(&self.prefix)?,
            reverse: self.reverse,
            limit: self.limit,
            at: self.at,
            keys_only: self.keys_only,
        })
    }

    fn definition(&self, door: &dyn Door, name: &str) -> Result<(String, IndexDefinition)> {
        let indexes = door.indexes(&self.grouping)?;
        match indexes.iter().find(|index| index.index == name) {
            Some(index) => Ok((name.to_owned(), index.definition.parse()?)),
            None => {
                let names: Vec<&str> = indexes.iter().map(|index| index.index.as_str()).collect();
                Err(Failure::not_found(format!("there is no index {name:?} in grouping {:?}", self.grouping)).help(
                    match names.as_slice() {
                        [] => "make one with `immuxdb index create`".to_owned(),
                        names => format!("there are: {}", names.join(", ")),
                    },
                ))
            }
        }
    }

    fn print(&self, unit: &Unit, list: &mut List<'_>) -> Result<()> {
        let item = Item {
            value: unit.value.as_ref(),
            key: KeyFields::new(&unit.key),
            height: unit.height,
            kind: kind_name(unit.kind),
            content: (!self.keys_only).then(|| ContentFields::new(unit.kind, &unit.content)),
        };
        list.item(&item, || {
            let mut cells = vec![shown_key(&unit.key), item.height.to_string()];
            if let Some(value) = item.value {
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
