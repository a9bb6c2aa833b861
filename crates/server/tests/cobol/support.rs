//! An installation in a temporary prefix, and the compilers that are here.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// A COBOL compiler: the name of Debian's package and the command.
#[derive(Clone, Debug)]
pub struct Compiler {
    pub name: &'static str,
    pub cobc: PathBuf,
}

/// The root of the source tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Where cargo puts what it builds: target/PROFILE.
pub fn built() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_immuxdb")).parent().unwrap().to_owned()
}

/// The compilers that are here. One that is missing is an error where `scripts/cobol` could get it.
pub fn compilers() -> Vec<Compiler> {
    let four = built().join("../gnucobol4/cobc");
    let known = [("gnucobol3", PathBuf::from("cobc")), ("gnucobol4", four)];
    let here = known.into_iter().filter(|(name, cobc)| {
        let works = Command::new(cobc).arg("--version").output().is_ok_and(|output| output.status.success());
        let apt = Command::new("apt-get").arg("--version").output().is_ok();
        assert!(works || !apt, "{name} is missing: run scripts/cobol (make test does)");
        works
    });
    here.map(|(name, cobc)| Compiler { name, cobc: cobc.canonicalize().unwrap_or(cobc) }).collect()
}

/// The prefix into which everything was installed, as `make install` does it.
pub fn prefix() -> &'static Path {
    static PREFIX: OnceLock<tempfile::TempDir> = OnceLock::new();
    let prefix = PREFIX.get_or_init(|| {
        let prefix = tempfile::tempdir().unwrap();
        let output = Command::new(root().join("scripts/install")).arg(built()).arg(prefix.path()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        prefix
    });
    prefix.path()
}

/// The installed command.
pub fn immuxdb() -> PathBuf {
    prefix().join("bin/immuxdb")
}

/// A command in a folder, with an environment of its own.
pub fn command(program: impl AsRef<Path>, folder: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(folder).env_clear().env("HOME", folder).stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// What `immuxdb` prints; it must succeed.
#[track_caller]
pub fn prints(folder: &Path, arguments: &[&str]) -> String {
    good(&command(immuxdb(), folder).args(arguments).output().unwrap())
}

/// What `immuxdb` says on standard error; it must fail.
#[track_caller]
pub fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = command(immuxdb(), folder).args(arguments).output().unwrap();
    assert!(!output.status.success(), "{}", text(&output.stdout));
    text(&output.stderr)
}

/// Standard output of what went well.
#[track_caller]
pub fn good(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles a source in a folder with `immuxdb cobc`.
#[track_caller]
pub fn compile(compiler: &Compiler, folder: &Path, source: &str) {
    let mut command = command(immuxdb(), folder);
    good(&command.env("COBC", &compiler.cobc).args(["cobc", "-x", source]).output().unwrap());
}
