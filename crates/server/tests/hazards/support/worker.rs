//! Other processes: this test binary, run again with a role.
//!
//! A worker prints one line for each thing that it did; the test reads them. A worker that finds something wrong panics,
//! which the test sees by its exit code.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use libimmuxdb::{Error, Height, Store};

use super::expected::write_at_random;
use super::ledger::Ledger;
use super::site::little_memory;

const ROLE: &str = "IMMUXDB_HAZARD_ROLE";
const ROOT: &str = "IMMUXDB_HAZARD_ROOT";
const UNTIL: &str = "IMMUXDB_HAZARD_UNTIL";

/// Another process. It is killed when the test forgets it.
pub struct Worker {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// Commits the ledger from where it ends, and prints the height after each commit; up to `until`.
    pub fn writer(root: &Path, until: u64) -> Worker {
        Worker::start("write", root, until)
    }

    /// Checks one snapshot after another, and prints their heights; up to `until`.
    pub fn reader(root: &Path, until: u64) -> Worker {
        Worker::start("read", root, until)
    }

    /// Commits at random, beside a file that says what must be there; prints the height after each commit.
    pub fn random_writer(root: &Path, seed: u64) -> Worker {
        Worker::start("write at random", root, seed)
    }

    fn start(role: &str, root: &Path, until: u64) -> Worker {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "support::worker::role", "--nocapture", "--quiet"])
            .env(ROLE, role)
            .env(ROOT, root)
            .env(UNTIL, until.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Worker { child, lines }
    }

    /// The next height that the worker printed; `None` when it has ended.
    pub fn next_height(&mut self) -> Option<u64> {
        loop {
            let line = self.lines.next()?.unwrap();
            if let Some(height) = line.strip_prefix("height ") {
                return Some(height.parse().unwrap());
            }
        }
    }

    /// Waits until it has printed this height.
    pub fn wait_for(&mut self, height: u64) {
        while self.next_height().expect("the worker goes on") < height {}
    }

    /// Kills it, as `kill -9` does; gives the last height that it printed.
    pub fn kill(&mut self) -> Option<u64> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut last = None;
        while let Some(height) = self.next_height() {
            last = Some(height);
        }
        last
    }

    /// It has not ended by itself, as one does that finds something wrong.
    pub fn assert_runs(&mut self) {
        let ended = self.child.try_wait().unwrap();
        assert_eq!(ended, None, "a worker ended by itself");
    }

    /// Waits for its end; it must have found nothing wrong.
    pub fn finish(mut self) {
        while self.next_height().is_some() {}
        let status: ExitStatus = self.child.wait().unwrap();
        assert!(status.success(), "a worker failed: {status}");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does nothing, unless this process is a worker.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let root = PathBuf::from(std::env::var(ROOT).unwrap());
    let until = std::env::var(UNTIL).unwrap().parse().unwrap();
    println!();
    match role.as_str() {
        "write" => write(&root, until),
        "read" => read(&root, until),
        "write at random" => write_at_random(&root, &root.with_file_name("expected"), until, say),
        other => panic!("no such role: {other}"),
    }
}

fn say(height: Height) {
    let mut out = std::io::stdout().lock();
    // The test may be gone.
    let _ = writeln!(out, "height {height}").and_then(|()| out.flush());
}

fn write(root: &Path, until: u64) {
    let store = Store::open(root, little_memory()).unwrap();
    let chain = store.chain("default").unwrap();
    assert!(chain.recovery().damage.is_none(), "{:?}", chain.recovery());
    let mut ledger = Ledger::at(chain.height().0);
    while ledger.height() < until {
        say(ledger.commit_next(&chain).unwrap());
    }
    chain.drain().unwrap();
    drop(chain);
    store.close().unwrap();
}

fn read(root: &Path, until: u64) {
    let store = Store::open_read_only(root, little_memory()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    while !matches!(store.chains(), Ok(names) if names.contains(&"default".to_owned())) {
        assert!(Instant::now() < deadline, "the chain never came to be");
        std::thread::sleep(Duration::from_millis(2));
    }
    let chain = loop {
        match store.chain("default") {
            Ok(chain) => break chain,
            // Its first page is not yet written.
            Err(Error::Format { .. }) if Instant::now() < deadline => {}
            Err(error) => panic!("{error}"),
        }
    };
    let mut ledger = Ledger::default();
    while ledger.height() < until {
        assert!(Instant::now() < deadline, "no commit came any more after height {}", ledger.height());
        let snapshot = chain.snapshot().unwrap();
        if snapshot.height().0 == ledger.height() && ledger.height() > 0 {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        ledger.advance(snapshot.height().0);
        ledger.check(&snapshot);
        say(snapshot.height());
    }
}
