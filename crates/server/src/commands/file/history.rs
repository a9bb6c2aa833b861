//! `immuxdb file history`: all versions of a record.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use data_encoding::BASE64;
use libimmuxdb::VersionKind;
use serde::Serialize;

use crate::commands::unit::key_bytes;
use crate::failure::{Failure, Result};
use crate::moment::time_text;
use crate::output::{Column, Output, printable_bytes, shown_key};

/// List the versions of a record, newest first
#[derive(Debug, Args)]
pub struct History {
    /// The file
    file: PathBuf,
    /// The record key; a shorter one is padded with spaces
    #[arg(allow_negative_numbers = true)]
    key: OsString,
    /// The key is written in hexadecimal digits, such as 00ff
    #[arg(long)]
    hex: bool,
    /// At most this many
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Item {
    height: u64,
    time: String,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record_base64: Option<String>,
}

impl History {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        let file = super::open(&self.file)?;
        let mut key = key_bytes(&self.key, self.hex)?;
        let length = file.layout().keys[0].len();
        if key.len() > length {
            return Err(Failure::usage(format!("the record key has {length} bytes; {} were given", key.len())));
        }
        key.resize(length, b' ');
        let mut versions = file.history(&key)?.peekable();
        if versions.peek().is_none() {
            return Err(Failure::not_found(format!(
                "{} has no record {}, and never had one",
                self.file.display(),
                shown_key(&key)
            )));
        }
        let columns = [Column::number("height"), Column::text("time"), Column::text("what"), Column::text("record")];
        let mut list = output.list(columns.to_vec());
        for version in versions.take(self.limit.unwrap_or(usize::MAX)) {
            let version = version?;
            let deleted = version.kind == VersionKind::Deleted;
            let text = std::str::from_utf8(&version.content).ok().filter(|_| !deleted).map(str::to_owned);
            let base64 = (text.is_none() && !deleted).then(|| BASE64.encode(&version.content));
            let item = Item {
                height: version.height.0,
                time: time_text(version.time),
                what: if deleted { "deleted" } else { "written" },
                record: text,
                record_base64: base64,
            };
            list.item(&item, || {
                let record = printable_bytes(&version.content).trim_end().to_owned();
                vec![item.height.to_string(), item.time.clone(), item.what.to_owned(), record]
            })?;
        }
        list.end()
    }
}
