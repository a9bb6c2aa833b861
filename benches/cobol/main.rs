//! A compiled COBOL program on ImmuxDB and on Berkeley DB: the same source, the same compiler, the same run.
//!
//! A file with 13 alternate keys WITH DUPLICATES is written, read in random order, read along an alternate key forwards and
//! backwards, rewritten and emptied. What both programs see is compared record by record. The same program with a file
//! handler that does nothing says how much of each figure is its own work.

#![allow(missing_docs, reason = "a program")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use immuxdb_benches::bench::{Bench, number};
use immuxdb_benches::cobol::compilers::{Compiler, HOW_TO_GET, Program, library};
use immuxdb_benches::cobol::program::{Phase, Values};
use immuxdb_benches::cobol::run::{Load, Runner, Took, compare};
use immuxdb_benches::cobol::table::Table;
use immuxdb_benches::options::{Level, Options};
use immuxdb_benches::place::{Place, from_where_the_user_is, target_folder};
use immuxdb_benches::plot::{Series, draw_seconds};
use serde::Serialize;

const RECORDS: usize = 99_999;
/// Berkeley DB takes hours for more records that all have one value.
const EQUAL_RECORDS: [usize; 2] = [2_000, 5_000];
/// Numbers of records of the plot.
const PLOTTED: [usize; 7] = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 99_999];

#[derive(Args)]
struct More {
    /// What to measure [default: all]
    #[arg(long, value_enum, value_name = "PART")]
    part: Vec<Part>,

    /// Which values the alternate keys have [default: all three]
    #[arg(long, value_enum, value_name = "VALUES")]
    values: Vec<Values>,

    /// How often ImmuxDB is measured; the median counts. Berkeley DB is measured once
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,

    /// Without Berkeley DB, which takes nearly all of the time
    #[arg(long)]
    alone: bool,

    /// With --plot: Berkeley DB's line ends at the first WRITE phase that takes longer than this
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    patience: f64,

    /// The folder with libimmuxfh.so [default: cargo's, where it is built]
    #[arg(long, value_name = "DIR")]
    library: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Each phase on the records
    Phases,
    /// OPEN and CLOSE
    Open,
    /// A WRITE at ten times as many records
    Growth,
}

/// One figure, as JSON.
#[derive(Serialize)]
struct Figure<'f> {
    phase: &'f str,
    values: &'f str,
    records: usize,
    on: &'f str,
    #[serde(flatten)]
    took: Took,
}

/// All that the parts need.
struct Bed {
    bench: Bench,
    place: Place,
    rounds: usize,
    durability: Level,
    nothing: Program,
    /// On ImmuxDB, with each of the compilers; the first is compared with Berkeley DB.
    ours: Vec<Program>,
    peer: Option<Program>,
}

fn main() -> Result<()> {
    let (options, more) =
        Options::parse::<More>("A COBOL program with 13 alternate keys, on ImmuxDB and on Berkeley DB");
    let mut bed = Bed::prepare(options, &more)?;
    let part = |part| more.part.is_empty() || more.part.contains(&part);
    let values: Vec<Values> = if more.values.is_empty() { Values::ALL.to_vec() } else { more.values.clone() };
    if let Some(path) = bed.bench.options.plot.clone() {
        bed.plot(&path, &values, more.patience)?;
        return bed.bench.finish();
    }
    if part(Part::Phases) {
        for values in &values {
            bed.phases(*values)?;
        }
    }
    if part(Part::Open) {
        bed.open()?;
    }
    if part(Part::Growth) {
        for values in &values {
            bed.growth(*values)?;
        }
    }
    bed.bench.finish()
}

impl Bed {
    fn prepare(options: Options, more: &More) -> Result<Bed> {
        let target =
            target_folder().context("this program is not in cargo's target folder, which it builds the handler in")?;
        let durability = options.durability;
        ensure!(durability != Level::Buffered, "COBOL files are written with durability process or sync");
        let mut bench = Bench::start("cobol", options)?;
        let gnucobol3 = Compiler::gnucobol3();
        let gnucobol4 = Compiler::gnucobol4(&target);
        let compilers: Vec<&Compiler> = gnucobol3.iter().chain(&gnucobol4).collect();
        let Some(first) = compilers.first() else {
            bail!("there is no COBOL compiler here (no cobc in PATH); {HOW_TO_GET}");
        };
        let place = Place::new(bench.options.store.as_deref())?;
        let folder = place.path();
        let named = more.library.as_deref().map(|path| from_where_the_user_is(path, true));
        let library = library(named.as_deref(), &target)?;
        let ours = compilers.iter().map(|compiler| compiler.immuxdb(folder, &library)).collect::<Result<Vec<_>>>()?;
        let nothing = first.nothing(folder)?;
        let with_peer = gnucobol3.as_ref().filter(|compiler| compiler.has_berkeley_db && !more.alone);
        let peer = with_peer.map(|compiler| compiler.plain(folder)).transpose()?;
        for (there, what) in [
            (gnucobol3.is_some(), "gnucobol3 is not installed, so there is nothing to compare with"),
            (gnucobol3.as_ref().is_none_or(|c| c.has_berkeley_db), "this cobc was built without Berkeley DB"),
            (gnucobol4.is_some(), "gnucobol4 is not unpacked, so it is left out"),
        ] {
            if !there {
                bench.note(&format!("{what}; {HOW_TO_GET}"))?;
            }
        }
        Ok(Bed { bench, place, rounds: usize::from(more.rounds), durability, nothing, ours, peer })
    }

    /// The figures of all phases, and a comparison of what the programs see.
    fn phases(&mut self, values: Values) -> Result<()> {
        let records = self.bench.rows(RECORDS);
        if values == Values::Equal && self.peer.is_some() {
            for records in EQUAL_RECORDS.into_iter().filter(|few| *few < records) {
                self.phases_of(Load { values, records }, true)?;
            }
            return self.phases_of(Load { values, records }, records <= EQUAL_RECORDS[1]);
        }
        self.phases_of(Load { values, records }, true)
    }

    fn phases_of(&mut self, load: Load, with_peer: bool) -> Result<()> {
        let peer = self.peer.clone().filter(|_| with_peer);
        let nothing = self.cycle(&self.nothing.clone(), load, 1, None)?;
        let mut columns = Vec::new();
        for (number, ours) in self.ours.clone().iter().enumerate() {
            columns.push((ours.name.clone(), self.cycle(ours, load, self.rounds, Some(&format!("ours-{number}")))?));
        }
        if let Some(peer) = &peer {
            columns.push((peer.name.clone(), self.cycle(peer, load, 1, Some("peer"))?));
        }
        let heading = format!("{} records, {}", load.records, load.values.name());
        let mut table = Table::new(&heading, columns.iter().map(|(name, _)| name.as_str()), peer.is_some());
        for phase in Phase::MEASURED {
            let of = |times: &BTreeMap<&str, Took>| times[phase.code()].seconds;
            table.row(phase.name(), &columns.iter().map(|(_, times)| of(times)).collect::<Vec<_>>(), of(&nothing));
        }
        self.bench.text(&table.text);
        self.compare(&peer)
    }

    /// WRITE, READ … DELETE on a new file, as often as asked; the median of each phase. A name asks for dumps.
    fn cycle(
        &mut self,
        on: &Program,
        load: Load,
        rounds: usize,
        dumps: Option<&str>,
    ) -> Result<BTreeMap<&'static str, Took>> {
        let mut times: BTreeMap<&str, Vec<Took>> = BTreeMap::new();
        for round in 0..rounds {
            let runner = Runner::new(on, self.place.path(), self.durability)?;
            for phase in Phase::MEASURED {
                times.entry(phase.code()).or_default().push(runner.run(phase, load.values, load.records)?);
                let changes = matches!(phase, Phase::Write | Phase::Rewrite | Phase::Delete);
                if let Some(name) = dumps.filter(|_| changes && round == 0) {
                    runner.dump(load, &format!("{name}-{}", phase.code()))?;
                }
            }
        }
        let mut medians = BTreeMap::new();
        for phase in Phase::MEASURED {
            let took = median(times.remove(phase.code()).unwrap_or_default());
            medians.insert(phase.code(), took);
            self.figure(phase.name(), load, &on.name, took)?;
        }
        Ok(medians)
    }

    /// Compares what the programs saw after WRITE, REWRITE and DELETE: all with the first.
    fn compare(&mut self, peer: &Option<Program>) -> Result<()> {
        let folder = self.place.path().to_owned();
        let others = (1..self.ours.len()).map(|number| format!("ours-{number}"));
        let others: Vec<String> = others.chain(peer.as_ref().map(|_| "peer".to_owned())).collect();
        let mut compared = 0;
        for phase in [Phase::Write, Phase::Rewrite, Phase::Delete] {
            let first = folder.join(format!("ours-0-{}", phase.code()));
            for other in &others {
                let other = folder.join(format!("{other}-{}", phase.code()));
                compared += compare(&first, &other)?;
                std::fs::remove_file(other)?;
            }
            std::fs::remove_file(first)?;
        }
        if compared > 0 {
            self.bench.note(&format!(
                "{compared} records, by four keys, were compared with the first column: all are the same"
            ))?;
        }
        Ok(())
    }

    fn figure(&mut self, phase: &str, load: Load, on: &str, took: Took) -> Result<()> {
        self.bench.measured(&Figure { phase, values: load.values.name(), records: load.records, on, took })
    }

    /// OPEN and CLOSE of a small and of a large file.
    fn open(&mut self) -> Result<()> {
        let engines: Vec<Program> = self.ours.iter().chain(&self.peer).cloned().collect();
        for (records, times) in [(100, 1000), (100_000, 100)] {
            let load = Load { values: Values::Unique, records };
            let mut columns = Vec::new();
            for on in &engines {
                let runner = Runner::new(on, self.place.path(), self.durability)?;
                runner.run(Phase::Write, load.values, records)?;
                let mut took = Vec::new();
                for phase in [Phase::OpenInput, Phase::OpenInputOutput] {
                    let rounds = (0..self.rounds).map(|_| runner.run(phase, load.values, times));
                    took.push(median(rounds.collect::<Result<_>>()?));
                }
                columns.push((on.name.clone(), took));
            }
            let heading = format!("a file of {records} records, {times} times");
            let mut table = Table::new(&heading, columns.iter().map(|(name, _)| name.as_str()), self.peer.is_some());
            for (number, phase) in [Phase::OpenInput, Phase::OpenInputOutput].into_iter().enumerate() {
                let runner = Runner::new(&self.nothing, self.place.path(), self.durability)?;
                let nothing = runner.run(phase, load.values, times)?.seconds;
                let seconds: Vec<f64> = columns.iter().map(|(_, took)| took[number].seconds).collect();
                table.row(phase.name(), &seconds, nothing);
                for (name, took) in &columns {
                    self.figure(phase.name(), load, name, took[number])?;
                }
            }
            self.bench.text(&table.text);
        }
        Ok(())
    }

    /// What a record costs in a file of ten times as many.
    fn growth(&mut self, values: Values) -> Result<()> {
        let few = self.bench.rows(RECORDS).next_multiple_of(10);
        let on = self.ours[0].clone();
        let mut cost = Vec::new();
        for records in [few, 10 * few] {
            let load = Load { values, records };
            let write = |program: &Program, rounds| -> Result<Took> {
                let rounds = (0..rounds).map(|_| {
                    let runner = Runner::new(program, self.place.path(), self.durability)?;
                    runner.run(Phase::Write, values, records)
                });
                Ok(median(rounds.collect::<Result<_>>()?))
            };
            let nothing = write(&self.nothing, 1)?;
            let took = write(&on, self.rounds)?;
            self.figure(Phase::Write.name(), load, &on.name, took)?;
            cost.push((records, (took.seconds - nothing.seconds) * 1e6 / records as f64));
        }
        let ((few, before), (many, after)) = (cost[0], cost[1]);
        let name = format!("a WRITE at {many} against {few} records, {}", values.name());
        self.bench.text(&format!("{} µs a record at {few} records, {} at {many}", number(before), number(after)));
        self.bench.figure(&name, after / before, "times")
    }

    /// Seconds of WRITE against records, for all values, on ImmuxDB and on Berkeley DB.
    fn plot(&mut self, path: &Path, values: &[Values], patience: f64) -> Result<()> {
        let most = self.bench.rows(RECORDS);
        let mut sizes: Vec<usize> = PLOTTED.into_iter().filter(|records| *records < most).collect();
        sizes.push(most);
        let engines: Vec<Program> = self.ours.iter().take(1).chain(&self.peer).cloned().collect();
        let mut series = Vec::new();
        for on in &engines {
            for values in values {
                let mut points = Vec::new();
                for records in &sizes {
                    let load = Load { values: *values, records: *records };
                    let runner = Runner::new(on, self.place.path(), self.durability)?;
                    let took = runner.run(Phase::Write, *values, *records)?;
                    self.figure(Phase::Write.name(), load, &on.name, took)?;
                    self.bench.text(&format!(
                        "{}, {}, {records} records: {} s",
                        on.name,
                        values.name(),
                        number(took.seconds)
                    ));
                    points.push((*records as f64, took.seconds));
                    if took.seconds > patience {
                        break;
                    }
                }
                series.push(Series::of_points(&format!("{}, {}", on.name, values.name()), points));
            }
        }
        draw_seconds(path, "A COBOL program: WRITE of records with 13 alternate keys", &series)?;
        // The bench would draw phases, of which there are none.
        self.bench.options.plot = None;
        self.bench.note(&format!("drawn into {}", path.display()))
    }
}

fn median(mut times: Vec<Took>) -> Took {
    times.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    times[times.len() / 2]
}
