//! Running a compiled program in a folder.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::compiler::{Compiler, Files, library_folder};

/// What a program printed and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit code; `None` for a signal.
    pub code: Option<i32>,
}

impl Ran {
    fn of(output: &Output) -> Ran {
        Ran {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    /// Standard output of a program that ended as it should and complained of nothing.
    #[track_caller]
    pub fn quiet(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        assert_eq!(self.err, "", "a program that works prints nothing of ours");
        self.out
    }

    /// Standard output of a program that ended as it should.
    #[track_caller]
    pub fn good(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.out
    }
}

/// A command that runs the program of some sources in a folder, with an environment of its own.
pub fn command(compiler: Compiler, files: Files, sources: &[&str], folder: &Path) -> Command {
    command_of(&compiler.compile(files, sources), folder)
}

/// As [`command`], of a program that is compiled already.
pub fn command_of(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("LD_LIBRARY_PATH", library_folder()).stdin(Stdio::null());
    command
}

/// Runs the program of some sources in a folder.
pub fn run(compiler: Compiler, files: Files, sources: &[&str], folder: &Path, arguments: &[&str]) -> Ran {
    finish(command(compiler, files, sources, folder).args(arguments))
}

/// Runs a command to its end.
pub fn finish(command: &mut Command) -> Ran {
    Ran::of(&command.output().unwrap())
}
