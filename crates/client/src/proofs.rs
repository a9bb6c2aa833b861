//! Roots and proofs, checked here: a server that has rewritten its history is not believed.
//!
//! ```text
//!   kept since March:  Root                    the server:  "and this is today's root, and this the proof"
//!        |                                          |
//!        +--- extend ---> the newer history begins with the older one, or Error::Unproven
//!                              |
//!                              +--- get_proven ---> what a unit was given, in the history that the root stands for
//! ```
//!
//! A root that is asked for the first time is taken on trust. It is worth as much as the place where it is kept: not on the
//! server.

use immuxdb_proof::{ExtensionProof, Proof, Root, UnitProof};

use crate::call::Call;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::target::Target;
use crate::types::Moment;

impl Client {
    /// The root of the chain at a height or time, or now. It is what the server says, and nothing is checked.
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `chain_missing`, `height_unknown`.
    pub async fn root(&self, at: Option<Moment>) -> Result<Root> {
        self.json(Call::get(Target::of_server("/.root").with_text("at", at))).await
    }

    /// The root at a height or time, or now, after checking that its history begins with that of an older root.
    ///
    /// # Errors
    /// [`Error::Unproven`]: it does not, and what the older root stood for was rewritten. [`Error::Server`] with the code
    /// `height_unknown`: what it stood for is not even there.
    pub async fn extend(&self, old: &Root, at: Option<Moment>) -> Result<Root> {
        let new = self.root(at).await?;
        let proof = self.extension_proof(old.height, new.height).await?;
        proof.verify(old, &new).map_err(|why| self.unproven(why))?;
        Ok(new)
    }

    /// What a unit was given by its newest version at or below the root's height, checked against the root. `None`: the
    /// server says that there was none, which nobody can prove.
    ///
    /// It is proven that the version was written; not, that no later one was up to that height.
    ///
    /// # Errors
    /// [`Error::Unproven`]; [`Error::Server`] with the code `height_unknown`.
    pub async fn get_proven(&self, grouping: &str, key: impl AsRef<[u8]>, root: &Root) -> Result<Option<UnitProof>> {
        let key = key.as_ref();
        let proof = match self.unit_proof(grouping, key, Some(Moment::Height(root.height))).await {
            Err(Error::Server(refused)) if matches!(refused.code.as_str(), "unit_missing" | "grouping_missing") => {
                return Ok(None);
            }
            proof => proof?,
        };
        proof.verify(root).map_err(|why| self.unproven(why))?;
        if proof.grouping.name != grouping || proof.version.key.bytes != key {
            return Err(self.unproven("it is about another unit"));
        }
        Ok(Some(proof))
    }

    /// The proof of a unit's newest version at or below a height or time. Nothing is checked: see
    /// [`UnitProof::verify`].
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `unit_missing`, `grouping_missing`, `height_unknown`.
    pub async fn unit_proof(&self, grouping: &str, key: impl AsRef<[u8]>, at: Option<Moment>) -> Result<UnitProof> {
        let target = Target::of_unit(grouping, key.as_ref(), Some(".proof"))?.with_text("at", at);
        match self.json(Call::get(target)).await? {
            Proof::Unit(proof) => Ok(*proof),
            Proof::Extension(_) => Err(self.unproven("it is of another kind")),
        }
    }

    /// The proof that the history up to the height `new` begins with that up to `old`. Nothing is checked: see
    /// [`ExtensionProof::verify`].
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `height_unknown`, `invalid`.
    pub async fn extension_proof(&self, old: u64, new: u64) -> Result<ExtensionProof> {
        let target = Target::of_server("/.extension").with_text("from", Some(old)).with_text("to", Some(new));
        match self.json(Call::get(target)).await? {
            Proof::Extension(proof) => Ok(proof),
            Proof::Unit(_) => Err(self.unproven("it is of another kind")),
        }
    }

    fn unproven(&self, why: impl ToString) -> Error {
        Error::Unproven { server: self.pool.address.authority.to_string(), why: why.to_string() }
    }
}
