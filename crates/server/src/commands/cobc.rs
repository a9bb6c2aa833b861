//! `immuxdb cobc`: the installed COBOL compiler, with the flags that bring a program's indexed files to ImmuxDB.
//!
//! | flag | why |
//! |---|---|
//! | `-fcallfh=immuxfh` | files call the handler `immuxfh` |
//! | `-Q -L…  -Q -limmuxfh` | the linker's options, before the compiler's own: our library comes before libcob, so that CLOSE, CANCEL, DELETE FILE and SORT reach us too |
//! | `-Q -Wl,-rpath,…` | the program finds the library without a setting |
//! | `-Wno-unsupported` | where cobc was built without indexed files (Debian's gnucobol4) it rejects them otherwise |

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::output::Output;

/// Run the installed COBOL compiler (cobc) so that a program's indexed files are ImmuxDB's
#[derive(Debug, Args)]
#[command(after_help = "For example: immuxdb cobc -x orders.cob
In a makefile: COBFLAGS := $(shell immuxdb cobc --print-flags)

The compiler is cobc, or what the environment variable COBC says. The library libimmuxfh.so is looked for in the directory
that IMMUX_LIBRARY names, in ../lib beside this command, and beside this command itself.")]
pub struct Cobc {
    /// Print the flags, and compile nothing
    #[arg(long)]
    print_flags: bool,
    /// What cobc is called with, such as -x orders.cob
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

const LIBRARY: &str = "libimmuxfh.so";

#[derive(Serialize)]
struct Flags<'a> {
    compiler: String,
    version: &'a str,
    library: String,
    flags: &'a [String],
}

impl Cobc {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        if !self.print_flags && self.arguments.is_empty() {
            return Err(Failure::usage("there is nothing to compile").help("for example: immuxdb cobc -x orders.cob"));
        }
        let compiler = Compiler::installed()?;
        let library = library()?;
        let flags = compiler.flags(&library)?;
        if self.print_flags {
            let item = Flags {
                compiler: compiler.command.display().to_string(),
                version: &compiler.version,
                library: library.display().to_string(),
                flags: &flags,
            };
            return output.say(&item, flags.join(" "));
        }
        output.flush()?;
        // From here on this process is the compiler: its exit code and signals are those of cobc.
        let error = Command::new(&compiler.command).args(&flags).args(&self.arguments).exec();
        Err(cannot_run(&compiler.command, &error))
    }
}

/// The compiler that is here.
struct Compiler {
    command: PathBuf,
    version: String,
    /// Whether it knows indexed files of its own.
    indexed: bool,
}

impl Compiler {
    fn installed() -> Result<Compiler> {
        let command =
            PathBuf::from(env::var_os("COBC").filter(|name| !name.is_empty()).unwrap_or_else(|| "cobc".into()));
        let says = |argument: &str| -> Result<String> {
            let output = Command::new(&command).arg(argument).output();
            let output = output.map_err(|error| cannot_run(&command, &error))?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let version = version_of(&says("--version")?).ok_or_else(|| {
            Failure::new(format!("{} does not say that it is GnuCOBOL", command.display()))
                .help("name the compiler with the environment variable COBC")
        })?;
        if version.starts_with("1.") || version.starts_with("2.") {
            return Err(Failure::new(format!("GnuCOBOL {version} can't call a file handler"))
                .help("version 3.1 or later is needed; on Debian: apt-get install gnucobol3"));
        }
        let indexed = has_indexed_files(&says("--info")?);
        Ok(Compiler { command, version, indexed })
    }

    fn flags(&self, library: &Path) -> Result<Vec<String>> {
        let directory = library.parent().and_then(Path::to_str).unwrap_or_default();
        // cobc hands its linker's options through a shell.
        let plain = |c: char| c.is_alphanumeric() || "/._-+=@:~".contains(c);
        if directory.is_empty() || !directory.chars().all(plain) {
            return Err(Failure::new(format!("cobc can't handle the name of the directory {directory:?}"))
                .help(format!("put {LIBRARY} into one without spaces, and name that with IMMUX_LIBRARY")));
        }
        let mut flags = vec!["-fcallfh=immuxfh".to_owned()];
        if !self.indexed {
            flags.push("-Wno-unsupported".to_owned());
        }
        for option in [format!("-L{directory}"), "-limmuxfh".to_owned(), format!("-Wl,-rpath,{directory}")] {
            flags.extend(["-Q".to_owned(), option]);
        }
        Ok(flags)
    }
}

fn cannot_run(command: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("{} can't be run: {error}", command.display()));
    match error.kind() {
        io::ErrorKind::NotFound => failure.help(
            "install GnuCOBOL (on Debian: apt-get install gnucobol3), or name the compiler with the environment variable COBC",
        ),
        _ => failure,
    }
}

/// `3.1.2.0` of `cobc (GnuCOBOL) 3.1.2.0`.
fn version_of(says: &str) -> Option<String> {
    let line = says.lines().next().filter(|line| line.contains("GnuCOBOL"))?;
    let version = line.split_whitespace().last()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

/// Whether `cobc --info` names something behind "indexed file handler".
fn has_indexed_files(info: &str) -> bool {
    let line = info.lines().find(|line| line.trim_start().to_lowercase().starts_with("indexed file handler"));
    line.is_none_or(|line| !line.to_lowercase().contains("disabled"))
}

/// Where the library is.
fn library() -> Result<PathBuf> {
    let named = env::var_os("IMMUX_LIBRARY").filter(|name| !name.is_empty());
    let places = match &named {
        Some(directory) => vec![PathBuf::from(directory)],
        None => {
            let command =
                env::current_exe().map_err(|error| Failure::new(format!("this command is nowhere: {error}")))?;
            let beside = command.parent().unwrap_or(Path::new("/")).to_owned();
            vec![beside.join("../lib"), beside]
        }
    };
    let found = places.iter().map(|place| place.join(LIBRARY)).find(|path| path.is_file());
    match found.map(|path| path.canonicalize()) {
        Some(Ok(path)) => Ok(path),
        _ => {
            let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
            Err(Failure::not_found(format!("there is no {LIBRARY} in {}", places.join(" or ")))
                .help("`make install` puts it there; another directory is named with IMMUX_LIBRARY"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version_of("cobc (GnuCOBOL) 3.1.2.0\nCopyright"), Some("3.1.2.0".to_owned()));
        assert_eq!(version_of("cobc (GnuCOBOL) 4.0-early-dev.0\n"), Some("4.0-early-dev.0".to_owned()));
        assert_eq!(version_of("cc (Debian) 12.2.0"), None);
        assert_eq!(version_of(""), None);
    }

    #[test]
    fn a_compiler_without_indexed_files_is_known() {
        assert!(has_indexed_files("indexed file handler     : BDB\n"));
        assert!(has_indexed_files(" Indexed file handler     : VBISAM\n"));
        assert!(!has_indexed_files("indexed file handler     : disabled\n"));
    }

    #[test]
    fn a_directory_that_a_shell_would_take_apart_is_refused() {
        let compiler = Compiler { command: "cobc".into(), version: "4.0".into(), indexed: false };
        let flags = compiler.flags(Path::new("/opt/immuxdb/lib/libimmuxfh.so")).unwrap().join(" ");
        let expected =
            "-fcallfh=immuxfh -Wno-unsupported -Q -L/opt/immuxdb/lib -Q -limmuxfh -Q -Wl,-rpath,/opt/immuxdb/lib";
        assert_eq!(flags, expected);
        assert!(compiler.flags(Path::new("/my files/libimmuxfh.so")).is_err());
    }
}
