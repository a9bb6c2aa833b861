//! Roots and proofs: whatever happens to the store, a commit that is still there has the root that it had before.
//!
//! The model cannot compute a root, since the engine draws salts. It remembers the first root that each height was given,
//! and lets later ones, from whatever is left of the derived hashes, equal it; and it lets each proof hold, say what the
//! model says, and extend what was learned before.

use libimmuxdb::proof::VersionKind as ProvenKind;
use libimmuxdb::{Error, Height, VersionKind};

use super::vocabulary::GROUPINGS;
use super::{Driver, Outcome};

impl Driver {
    /// Compares the newest root, an earlier one, and what leads from one to the other and to a unit.
    pub(super) fn check_proofs(&mut self) -> Outcome {
        let newest = self.ledger.model.height();
        let earlier = Height(self.random.below(newest.0 + 1));
        let (Some(new), Some(old)) = (self.root(newest)?, self.root(earlier)?) else {
            return Ok(());
        };
        let chain = std::sync::Arc::clone(self.chain());
        if let Some(proof) = self.reading("extension proof", || chain.prove_extends(earlier, newest))? {
            let held = proof.verify(&old, &new);
            held.map_err(|why| format!("the root at {newest} does not extend that at {earlier}: {why}"))?;
        }
        self.check_unit_proof(earlier, old)
    }

    /// The root at a height, which is that of earlier times.
    fn root(&mut self, height: Height) -> Outcome<Option<libimmuxdb::proof::Root>> {
        let chain = std::sync::Arc::clone(self.chain());
        let Some(root) = self.reading("root", || chain.root(height))? else {
            return Ok(None);
        };
        if height > Height::ZERO && !self.ledger.model.learn_root(height, root) {
            let before = self.ledger.model.root(height);
            return Err(format!("the root at {height} is {root:?}, and was {before:?}"));
        }
        Ok(Some(root))
    }

    /// The proof of some unit as of a height, against the root there.
    fn check_unit_proof(&mut self, at: Height, root: libimmuxdb::proof::Root) -> Outcome {
        let name = *self.random.pick(&GROUPINGS);
        let newest = self.ledger.model.newest().groupings.get(name);
        let keys: Vec<_> = newest.map(|grouping| grouping.units.keys().cloned().collect()).unwrap_or_default();
        if keys.is_empty() {
            return Ok(());
        }
        let key = self.random.pick(&keys).clone();
        let state = self.ledger.model.at(at).groupings.get(name);
        let expected = state.and_then(|grouping| grouping.units.get(&key)).cloned();
        let chain = std::sync::Arc::clone(self.chain());
        let proven = self.reading("unit proof", || match chain.prove(name, &key, at) {
            Err(Error::UnitMissing | Error::GroupingMissing(_)) => Ok(None),
            proof => proof.map(Some),
        })?;
        let Some(proof) = proven else {
            return Ok(());
        };
        let shown = String::from_utf8_lossy(&key);
        if let Some(proof) = &proof {
            let held = proof.verify(&root);
            held.map_err(|why| format!("the proof of {shown:?} of {name:?} at {at} does not hold: {why}"))?;
        }
        let right = match (&proof, &expected) {
            (Some(proof), Some(unit)) => {
                let raw = unit.content.kind == VersionKind::Raw;
                proof.version.content.bytes() == Some(&*unit.content.bytes)
                    && proof.version.kind == if raw { ProvenKind::Raw } else { ProvenKind::Json }
                    && proof.version.key.bytes == key
                    && proof.grouping.name == name
            }
            (Some(proof), None) => proof.version.kind == ProvenKind::Deleted,
            (None, expected) => expected.is_none(),
        };
        if !right {
            return Err(format!("of {shown:?} of {name:?} at {at} {proof:?} was proven, not {expected:?}"));
        }
        Ok(())
    }
}
