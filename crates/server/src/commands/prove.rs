//! `immuxdb prove`: proofs, to be checked by somebody else.

use clap::{Args, Subcommand};
use libimmuxdb::proof::Proof;

use super::unit::{UnitName, no_unit};
use crate::configuration::Resolved;
use crate::door;
use crate::failure::Result;
use crate::moment::Moment;
use crate::output::Output;

/// Print a proof, as JSON, that `immuxdb check` holds against a root
#[derive(Debug, Subcommand)]
pub enum Prove {
    Unit(Unit),
    Extends(Extends),
}

/// Prove what a unit was given by its newest version
///
/// It is checked against the root at the same height (`immuxdb root --at`). It shows that the version was written by the commit that it names, and
/// not that no later one was: docs/PROOFS.md.
#[derive(Debug, Args)]
pub struct Unit {
    #[command(flatten)]
    unit: UnitName,
    /// Its newest version at this height or time (RFC 3339)
    #[arg(long, value_name = "HEIGHT|TIME")]
    at: Option<Moment>,
    /// Leave the content out: the proof then shows that the unit was written, and not what
    #[arg(long)]
    without_content: bool,
}

/// Prove that the history at a later height begins with that at an earlier one
#[derive(Debug, Args)]
pub struct Extends {
    /// The height of the root that was kept
    #[arg(long, value_name = "HEIGHT")]
    from: u64,
    /// The height of the newer root [default: the newest]
    #[arg(long, value_name = "HEIGHT")]
    to: Option<u64>,
}

impl Prove {
    pub(super) fn run(self, resolved: &Resolved, output: &mut Output) -> Result<()> {
        let door = door::to_read(resolved)?;
        let proof = match self {
            Prove::Unit(Unit { unit, at, without_content }) => {
                let key = unit.key()?;
                door.expect_grouping(&unit.grouping)?;
                let proof = door.prove_unit(&unit.grouping, &key, at)?;
                let at = match at {
                    Some(Moment::Height(height)) => Some(height.0),
                    _ => None,
                };
                let proof = proof.ok_or_else(|| no_unit(&unit.grouping, &key, at))?;
                Proof::Unit(Box::new(if without_content { proof.without_content() } else { proof }))
            }
            Prove::Extends(Extends { from, to }) => {
                let to = to.map_or_else(|| door.height(), Ok)?;
                Proof::Extension(door.prove_extends(from, to)?)
            }
        };
        output.object(&proof)
    }
}
