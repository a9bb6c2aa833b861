//! Programs compiled as modules, which `cobcrun` runs.

use std::process::Command;

use super::support::compiler::{Compiler, library_folder};
use super::support::program::finish;

#[test]
fn run_by_cobcrun_find_the_handler() {
    for compiler in Compiler::all() {
        for way in ["linked", "COB_PRE_LOAD", "LD_PRELOAD"] {
            let folder = tempfile::tempdir().unwrap();
            compiler.compile_module("bare", way == "linked", folder.path());
            let library = library_folder().join("libimmuxfh.so");
            let mut command = Command::new(compiler.cobcrun());
            command.args(["bare", "good"]).current_dir(folder.path()).env_clear();
            command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
            match way {
                "linked" => command.env("LD_LIBRARY_PATH", library_folder()),
                // libcob looks for NAME.so.
                "COB_PRE_LOAD" => {
                    std::os::unix::fs::symlink(&library, folder.path().join("immuxfh.so")).unwrap();
                    command.env("COB_PRE_LOAD", "immuxfh").env("COB_LIBRARY_PATH", ".")
                }
                _ => command.env("LD_PRELOAD", &library),
            };
            assert_eq!(finish(&mut command).quiet(), "done\n", "{} {way}", compiler.name());
            assert!(folder.path().join("barefile").is_file());
        }
    }
}
