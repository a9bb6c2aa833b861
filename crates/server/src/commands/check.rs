//! `immuxdb check`: does a proof hold? No store is asked.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use libimmuxdb::Timestamp;
use libimmuxdb::proof::{Hash, Hidden, LogId, Proof, Refused, Root, UnitProof, VersionKind};
use serde::Serialize;

use super::root::roots_in;
use crate::failure::{Failure, Result};
use crate::moment::time_text;
use crate::output::{KeyFields, Output, shown_key};

/// Check a proof against a root that you have kept
///
/// Nothing but the two is read: no store, no server. The exit code is 0 if the proof holds, and 1 if it does not.
#[derive(Debug, Args)]
pub struct Check {
    /// The file with the proof, of `immuxdb prove` or a server; - for standard input
    proof: PathBuf,
    /// The root: its 64 digits, or a file of roots, of which the one at the proof's height is taken
    #[arg(long, value_name = "HASH|FILE")]
    root: String,
    /// The older root, for a proof that one extends the other [default: in the file of --root]
    #[arg(long, value_name = "HASH|FILE")]
    from_root: Option<String>,
}

impl Check {
    pub(super) fn run(self, output: &mut Output) -> Result<()> {
        let text = read(&self.proof)?;
        let proof: Proof = serde_json::from_str(&text).map_err(|error| {
            Failure::new(format!("{} is no proof: {error}", self.proof.display()))
                .help("`immuxdb prove` prints proofs, and a server gives them at /.extension and /GROUPING/KEY/.proof")
        })?;
        match proof {
            Proof::Unit(proof) => {
                holds(proof.verify(&root(&self.root, proof.log, proof.height)?))?;
                say_unit(&proof, output)
            }
            Proof::Extension(proof) => {
                let new = root(&self.root, proof.log, proof.new_height)?;
                let old = root(self.from_root.as_ref().unwrap_or(&self.root), proof.log, proof.old_height)?;
                holds(proof.verify(&old, &new))?;

                #[derive(Serialize)]
                struct Extends {
                    holds: bool,
                    log: LogId,
                    old_height: u64,
                    new_height: u64,
                }
                let (old_height, new_height) = (proof.old_height, proof.new_height);
                let item = Extends { holds: true, log: proof.log, old_height, new_height };
                let sentence = format!(
                    "it holds: the history up to height {new_height} begins with the one up to height {old_height}, unchanged"
                );
                output.say(&item, sentence)
            }
        }
    }
}

fn holds(outcome: Result<(), Refused>) -> Result<()> {
    outcome.map_err(|why| {
        Failure::new(format!("the proof does not hold: {why}"))
            .help("the proof was changed or is for another root, or the history that the root stands for was rewritten")
    })
}

fn say_unit(proof: &UnitProof, output: &mut Output) -> Result<()> {
    #[derive(Serialize)]
    struct Item<'a> {
        holds: bool,
        log: LogId,
        grouping: &'a str,
        #[serde(flatten)]
        key: KeyFields<'a>,
        kind: VersionKind,
        height: u64,
        time: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        actor: Option<&'a str>,
        at: u64,
    }
    let (version, commit) = (&proof.version, &proof.version.evidence.commit);
    let item = Item {
        holds: true,
        log: proof.log,
        grouping: &proof.grouping.name,
        key: KeyFields::new(&version.key.bytes),
        kind: version.kind,
        height: commit.height,
        time: time_text(Timestamp(commit.time)),
        actor: commit.actor.as_deref(),
        at: proof.height,
    };
    let what = match (version.kind, &version.content) {
        (VersionKind::Deleted, _) => "was deleted",
        (_, Hidden::Shown(_)) => "was given the content in the proof",
        (_, Hidden::Hash(_)) => "was written",
    };
    let by = item.actor.map_or_else(String::new, |actor| format!(" by {actor}"));
    let sentence = format!(
        "it holds: {} in {} {what}{by} by the commit at height {}, at {}",
        shown_key(&version.key.bytes),
        item.grouping,
        item.height,
        item.time
    );
    output.say(&item, sentence)
}

fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text),
        false => std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.map_err(|error| Failure::new(format!("{} can't be read: {error}", path.display())))?;
    Ok(text)
}

/// The root at a height: a hash stands for it by itself, since it covers log and height.
fn root(argument: &str, log: LogId, height: u64) -> Result<Root> {
    if let Ok(hash) = argument.parse::<Hash>() {
        return Ok(Root { log, height, hash });
    }
    let path = Path::new(argument);
    if !path.exists() {
        return Err(Failure::usage(format!("{argument} is neither a root nor a file of roots"))
            .help("a root has 64 hexadecimal digits; a file has a line of `immuxdb root --json` for each"));
    }
    let roots = roots_in(&read(path)?, path)?;
    let found = roots.into_iter().rev().find(|root| root.log == log && root.height == height);
    found.ok_or_else(|| {
        Failure::new(format!("{argument} has no root of log {log} at height {height}"))
            .help("make the proof for a height of which you have kept the root: `immuxdb prove … --at HEIGHT`")
    })
}
