//! A bit flips on the device, in the log or in something derived from it.
//!
//! What is promised then: whatever is read is what was written, or the read fails and says that there is damage. What
//! was synced is never cut off, and what is derived is made again. The files are put back after the look, so that the
//! history goes on from where it was.

use std::path::PathBuf;

use libimmuxdb::{Error, Store};

use super::session::{CHAIN, ROOT, Session};
use super::tampering::{index, log};
use super::{Driver, Held, Outcome};
use crate::disk::{CrashKind, Saved};

/// Bits that flip in a row.
const FLIPS: usize = 2;
/// Background steps that may meet the damage.
const STEPS: usize = 3;

impl Driver {
    /// Flips some bits, one after the other.
    pub(super) fn rot(&mut self) -> Outcome {
        (0..FLIPS).try_for_each(|_| self.flip_a_bit())
    }

    /// Flips a bit of some file, looks at all that can be read, and flips it back.
    fn flip_a_bit(&mut self) -> Outcome {
        let (Ok(whole_log), true) = (self.disk.save(&log()), self.ledger.is_closed()) else {
            return Ok(());
        };
        let whole_index = self.disk.save(&index()).ok();
        let Some((path, mut bytes)) = self.some_file(&whole_log) else {
            return Ok(());
        };
        let is_log = path == log();
        // What was written last is what the next opening reads.
        let newest = bytes.len().min(2_000);
        let at = match self.random.below(3) {
            0 => bytes.len() - 1 - self.random.index(newest),
            _ => self.random.index(bytes.len()),
        };
        bytes[at] ^= 1 << self.random.below(8);
        self.tampered(if is_log { "a bit of the log flips" } else { "a bit of the index flips" });
        self.say(|| format!("   {} at {at}", path.display()));
        self.replace(&path, Some(&Saved::File(bytes)))?;

        let ledger = self.ledger.clone();
        self.is_rotten = true;
        let outcome = self.look_at_damage(is_log);
        self.is_rotten = false;
        self.ledger = ledger;

        self.held = Held::default();
        if let Some(Session { store, chain, process, .. }) = self.session.take() {
            // What is dead changes no file while it is taken apart.
            self.disk.kill(&process);
            drop((chain, store));
        }
        outcome.map_err(|what| format!("with byte {at} of {} damaged: {what}", path.display()))?;
        self.replace(&log(), Some(&whole_log))?;
        if whole_index.is_some() || self.disk.save(&index()).is_ok() {
            self.replace(&index(), whole_index.as_ref())?;
        }
        self.disk.crash(CrashKind::Process);
        Ok(())
    }

    fn some_file(&mut self, log_file: &Saved) -> Option<(PathBuf, Vec<u8>)> {
        let chosen = if self.random.chance(50) { None } else { self.some_index_file() };
        let chosen = chosen.or_else(|| match log_file {
            Saved::File(bytes) => Some((log(), bytes.clone())),
            Saved::Directory(_) => None,
        });
        chosen.filter(|(_, bytes)| !bytes.is_empty())
    }

    fn look_at_damage(&mut self, is_log: bool) -> Outcome {
        let process = self.disk.start_process();
        let opened = Store::open(ROOT, self.options(&process)).and_then(|store| Ok((store.chain(CHAIN)?, store)));
        let (chain, store) = match opened {
            Ok(opened) => opened,
            // The first page, which says what the file is.
            Err(Error::Damaged { .. } | Error::Format { .. }) if is_log => {
                self.coverage.count("rot: the log is refused");
                self.disk.kill(&process);
                return Ok(());
            }
            Err(error) => {
                self.disk.kill(&process);
                return Err(format!("the store does not open: {error}"));
            }
        };
        let (found, newest) = (chain.height(), self.ledger.model.height());
        let report = chain.recovery().clone();
        let (wounds, corruptions) = (self.disk.wounds(), self.disk.corruptions());
        self.session = Some(Session { store, chain, process, wounds, corruptions, has_unfilled_index: false });
        if found > newest || report.cut.is_some() {
            return Err(format!("opened at height {found} of {newest}, with {report:?}"));
        }
        if found < newest {
            if report.damage.is_none() || !is_log {
                return Err(format!("what is above height {found} is gone without a word, up to {newest}: {report:?}"));
            }
            self.coverage.count("rot: read-only up to the damage");
            self.ledger.recovered(found);
        }
        self.check_everything()?;
        for _ in 0..STEPS {
            // It may meet the damage, and then says so.
            match self.chain().run_background_step() {
                Ok(_) | Err(Error::Damaged { .. } | Error::ReadOnly(_)) => {}
                Err(error) => return Err(format!("a background step fails: {error}")),
            }
        }
        self.check_everything()
    }
}
