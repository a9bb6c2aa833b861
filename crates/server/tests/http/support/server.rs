//! A server process in a directory of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Answer, Client, LIMIT, until};

const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

pub struct Server {
    directory: Arc<tempfile::TempDir>,
    process: Child,
    address: String,
    /// What it logged.
    log: Arc<Mutex<String>>,
    /// Reads the log until its end.
    reader: Option<JoinHandle<()>>,
    token: Option<String>,
}

impl Server {
    /// A server with the default settings.
    pub fn start() -> Server {
        Server::with(&[])
    }

    /// A server with these settings, as variables without their prefix.
    pub fn with(settings: &[(&str, &str)]) -> Server {
        Server::start_in(Arc::new(tempfile::tempdir().unwrap()), settings)
    }

    /// Another server on the same store.
    pub fn beside(other: &Server) -> Server {
        Server::start_in(Arc::clone(&other.directory), &[])
    }

    /// A command in this directory that sees no configuration but ours.
    pub fn command(directory: &Path, settings: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_immuxdb"));
        command.current_dir(directory).env_clear().env("HOME", directory).stdin(Stdio::null());
        for (name, value) in settings {
            command.env(format!("IMMUXDB_{}", name.to_uppercase()), value);
        }
        command
    }

    fn start_in(directory: Arc<tempfile::TempDir>, settings: &[(&str, &str)]) -> Server {
        let mut command = Server::command(directory.path(), settings);
        command.args(SERVE);
        Server::spawn(directory, command, settings)
    }

    /// A server whose files can't grow beyond this many bytes, as on a full disk.
    pub fn with_small_files(bytes: u64) -> Server {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let mut command = Command::new("sh");
        // POSIX counts blocks of 512 bytes.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 512);
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_immuxdb")).args(SERVE);
        command.current_dir(directory.path()).stdin(Stdio::null());
        Server::spawn(directory, command, &[])
    }

    fn spawn(directory: Arc<tempfile::TempDir>, mut command: Command, settings: &[(&str, &str)]) -> Server {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let (listening, address) = mpsc::channel();
        let written = Arc::clone(&log);
        let reader = std::thread::spawn(move || {
            while let Some(Ok(line)) = lines.next() {
                if let Some((_, rest)) = line.split_once("http://") {
                    let end = rest.find([' ', '"']).unwrap_or(rest.len());
                    let _ = listening.send(rest[..end].to_owned());
                }
                *written.lock().unwrap() += &(line + "\n");
            }
        });
        let address = address.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("no address in: {}", log.lock().unwrap()));
        let token = settings.iter().find(|(name, _)| *name == "token").map(|(_, token)| (*token).to_owned());
        Server { directory, process, address, log, reader: Some(reader), token }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// A new connection.
    pub fn client(&self) -> Client {
        Client::connect(&self.address, self.token.as_deref())
    }

    /// One request on a connection of its own.
    pub fn ask(&self, request: &str) -> Answer {
        self.client().ask(request)
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.process.id() as i32), signal).unwrap();
    }

    /// Waits until the process has ended; gives its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let status = until("the server ends", || self.process.try_wait().unwrap());
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        status.code()
    }

    /// Stops it as an operator would; it must end well.
    pub fn stop(&mut self) {
        self.signal(Signal::SIGTERM);
        assert_eq!(self.wait(), Some(0), "{}", self.log());
    }

    /// Ends the process at once, and starts another one on the same store.
    pub fn kill_and_restart(mut self, settings: &[(&str, &str)]) -> Server {
        self.signal(Signal::SIGKILL);
        self.wait();
        Server::start_in(Arc::clone(&self.directory), settings)
    }

    /// A field of `/proc/PID/status` in bytes, such as the most memory that it ever had (`VmHWM`).
    pub fn memory(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
        line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10
    }

    /// The value of a metric without labels, or with these.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.ask("GET /.metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("the server's log:\n{}", self.log());
        }
    }
}
