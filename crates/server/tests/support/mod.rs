//! Runs the built binary in a directory of its own.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A working directory with a store in it.
pub struct Place {
    directory: tempfile::TempDir,
}

/// What a run of the command left.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Place {
        Place { directory: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The command, which sees no configuration but ours.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_immuxdb"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        outcome(self.command(arguments).output().unwrap())
    }

    /// Runs it with this standard input.
    pub fn run_with(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Outcome {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // The command may end without reading all.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        outcome(child.wait_with_output().unwrap())
    }

    /// What it prints; it must succeed and say nothing on standard error.
    pub fn prints(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{arguments:?}");
        outcome.out
    }

    /// What it says on standard error; it must end with this exit code and print nothing.
    pub fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{arguments:?}: {}", outcome.err);
        outcome.err
    }

    /// The objects that it prints with `--json`.
    pub fn objects(&self, arguments: &[&str]) -> Vec<serde_json::Value> {
        let arguments = [arguments, &["--json"]].concat();
        self.prints(&arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Loads a file; says how many rows, of which how many were new units.
    pub fn load(&self, arguments: &[&str]) -> (u64, u64) {
        let objects = self.objects(&[&["load"], arguments].concat());
        (objects[0]["rows"].as_u64().unwrap(), objects[0]["inserted"].as_u64().unwrap())
    }
}

pub fn outcome(output: std::process::Output) -> Outcome {
    Outcome {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
