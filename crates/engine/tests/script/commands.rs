//! What can stand in a script.
//!
//! ```text
//! put people ada '{"age":36}'            insert, cas people ada HEIGHT …, with raw=… for a raw record
//! delete people ada [at=HEIGHT]          revert people ada HEIGHT, clear people
//! repeat 100 put g 'k##' '{"n":#}'       a write many times; # is 0, 1 …, ## has leading zeroes
//! begin … commit | rollback              writes and gets in between belong to the transaction
//! get people ada [at=HEIGHT]             a unit
//! scan people [index=city] [at=HEIGHT]   units; from= after= to= through= prefix= limit= backward keys,
//!                                        save=NAME of the cursor at the end, resume=NAME
//! count people …                         as scan
//! inspect people ada                     versions, newest first
//! index people city 'json:city unique'   drop people city, indexes people
//! height, groupings, use CHAIN, chains   of the chain, or the store
//! clock MICROSECONDS                     time HEIGHT and height-at MICROSECONDS tell of it
//! reopen, crash, remove-index            close or not, and open again
//! ```
//!
//! Bounds are unit keys, or JSON arrays of the values of an index key's first fields. The tag `[duplicates]` after a write
//! asks whether it made one.

use std::fmt::Write as _;

use goldenscript::{Argument, ArgumentConsumer, Command, Context};
use libimmuxdb::index::{IndexDefinition, decode_key, key_from_values};
use libimmuxdb::{
    Committed, Content, Cursor, Grouping, Height, Scan, Timestamp, Unit, Units, VersionKind, WriteOptions,
};

use super::arrangement::Reopen;
use super::notation::{bytes, contract, expand, show, show_content};
use super::session::{Given, Session};

/// The commands that commit.
pub const WRITES: [&str; 10] =
    ["repeat", "put", "insert", "cas", "delete", "revert", "clear", "commit", "index", "drop"];

type Arguments<'a> = ArgumentConsumer<'a>;

impl Session {
    /// Carries out a command.
    pub fn execute(&mut self, command: &Command, context: &Context) -> Given {
        if command.name == "repeat" {
            return self.repeat(command, context);
        }
        let mut arguments = command.consume_args();
        let given = self.dispatch(&command.name, &mut arguments, context)?;
        arguments.reject_next()?;
        Ok(given)
    }

    fn dispatch(&mut self, name: &str, arguments: &mut Arguments<'_>, context: &Context) -> Given {
        let report = context.tags.contains("duplicates");
        let options = WriteOptions { report_duplicates: report, ..WriteOptions::default() };
        let written = |committed: Option<Committed>| match committed {
            None => String::new(),
            Some(Committed { height, duplicates, .. }) if report => format!("@{height} duplicates: {duplicates}"),
            Some(Committed { height, .. }) => format!("@{height}"),
        };
        match name {
            "put" | "insert" | "cas" => self.put(name, arguments, options).map(written),
            "delete" => self.delete(arguments, options).map(written),
            "clear" => {
                let grouping = self.grouping_of(arguments)?.with(options);
                let cleared = self.write(
                    options,
                    |transaction| {
                        transaction.clear(&grouping);
                        Ok(())
                    },
                    || grouping.clear(),
                )?;
                Ok(written(cleared))
            }
            "revert" => {
                let (grouping, key) = (self.grouping_of(arguments)?, key_of(arguments)?);
                Ok(written(Some(grouping.revert(&key, height_of(arguments)?)?)))
            }
            "begin" => {
                self.transaction = Some(self.writer()?.begin());
                Ok(String::new())
            }
            "commit" => {
                let transaction = self.transaction.take().ok_or("no transaction is open")?;
                self.commit(transaction, options).map(Some).map(written)
            }
            "rollback" => {
                self.transaction = None;
                Ok(String::new())
            }
            "index" => {
                let grouping = self.grouping_of(arguments)?;
                let name = expand(arguments.next_pos().ok_or("which index?")?);
                let definition: IndexDefinition = arguments.next_pos().ok_or("of what?")?.parse()?;
                Ok(format!("@{}", grouping.create_index(&name, definition, &mut |_| {})?))
            }
            "drop" => {
                let grouping = self.grouping_of(arguments)?;
                Ok(format!("@{}", grouping.drop_index(arguments.next_pos().ok_or("which index?")?)?))
            }
            _ => self.read(name, arguments, context),
        }
    }

    fn read(&mut self, name: &str, arguments: &mut Arguments<'_>, context: &Context) -> Given {
        match name {
            "get" => self.get(arguments),
            "scan" => self.scan(arguments),
            "count" => {
                let (grouping, at) = (name_of(arguments)?, take_height(arguments, "at")?);
                let scan = self.scan_of(&grouping, arguments)?;
                let reader = self.reader()?;
                let count = match at {
                    Some(at) => reader.snapshot_at(at)?.count(&grouping, scan)?,
                    None => reader.grouping(&grouping)?.count(scan)?,
                };
                Ok(count.to_string())
            }
            "inspect" => {
                let (grouping, key) = (name_of(arguments)?, key_of(arguments)?);
                let mut lines = String::new();
                for version in self.reader()?.grouping(&grouping)?.inspect(&key)? {
                    let version = version?;
                    let time = match context.tags.contains("time") {
                        true => format!(" time {}", version.time.0),
                        false => String::new(),
                    };
                    let (key, content) = (show(&key), show_content(version.kind, &version.content));
                    writeln!(lines, "{key} @{}{time} {content}", version.height)?;
                }
                Ok(or_nothing(lines))
            }
            "indexes" => {
                let mut lines = String::new();
                let grouping = name_of(arguments)?;
                for index in self.reader()?.grouping(&grouping)?.indexes() {
                    let ready = if index.ready { "" } else { ", not ready" };
                    writeln!(lines, "{} {} since {}{ready}", contract(&index.name), index.definition, index.since)?;
                }
                Ok(or_nothing(lines))
            }
            "height" => Ok(format!("@{}", self.reader()?.height())),
            "groupings" => {
                let names = self.groupings()?;
                Ok(or_nothing(names.iter().map(|name| contract(name) + "\n").collect()))
            }
            "use" => {
                let name = expand(arguments.next_pos().ok_or("which chain?")?);
                self.store().chain(&name)?;
                self.chain = name;
                Ok(String::new())
            }
            "chains" => Ok(or_nothing(self.store().chains()?.join("\n"))),
            "clock" => {
                self.set_clock(arguments.next_pos().ok_or("when?")?.parse()?);
                Ok(String::new())
            }
            "time" => Ok(self.reader()?.time_of(height_of(arguments)?)?.0.to_string()),
            "height-at" => {
                let time = Timestamp(arguments.next_pos().ok_or("when?")?.parse()?);
                Ok(format!("@{}", self.reader()?.height_at(time)?))
            }
            "reopen" => self.reopen(Reopen::Cleanly).map(|()| String::new()),
            "crash" => self.reopen(Reopen::AfterCrash).map(|()| String::new()),
            "remove-index" => self.reopen(Reopen::WithoutDerivedPart).map(|()| String::new()),
            _ => Err(format!("there is no command {name}").into()),
        }
    }

    fn put(&mut self, name: &str, arguments: &mut Arguments<'_>, options: WriteOptions) -> Given<Option<Committed>> {
        let (grouping, key) = (self.grouping_of(arguments)?.with(options), key_of(arguments)?);
        let expected = if name == "cas" { height_of(arguments)? } else { Height::ZERO };
        let (raw, json) = match arguments.take_key("raw") {
            Some(raw) => (Some(bytes(raw)?), String::new()),
            None => (None, expand(arguments.next_pos().ok_or("which content?")?)),
        };
        let content = match &raw {
            Some(raw) => Content::raw(raw),
            None => Content::json(&json),
        };
        match name {
            "put" => self.write(
                options,
                |transaction| transaction.put(&grouping, &key, content),
                || grouping.put(&key, content),
            ),
            "insert" => self.write(
                options,
                |transaction| transaction.insert(&grouping, &key, content),
                || grouping.insert(&key, content),
            ),
            _ => self.write(
                options,
                |transaction| transaction.compare_and_set(&grouping, &key, expected, content),
                || grouping.compare_and_set(&key, expected, content),
            ),
        }
    }

    /// One flush at most: with the last one, as with any command.
    fn repeat(&mut self, command: &Command, context: &Context) -> Given {
        let mut arguments = command.consume_args();
        let count: usize = arguments.next_pos().ok_or("how often?")?.parse()?;
        let mut repeated = command.clone();
        repeated.name = arguments.next_pos().ok_or("what?")?.to_owned();
        let pattern: Vec<Argument> = arguments.cloned().collect();
        let width = count.saturating_sub(1).to_string().len();
        let mut last = String::new();
        for n in 0..count {
            let numbered = |text: &str| text.replace("##", &format!("{n:0width$}")).replace('#', &n.to_string());
            repeated.args.clone_from(&pattern);
            for argument in &mut repeated.args {
                if let Argument::Positional(value) | Argument::KeyValue(_, value) = argument {
                    *value = numbered(value);
                }
            }
            self.hold_flushes = n + 1 < count;
            last = self.execute(&repeated, context)?;
        }
        Ok(format!("… {last}"))
    }

    fn delete(&mut self, arguments: &mut Arguments<'_>, options: WriteOptions) -> Given<Option<Committed>> {
        let (grouping, key) = (self.grouping_of(arguments)?.with(options), key_of(arguments)?);
        if let Some(expected) = take_height(arguments, "at")? {
            return Ok(Some(grouping.compare_and_delete(&key, expected)?));
        }
        self.write(options, |transaction| transaction.delete(&grouping, &key), || grouping.delete(&key))
    }

    fn get(&mut self, arguments: &mut Arguments<'_>) -> Given {
        let (grouping, key) = (name_of(arguments)?, key_of(arguments)?);
        let at = take_height(arguments, "at")?;
        let found = match (at, &self.transaction) {
            (Some(at), _) => self.reader()?.snapshot_at(at)?.get(&grouping, &key)?,
            (None, Some(transaction)) => transaction.get(&self.grouping(&grouping)?, &key)?,
            (None, None) => self.reader()?.grouping(&grouping)?.get(&key)?,
        };
        Ok(found.map_or_else(
            || format!("{} is not there", show(&key)),
            |unit| match unit.height {
                Height::MAX => format!("{} uncommitted {}", show(&key), show_content(unit.kind, &unit.content)),
                height => format!("{} @{height} {}", show(&key), show_content(unit.kind, &unit.content)),
            },
        ))
    }

    fn scan(&mut self, arguments: &mut Arguments<'_>) -> Given {
        let (grouping, at) = (name_of(arguments)?, take_height(arguments, "at")?);
        let index = arguments.take_key("index");
        let save = arguments.take_key("save");
        let scan = self.scan_with(&grouping, index, arguments)?;
        let keys_only = format!("{scan:?}").contains("keys_only: true");
        let reader = self.reader()?;
        let mut units: Units = match at {
            Some(at) => reader.snapshot_at(at)?.scan(&grouping, scan)?,
            None => reader.grouping(&grouping)?.scan(scan)?,
        };
        let definition = index.map(|name| definition(&self.grouping(&grouping)?, name)).transpose()?;
        let mut lines = String::new();
        for unit in units.by_ref() {
            writeln!(lines, "{}", show_unit(&unit?, definition.as_ref(), keys_only)?)?;
        }
        let mut lines = or_nothing(lines);
        if !units.used_index() {
            write!(lines, "\n(without the index)")?;
        }
        if let Some(name) = save {
            match units.cursor() {
                // Through bytes, as a client would keep it.
                Some(cursor) => {
                    self.cursors.insert(name.to_owned(), Cursor::from_bytes(&cursor.to_bytes())?);
                }
                None => write!(lines, "\n(no cursor)")?,
            }
        }
        Ok(lines)
    }

    fn scan_of(&mut self, grouping: &str, arguments: &mut Arguments<'_>) -> Given<Scan> {
        let index = arguments.take_key("index");
        self.scan_with(grouping, index, arguments)
    }

    fn scan_with(&mut self, grouping: &str, index: Option<&str>, arguments: &mut Arguments<'_>) -> Given<Scan> {
        let mut scan = index.map_or_else(Scan::units, Scan::index);
        for (name, narrow) in
            [("from", Scan::from as fn(Scan, Vec<u8>) -> Scan), ("after", Scan::after), ("to", Scan::to)]
                .into_iter()
                .chain([("through", Scan::through as fn(Scan, Vec<u8>) -> Scan), ("prefix", Scan::prefix)])
        {
            let Some(bound) = arguments.take_key(name) else {
                continue;
            };
            let key = match index {
                Some(index) => {
                    let values: Vec<serde_json::Value> = serde_json::from_str(&expand(bound))?;
                    key_from_values(&definition(&self.grouping(grouping)?, index)?, &values)?
                }
                None => bytes(bound)?,
            };
            scan = narrow(scan, key);
        }
        if let Some(limit) = arguments.take_key("limit") {
            scan = scan.limit(limit.parse()?);
        }
        if let Some(name) = arguments.take_key("resume") {
            scan = scan.resume(self.cursors.get(name).ok_or("no such cursor was saved")?.clone());
        }
        while let Some(word) = arguments.next_pos() {
            scan = match word {
                "backward" => scan.backward(),
                "keys" => scan.keys_only(),
                _ => return Err(format!("a scan has no {word}").into()),
            };
        }
        Ok(scan)
    }

    fn grouping_of(&self, arguments: &mut Arguments<'_>) -> Given<Grouping> {
        self.grouping(&name_of(arguments)?)
    }
}

fn definition(grouping: &Grouping, index: &str) -> Given<IndexDefinition> {
    Ok(grouping.index(index)?.definition)
}

fn show_unit(unit: &Unit, definition: Option<&IndexDefinition>, keys_only: bool) -> Given {
    let mut line = String::new();
    if let Some(definition) = definition {
        let values = decode_key(definition, &unit.index_key)?;
        write!(line, "{} ", contract(&serde_json::to_string(&values)?))?;
    }
    write!(line, "{} @{}", show(&unit.key), unit.height)?;
    if unit.birth.height != unit.height {
        write!(line, " born {}", unit.birth.height)?;
    }
    match (keys_only, unit.kind) {
        (true, VersionKind::Raw) => line.push_str(" raw"),
        (true, _) => line.push_str(" json"),
        (false, kind) => write!(line, " {}", show_content(kind, &unit.content))?,
    }
    assert!(!keys_only || unit.content.is_empty());
    Ok(line)
}

fn or_nothing(lines: String) -> String {
    if lines.is_empty() { "nothing".to_owned() } else { lines.trim_end_matches('\n').to_owned() }
}

fn name_of(arguments: &mut Arguments<'_>) -> Given {
    Ok(expand(arguments.next_pos().ok_or("which grouping?")?))
}

fn key_of(arguments: &mut Arguments<'_>) -> Given<Vec<u8>> {
    Ok(bytes(arguments.next_pos().ok_or("which unit?")?)?)
}

fn height_of(arguments: &mut Arguments<'_>) -> Given<Height> {
    Ok(Height(arguments.next_pos().ok_or("which height?")?.parse()?))
}

fn take_height(arguments: &mut Arguments<'_>, name: &str) -> Given<Option<Height>> {
    Ok(arguments.take_key(name).map(|height| height.parse().map(Height)).transpose()?)
}
