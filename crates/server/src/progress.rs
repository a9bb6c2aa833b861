//! Bars on standard error that show how far long work is; only where it is a terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use immuxdb_client::blocking::Client;
use immuxdb_client::wire::IndexItem;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use libimmuxdb::index::IndexDefinition;
use libimmuxdb::{Grouping, Height, Scan};

use crate::failure::Result;

/// How often a bar is drawn anew while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// A bar over the bytes of an input, whose length may be unknown.
#[must_use]
pub fn of_bytes(length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (ProgressBar::new(length), "{bar:30} {bytes} of {total_bytes}, {msg}, {eta} left"),
        None => (ProgressBar::new_spinner(), "{spinner} {bytes}, {msg}, {elapsed}"),
    };
    styled(bar.with_message("0 rows"), template)
}

/// Makes an index, with a bar over the units there are.
///
/// # Errors
/// The index can't be made.
pub fn create_index(grouping: &Grouping, name: &str, definition: &IndexDefinition) -> Result<Height> {
    let units = if std::io::stderr().is_terminal() { grouping.count(Scan::units())? } else { 0 };
    let bar = of_units(units);
    let result = grouping.create_index(name, definition.clone(), &mut |progress| bar.set_position(progress.units));
    bar.finish_and_clear();
    Ok(result?)
}

/// Makes an index through a server, with a bar over the units there are: the server is asked now and then how far it is. Gives the index, and
/// whether it is new.
///
/// # Errors
/// The index can't be made.
pub fn create_index_remotely(
    client: &Client,
    grouping: &str,
    name: &str,
    definition: &str,
) -> Result<(IndexItem, bool)> {
    if !std::io::stderr().is_terminal() {
        return Ok(client.create_index(grouping, name, definition)?);
    }
    let watcher = client.separate()?;
    let bar = of_units(watcher.count(grouping, &immuxdb_client::Scan::units()).map_or(0, |counted| counted.count));
    let result = thread::scope(|scope| {
        let (done, wait) = mpsc::channel();
        let making = scope.spawn(move || {
            let result = client.create_index(grouping, name, definition);
            drop(done);
            result
        });
        while wait.recv_timeout(TICK) == Err::<(), _>(RecvTimeoutError::Timeout) {
            // Whether it goes wrong, the request that makes the index says.
            if let Ok(IndexItem { progress: Some(progress), .. }) = watcher.index(grouping, name) {
                bar.set_position(progress.units);
            }
        }
        making.join()
    });
    bar.finish_and_clear();
    match result {
        Ok(result) => Ok(result?),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// A bar over units to be indexed; none where there are none.
fn of_units(units: u64) -> ProgressBar {
    match units {
        0 => ProgressBar::hidden(),
        _ => styled(ProgressBar::new(units), "{bar:30} {human_pos} of {human_len} units indexed, {eta} left"),
    }
}

/// A count with its thousands apart: 1,234.
#[must_use]
pub fn count(count: u64) -> String {
    HumanCount(count).to_string()
}

/// A count with what is counted: "1 row", "1,234 rows".
#[must_use]
pub fn counted(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", count(number))
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    let bar = match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(error) => unreachable!("the template {template:?} is wrong: {error}"),
    };
    if !bar.is_hidden() {
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// A bar over work of several stages, one after another, on one chain.
pub struct Stages {
    bar: ProgressBar,
    chain: String,
}

impl Stages {
    /// No stage yet.
    #[must_use]
    pub fn new(chain: &str) -> Stages {
        let bar = if std::io::stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        Stages { bar: styled(bar, "{bar:30} {percent}% of {msg}"), chain: chain.to_owned() }
    }

    /// So much of a stage is done.
    pub fn show(&self, stage: &str, done: u64, total: Option<u64>) {
        self.bar.set_message(format!("{stage}, chain {}", self.chain));
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        self.bar.set_position(done);
    }

    /// Prints without the bar in the way.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    /// All is done.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
