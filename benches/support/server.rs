//! A server in a process of its own: this very program, started again as `immuxdb serve`. So it is always the code that the benchmark was built with.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use immuxdb_client::blocking::Client;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::options::{Level, Options};

/// Set for the process that is to be the server, which sees no other variable.
const VARIABLE: &str = "BENCHMARK_IS_SERVER";

/// A running server.
pub struct Server {
    process: Child,
    url: String,
}

/// What the operating system knows about a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Its anonymous memory now, in bytes.
    pub memory: u64,
    /// The most memory that it has ever had, with mapped files, in bytes.
    pub peak: u64,
    /// Its open files and sockets.
    pub descriptors: usize,
    /// The CPU time of all its threads so far.
    pub cpu: Duration,
}

/// To be called first by each program that uses a [`Server`]: in the process that is to be the server, this is all that happens.
#[must_use]
pub fn serve_if_asked() -> Option<ExitCode> {
    std::env::var_os(VARIABLE).map(|_| immuxdb::command_line::main())
}

impl Server {
    /// Starts a server on a store, at a port of its own.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(store: &Path, options: &Options) -> Result<Server> {
        let durability = match options.durability {
            Level::Buffered => "buffered",
            Level::Process => "process",
            Level::Sync => "sync",
        };
        let mut arguments: Vec<OsString> =
            ["serve", "--listen", "127.0.0.1:0", "--log-level", "info"].map(Into::into).into();
        arguments.extend(["--durability".into(), durability.into(), "--data-root".into(), store.into()]);
        if let Some(mebibytes) = options.memory_limit {
            arguments.extend(["--memory-limit".into(), format!("{mebibytes}MiB").into()]);
        }
        let program = std::env::current_exe().context("this program does not know its own file")?;
        let mut process = Command::new(program)
            .args(arguments)
            .env_clear()
            .env(VARIABLE, "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("the server does not start")?;
        let mut log = BufReader::new(process.stderr.take().context("the server has no log")?);
        let mut said = String::new();
        let url = loop {
            let begin = said.len();
            ensure!(log.read_line(&mut said)? > 0, "the server ended: {said}");
            if let Some((_, rest)) = said[begin..].split_once("http://") {
                break format!("http://{}", &rest[..rest.find([' ', '"', '\n']).unwrap_or(rest.len())]);
            }
        };
        // Nobody reads its log, and it must not wait for that.
        std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        Ok(Server { process, url })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A client with a connection of its own.
    ///
    /// # Errors
    /// The client's.
    pub fn client(&self) -> immuxdb_client::Result<Client> {
        Client::connect(&self.url)
    }

    /// What the server takes.
    ///
    /// # Errors
    /// There is no `/proc`.
    pub fn usage(&self) -> Result<Usage> {
        usage(&self.process.id().to_string())
    }

    /// Stops it as an operator would, and waits until it has ended.
    ///
    /// # Errors
    /// It ends with an error.
    pub fn stop(mut self) -> Result<()> {
        kill(Pid::from_raw(i32::try_from(self.process.id())?), Signal::SIGTERM)?;
        let status = self.process.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` both do nothing; before it, the benchmark failed, and its error counts.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What this process takes.
///
/// # Errors
/// There is no `/proc`.
pub fn own_usage() -> Result<Usage> {
    usage("self")
}

fn usage(process: &str) -> Result<Usage> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = |name: &str| -> Result<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
    };
    let descriptors = fs::read_dir(format!("/proc/{process}/fd"))?.count();
    // After the name, which is in parentheses, user and system time are the 12th and 13th fields, in ticks.
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields = stat.rsplit_once(')').context("another /proc")?.1.split_whitespace().skip(11).take(2);
    let ticks = fields.map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    let ticks_a_second = sysconf(SysconfVar::CLK_TCK)?.context("no clock")?;
    let cpu = Duration::from_secs_f64(ticks as f64 / ticks_a_second as f64);
    Ok(Usage { memory: field("RssAnon:")?, peak: field("VmHWM:")?, descriptors, cpu })
}
