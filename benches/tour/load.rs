//! Loading, with a bar for each table.

use std::time::{Duration, Instant};

use anyhow::Result;
use immuxdb_benches::bench::number;
use immuxdb_benches::data::berka99::{Berka99, Table};
use immuxdb_benches::engine::{self, Opened};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use libimmuxdb::{Content, Height};

/// What was loaded.
pub struct Loaded {
    rows: usize,
    indexes: usize,
    took: Duration,
    /// The height at which half of the last table was in.
    pub halfway: Height,
    /// Whether the store had been loaded before.
    pub again: bool,
}

/// Loads all tables. Each row is a commit of its own.
pub fn load(store: &Opened, set: &Berka99, again: bool) -> Result<Loaded> {
    let mut loaded = Loaded { rows: 0, indexes: 0, took: Duration::ZERO, halfway: Height::ZERO, again };
    for table in &set.tables {
        loaded.table(store, table)?;
    }
    Ok(loaded)
}

impl Loaded {
    fn table(&mut self, store: &Opened, table: &Table) -> Result<()> {
        let grouping = store.grouping(table.name)?;
        let there = grouping.indexes();
        for field in table.indexes {
            if !there.iter().any(|index| index.name == *field) {
                engine::index_field(&grouping, field)?;
            }
        }
        let bar = bar(table);
        let start = Instant::now();
        for (number, (key, object)) in table.rows.iter().enumerate() {
            let committed = grouping.put(key, Content::json(object))?;
            if number == table.rows.len() / 2 {
                self.halfway = committed.height;
            }
            if number % 256 == 0 {
                bar.set_position(number as u64);
            }
        }
        let took = start.elapsed();
        bar.finish_and_clear();
        println!(
            "    {:<10}{:>9} rows   {:>8} µs a row   {}",
            table.name,
            table.rows.len(),
            number(took.as_secs_f64() * 1e6 / table.rows.len().max(1) as f64),
            if table.indexes.is_empty() { String::new() } else { format!("indexes: {}", table.indexes.join(", ")) }
        );
        self.rows += table.rows.len();
        self.indexes += table.indexes.len();
        self.took += took;
        Ok(())
    }

    /// Says what loading has cost.
    pub fn print(&self) {
        println!();
        if cfg!(debug_assertions) {
            println!(
                "  (This program was built without optimization, which makes it many times slower: use --release.)"
            );
        }
        println!(
            "  {} rows with {} indexes in {} s: {} µs an insert. Each is a commit of its own, and survives kill -9.",
            self.rows,
            self.indexes,
            number(self.took.as_secs_f64()),
            number(self.took.as_secs_f64() * 1e6 / self.rows.max(1) as f64)
        );
        println!();
    }
}

fn bar(table: &Table) -> ProgressBar {
    let style = ProgressStyle::with_template("    {msg:<10}{pos:>9} rows   {bar:40} {per_sec}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let target = ProgressDrawTarget::stderr_with_hz(20);
    ProgressBar::with_draw_target(Some(table.rows.len() as u64), target).with_style(style).with_message(table.name)
}
