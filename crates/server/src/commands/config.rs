//! `immuxdb config`: the settings in force.

use clap::Args;
use serde::Serialize;

use crate::configuration::{Resolved, SETTINGS};
use crate::failure::Result;
use crate::output::{Column, Output, printable_text};

/// Show the settings in force, and where each comes from
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLE)]
pub struct Config {}

const EXAMPLE: &str = "\
A setting comes from the last of these that has it: the default, a TOML file, the environment, a flag.
The file is the one of --config or IMMUXDB_CONFIG, else ./immuxdb.toml, else $XDG_CONFIG_HOME/immuxdb/config.toml
(~/.config where that is not set). For example:

  data_root = \"./immuxdb-data\"   # IMMUXDB_DATA_ROOT, --data-root
  server = \"http://127.0.0.1:1991\"  # IMMUXDB_SERVER, --server
  chain = \"default\"              # IMMUXDB_CHAIN, --chain
  durability = \"sync\"            # IMMUXDB_DURABILITY, --durability: buffered, process or sync
  memory_limit = \"512MiB\"        # IMMUXDB_MEMORY_LIMIT, --memory-limit
  listen = \"127.0.0.1:1991\"      # IMMUXDB_LISTEN, --listen: of `immuxdb serve`, as all below
  token = \"…\"                    # IMMUXDB_TOKEN: what requests must have; it is not shown here";

#[derive(Serialize)]
struct Item {
    setting: &'static str,
    value: String,
    origin: &'static str,
    place: Option<String>,
    meaning: &'static str,
}

impl Config {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let mut list = output.list(vec![
            Column::text("setting"),
            Column::text("value"),
            Column::text("from"),
            Column::text("meaning"),
        ]);
        for setting in &SETTINGS {
            let origin = resolved.origin(setting.key);
            let item = Item {
                setting: setting.key,
                value: (setting.show)(&resolved.configuration),
                origin: origin.layer(),
                place: origin.place(),
                meaning: setting.meaning,
            };
            list.item(&item, || {
                vec![
                    item.setting.to_owned(),
                    printable_text(&item.value),
                    printable_text(&origin.to_string()),
                    item.meaning.to_owned(),
                ]
            })?;
        }
        list.end()
    }
}
