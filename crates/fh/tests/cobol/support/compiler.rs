//! The compilers, and what they made of programs: each program is compiled once for a compiler and a kind of files.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

/// A COBOL compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compiler {
    /// Debian's gnucobol3, as installed.
    Three,
    /// Debian's gnucobol4, unpacked by `scripts/cobol`.
    Four,
}

/// Who keeps a program's indexed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Files {
    /// ImmuxDB, linked so that it comes before libcob.
    Immux,
    /// ImmuxDB as a plain handler: nothing can be interposed.
    ImmuxPlain,
    /// ImmuxDB, contained in the program.
    ImmuxStatic,
    /// libcob itself, with Berkeley DB.
    Berkeley,
}

/// The root of the source tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder of COBOL programs.
pub fn programs() -> PathBuf {
    root().join("tests/cobol")
}

/// The folder with `libimmuxfh.so`: cargo builds it with the tests, beside them.
pub fn library_folder() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(folder.join("libimmuxfh.so").exists(), "cargo builds libimmuxfh.so with its tests");
    folder
}

impl Compiler {
    /// All compilers that are here. One that is missing is an error where `scripts/cobol` could get it.
    pub fn all() -> &'static [Compiler] {
        static ALL: OnceLock<Vec<Compiler>> = OnceLock::new();
        ALL.get_or_init(|| {
            [Compiler::Three, Compiler::Four].into_iter().filter(|compiler| compiler.is_here()).collect()
        })
    }

    fn is_here(self) -> bool {
        let works = Command::new(self.cobc()).arg("--version").output().is_ok_and(|output| output.status.success());
        if !works {
            let apt = Command::new("apt-get").arg("--version").output().is_ok();
            assert!(!apt, "{} is missing: run scripts/cobol (make test does)", self.name());
            eprintln!("skipped: no {} here, and no apt-get to get it with", self.name());
        }
        works
    }

    /// The Debian package's name.
    pub fn name(self) -> &'static str {
        match self {
            Compiler::Three => "gnucobol3",
            Compiler::Four => "gnucobol4",
        }
    }

    /// The command.
    fn cobc(self) -> PathBuf {
        match self {
            Compiler::Three => PathBuf::from("cobc"),
            // The tests are in target/PROFILE/deps.
            Compiler::Four => library_folder().join("../../gnucobol4/cobc"),
        }
    }

    /// The command that runs modules.
    pub fn cobcrun(self) -> PathBuf {
        match self {
            Compiler::Three => PathBuf::from("cobcrun"),
            Compiler::Four => library_folder().join("../../gnucobol4/cobcrun"),
        }
    }

    /// Its libcob, where that is not installed but in the source tree, which another user may not be able to read.
    pub fn unpacked_libcob(self) -> Option<PathBuf> {
        if self == Compiler::Three {
            return None;
        }
        let libraries = library_folder().join("../../gnucobol4/root/usr/lib");
        let machines = std::fs::read_dir(libraries).unwrap().map(|entry| entry.unwrap().path().join("libcob.so.5"));
        machines.into_iter().find(|libcob| libcob.exists())
    }

    /// Compiles a program as a module, `NAME.so` in `folder`. `linked`: it asks for our library by itself.
    pub fn compile_module(self, name: &str, linked: bool, folder: &Path) {
        let mut command = Command::new(self.cobc());
        command.args(["-m", "-free", "-fcallfh=immuxfh"]).arg(programs().join(format!("{name}.cob")));
        if self == Compiler::Four {
            command.arg("-Wno-unsupported");
        }
        if linked {
            command.args([OsStr::new("-Q"), &joined("-L", &library_folder()), OsStr::new("-Q")]).arg("-limmuxfh");
        }
        let output = command.current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The compiled program of some sources (names in `tests/cobol`, the first is the main one). Compiled once.
    pub fn compile(self, files: Files, sources: &[&str]) -> PathBuf {
        let sources: Vec<PathBuf> = sources.iter().map(|name| programs().join(format!("{name}.cob"))).collect();
        self.compile_files(files, &sources)
    }

    /// As [`Compiler::compile`], of files anywhere.
    pub fn compile_files(self, files: Files, sources: &[PathBuf]) -> PathBuf {
        type Made = Arc<OnceLock<PathBuf>>;
        static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
        static MADE: LazyLock<Mutex<HashMap<String, Made>>> = LazyLock::new(Mutex::default);
        let names: Vec<_> = sources.iter().map(|source| source.file_stem().unwrap().to_string_lossy()).collect();
        let name = format!("{}-{files:?}-{}", self.name(), names.join("-"));
        let made = Arc::clone(MADE.lock().unwrap().entry(name.clone()).or_default());
        let program = || {
            let folder = FOLDER.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            let program = folder.join("program");
            self.run_cobc(files, sources, &folder, &program);
            program
        };
        made.get_or_init(program).clone()
    }

    fn run_cobc(self, files: Files, sources: &[PathBuf], folder: &Path, program: &Path) {
        let mut command = Command::new(self.cobc());
        command.args(["-x", "-free", "-O0", "-I"]).arg(programs()).arg("-o").arg(program);
        if self == Compiler::Four {
            command.arg("-Wno-unsupported");
        }
        command.args(sources);
        let library = library_folder();
        match files {
            Files::Immux => {
                command.arg("-fcallfh=immuxfh").args([OsStr::new("-Q"), &joined("-L", &library), OsStr::new("-Q")]);
                command.arg("-limmuxfh");
            }
            Files::ImmuxPlain => {
                command.arg("-fcallfh=immuxfh").arg("-L").arg(library).arg("-limmuxfh");
            }
            Files::ImmuxStatic => {
                command.args(["-fcallfh=immuxfh", "-Q"]).arg(library.join("libimmuxfh.a"));
            }
            Files::Berkeley => {}
        }
        let output = command.current_dir(folder).output().unwrap();
        assert!(
            output.status.success(),
            "{} cannot compile {sources:?}:\n{}{}",
            self.name(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

fn joined(flag: &str, path: &Path) -> std::ffi::OsString {
    let mut text = std::ffi::OsString::from(flag);
    text.push(path);
    text
}
