//! The measured figures, side by side.

use anyhow::Result;
use immuxdb_benches::bench::number;
use immuxdb_benches::records::Values;
use serde::Serialize;

/// What one engine came to in one round.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Measured {
    /// From opening an empty store to the end of close, in seconds.
    pub load_s: f64,
    /// CPU time of that, of all threads, in seconds.
    pub load_cpu_s: f64,
    /// Bytes on disk after that, in MB.
    pub disk_mb: f64,
    /// Median of reads by a random unit key, in µs.
    pub get_us: f64,
    /// Median of seeks of a random value of a random alternate key, with the record, in µs.
    pub seek_us: f64,
    /// A scan by an alternate key with all records, in µs a record.
    pub forward_us: f64,
    /// The same backward.
    pub backward_us: f64,
}

type Figure = (&'static str, fn(&Measured) -> f64);

const FIGURES: [Figure; 7] = [
    ("load to the end of close, s", |m| m.load_s),
    ("  its CPU time, s", |m| m.load_cpu_s),
    ("on disk, MB", |m| m.disk_mb),
    ("get by unit key, median µs", |m| m.get_us),
    ("seek by alternate key, median µs", |m| m.seek_us),
    ("scan forward, µs a record", |m| m.forward_us),
    ("scan backward, µs a record", |m| m.backward_us),
];

/// Prints rounds as they come, and the medians of each distribution beside each other.
pub struct Report {
    json: bool,
    values: &'static str,
    rows: u64,
    engines: Vec<(&'static str, Vec<Measured>)>,
}

#[derive(Serialize)]
struct Line<'l> {
    bench: &'static str,
    engine: &'l str,
    values: &'l str,
    rows: u64,
    round: u32,
    #[serde(flatten)]
    measured: Measured,
}

impl Report {
    /// A report in text or JSON lines.
    pub fn new(json: bool) -> Report {
        Report { json, values: "", rows: 0, engines: Vec::new() }
    }

    /// Begins a distribution.
    pub fn begin(&mut self, values: Values, rows: u64, names: &[&'static str]) {
        self.values = values.name();
        self.rows = rows;
        self.engines = names.iter().map(|name| (*name, Vec::new())).collect();
        if !self.json {
            println!("\n{rows} records, 13 alternate keys, values: {}", self.values);
        }
    }

    /// Takes a round of an engine.
    ///
    /// # Errors
    /// None that is known: the figures are plain numbers.
    pub fn add(&mut self, name: &'static str, round: u32, measured: Measured) -> Result<()> {
        if let Some((_, rounds)) = self.engines.iter_mut().find(|(engine, _)| *engine == name) {
            rounds.push(measured);
        }
        if self.json {
            let line = Line { bench: "peers", engine: name, values: self.values, rows: self.rows, round, measured };
            println!("{}", serde_json::to_string(&line)?);
        } else {
            println!(
                "  round {round}, {name}: {} s, {} µs a record",
                number(measured.load_s),
                number(measured.load_s * 1e6 / self.rows as f64)
            );
        }
        Ok(())
    }

    /// Ends a distribution: the medians, and each engine's as a multiple of the first's.
    pub fn end(&self) {
        if self.json {
            return;
        }
        print!("  {:<34}", "medians");
        for (place, (name, _)) in self.engines.iter().enumerate() {
            print!("{name:>12}{:>10}", if place > 0 { "times" } else { "" });
        }
        println!();
        for (figure, value) in FIGURES {
            print!("  {figure:<34}");
            let mut first = None;
            for (_, rounds) in &self.engines {
                let median = median(rounds.iter().map(value).collect());
                match first {
                    None => print!("{:>12}{:>10}", number(median), ""),
                    Some(first) => print!("{:>12}{:>10.2}", number(median), median / first),
                }
                first.get_or_insert(median);
            }
            println!();
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
