//! The server's log: lines on standard error, as text or as JSON.

use tracing_subscriber::filter::LevelFilter;

use crate::configuration::{ImmuxDBConfiguration, LogFormat};
use crate::failure::{Failure, Result};

/// Sends events of the settings' level to standard error.
///
/// # Errors
/// Somebody did so already.
pub(crate) fn start(configuration: &ImmuxDBConfiguration) -> Result<()> {
    let level = match configuration.log_level.as_str() {
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => LevelFilter::INFO,
    };
    let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let events = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(colours);
    let started = match configuration.log_format {
        LogFormat::Text => events.with_target(false).try_init(),
        LogFormat::Json => events.json().flatten_event(true).with_target(false).try_init(),
    };
    started.map_err(|error| Failure::new(format!("the log can't be started: {error}")))
}
