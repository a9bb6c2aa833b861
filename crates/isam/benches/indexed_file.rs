//! What the operations of an indexed file take, without a COBOL program around them.
//!
//! Records of 260 bytes with a primary key and 13 alternate keys WITH DUPLICATES of 18 bytes, as in `benches/cobol`; three
//! distributions of the alternate keys' values: all equal, 100 values, unique. `RECORDS=N` sets how many,
//! `VALUES=equal|100|unique` picks one distribution. IMMUX_MEMORY and IMMUX_DUPLICATE_STATUS count.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports on standard output and may end at once"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use immuxdb_isam::{
    Access, Connector, Direction, Key, KeyPart, Layout, OpenMode, OpenRequest, Relation, RunUnit, Settings,
};
use nix::time::{ClockId, clock_gettime};

const RECORD: usize = 260;
const KEY: usize = 18;
const ALTERNATES: usize = 13;

#[derive(Clone, Copy)]
enum Values {
    Equal,
    Hundred,
    Unique,
}

fn layout() -> Layout {
    let key = |number: usize| Key {
        parts: vec![KeyPart { offset: (number * KEY) as u32, len: KEY as u32 }],
        duplicates: number > 0,
        sparse: None,
    };
    Layout {
        keys: (0..=ALTERNATES).map(key).collect(),
        min_record: RECORD as u32,
        max_record: RECORD as u32,
        variable: false,
    }
}

/// A number from 0 to 2^20, other for each `n` below that.
fn scatter(n: u64) -> u64 {
    n.wrapping_mul(0x9_E375) & 0xF_FFFF
}

fn fill(record: &mut [u8; RECORD], n: u64, values: Values) {
    put(record, 0, scatter(n));
    for key in 1..=ALTERNATES {
        let value = match values {
            Values::Equal => 7,
            Values::Hundred => scatter(n + key as u64) % 100,
            Values::Unique => scatter(n ^ key as u64),
        };
        put(record, key, value);
    }
}

fn put(record: &mut [u8; RECORD], key: usize, value: u64) {
    record[key * KEY..][..KEY].copy_from_slice(format!("{value:018}").as_bytes());
}

fn open(path: &Path, mode: OpenMode) -> Connector {
    let (layout, settings) = (layout(), Settings::from_environment().unwrap());
    let request =
        OpenRequest { path, mode, access: Access::Dynamic, optional: false, layout: &layout, settings: &settings };
    RunUnit::global().open(&request).unwrap().0
}

/// Wall time, and the processor's time that this thread took: on a busy machine the two are far apart.
#[derive(Clone, Copy)]
struct Moment {
    wall: Instant,
    processor: Duration,
}

impl Moment {
    fn now() -> Moment {
        let processor = Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        Moment { wall: Instant::now(), processor }
    }

    fn report(self, what: &str, count: u64) {
        let now = Moment::now();
        let (wall, processor) = (now.wall - self.wall, now.processor - self.processor);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
        println!(
            "  {what:<44} {:>8.3} s  {:>10.2} us each, {:>9.2} of this thread",
            wall.as_secs_f64(),
            each(wall),
            each(processor)
        );
    }
}

fn timed(what: &str, count: u64, work: impl FnOnce()) {
    let began = Moment::now();
    work();
    began.report(what, count);
}

fn run(name: &str, values: Values, count: u64, folder: &Path) {
    println!("{count} records, values of the alternate keys: {name}");
    let path = folder.join(name);
    let mut record = [b'.'; RECORD];
    let mut area = [0; RECORD];
    let began = Moment::now();
    let mut file = open(&path, OpenMode::Output);
    for n in 0..count {
        fill(&mut record, n, values);
        file.write(&record).unwrap();
    }
    began.report("WRITE", count);
    timed("CLOSE", 1, || drop(file));
    timed("OPEN INPUT", 1, || drop(open(&path, OpenMode::Input)));
    let mut file = open(&path, OpenMode::InputOutput);
    timed("READ, random", count, || {
        for n in 0..count {
            put(&mut area, 0, scatter((n * 7919) % count));
            file.read_key(0, &mut area).unwrap();
        }
    });
    for (what, direction, relation) in [
        ("START + READ NEXT, primary", Direction::Next, Relation::First),
        ("START + READ PREVIOUS, primary", Direction::Previous, Relation::Last),
    ] {
        timed(what, count, || {
            file.start(relation, 0, 0, &area).unwrap();
            for _ in 0..count {
                file.read_next(direction, &mut area).unwrap();
            }
        });
    }
    for (what, direction, relation) in [
        ("START + READ NEXT, alternate", Direction::Next, Relation::First),
        ("START + READ PREVIOUS, alternate", Direction::Previous, Relation::Last),
    ] {
        timed(what, count, || {
            file.start(relation, 5, 0, &area).unwrap();
            for _ in 0..count {
                file.read_next(direction, &mut area).unwrap();
            }
        });
    }
    timed("START EQUAL on an alternate, random", count / 10, || {
        for n in 0..count / 10 {
            fill(&mut record, (n * 7919) % count, values);
            file.start(Relation::Equal, 3, 0, &record).unwrap();
        }
    });
    timed("READ + REWRITE of one alternate, random", count, || {
        for n in 0..count {
            put(&mut area, 0, scatter((n * 7919) % count));
            file.read_key(0, &mut area).unwrap();
            let value = match values {
                Values::Equal => 8,
                Values::Hundred => scatter(n) % 100,
                Values::Unique => scatter(n) + 1,
            };
            put(&mut area, 2, value);
            file.rewrite(&area).unwrap();
        }
    });
    timed("READ NEXT + REWRITE, primary", count, || {
        file.start(Relation::First, 0, 0, &area).unwrap();
        for n in 0..count {
            file.read_next(Direction::Next, &mut area).unwrap();
            put(&mut area, 3, scatter(n) % 100);
            file.rewrite(&area).unwrap();
        }
    });
    timed("READ NEXT + REWRITE, of the key walked along", count, || {
        file.start(Relation::First, 4, 0, &area).unwrap();
        for _ in 0..count {
            file.read_next(Direction::Next, &mut area).unwrap();
            put(&mut area, 4, 0);
            file.rewrite(&area).unwrap();
        }
    });
    let half = count / 2;
    timed("DELETE, random", half, || {
        for n in 0..half {
            put(&mut area, 0, scatter((n * 7919) % count));
            file.delete(&area).unwrap();
        }
    });
    timed("READ NEXT + DELETE, alternate", count - half, || {
        file.start(Relation::First, 6, 0, &area).unwrap();
        for _ in half..count {
            file.read_next(Direction::Next, &mut area).unwrap();
            file.delete(&area).unwrap();
        }
    });
    timed("CLOSE", 1, || drop(file));
}

fn opens(folder: &Path, count: u64, times: u64) {
    let path = folder.join("opens");
    let mut record = [b'.'; RECORD];
    let mut file = open(&path, OpenMode::Output);
    for n in 0..count {
        fill(&mut record, n, Values::Hundred);
        file.write(&record).unwrap();
    }
    drop(file);
    for (what, mode) in [("OPEN INPUT + CLOSE", OpenMode::Input), ("OPEN I-O + CLOSE", OpenMode::InputOutput)] {
        timed(&format!("{what} of {count} records"), times, || (0..times).for_each(|_| drop(open(&path, mode))));
    }
    timed("OPEN I-O + WRITE + CLOSE", times, || {
        for n in 0..times {
            let mut file = open(&path, OpenMode::InputOutput);
            fill(&mut record, count + n, Values::Hundred);
            file.write(&record).unwrap();
        }
    });
    timed("OPEN OUTPUT + CLOSE of a file that is there", times, || {
        (0..times).for_each(|_| drop(open(&path, OpenMode::Output)));
    });
}

fn main() {
    let count = std::env::var("RECORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(99_999);
    let folder = tempfile::tempdir().unwrap();
    let only = std::env::var("VALUES").ok();
    if only.is_none() {
        opens(folder.path(), 100, 1000);
        opens(folder.path(), 20_000, 100);
        opens(folder.path(), 100_000, 100);
    }
    for (name, values) in [("equal", Values::Equal), ("100", Values::Hundred), ("unique", Values::Unique)] {
        if only.as_ref().is_none_or(|only| only == name) {
            run(name, values, count, folder.path());
        }
    }
}
