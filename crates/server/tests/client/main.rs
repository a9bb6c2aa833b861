//! The client and the command line against a running server.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod doors;
mod operations;
mod readme;
#[path = "../support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use support::Place;

/// A server on the store of a place, at a port of its own.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn on(place: &Place) -> Server {
        Server::with(place, &[])
    }

    /// With these variables.
    fn with(place: &Place, variables: &[(&str, &str)]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_immuxdb"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(place.path()).env_clear();
        command.envs(variables.iter().copied()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "the server ended");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest[..rest.find([' ', '"', '\n']).unwrap()].to_owned();
            }
        };
        // Its log goes on; nobody reads it, and it must not wait for that.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Server { process, url: format!("http://{address}") }
    }

    fn client(&self) -> immuxdb_client::blocking::Client {
        immuxdb_client::blocking::Client::connect(&self.url).unwrap()
    }

    /// Ends it as an operator would, and waits until it has ended.
    fn stop(mut self) {
        kill(Pid::from_raw(self.process.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
