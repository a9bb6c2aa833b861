//! From the layers to the settings in force.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use config::{ConfigError, Environment, File, FileFormat, Map, Source, Value};

use super::{ImmuxDBConfiguration, Origin, Resolved, SETTINGS};
use crate::failure::{Failure, Result, nearest};

/// The file that is looked for in the working directory.
const LOCAL_FILE: &str = "immuxdb.toml";
/// The file that is looked for in the user's configuration directory.
const USER_FILE: &str = "immuxdb/config.toml";
/// What the names of our variables begin with.
const PREFIX: &str = "IMMUXDB_";
/// Names the configuration file; it is not a setting itself.
const CONFIG_VARIABLE: &str = "IMMUXDB_CONFIG";

/// What the flags say; `None` where there is no flag.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// The flags that are settings: the setting's name and the value.
    pub settings: Vec<(&'static str, String)>,
}

/// What surrounds the process, as far as settings depend on it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The variables of the environment.
    pub variables: BTreeMap<String, String>,
    /// The working directory; empty for that of the process.
    pub directory: PathBuf,
}

impl Surroundings {
    /// Those of this process. Variables that are no UTF-8 are left out, unless they are ours.
    ///
    /// # Errors
    /// A variable of ours is no UTF-8.
    pub fn of_process() -> Result<Surroundings> {
        let mut variables = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => {
                    variables.insert(name, value);
                }
                (Ok(name), Err(_)) if name.starts_with(PREFIX) => {
                    return Err(Failure::usage(format!("the variable {name} is not UTF-8 text")));
                }
                _ => (),
            }
        }
        Ok(Surroundings { variables, directory: PathBuf::new() })
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The configuration file, and whether it was asked for (so that it must be there).
    fn file(&self, flag: Option<&Path>) -> Option<(PathBuf, bool)> {
        if let Some(path) = flag.or(self.variable(CONFIG_VARIABLE).map(Path::new)) {
            return Some((path.to_owned(), true));
        }
        let home = match self.variable("XDG_CONFIG_HOME") {
            Some(home) => Some(PathBuf::from(home)),
            None => self.variable("HOME").map(|home| Path::new(home).join(".config")),
        };
        [Some(PathBuf::from(LOCAL_FILE)), home.map(|home| home.join(USER_FILE))]
            .into_iter()
            .flatten()
            .find(|path| self.directory.join(path).exists())
            .map(|path| (path, false))
    }
}

/// Reads all layers.
///
/// # Errors
/// A file can't be read or is no TOML; a setting is unknown; a value is not what is expected.
pub fn resolve(flags: &Flags, surroundings: &Surroundings) -> Result<Resolved> {
    let mut resolved = Resolved { configuration: ImmuxDBConfiguration::get_default(), origins: BTreeMap::new() };
    if let Some((path, asked)) = surroundings.file(flags.config.as_deref()) {
        let values = read_file(&surroundings.directory.join(&path), asked)?;
        apply(&mut resolved, values, |_| Origin::File(path.clone()))?;
    }
    let values = read_variables(surroundings)?;
    apply(&mut resolved, values, |key| Origin::Variable(variable_name(key)))?;
    let values = flags.settings.iter().map(|(key, text)| ((*key).to_owned(), Value::new(None, text.clone()))).collect();
    apply(&mut resolved, values, |key| Origin::Flag(flag_name(key)))?;
    Ok(resolved)
}

fn read_file(path: &Path, asked: bool) -> Result<Map<String, Value>> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let failure = Failure::usage(format!("the configuration file {} can't be read: {error}", path.display()));
        match error.kind() {
            io::ErrorKind::NotFound if asked => {
                failure.help(format!("write the file, or leave out --config (and {CONFIG_VARIABLE}) to go without one"))
            }
            _ => failure,
        }
    })?;
    File::from_str(&text, FileFormat::Toml).collect().map_err(|error| {
        let cause = match &error {
            ConfigError::FileParse { cause, .. } => cause.to_string(),
            other => other.to_string(),
        };
        Failure::usage(format!("{} is not valid TOML: {}", path.display(), toml_message(&cause)))
            .help("`immuxdb config --help` shows an example of such a file")
    })
}

/// A TOML error draws the line with an arrow below it; the place and the reason fit into one line.
fn toml_message(drawn: &str) -> String {
    let mut lines = drawn.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let place = first.strip_prefix("TOML parse error at ").unwrap_or(first);
    match lines.rfind(|line| !line.contains('|')) {
        Some(reason) => format!("{place}: {reason}"),
        None => place.to_owned(),
    }
}

fn read_variables(surroundings: &Surroundings) -> Result<Map<String, Value>> {
    let ours: Map<String, String> = surroundings
        .variables
        .iter()
        .filter(|(name, _)| name.starts_with(PREFIX) && *name != CONFIG_VARIABLE)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Environment::with_prefix(PREFIX.trim_end_matches('_'))
        .source(Some(ours))
        .collect()
        .map_err(|error| Failure::usage(format!("the environment can't be read: {error}")))
}

fn variable_name(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase())
}

fn flag_name(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn apply(resolved: &mut Resolved, values: Map<String, Value>, origin: impl Fn(&str) -> Origin) -> Result<()> {
    // In order of their names, so that the same mistake gives the same message each time.
    for (key, value) in values.into_iter().collect::<BTreeMap<_, _>>() {
        let origin = origin(&key);
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            return Err(unknown(&key, &origin));
        };
        if (setting.take)(&mut resolved.configuration, &value, &origin).is_none() {
            let place = match &origin {
                Origin::File(path) => format!("{}: {key}", path.display()),
                Origin::Variable(name) | Origin::Flag(name) => name.clone(),
                Origin::Default => unreachable!("the defaults are no layer that is read"),
            };
            let example = match &origin {
                Origin::File(_) => format!("{key} = {}", setting.example),
                Origin::Variable(name) => format!("{name}={}", setting.example.trim_matches('"')),
                _ => format!("{} {}", flag_name(&key), setting.example.trim_matches('"')),
            };
            let shown = if setting.secret { "wrong".to_owned() } else { shown(&value) };
            return Err(Failure::usage(format!("{place} is {shown}; expected {}", setting.expected))
                .help(format!("for example: {example}")));
        }
        resolved.origins.insert(setting.key, origin);
    }
    Ok(())
}

/// A wrong value as the user may recognize it.
fn shown(value: &Value) -> String {
    match &value.kind {
        config::ValueKind::String(text) => format!("{text:?}"),
        config::ValueKind::Table(_) => "a table".to_owned(),
        config::ValueKind::Array(_) => "an array".to_owned(),
        other => other.to_string(),
    }
}

fn unknown(key: &str, origin: &Origin) -> Failure {
    let named = |key: &str| match origin {
        Origin::Variable(_) => variable_name(key),
        _ => key.to_owned(),
    };
    let keys = SETTINGS.iter().map(|setting| setting.key);
    let all = keys.clone().map(named).collect::<Vec<_>>().join(", ");
    let what = match origin {
        Origin::File(path) => format!("{}: there is no setting {key:?}", path.display()),
        _ => format!("there is no setting for the variable {}", named(key)),
    };
    Failure::usage(what).help(match nearest(key, keys) {
        Some(near) => format!("did you mean {}? There are: {all}", named(near)),
        None => format!("there are: {all}"),
    })
}

#[cfg(test)]
mod tests {
    use libimmuxdb::Durability;

    use super::*;

    struct Place {
        directory: tempfile::TempDir,
        surroundings: Surroundings,
        flags: Flags,
    }

    impl Place {
        fn new() -> Place {
            let directory = tempfile::tempdir().unwrap();
            let surroundings = Surroundings { variables: BTreeMap::new(), directory: directory.path().to_owned() };
            Place { directory, surroundings, flags: Flags::default() }
        }

        fn file(self, name: &str, text: &str) -> Place {
            let path = self.directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            self
        }

        fn variable(mut self, name: &str, value: &str) -> Place {
            self.surroundings.variables.insert(name.to_owned(), value.to_owned());
            self
        }

        fn flag(mut self, key: &'static str, value: &str) -> Place {
            self.flags.settings.push((key, value.to_owned()));
            self
        }

        fn config(mut self, path: &str) -> Place {
            self.flags.config = Some(path.into());
            self
        }

        fn resolve(&self) -> Resolved {
            resolve(&self.flags, &self.surroundings).unwrap()
        }

        fn failure(&self) -> String {
            resolve(&self.flags, &self.surroundings).unwrap_err().to_string()
        }
    }

    #[test]
    fn defaults() {
        let resolved = Place::new().resolve();
        assert_eq!(resolved.configuration, ImmuxDBConfiguration::get_default());
        assert_eq!(resolved.origin("chain"), &Origin::Default);
    }

    #[test]
    fn a_later_layer_wins() {
        let place = Place::new()
            .file("immuxdb.toml", "chain = 'file'\ndurability = 'buffered'\nmemory_limit = 1_000_000\n")
            .variable("IMMUXDB_CHAIN", "variable")
            .variable("IMMUXDB_DURABILITY", "process")
            .flag("chain", "flag");
        let resolved = place.resolve();
        assert_eq!(resolved.configuration.chain, "flag");
        assert_eq!(resolved.origin("chain"), &Origin::Flag("--chain".into()));
        assert_eq!(resolved.configuration.durability, Durability::Process);
        assert_eq!(resolved.origin("durability"), &Origin::Variable("IMMUXDB_DURABILITY".into()));
        assert_eq!(resolved.configuration.memory_limit, 1_000_000);
        assert_eq!(resolved.origin("memory_limit"), &Origin::File("immuxdb.toml".into()));
        assert_eq!(resolved.origin("data_root"), &Origin::Default);
    }

    #[test]
    fn which_file() {
        let place = Place::new().file("home/.config/immuxdb/config.toml", "chain = 'home'");
        let home = place.directory.path().join("home").display().to_string();
        let place = place.variable("HOME", &home);
        assert_eq!(place.resolve().configuration.chain, "home");

        let place = place.file("xdg/immuxdb/config.toml", "chain = 'xdg'");
        let xdg = place.directory.path().join("xdg").display().to_string();
        let place = place.variable("XDG_CONFIG_HOME", &xdg);
        assert_eq!(place.resolve().configuration.chain, "xdg");

        let place = place.file("immuxdb.toml", "chain = 'local'");
        assert_eq!(place.resolve().configuration.chain, "local");

        let place = place.file("v.toml", "chain = 'variable'").variable("IMMUXDB_CONFIG", "v.toml");
        assert_eq!(place.resolve().configuration.chain, "variable");

        let place = place.file("f.toml", "chain = 'flag'").config("f.toml");
        assert_eq!(place.resolve().configuration.chain, "flag");
    }

    #[test]
    fn paths_in_a_file_are_relative_to_it() {
        let place = Place::new().file("etc/i.toml", "data_root = 'store'").config("etc/i.toml");
        assert_eq!(place.resolve().configuration.data_root, Path::new("etc/store"));
        let place = place.flag("data_root", "store");
        assert_eq!(place.resolve().configuration.data_root, Path::new("store"));
    }

    #[test]
    fn memory_limits() {
        for (text, bytes) in
            [("'512MiB'", 512 << 20), ("'2 GiB'", 2 << 30), ("'1kb'", 1000), ("4096", 4096), ("'4096'", 4096)]
        {
            let place = Place::new().file("immuxdb.toml", &format!("memory_limit = {text}"));
            assert_eq!(place.resolve().configuration.memory_limit, bytes, "{text}");
        }
        for text in ["'much'", "-1", "0", "1.5", "true", "'512 elephants'", "[1]"] {
            let place = Place::new().file("immuxdb.toml", &format!("memory_limit = {text}"));
            assert!(place.failure().contains("immuxdb.toml: memory_limit is "), "{text}: {}", place.failure());
        }
    }

    #[test]
    fn a_wrong_value_names_its_place_and_what_was_expected() {
        let place = Place::new().file("immuxdb.toml", "durability = 'fast'");
        assert_eq!(
            place.failure(),
            "error: immuxdb.toml: durability is \"fast\"; expected \"buffered\", \"process\" or \"sync\"\n help: for example: durability = \"sync\""
        );
        // Also where a later layer overrides it.
        let place = place.variable("IMMUXDB_DURABILITY", "sync");
        assert!(place.failure().contains("immuxdb.toml: durability"));

        let place = Place::new().variable("IMMUXDB_MEMORY_LIMIT", "lots");
        assert_eq!(
            place.failure(),
            "error: IMMUXDB_MEMORY_LIMIT is \"lots\"; expected a number of bytes, or a text like \"512MiB\" or \"2GiB\"\n help: for example: IMMUXDB_MEMORY_LIMIT=512MiB"
        );
        let place = Place::new().flag("chain", "");
        assert_eq!(
            place.failure(),
            "error: --chain is \"\"; expected a name of 1 to 255 bytes\n help: for example: --chain default"
        );
    }

    #[test]
    fn durations() {
        for (text, milliseconds) in [("3", 3000), ("'3'", 3000), ("'500ms'", 500), ("'2m'", 120_000), ("'1.5s'", 1500)]
        {
            let place = Place::new().file("immuxdb.toml", &format!("body_timeout = {text}"));
            let duration = place.resolve().configuration.body_timeout;
            assert_eq!(duration, std::time::Duration::from_millis(milliseconds), "{text}");
        }
        for text in ["'soon'", "-1", "0", "'0s'", "'-3s'", "true"] {
            let place = Place::new().file("immuxdb.toml", &format!("body_timeout = {text}"));
            assert!(place.failure().contains("expected a number of seconds"), "{text}");
        }
    }

    #[test]
    fn a_token_is_shown_to_nobody() {
        let place = Place::new().variable("IMMUXDB_TOKEN", "open sesame");
        let failure = place.failure();
        assert!(failure.starts_with("error: IMMUXDB_TOKEN is wrong; expected 1 to 1024 visible"), "{failure}");
        assert!(!failure.contains("sesame"), "{failure}");
        let place = Place::new().variable("IMMUXDB_TOKEN", "sesame");
        let configuration = place.resolve().configuration;
        assert_eq!(configuration.token.as_deref(), Some("sesame"));
        for setting in &crate::configuration::SETTINGS {
            assert!(!(setting.show)(&configuration).contains("sesame"), "{}", setting.key);
        }
    }

    #[test]
    fn an_unknown_name_suggests_the_near_one() {
        let place = Place::new().file("immuxdb.toml", "durabilty = 'sync'");
        let wrong =
            "error: immuxdb.toml: there is no setting \"durabilty\"\n help: did you mean durability? There are: ";
        assert!(
            place.failure().starts_with(&format!("{wrong}data_root, server, chain, durability, ")),
            "{}",
            place.failure()
        );
        let place = Place::new().variable("IMMUXDB_DATAROOT", "x");
        let wrong =
            "error: there is no setting for the variable IMMUXDB_DATAROOT\n help: did you mean IMMUXDB_DATA_ROOT? ";
        let all = "There are: IMMUXDB_DATA_ROOT, IMMUXDB_SERVER, IMMUXDB_CHAIN, ";
        assert!(place.failure().starts_with(&format!("{wrong}{all}")), "{}", place.failure());
        let place = Place::new().file("immuxdb.toml", "[colours]\nred = 1");
        assert!(place.failure().contains("there is no setting \"colours\"\n help: there are: data_root"));
    }

    #[test]
    fn files_that_are_not_there_or_no_toml() {
        let place = Place::new().config("missing.toml");
        assert!(place.failure().contains("missing.toml can't be read: No such file"), "{}", place.failure());
        let place = Place::new().file("immuxdb.toml", "chain = 'a'\ndurability sync\n");
        let failure = place.failure();
        assert!(failure.contains("immuxdb.toml is not valid TOML: line 2, column 12: "), "{failure}");
        assert_eq!(failure.lines().count(), 2, "{failure}");
    }
}
