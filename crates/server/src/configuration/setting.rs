//! Each setting: its name, what it means, what values it takes.

use std::time::Duration;

use bytesize::ByteSize;
use config::{Value, ValueKind};
use jiff::SignedDuration;
use libimmuxdb::{Durability, limits};

use super::{ImmuxDBConfiguration, LogFormat, Origin};

/// One setting.
pub struct Setting {
    /// The name, as in a TOML file. The variable is `IMMUXDB_` and the name in capitals.
    pub key: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What values it takes.
    pub expected: &'static str,
    /// A value as one would write it in a file.
    pub example: &'static str,
    /// Whether its value is shown to nobody.
    pub secret: bool,
    /// The value in force, as text.
    pub show: fn(&ImmuxDBConfiguration) -> String,
    /// Takes the value over; `None` when it is not what is expected.
    pub(super) take: fn(&mut ImmuxDBConfiguration, &Value, &Origin) -> Option<()>,
}

/// All settings.
pub const SETTINGS: [Setting; 17] = [
    Setting {
        key: "data_root",
        meaning: "the directory of the store",
        expected: "the path of a directory",
        example: "\"./immuxdb-data\"",
        secret: false,
        show: |configuration| configuration.data_root.display().to_string(),
        take: |configuration, value, origin| {
            let path = text(value)?;
            configuration.data_root = match origin.folder() {
                Some(folder) => folder.join(path),
                None => path.into(),
            };
            Some(())
        },
    },
    Setting {
        key: "server",
        meaning: "the server to work through, instead of on files",
        secret: false,
        expected: "a URL like http://127.0.0.1:1991",
        example: "\"http://127.0.0.1:1991\"",
        show: |configuration| configuration.server.clone().unwrap_or_else(|| "(none)".to_owned()),
        take: |configuration, value, _| {
            let url = text(value)?;
            configuration.server = Some(url.to_owned());
            Some(())
        },
    },
    Setting {
        key: "chain",
        meaning: "the chain that commands work on",
        expected: "a name of 1 to 255 bytes",
        example: "\"default\"",
        secret: false,
        show: |configuration| configuration.chain.clone(),
        take: |configuration, value, _| {
            let name = text(value)?;
            configuration.chain = (name.len() <= limits::NAME_BYTES).then(|| name.to_owned())?;
            Some(())
        },
    },
    Setting {
        key: "durability",
        meaning: "how far a commit has gone when it returns",
        expected: "\"buffered\", \"process\" or \"sync\"",
        example: "\"sync\"",
        secret: false,
        show: |configuration| durability_name(configuration.durability).to_owned(),
        take: |configuration, value, _| {
            let name = text(value)?;
            configuration.durability =
                DURABILITIES.into_iter().find(|durability| durability_name(*durability) == name)?;
            Some(())
        },
    },
    Setting {
        key: "memory_limit",
        meaning: "how much memory the engine may use",
        expected: SIZE,
        example: "\"512MiB\"",
        secret: false,
        show: |configuration| size_text(configuration.memory_limit),
        take: |configuration, value, _| {
            configuration.memory_limit = size(value)?;
            Some(())
        },
    },
    Setting {
        key: "listen",
        meaning: "the address and port at which the server listens",
        expected: "an address and a port",
        example: "\"127.0.0.1:1991\"",
        secret: false,
        show: |configuration| configuration.listen.clone(),
        take: |configuration, value, _| {
            configuration.listen = text(value)?.to_owned();
            Some(())
        },
    },
    Setting {
        key: "token",
        meaning: "the token that requests to the server must have",
        expected: "1 to 1024 visible characters of ASCII",
        example: "\"…\"",
        secret: true,
        show: |configuration| if configuration.token.is_some() { "(set)" } else { "(none)" }.to_owned(),
        take: |configuration, value, _| {
            let token = text(value)?;
            let fits = token.len() <= 1024 && token.bytes().all(|byte| byte.is_ascii_graphic());
            configuration.token = Some(fits.then(|| token.to_owned())?);
            Some(())
        },
    },
    Setting {
        key: "max_body",
        meaning: "the largest body that the server takes, but for .bulk",
        expected: SIZE,
        example: "\"64MiB\"",
        secret: false,
        show: |configuration| size_text(configuration.max_body),
        take: |configuration, value, _| {
            configuration.max_body = size(value)?;
            Some(())
        },
    },
    Setting {
        key: "max_connections",
        meaning: "how many connections the server takes, and how many requests at once",
        expected: "a number from 1 to 1000000",
        example: "1024",
        secret: false,
        show: |configuration| configuration.max_connections.to_string(),
        take: |configuration, value, _| {
            let count = match &value.kind {
                ValueKind::String(text) => text.parse().ok()?,
                ValueKind::I64(count) => usize::try_from(*count).ok()?,
                _ => return None,
            };
            configuration.max_connections = (1..=1_000_000).contains(&count).then_some(count)?;
            Some(())
        },
    },
    Setting {
        key: "request_memory",
        meaning: "how much memory large bodies and answers of the server may take together",
        expected: SIZE,
        example: "\"256MiB\"",
        secret: false,
        show: |configuration| size_text(configuration.request_memory),
        take: |configuration, value, _| {
            configuration.request_memory = size(value)?;
            Some(())
        },
    },
    Setting {
        key: "header_timeout",
        meaning: "how long the head of a request may take",
        expected: DURATION,
        example: "\"10s\"",
        secret: false,
        show: |configuration| duration_text(configuration.header_timeout),
        take: |configuration, value, _| {
            configuration.header_timeout = duration(value)?;
            Some(())
        },
    },
    Setting {
        key: "body_timeout",
        meaning: "how long the body of a request may make no progress",
        expected: DURATION,
        example: "\"30s\"",
        secret: false,
        show: |configuration| duration_text(configuration.body_timeout),
        take: |configuration, value, _| {
            configuration.body_timeout = duration(value)?;
            Some(())
        },
    },
    Setting {
        key: "idle_timeout",
        meaning: "how long a connection to the server may be idle",
        expected: DURATION,
        example: "\"2m\"",
        secret: false,
        show: |configuration| duration_text(configuration.idle_timeout),
        take: |configuration, value, _| {
            configuration.idle_timeout = duration(value)?;
            Some(())
        },
    },
    Setting {
        key: "write_timeout",
        meaning: "how long a client may read nothing of its answer",
        expected: DURATION,
        example: "\"30s\"",
        secret: false,
        show: |configuration| duration_text(configuration.write_timeout),
        take: |configuration, value, _| {
            configuration.write_timeout = duration(value)?;
            Some(())
        },
    },
    Setting {
        key: "stop_timeout",
        meaning: "how long a server that is being stopped waits for requests to end",
        expected: DURATION,
        example: "\"30s\"",
        secret: false,
        show: |configuration| duration_text(configuration.stop_timeout),
        take: |configuration, value, _| {
            configuration.stop_timeout = duration(value)?;
            Some(())
        },
    },
    Setting {
        key: "log_format",
        meaning: "how the server's log is written",
        expected: "\"text\" or \"json\"",
        example: "\"text\"",
        secret: false,
        show: |configuration| match configuration.log_format {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        },
        take: |configuration, value, _| {
            configuration.log_format = match text(value)? {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "log_level",
        meaning: "what the server logs",
        expected: "\"error\", \"warn\", \"info\", \"debug\" or \"trace\"",
        example: "\"info\"",
        secret: false,
        show: |configuration| configuration.log_level.clone(),
        take: |configuration, value, _| {
            let level = text(value)?;
            let known = matches!(level, "error" | "warn" | "info" | "debug" | "trace");
            configuration.log_level = known.then(|| level.to_owned())?;
            Some(())
        },
    },
];

const SIZE: &str = "a number of bytes, or a text like \"512MiB\" or \"2GiB\"";
const DURATION: &str = "a number of seconds, or a text like \"500ms\", \"30s\" or \"2m\"";

const DURABILITIES: [Durability; 3] = [Durability::Buffered, Durability::Process, Durability::Sync];

/// The name of a durability level, as the settings write it.
#[must_use]
pub fn durability_name(durability: Durability) -> &'static str {
    match durability {
        Durability::Buffered => "buffered",
        Durability::Process => "process",
        Durability::Sync => "sync",
    }
}

/// A size with the largest unit that divides it, so that reading it gives the same size: "512MiB", "1000B".
fn size_text(bytes: usize) -> String {
    match bytes {
        bytes if bytes % (1 << 30) == 0 => format!("{}GiB", bytes >> 30),
        bytes if bytes % (1 << 20) == 0 => format!("{}MiB", bytes >> 20),
        bytes if bytes % (1 << 10) == 0 => format!("{}KiB", bytes >> 10),
        bytes => format!("{bytes}B"),
    }
}

/// A size that is a number of bytes, or a text; more than nothing.
fn size(value: &Value) -> Option<usize> {
    let bytes = match &value.kind {
        ValueKind::String(text) => text.parse::<ByteSize>().ok()?.as_u64(),
        ValueKind::I64(bytes) => u64::try_from(*bytes).ok()?,
        _ => return None,
    };
    usize::try_from(bytes).ok().filter(|bytes| *bytes > 0)
}

/// A duration that is a number of seconds, or a text; from a millisecond to some years.
fn duration(value: &Value) -> Option<Duration> {
    const MOST: Duration = Duration::from_secs(100_000_000);
    let duration = match &value.kind {
        ValueKind::I64(seconds) => Duration::from_secs(u64::try_from(*seconds).ok()?),
        ValueKind::String(text) => match text.parse() {
            Ok(seconds) => Duration::from_secs(seconds),
            Err(_) => text.parse::<SignedDuration>().ok()?.try_into().ok()?,
        },
        _ => return None,
    };
    (Duration::from_millis(1)..=MOST).contains(&duration).then_some(duration)
}

fn duration_text(duration: Duration) -> String {
    match SignedDuration::try_from(duration) {
        Ok(duration) => format!("{duration:#}"),
        Err(_) => format!("{duration:?}"),
    }
}

/// The text of a value that is a text, and not an empty one.
fn text(value: &Value) -> Option<&str> {
    match &value.kind {
        ValueKind::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}
