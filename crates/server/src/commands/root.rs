//! `immuxdb root`: the root of the chain's history, and a file of roots to be kept elsewhere.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use libimmuxdb::proof::Root as ChainRoot;

use crate::configuration::Resolved;
use crate::door::{self, Door};
use crate::failure::{Failure, Result};
use crate::moment::Moment;
use crate::output::Output;

/// Print the root of the chain's history: a hash that stands for all commits up to a height
///
/// Keep it where nobody who can write to the store can reach it. Later, `immuxdb prove extends` and `immuxdb check` show whether what it
/// stands for was rewritten since.
#[derive(Debug, Args)]
pub struct Root {
    /// At this height or time (RFC 3339)
    #[arg(long, value_name = "HEIGHT|TIME")]
    at: Option<Moment>,
    /// Append it to this file, one JSON object a line, if it extends the last root there; fail if it does not
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    publish: Option<PathBuf>,
}

impl Root {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let door = door::to_read(resolved)?;
        let root = door.root(self.at)?;
        if let Some(file) = &self.publish {
            publish(&*door, &root, file)?;
        }
        output.say(&root, format_args!("{} at height {} of log {}", root.hash, root.height, root.log))
    }
}

/// Appends a root to a file of roots, after comparing it with the last one there.
fn publish(door: &dyn Door, root: &ChainRoot, path: &Path) -> Result<()> {
    let failed = |error: &io::Error| Failure::new(format!("{} can't be written: {error}", path.display()));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::new(format!("{} can't be read: {error}", path.display()))),
    };
    if let Some(last) = roots_in(&text, path)?.pop() {
        let rewritten = |why: String| {
            Failure::new(format!(
                "the chain does not extend the root at height {} in {}: {why}",
                last.height,
                path.display()
            ))
            .help("the store was rewritten or replaced since, or the file is another chain's; nothing was published")
        };
        if last.log != root.log {
            return Err(rewritten(format!("that is of log {}, this of log {}", last.log, root.log)));
        }
        if last.height > root.height {
            return Err(rewritten(format!("the chain is at height {}", root.height)));
        }
        let proof = door.prove_extends(last.height, root.height)?;
        proof.verify(&last, root).map_err(|why| rewritten(why.to_string()))?;
        if last == *root {
            return Ok(());
        }
    }
    let line = serde_json::to_string(root).map_err(|error| Failure::new(error.to_string()))?;
    // A file that was edited may end without a line end.
    let separator = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let line = format!("{separator}{line}\n");
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes()).and_then(|()| file.sync_all()))
        .map_err(|error| failed(&error))
}

/// The roots in a file: one JSON object a line.
pub(super) fn roots_in(text: &str, path: &Path) -> Result<Vec<ChainRoot>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                Failure::new(format!("line {} of {} is no root: {error}", number + 1, path.display()))
                    .help("a file of roots has a line of `immuxdb root --json` for each")
            })
        })
        .collect()
}
