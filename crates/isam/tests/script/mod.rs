//! What can stand in a script. Programs are named by letters; each has one connector and a record area.
//!
//! ```text
//! layout '0+4' '4+6:dup' '10+2/14+2:sparse=*' record=16 the layout of the next opens; keys are OFFSET+LENGTH, parts joined
//!                                                   by '/', record=MIN-MAX for variable lengths
//! set duplicate_status=all keep_history strict_keys settings of the next opens; `set` alone: the defaults
//! open a input|output|io|extend [access] [optional] [file=NAME]     access: sequential (default), random, dynamic
//! read a next|previous                              read a KEY 'value': by that key
//! start a RELATION KEY 'value' [len=N]              RELATION: eq gt ge lt le first last
//! write a 'record', rewrite a 'record', delete a 'primary key', close a
//! walk a next|previous                              reads to the end
//! repeat N write a '##…'                            # is 0, 1 …, ## has a leading zero
//! remove NAME                                       DELETE FILE
//! put NAME 'bytes', ls, cp FROM TO, mkdir NAME, ln TARGET NAME      what a shop's scripts do
//! inspect NAME 'primary key'                        the versions of a record
//! ```
//!
//! A record area is filled with '~' before each READ, so that what was not read shows.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use goldenscript::{ArgumentConsumer, Command, Context, Runner};
use immuxdb_isam::{
    Access, Connector, Direction, DuplicateStatus, Failure, IndexedFile, Key, KeyPart, Layout, OpenMode, OpenRequest,
    Read, Relation, RunUnit, Settings, Status,
};
use tempfile::TempDir;

type Given = Result<String, Box<dyn Error>>;

pub struct Session {
    directory: TempDir,
    run_unit: RunUnit,
    layout: Layout,
    memory_limit: usize,
    settings: Settings,
    programs: BTreeMap<String, Program>,
}

struct Program {
    connector: Connector,
    layout: Layout,
}

impl Session {
    pub fn new(settings: Settings) -> Session {
        Session {
            directory: TempDir::new().unwrap(),
            run_unit: RunUnit::default(),
            layout: layout_of(&["0+4", "4+6:dup"], "12").unwrap(),
            memory_limit: settings.memory_limit,
            settings,
            programs: BTreeMap::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { PathBuf::new() } else { self.directory.path().join(name) }
    }

    fn program(&mut self, name: &str) -> Result<&mut Program, String> {
        self.programs.get_mut(name).ok_or_else(|| format!("program {name} has nothing open"))
    }

    /// What a failure says, without the directory's name.
    fn failed(&self, failure: &Failure) -> String {
        let directory = format!("{}/", self.directory.path().display());
        match &failure.message {
            Some(message) => format!("{} ({})", failure.status, message.replace(&directory, "")),
            None => failure.status.to_string(),
        }
    }

    fn done(&self, outcome: Result<Status, Failure>) -> String {
        outcome.map_or_else(|failure| self.failed(&failure), |status| status.to_string())
    }

    fn open(&mut self, arguments: &mut ArgumentConsumer<'_>) -> Given {
        let name = word(arguments)?;
        let mode = match word(arguments)?.as_str() {
            "input" => OpenMode::Input,
            "output" => OpenMode::Output,
            "io" => OpenMode::InputOutput,
            "extend" => OpenMode::Extend,
            other => return Err(format!("no open mode: {other}").into()),
        };
        let (mut access, mut optional) = (Access::Sequential, false);
        while let Some(argument) = arguments.next_pos() {
            match argument {
                "sequential" => access = Access::Sequential,
                "random" => access = Access::Random,
                "dynamic" => access = Access::Dynamic,
                "optional" => optional = true,
                other => return Err(format!("unknown: {other}").into()),
            }
        }
        let path = self.path(arguments.take_key("file").unwrap_or("FILE"));
        let (layout, settings) = (&self.layout, &self.settings);
        let request = OpenRequest { path: &path, mode, access, optional, layout, settings };
        Ok(match self.run_unit.open(&request) {
            Ok((connector, status)) => {
                self.programs.insert(name, Program { connector, layout: self.layout.clone() });
                status.to_string()
            }
            Err(failure) => self.failed(&failure),
        })
    }

    fn read(&mut self, arguments: &mut ArgumentConsumer<'_>) -> Given {
        let name = word(arguments)?;
        let program = self.program(&name)?;
        let what = word(arguments)?;
        let mut area = vec![b'~'; program.layout.max_record as usize];
        let read = match what.as_str() {
            "next" => program.connector.read_next(Direction::Next, &mut area),
            "previous" => program.connector.read_next(Direction::Previous, &mut area),
            key => {
                let key = key.parse()?;
                program.place(key, &word(arguments)?, &mut area);
                program.connector.read_key(key, &mut area)
            }
        };
        Ok(self.shown(read, &area))
    }

    fn shown(&self, read: Result<Read, Failure>, area: &[u8]) -> String {
        match read {
            Ok(read) if read.len == area.len() => format!("{} {}", read.status, show(area)),
            Ok(read) => format!("{} {} ({} bytes)", read.status, show(area), read.len),
            Err(failure) => self.failed(&failure),
        }
    }

    fn walk(&mut self, arguments: &mut ArgumentConsumer<'_>) -> Given {
        let name = word(arguments)?;
        let direction = if word(arguments)? == "next" { Direction::Next } else { Direction::Previous };
        let mut lines = Vec::new();
        loop {
            let program = self.program(&name)?;
            let mut area = vec![b'~'; program.layout.max_record as usize];
            let read = program.connector.read_next(direction, &mut area);
            let over = read.is_err();
            lines.push(self.shown(read, &area));
            if over {
                return Ok(lines.join("\n"));
            }
        }
    }

    fn start(&mut self, arguments: &mut ArgumentConsumer<'_>) -> Given {
        let len = arguments.take_key("len").map_or(Ok(0), str::parse)?;
        let name = word(arguments)?;
        let relation = match word(arguments)?.as_str() {
            "eq" => Relation::Equal,
            "gt" => Relation::Greater,
            "ge" => Relation::NotLess,
            "lt" => Relation::Less,
            "le" => Relation::NotGreater,
            "first" => Relation::First,
            "last" => Relation::Last,
            other => return Err(format!("no relation: {other}").into()),
        };
        let key = word(arguments)?.parse()?;
        let value = arguments.next_pos().unwrap_or_default().to_owned();
        let program = self.program(&name)?;
        let mut area = vec![b'~'; program.layout.max_record as usize];
        program.place(key, &value, &mut area);
        let outcome = program.connector.start(relation, key, len, &area);
        Ok(self.done(outcome))
    }

    fn change(&mut self, what: &str, arguments: &mut ArgumentConsumer<'_>) -> Given {
        let (name, record) = (word(arguments)?, word(arguments)?);
        let program = self.program(&name)?;
        let outcome = match what {
            "write" => program.connector.write(record.as_bytes()),
            "rewrite" => program.connector.rewrite(record.as_bytes()),
            _ => {
                let mut area = vec![b'~'; program.layout.max_record as usize];
                program.place(0, &record, &mut area);
                program.connector.delete(&area)
            }
        };
        Ok(self.done(outcome))
    }

    fn repeat(&mut self, arguments: &mut ArgumentConsumer<'_>) -> Given {
        let count: u32 = word(arguments)?.parse()?;
        let (what, name, pattern) = (word(arguments)?, word(arguments)?, word(arguments)?);
        let mut given = BTreeMap::new();
        for number in 0..count {
            let record = expand(&pattern, number);
            let program = self.program(&name)?;
            let outcome = match what.as_str() {
                "write" => program.connector.write(record.as_bytes()),
                "rewrite" => program.connector.rewrite(record.as_bytes()),
                other => return Err(format!("cannot be repeated: {other}").into()),
            };
            *given.entry(self.done(outcome)).or_insert(0) += 1;
        }
        Ok(given.iter().map(|(status, times)| format!("{times} x {status}")).collect::<Vec<_>>().join("\n"))
    }

    fn inspect(&mut self, arguments: &mut ArgumentConsumer<'_>) -> Given {
        let (name, primary) = (word(arguments)?, word(arguments)?);
        let file = match IndexedFile::open(&self.path(&name)) {
            Ok(file) => file,
            Err(failure) => return Ok(self.failed(&failure)),
        };
        let mut lines = Vec::new();
        for version in file.history(primary.as_bytes())? {
            let version = version?;
            lines.push(if version.content.is_empty() { "deleted".to_owned() } else { show(&version.content) });
        }
        Ok(lines.join("\n"))
    }

    fn set(&mut self, arguments: &mut ArgumentConsumer<'_>) -> Given {
        self.settings = Settings { memory_limit: self.memory_limit, ..Settings::default() };
        self.settings.duplicate_status = match arguments.take_key("duplicate_status") {
            None | Some("write") => DuplicateStatus::Write,
            Some("none") => DuplicateStatus::None,
            Some("all") => DuplicateStatus::All,
            Some(other) => return Err(format!("unknown: {other}").into()),
        };
        while let Some(argument) = arguments.next_pos() {
            match argument {
                "keep_history" => self.settings.keep_history = true,
                "strict_keys" => self.settings.strict_keys = true,
                other => return Err(format!("unknown: {other}").into()),
            }
        }
        Ok(String::new())
    }

    /// The files that there are. Whether a file has an index yet is not a script's business.
    fn list(&self) -> Given {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.directory.path())? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.retain(|name| !name.ends_with(".idx"));
        names.sort();
        Ok(names.join("\n"))
    }
}

impl Runner for Session {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Given {
        let mut arguments = command.consume_args();
        let given = match command.name.as_str() {
            "layout" => {
                let record = arguments.take_key("record").ok_or("record= is missing")?;
                let keys: Vec<&str> = std::iter::from_fn(|| arguments.next_pos()).collect();
                self.layout = layout_of(&keys, record)?;
                Ok(String::new())
            }
            "set" => self.set(&mut arguments),
            "open" => self.open(&mut arguments),
            "close" => {
                let name = word(&mut arguments)?;
                let program = self.programs.remove(&name).ok_or("nothing is open")?;
                Ok(self.done(program.connector.close()))
            }
            "read" => self.read(&mut arguments),
            "walk" => self.walk(&mut arguments),
            "start" => self.start(&mut arguments),
            "write" | "rewrite" | "delete" => self.change(&command.name, &mut arguments),
            "repeat" => self.repeat(&mut arguments),
            "remove" => {
                let path = self.path(&word(&mut arguments)?);
                Ok(self.done(self.run_unit.remove(&path)))
            }
            "inspect" => self.inspect(&mut arguments),
            "put" => {
                let (name, bytes) = (word(&mut arguments)?, word(&mut arguments)?);
                fs::write(self.path(&name), bytes)?;
                Ok(String::new())
            }
            "cp" => {
                let (from, to) = (word(&mut arguments)?, word(&mut arguments)?);
                fs::copy(self.path(&from), self.path(&to))?;
                Ok(String::new())
            }
            "mkdir" => {
                fs::create_dir(self.path(&word(&mut arguments)?))?;
                Ok(String::new())
            }
            "ln" => {
                let (target, name) = (word(&mut arguments)?, word(&mut arguments)?);
                std::os::unix::fs::symlink(target, self.path(&name))?;
                Ok(String::new())
            }
            "ls" => self.list(),
            other => Err(format!("unknown command: {other}").into()),
        };
        arguments.reject_next()?;
        given
    }
}

impl Program {
    /// Puts a key's value where it stands in a record area.
    fn place(&self, key: usize, value: &str, area: &mut [u8]) {
        let mut rest = value.as_bytes();
        for part in self.layout.keys.get(key).map(|key| &key.parts).into_iter().flatten() {
            let (bytes, after) = rest.split_at(rest.len().min(part.len as usize));
            area[part.offset as usize..][..bytes.len()].copy_from_slice(bytes);
            rest = after;
        }
    }
}

fn word(arguments: &mut ArgumentConsumer<'_>) -> Result<String, Box<dyn Error>> {
    let missing = || "an argument is missing".into();
    arguments.next_pos().map(str::to_owned).ok_or_else(missing)
}

fn layout_of(keys: &[&str], record: &str) -> Result<Layout, Box<dyn Error>> {
    let (min, max) = record.split_once('-').unwrap_or((record, record));
    let keys = keys.iter().map(|text| key_of(text)).collect::<Result<_, Box<dyn Error>>>()?;
    Ok(Layout { keys, min_record: min.parse()?, max_record: max.parse()?, variable: min != max })
}

fn key_of(text: &str) -> Result<Key, Box<dyn Error>> {
    let mut words = text.split(':');
    let mut parts = Vec::new();
    for part in words.next().unwrap_or_default().split('/') {
        let (offset, len) = part.split_once('+').ok_or("a part is OFFSET+LENGTH")?;
        parts.push(KeyPart { offset: offset.parse()?, len: len.parse()? });
    }
    let mut key = Key { parts, duplicates: false, sparse: None };
    for word in words {
        match word.strip_prefix("sparse=") {
            Some(byte) => key.sparse = byte.bytes().next(),
            None if word == "dup" => key.duplicates = true,
            None => return Err(format!("unknown: {word}").into()),
        }
    }
    Ok(key)
}

/// `##` becomes the number with a leading zero, `#` the number.
fn expand(pattern: &str, number: u32) -> String {
    pattern.replace("##", &format!("{number:02}")).replace('#', &number.to_string())
}

fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
