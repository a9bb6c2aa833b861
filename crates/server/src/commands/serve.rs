//! `immuxdb serve`: the server.

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::configuration::Resolved;
use crate::failure::Result;
use crate::serve::serve;

/// Serve the store over HTTP, until SIGINT or SIGTERM
///
/// Other processes can't write to the chains meanwhile; they can read. What the server knows is described at /.openapi.json.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address and port to listen at [default: 127.0.0.1:1991]. Another address than one of this machine needs a token
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// How log lines on standard error are written [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(["text", "json"]))]
    log_format: Option<String>,
    /// What is logged [default: info]
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(["error", "warn", "info", "debug", "trace"]))]
    log_level: Option<String>,
}

impl Serve {
    /// The flags that are settings.
    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        let settings = [("listen", &self.listen), ("log_format", &self.log_format), ("log_level", &self.log_level)];
        settings.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))).collect()
    }

    pub(super) fn run(self, resolved: &Resolved) -> Result<()> {
        serve(&resolved.configuration)
    }
}
