//! Running the program, with a clock and the system's account of its CPU time beside it.

use std::fs;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;

use super::compilers::Program;
use super::program::{Phase, Values};
use crate::options::Level;

/// What a run of the program is about.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The values of the alternate keys.
    pub values: Values,
    /// How many records.
    pub records: usize,
}

/// What one phase took: the whole process, from its start to its end, so OPEN, CLOSE and background work are within.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Took {
    /// Wall time.
    pub seconds: f64,
    /// CPU time of all its threads.
    pub cpu_seconds: f64,
}

/// A folder in which the program runs, with its file.
pub struct Runner<'r> {
    program: &'r Program,
    folder: PathBuf,
    durability: Level,
}

impl<'r> Runner<'r> {
    /// A new folder within `place`.
    pub fn new(program: &'r Program, place: &Path, durability: Level) -> Result<Runner<'r>> {
        let folder = place.join("files");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(Runner { program, folder, durability })
    }

    /// Runs one phase; for the phases that open again and again, `times` is how often, otherwise how many records there are.
    pub fn run(&self, phase: Phase, values: Values, times: usize) -> Result<Took> {
        let mut command = Command::new(&self.program.path);
        command
            .current_dir(&self.folder)
            .env("PHASE", phase.code())
            .env("VALUES", values.code())
            .env("N", format!("{times:09}"))
            .env("STRIDE", format!("{:09}", stride(times)))
            .stdin(Stdio::null());
        if self.durability == Level::Sync {
            command.env("IMMUX_SYNC", "1").env("COB_SYNC", "true");
        }
        let cpu = cpu_of_children()?;
        let started = Instant::now();
        let output = command.output().with_context(|| self.program.path.display().to_string())?;
        let seconds = started.elapsed().as_secs_f64();
        let cpu_seconds = cpu_of_children()? - cpu;
        let says = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{} failed at {} of {times} ({}): {}",
            self.program.name,
            phase.name(),
            values.name(),
            says.trim()
        );
        Ok(Took { seconds, cpu_seconds })
    }

    /// Writes out all records, by several keys, into a file of that name in the parent folder.
    pub fn dump(&self, load: Load, name: &str) -> Result<PathBuf> {
        self.run(Phase::Dump, load.values, load.records)?;
        let dump = self.folder.with_file_name(name);
        fs::rename(self.folder.join("DUMPFILE"), &dump)?;
        Ok(dump)
    }
}

/// CPU time in seconds of all child processes that have ended.
fn cpu_of_children() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok([usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
        .sum())
}

/// A stride that meets each of 1 … `records` once, and goes far.
fn stride(records: usize) -> usize {
    let golden = (records as f64 * 0.618_033_988_75) as usize;
    (golden.max(1)..).find(|stride| gcd(*stride, records.max(1)) == 1).unwrap_or(1)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

const RECORD: usize = 260;

/// Compares what two programs wrote out, record by record; gives the number of records.
pub fn compare(left: &Path, right: &Path) -> Result<usize> {
    let mut left_file = BufReader::new(fs::File::open(left)?);
    let mut right_file = BufReader::new(fs::File::open(right)?);
    let mut number = 0;
    loop {
        let (mut one, mut other) = (Vec::with_capacity(RECORD), Vec::with_capacity(RECORD));
        left_file.by_ref().take(RECORD as u64).read_to_end(&mut one)?;
        right_file.by_ref().take(RECORD as u64).read_to_end(&mut other)?;
        if one != other {
            let text = |record: &[u8]| String::from_utf8_lossy(record).into_owned();
            bail!(
                "record {} of {} and {} differs:\n{}\n{}",
                number + 1,
                left.display(),
                right.display(),
                text(&one),
                text(&other)
            );
        }
        if one.is_empty() {
            break;
        }
        number += 1;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cobol::compilers::Compiler;

    #[test]
    fn a_stride_meets_all() {
        for records in [1, 2, 100, 2_000, 99_999] {
            let stride = stride(records);
            let mut seen = vec![false; records];
            let mut at = 0;
            for _ in 0..records {
                at = (at + stride) % records;
                seen[at] = true;
            }
            assert!(seen.iter().all(|seen| *seen), "{records}");
        }
    }

    /// Runs all phases of the program on what the compiler has itself, where there is a compiler.
    #[test]
    fn the_program_runs() {
        let Some(compiler) = Compiler::gnucobol3() else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut programs = vec![compiler.nothing(folder.path()).unwrap()];
        if compiler.has_berkeley_db {
            programs.push(compiler.plain(folder.path()).unwrap());
        }
        let load = |values| Load { values, records: 50 };
        for (number, program) in programs.iter().enumerate() {
            for values in Values::ALL {
                let runner = Runner::new(program, folder.path(), Level::Process).unwrap();
                let phases = Phase::MEASURED.iter().chain(&[Phase::OpenInput, Phase::OpenInputOutput]);
                for phase in phases {
                    runner.run(*phase, values, 50).unwrap();
                    if number == 1 && *phase == Phase::Rewrite {
                        let dump = runner.dump(load(values), "dump").unwrap();
                        assert_eq!(fs::metadata(dump).unwrap().len() as usize, 4 * 50 * RECORD);
                    }
                }
            }
        }
    }

    #[test]
    fn what_differs_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        let same = compare(&file("a", &[b'x'; 2 * RECORD]), &file("b", &[b'x'; 2 * RECORD]));
        assert_eq!(same.unwrap(), 2);
        let shorter = compare(&file("a", &[b'x'; 2 * RECORD]), &file("b", &[b'x'; RECORD]));
        assert!(shorter.unwrap_err().to_string().contains("record 2 of"));
    }
}
