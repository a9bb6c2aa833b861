//! The COBOL compilers that are here, and the programs that they make.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::program;

/// A compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Debian's name of it.
    pub name: &'static str,
    cobc: PathBuf,
    /// Whether it has an indexed file handler of its own, on Berkeley DB.
    pub has_berkeley_db: bool,
}

/// A program that can be measured.
#[derive(Clone, Debug)]
pub struct Program {
    /// What serves its files, for people.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// What to say where a compiler is missing.
pub const HOW_TO_GET: &str = "on Debian, scripts/cobol gets both; by hand: apt-get install gnucobol3";

impl Compiler {
    /// Debian's default, where it is installed.
    pub fn gnucobol3() -> Option<Compiler> {
        let cobc =
            env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join("cobc")).find(|cobc| cobc.is_file())?;
        let info = Command::new(&cobc).arg("--info").output().ok()?;
        let info = String::from_utf8_lossy(&info.stdout).into_owned();
        let has_berkeley_db = info.lines().any(|line| line.contains("indexed file handler") && line.contains("BDB"));
        Some(Compiler { name: "gnucobol3", cobc, has_berkeley_db })
    }

    /// The other one, where scripts/cobol unpacked it: in cargo's target folder.
    pub fn gnucobol4(target: &Path) -> Option<Compiler> {
        let cobc = target.join("gnucobol4/cobc");
        cobc.is_file().then_some(Compiler { name: "gnucobol4", cobc, has_berkeley_db: false })
    }

    /// The program on the compiler's own file handler.
    pub fn plain(&self, folder: &Path) -> Result<Program> {
        self.compile(folder, "Berkeley DB", &[])
    }

    /// The program with a handler that does nothing.
    pub fn nothing(&self, folder: &Path) -> Result<Program> {
        let source = folder.join("nothing.c");
        std::fs::write(&source, include_str!("nothing.c"))?;
        let source = source.to_string_lossy().into_owned();
        self.compile(folder, "nothing", &["-fcallfh=nothing".to_owned(), source])
    }

    /// The program on ImmuxDB, whose library is in the folder `library`.
    pub fn immuxdb(&self, folder: &Path, library: &Path) -> Result<Program> {
        let library = library.display();
        let name = format!("ImmuxDB, {}", self.name);
        let link = [format!("-L{library}"), "-limmuxfh".to_owned(), format!("-Wl,-rpath,{library}")];
        let link = link.into_iter().flat_map(|option| ["-Q".to_owned(), option]);
        let unsupported = (!self.has_berkeley_db).then(|| "-Wno-unsupported".to_owned());
        let flags: Vec<String> = ["-fcallfh=immuxfh".to_owned()].into_iter().chain(unsupported).chain(link).collect();
        self.compile(folder, &name, &flags)
    }

    fn compile(&self, folder: &Path, name: &str, flags: &[String]) -> Result<Program> {
        let source = folder.join("bench.cob");
        std::fs::write(&source, program::source())?;
        let path = folder.join(format!("bench-{}", name.to_lowercase().replace([' ', ','], "-")));
        let mut command = Command::new(&self.cobc);
        command.args(["-x", "-free", "-o"]).arg(&path).arg(&source).args(flags).current_dir(folder);
        let output = command.output().with_context(|| format!("{} can't be run", self.cobc.display()))?;
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "{} can't compile the program for {name}:\n{says}", self.name);
        Ok(Program { name: name.to_owned(), path })
    }
}

/// The folder with `libimmuxfh.so`: the one that the user named, or cargo's, where it is built now, with optimization.
pub fn library(named: Option<&Path>, target: &Path) -> Result<PathBuf> {
    let folder = match named {
        Some(folder) => folder.to_owned(),
        None => {
            let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut build = Command::new(cargo);
            build.args(["build", "--quiet", "--release", "--package", "immuxfh", "--target-dir"]).arg(target);
            ensure!(build.status().context("cargo can't be run")?.success(), "the file handler can't be built");
            target.join("release")
        }
    };
    let library = folder.join("libimmuxfh.so");
    if !library.is_file() {
        bail!("there is no {}; `cargo build --release -p immuxfh` makes it", library.display());
    }
    Ok(folder.canonicalize()?)
}
