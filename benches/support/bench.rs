//! A run of a benchmark: phases that are timed, lines that are printed.
//!
//! ```text
//! Bench::start ── note ──┬── phase("load", "insert", n) ── done, done, … ── finish ── figure ──┬── finish
//!                        └──────────────── the next phase, on the same store ◄────────────────┘
//! ```
//!
//! A phase prints "took 12ms to insert 1000 items, average 0.012ms per item" for each report period, and at its end the whole: wall time, CPU time of
//! all threads (so background work shows), and the cost per item of its first and its last tenth. The quotient of the two says whether the cost grows
//! with what is there already, which is what ImmuxDB was built against.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::latency::{Latencies, Percentiles};
use crate::measure;
use crate::options::Options;
use crate::plot::{self, Series};
use crate::profile::Profile;

/// A run of a benchmark.
pub struct Bench {
    name: &'static str,
    /// The command line.
    pub options: Options,
    results: Option<File>,
    series: Vec<Series>,
    profile: Option<Profile>,
    outcomes: Vec<Outcome>,
}

/// What a phase came to.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The phase's name.
    pub phase: String,
    /// How many items went through it.
    pub items: usize,
    /// Wall time.
    pub seconds: f64,
    /// CPU time of all threads of the process.
    pub cpu_seconds: f64,
    /// Wall time per item.
    pub average_us: f64,
    /// Wall time per item in the first tenth.
    pub first_tenth_us: Option<f64>,
    /// Wall time per item in the last tenth.
    pub last_tenth_us: Option<f64>,
    /// CPU time per item in the first tenth, of all threads.
    pub first_tenth_cpu_us: Option<f64>,
    /// CPU time per item in the last tenth, of all threads.
    pub last_tenth_cpu_us: Option<f64>,
    /// Percentiles, where single operations were timed.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<Percentiles>,
}

impl Outcome {
    /// How many times the first tenth's wall time the last tenth's is.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        Some(self.last_tenth_us? / self.first_tenth_us?)
    }

    /// The same of CPU time, which other programs on the machine disturb less.
    #[must_use]
    pub fn cpu_growth(&self) -> Option<f64> {
        Some(self.last_tenth_cpu_us? / self.first_tenth_cpu_us?)
    }
}

/// One JSON line.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line<'l> {
    Start { version: &'static str, system: &'static str, processors: usize, arguments: Vec<String> },
    Note { text: &'l str },
    Period { phase: &'l str, done: usize, items: usize, seconds: f64, average_us: f64 },
    Phase(&'l Outcome),
    Figure { name: &'l str, value: f64, unit: &'l str },
    Measured(&'l serde_json::Value),
}

#[derive(Serialize)]
struct Named<'l> {
    bench: &'static str,
    #[serde(flatten)]
    line: Line<'l>,
}

impl Bench {
    /// Begins a run.
    ///
    /// # Errors
    /// When the results file can't be opened.
    pub fn start(name: &'static str, options: Options) -> Result<Bench> {
        let results = match &options.results {
            None => None,
            Some(path) => Some(
                OpenOptions::new().create(true).append(true).open(path).with_context(|| path.display().to_string())?,
            ),
        };
        let mut bench = Bench { name, options, results, series: Vec::new(), profile: None, outcomes: Vec::new() };
        bench.json(Line::Start {
            version: env!("CARGO_PKG_VERSION"),
            system: std::env::consts::OS,
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            arguments: std::env::args().skip(1).collect(),
        })?;
        Ok(bench)
    }

    /// How many rows were asked for, or else the benchmark's own number.
    #[must_use]
    pub fn rows(&self, default: usize) -> usize {
        self.options.rows.unwrap_or(default)
    }

    /// Says something about the run: where the rows come from, what is measured next.
    ///
    /// # Errors
    /// When the results file can't be written.
    pub fn note(&mut self, text: &str) -> Result<()> {
        self.text(text);
        self.json(Line::Note { text })
    }

    /// Reports a single number.
    ///
    /// # Errors
    /// When the results file can't be written.
    pub fn figure(&mut self, name: &str, value: f64, unit: &str) -> Result<()> {
        self.text(&format!("  {name}: {} {unit}", number(value)));
        self.json(Line::Figure { name, value, unit })
    }

    /// Reports the sizes of a store on disk, in MB (10^6 bytes).
    ///
    /// # Errors
    /// When the store can't be read, or the results file can't be written.
    pub fn sizes(&mut self, store: &std::path::Path) -> Result<()> {
        let sizes = measure::sizes(store)?;
        self.figure("log on disk", sizes.log as f64 / 1e6, "MB")?;
        self.figure("index on disk", sizes.index as f64 / 1e6, "MB")
    }

    /// Begins a phase in which the store grows or changes: `items` go through one operation (`verb`, as in "took 12ms to *insert* 1000 items"). It's
    /// reported by the period, a tenth unless another was asked for, and drawn in the plot.
    ///
    /// # Errors
    /// When the profiler can't start.
    pub fn phase(&mut self, name: &str, verb: &'static str, items: usize) -> Result<Phase<'_>> {
        let period = self.options.report_period.unwrap_or(items.div_ceil(10));
        self.begin(name, verb, items, period.max(1), true)
    }

    /// Begins a phase that only reads. It's reported as a whole, unless a period was asked for.
    ///
    /// # Errors
    /// When the profiler can't start.
    pub fn reading(&mut self, name: &str, verb: &'static str, items: usize) -> Result<Phase<'_>> {
        let period = self.options.report_period.unwrap_or(usize::MAX);
        self.begin(name, verb, items, period.max(1), false)
    }

    /// Times a single action (`verb`, as in "took 12ms to *drain and close*").
    ///
    /// # Errors
    /// Those of the action.
    pub fn once<T, E: Into<anyhow::Error>>(
        &mut self,
        name: &str,
        verb: &'static str,
        action: impl FnOnce() -> Result<T, E>,
    ) -> Result<T> {
        let mut phase = self.begin(name, verb, 1, usize::MAX, false)?;
        let result = action().map_err(Into::into)?;
        phase.done(1)?;
        phase.finish()?;
        Ok(result)
    }

    fn begin(&mut self, name: &str, verb: &'static str, items: usize, period: usize, drawn: bool) -> Result<Phase<'_>> {
        let phase = self.options.profile_phase.as_deref().unwrap_or_default();
        if self.profile.is_none() && self.options.profile.is_some() && name.contains(phase) {
            self.profile = Some(Profile::start()?);
        }
        let mut phase = Phase {
            name: name.to_owned(),
            verb,
            items,
            done: 0,
            next: 0,
            period,
            drawn,
            reported: (0, Duration::ZERO),
            points: Vec::with_capacity(Phase::POINTS + 2),
            cpu: measure::cpu_time(),
            started: Instant::now(),
            bench: self,
        };
        phase.aim();
        Ok(phase)
    }

    /// The outcomes of the phases so far.
    #[must_use]
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Ends the run: draws what was asked for.
    ///
    /// # Errors
    /// When a picture can't be written.
    pub fn finish(mut self) -> Result<()> {
        self.write_profile()?;
        if let Some(path) = &self.options.plot {
            plot::draw(path, self.name, &self.series, self.options.plot_log)?;
            self.text(&format!("wrote the plot to {}", path.display()));
        }
        Ok(())
    }

    /// Ends the profile that is being taken, if there is one.
    fn write_profile(&mut self) -> Result<()> {
        if let (Some(profile), Some(path)) = (self.profile.take(), &self.options.profile) {
            profile.write(path)?;
            self.text(&format!("wrote the flamegraph to {}", path.display()));
            // One is enough: the next phase would overwrite it.
            self.options.profile = None;
        }
        Ok(())
    }

    /// Reports what another program was measured to take, an object, in JSON only.
    ///
    /// # Errors
    /// When the results file can't be written.
    pub fn measured(&mut self, measured: &impl Serialize) -> Result<()> {
        self.json(Line::Measured(&serde_json::to_value(measured)?))
    }

    /// Prints a line for people.
    pub fn text(&self, text: &str) {
        if !self.options.json {
            println!("{text}");
        }
    }

    fn json(&mut self, line: Line<'_>) -> Result<()> {
        if !self.options.json && self.results.is_none() {
            return Ok(());
        }
        let line = serde_json::to_string(&Named { bench: self.name, line })?;
        if self.options.json {
            println!("{line}");
        }
        if let Some(file) = &mut self.results {
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}

/// How far a phase was at some time.
#[derive(Clone, Copy)]
struct Point {
    items: usize,
    wall: Duration,
    cpu: Duration,
}

/// A phase under way.
pub struct Phase<'b> {
    bench: &'b mut Bench,
    name: String,
    verb: &'static str,
    items: usize,
    done: usize,
    /// The number of items at which there is something to do next: a point of the plot, or a report.
    next: usize,
    period: usize,
    drawn: bool,
    reported: (usize, Duration),
    points: Vec<Point>,
    cpu: Duration,
    started: Instant,
}

impl Phase<'_> {
    /// Points of a phase in the plot; ten of them are a tenth.
    const POINTS: usize = 100;

    /// Says that `items` more are done.
    ///
    /// # Errors
    /// When the results file can't be written.
    #[inline]
    pub fn done(&mut self, items: usize) -> Result<()> {
        self.done += items;
        if self.done < self.next {
            return Ok(());
        }
        self.mark()
    }

    #[cold]
    fn mark(&mut self) -> Result<()> {
        let elapsed = self.started.elapsed();
        if self.done >= self.items * (self.points.len() + 1) / Self::POINTS {
            let cpu = measure::cpu_time().saturating_sub(self.cpu);
            self.points.push(Point { items: self.done, wall: elapsed, cpu });
        }
        let (before, then) = self.reported;
        if self.done - before >= self.period {
            self.reported = (self.done, elapsed);
            self.report(self.done - before, elapsed - then)?;
        }
        self.aim();
        Ok(())
    }

    fn aim(&mut self) {
        let point = self.items * (self.points.len() + 1) / Self::POINTS;
        let report = self.reported.0.saturating_add(self.period);
        self.next = point.max(self.done + 1).min(report);
    }

    fn report(&mut self, items: usize, took: Duration) -> Result<()> {
        let text = took_line(self.verb, items, took);
        self.bench.text(&text);
        let seconds = took.as_secs_f64();
        self.bench.json(Line::Period {
            phase: &self.name,
            done: self.done,
            items,
            seconds,
            average_us: seconds * 1e6 / items as f64,
        })
    }

    /// Ends the phase now: everything that is to be counted has been done.
    ///
    /// # Errors
    /// When the results file can't be written.
    pub fn finish(self) -> Result<Outcome> {
        self.finish_with(None)
    }

    /// Ends the phase, with the times of its single operations.
    ///
    /// # Errors
    /// When the results file can't be written.
    pub fn finish_with(self, latencies: Option<Latencies>) -> Result<Outcome> {
        let took = self.started.elapsed();
        let cpu = measure::cpu_time().saturating_sub(self.cpu);
        let items = self.done;
        let per_item = |time: Duration, items: usize| time.as_secs_f64() * 1e6 / items as f64;
        let point = |number: usize| self.points.get(number.checked_sub(1)?).copied();
        let (first, ninth, last) = (point(10), point(90), point(100));
        let first_tenth = |time: fn(&Point) -> Duration| Some(per_item(time(&first?), first?.items));
        let last_tenth = |time: fn(&Point) -> Duration| {
            let (ninth, last) = (ninth?, last?);
            Some(per_item(time(&last) - time(&ninth), last.items - ninth.items))
        };
        let outcome = Outcome {
            phase: self.name.clone(),
            items,
            seconds: took.as_secs_f64(),
            cpu_seconds: cpu.as_secs_f64(),
            average_us: per_item(took, items.max(1)),
            first_tenth_us: first_tenth(|point| point.wall),
            last_tenth_us: last_tenth(|point| point.wall),
            first_tenth_cpu_us: first_tenth(|point| point.cpu),
            last_tenth_cpu_us: last_tenth(|point| point.cpu),
            percentiles: latencies.and_then(Latencies::percentiles),
        };
        let bench = self.bench;
        bench.text(&took_line(self.verb, items, took));
        bench.text(&summary(&outcome));
        bench.json(Line::Phase(&outcome))?;
        if self.drawn {
            let points: Vec<_> = self.points.iter().map(|point| (point.items, point.wall)).collect();
            bench.series.push(Series::new(&self.name, &points));
        }
        bench.outcomes.push(outcome.clone());
        if bench.options.profile_phase.is_some() {
            bench.write_profile()?;
        }
        Ok(outcome)
    }
}

/// "took 12ms to insert 1000 items, average 0.0120ms per item"; for a single action, "took 12.0ms to close".
fn took_line(verb: &str, items: usize, took: Duration) -> String {
    let milliseconds = took.as_secs_f64() * 1e3;
    if items == 1 {
        return format!("took {}ms to {verb}", number(milliseconds));
    }
    format!(
        "took {}ms to {verb} {items} items, average {}ms per item",
        milliseconds.round(),
        number(milliseconds / items.max(1) as f64)
    )
}

fn summary(outcome: &Outcome) -> String {
    let mut text =
        format!("  {}: {} s wall, {} s CPU", outcome.phase, number(outcome.seconds), number(outcome.cpu_seconds));
    if outcome.items > 1 {
        let rate = outcome.items as f64 / outcome.seconds;
        let _ = write!(text, ", {rate:.0} items a second");
    }
    let tenths = (outcome.first_tenth_us, outcome.last_tenth_us, outcome.growth(), outcome.cpu_growth());
    if let (Some(first), Some(last), Some(growth), Some(cpu_growth)) = tenths {
        let (first, last) = (number(first), number(last));
        let _ = write!(
            text,
            "\n  {}: first tenth {first} µs an item, last tenth {last} µs ({growth:.2} times; CPU time {cpu_growth:.2} times)",
            outcome.phase
        );
    }
    if let Some(p) = &outcome.percentiles {
        let _ = write!(
            text,
            "\n  {}: median {} µs, 90% {} µs, 99% {} µs, 99.9% {} µs, slowest {} µs",
            outcome.phase,
            number(p.p50_us),
            number(p.p90_us),
            number(p.p99_us),
            number(p.p999_us),
            number(p.max_us)
        );
    }
    text
}

/// A number with three significant digits, at least two of them after the point when it is below 10, and no exponent.
#[must_use]
pub fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 || size == 0.0 => 2,
        size => (2 - size.log10().floor() as i32).clamp(2, 9) as usize,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench() -> Bench {
        let mut options = Options::default();
        options.json = true;
        Bench::start("test", options).unwrap()
    }

    #[test]
    fn the_line_is_that_of_the_first_benchmark() {
        assert_eq!(
            took_line("insert", 1000, Duration::from_millis(12)),
            "took 12ms to insert 1000 items, average 0.0120ms per item"
        );
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0.00"),
            (0.003_456, "0.00346"),
            (0.5, "0.500"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (123.4, "123"),
            (123_456.0, "123456"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn tenths_are_told_apart() {
        let mut bench = bench();
        let mut phase = bench.phase("load", "insert", 1000).unwrap();
        for item in 0..1000 {
            if item >= 900 {
                std::thread::sleep(Duration::from_micros(100));
            }
            phase.done(1).unwrap();
        }
        let outcome = phase.finish().unwrap();
        assert_eq!(outcome.items, 1000);
        assert!(outcome.last_tenth_us.unwrap() >= 100.0, "{outcome:?}");
        assert!(outcome.growth().unwrap() > 10.0, "{outcome:?}");
        assert_eq!(bench.outcomes().len(), 1);
    }

    #[test]
    fn a_single_action_has_no_tenths() {
        let mut bench = bench();
        let opened: Result<u8> = bench.once("open", "open", || anyhow::Ok(7));
        assert_eq!(opened.unwrap(), 7);
        let outcome = &bench.outcomes()[0];
        assert_eq!(outcome.items, 1);
        assert_eq!(outcome.first_tenth_us, None);
    }
}
