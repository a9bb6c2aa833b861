//! `immuxdb index`: to make, drop and list indexes.

use std::str::FromStr;

use clap::{Args, Subcommand};
use immuxdb_client::wire::IndexItem;
use libimmuxdb::index::IndexDefinition;
use serde::Serialize;

use crate::configuration::Resolved;
use crate::door::{self, Missing};
use crate::failure::{Failure, Result};
use crate::output::{Column, Output, printable_text};

/// Make, drop and list indexes
#[derive(Debug, Subcommand)]
pub enum Index {
    Create(Create),
    Drop(Drop),
    List(List),
}

/// How a definition is written, for people.
pub(super) const DEFINITION_HELP: &str = "\
An index is defined by
  json:FIELD,FIELD…         fields of JSON content; a.b is the field b in the object a; -FIELD is descending
  raw:OFFSET+LENGTH,…       bytes of raw content
and any of the words
  unique                    no two units have the same values
  sparse                    (json) units that have none of the fields are left out
  filler=0x20               (raw) units that have only this byte there are left out";

/// Make an index, and fill it with the units there are
#[derive(Debug, Args)]
#[command(after_help = DEFINITION_HELP)]
pub struct Create {
    /// The grouping
    grouping: String,
    /// The index's name
    name: String,
    /// What it orders units by, such as json:district_id unique
    #[arg(required = true, num_args = 1..)]
    definition: Vec<String>,
}

/// Drop an index
#[derive(Debug, Args)]
pub struct Drop {
    /// The grouping
    grouping: String,
    /// The index's name
    name: String,
}

/// List the indexes of a grouping, or of all
#[derive(Debug, Args)]
pub struct List {
    /// The grouping
    grouping: Option<String>,
}

/// An index with its name, as one argument: `name=json:field`.
#[derive(Clone, Debug)]
pub(super) struct NamedIndex {
    pub(super) name: String,
    pub(super) definition: IndexDefinition,
}

impl FromStr for NamedIndex {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedIndex, String> {
        let (name, definition) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty() && !name.contains(':'))
            .ok_or("expected a name and a definition, such as by_date=json:date")?;
        Ok(NamedIndex {
            name: name.to_owned(),
            definition: definition.parse().map_err(|error: libimmuxdb::Error| error.to_string())?,
        })
    }
}

#[derive(Serialize)]
struct Changed<'a> {
    grouping: &'a str,
    index: &'a str,
    height: u64,
}

impl Index {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        match self {
            Index::Create(create) => create.run(resolved, output),
            Index::Drop(drop) => drop.run(resolved, output),
            Index::List(list) => list.run(resolved, output),
        }
    }
}

impl Create {
    fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let definition: IndexDefinition = self.definition.join(" ").parse().map_err(|error: libimmuxdb::Error| {
            Failure::usage(error.to_string()).help("`immuxdb index create --help` shows how a definition is written")
        })?;
        let door = door::to_write(resolved, Missing::Create, resolved.durability())?;
        let height = door.create_index(&self.grouping, &self.name, &definition)?;
        door.close()?;
        let item = Changed { grouping: &self.grouping, index: &self.name, height };
        output.say(
            &item,
            format_args!("{} has the index {} ({definition}) since height {height}", self.grouping, self.name),
        )
    }
}

impl Drop {
    fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let door = door::to_write(resolved, Missing::Refuse, resolved.durability())?;
        door.expect_grouping(&self.grouping)?;
        let height = door.drop_index(&self.grouping, &self.name)?;
        door.close()?;
        let item = Changed { grouping: &self.grouping, index: &self.name, height };
        output.say(&item, format_args!("dropped the index {} of {} at height {height}", self.name, self.grouping))
    }
}

impl List {
    fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let door = door::to_read(resolved)?;
        let groupings = match self.grouping {
            Some(name) => {
                door.expect_grouping(&name)?;
                vec![name]
            }
            None => door.grouping_names()?,
        };
        let mut list = output.list(vec![
            Column::text("grouping"),
            Column::text("index"),
            Column::text("definition"),
            Column::number("since"),
        ]);
        for grouping in groupings {
            for item in door.indexes(&grouping)? {
                let item = IndexItem { progress: None, ..item };
                list.item(&item, || {
                    let state = if item.ready { "" } else { " (being filled)" };
                    vec![
                        printable_text(&item.grouping),
                        printable_text(&item.index),
                        printable_text(&item.definition) + state,
                        item.since.to_string(),
                    ]
                })?;
            }
        }
        list.end()
    }
}
