//! Where a benchmark's store stands, and what a path on the command line means.
//!
//! `cargo bench` runs a benchmark in the package's folder, not where the user typed the command. A relative path is meant from there, so it is
//! resolved against the shell's folder, which cargo hands on as `PWD`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// A directory for stores: a temporary one that is removed when this is dropped, or one that the user named and keeps.
pub enum Place {
    /// Removed afterwards.
    Temporary(TempDir),
    /// Kept.
    Kept(PathBuf),
}

impl Place {
    /// The directory that the user named, which must be new or empty, or else a temporary one within cargo's target folder: on a disk, which the
    /// system's folder for temporary files often is not.
    ///
    /// # Errors
    /// When the directory has something in it, or can't be made.
    pub fn new(named: Option<&Path>) -> Result<Place> {
        let Some(path) = named else {
            let parent = target_folder().unwrap_or_else(env::temp_dir);
            let folder = tempfile::Builder::new()
                .prefix("bench-store-")
                .tempdir_in(&parent)
                .with_context(|| format!("no store can be made in {}", parent.display()))?;
            return Ok(Place::Temporary(folder));
        };
        fs::create_dir_all(path).with_context(|| format!("{} can't be made", path.display()))?;
        let mut entries = fs::read_dir(path).with_context(|| path.display().to_string())?;
        ensure!(
            entries.next().is_none(),
            "{} has something in it; a benchmark wants a directory of its own",
            path.display()
        );
        Ok(Place::Kept(path.to_owned()))
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Place::Temporary(folder) => folder.path(),
            Place::Kept(path) => path,
        }
    }
}

/// Cargo's target folder, which this program was built into; `None` where it was moved elsewhere.
#[must_use]
pub fn target_folder() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let folder = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists())?;
    Some(folder.to_owned())
}

/// A path as the user meant it.
#[must_use]
pub fn from_where_the_user_is(path: &Path, under_cargo_bench: bool) -> PathBuf {
    match env::var_os("PWD") {
        Some(folder) if under_cargo_bench => Path::new(&folder).join(path),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_place_goes_away_and_a_named_one_must_be_empty() {
        let place = Place::new(None).unwrap();
        let path = place.path().to_owned();
        assert!(path.exists());
        drop(place);
        assert!(!path.exists());

        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("store");
        assert!(Place::new(Some(&named)).is_ok());
        assert!(Place::new(Some(folder.path())).is_err(), "not empty now");
        assert!(named.exists(), "a named place is kept");
    }
}
