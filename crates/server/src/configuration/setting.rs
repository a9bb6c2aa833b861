//! Each setting: its name, what it means, what values it takes.

use bytesize::ByteSize;
use config::{Value, ValueKind};
use libimmuxdb::{Durability, limits};

use super::{ImmuxDBConfiguration, Origin};

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
    /// The value in force, as text.
    pub show: fn(&ImmuxDBConfiguration) -> String,
    /// Takes the value over; `None` when it is not what is expected.
    pub(super) take: fn(&mut ImmuxDBConfiguration, &Value, &Origin) -> Option<()>,
}

/// All settings.
pub const SETTINGS: [Setting; 5] = [
    Setting {
        key: "data_root",
        meaning: "the directory of the store",
        expected: "the path of a directory",
        example: "\"./immuxdb-data\"",
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
        expected: "a number of bytes, or a text like \"512MiB\" or \"2GiB\"",
        example: "\"512MiB\"",
        show: |configuration| size_text(configuration.memory_limit),
        take: |configuration, value, _| {
            let bytes = match &value.kind {
                ValueKind::String(text) => text.parse::<ByteSize>().ok()?.as_u64(),
                ValueKind::I64(bytes) => u64::try_from(*bytes).ok()?,
                _ => return None,
            };
            configuration.memory_limit = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0)?;
            Some(())
        },
    },
];

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

/// The text of a value that is a text, and not an empty one.
fn text(value: &Value) -> Option<&str> {
    match &value.kind {
        ValueKind::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}
