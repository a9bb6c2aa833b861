//! Proofs as documents: JSON that says what it is.

use serde::{Deserialize, Serialize};

use crate::extension::ExtensionProof;
use crate::unit::UnitProof;

/// A proof, as it is kept in a file or sent. The field `proof` names its kind and the version of its form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "proof")]
pub enum Proof {
    /// What a unit was given.
    #[serde(rename = "unit/1")]
    Unit(Box<UnitProof>),
    /// That a later root extends an earlier one.
    #[serde(rename = "extension/1")]
    Extension(ExtensionProof),
}
