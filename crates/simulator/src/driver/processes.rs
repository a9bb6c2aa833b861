//! Other processes that come to the same store: readers, and writers that are turned away.

use std::sync::Arc;

use libimmuxdb::{Chain, Error, Height, Store};

use super::listing::Listing;
use super::session::{CHAIN, ROOT};
use super::vocabulary::GROUPINGS;
use super::{Driver, Outcome};
use crate::disk::{Process, SimulatedDisk};

/// A process that reads.
pub(super) struct Reader {
    process: Arc<Process>,
    _store: Store,
    chain: Arc<Chain>,
}

impl Reader {
    /// The process ends.
    pub fn end(self, disk: &SimulatedDisk) {
        disk.kill(&self.process);
    }
}

impl Driver {
    /// A second writer gets an error, and harms nothing.
    pub(super) fn write_elsewhere(&mut self) -> Outcome {
        let process = self.disk.start_process();
        let options = self.options(&process);
        let misfortunes = self.disk.misfortunes();
        let opened = Store::open(ROOT, options).and_then(|store| store.chain(CHAIN));
        let struck = self.disk.misfortunes() > misfortunes || self.disk.stopped();
        self.disk.kill(&process);
        match opened {
            Err(Error::Held { .. }) => {
                self.coverage.count("second writer turned away");
                Ok(())
            }
            Err(_) if struck => Ok(()),
            Err(error) => Err(format!("a second writer gets another error: {error}")),
            Ok(_) => Err("a second writer is let in".to_owned()),
        }
    }

    /// A reader in another process sees some height between what is synced and the newest, and all of it. It lives on
    /// while the writer is closed or killed, and opened again.
    pub(super) fn read_elsewhere(&mut self) -> Outcome {
        let misfortunes = self.disk.misfortunes();
        let corruptions = self.disk.corruptions();
        let reader = match self.reader.take() {
            Some(reader) if !self.disk.is_dead(&reader.process) && self.random.chance(80) => Ok(reader),
            old => {
                if let Some(reader) = old {
                    reader.end(&self.disk);
                }
                self.open_reader()
            }
        };
        let outcome = reader.and_then(|reader| {
            let outcome = self.look_from(&reader, corruptions)?;
            if self.disk.is_dead(&reader.process) {
                return Ok(Ok(()));
            }
            // What it has read wrongly, it may remember so.
            if self.disk.corruptions() > corruptions {
                reader.end(&self.disk);
            } else {
                self.reader = Some(reader);
            }
            Ok(outcome)
        });
        let struck = self.disk.misfortunes() > misfortunes || self.disk.stopped();
        match outcome {
            Ok(outcome) => outcome.map_err(|what| format!("to a reader in another process: {what}")),
            Err(_) if struck => Ok(()),
            Err(error) => Err(format!("a reader in another process fails: {error}")),
        }
    }

    fn open_reader(&mut self) -> libimmuxdb::Result<Reader> {
        let process = self.disk.start_process();
        let store = Store::open_read_only(ROOT, self.options(&process))?;
        let chain = store.chain(CHAIN)?;
        self.coverage.count("reader opened");
        Ok(Reader { process, _store: store, chain })
    }

    fn look_from(&mut self, reader: &Reader, corruptions: u64) -> libimmuxdb::Result<Outcome> {
        let snapshot = reader.chain.snapshot()?;
        let height = snapshot.height();
        let (mut lowest, highest) = (self.ledger.synced_height(), self.ledger.bounds().1);
        if self.disk.corruptions() > corruptions {
            // A frame that was read wrongly looks like one that is being written.
            lowest = Height::ZERO;
        }
        if height < lowest || height > highest {
            return Ok(Err(format!("the height is {height}, not one from {lowest} to {highest}")));
        }
        // After a failed sync another one proves nothing, and a reader may not know of it.
        self.ledger.seen(height, self.disk.failed_syncs() == self.failed_syncs);
        self.coverage.count(if height == highest { "reader sees all" } else { "reader sees less" });
        // What is in doubt, the model cannot tell yet; it may have changed the indexes.
        let newest = self.ledger.model.height();
        let known = height.min(newest);
        let earlier = Height(self.random.below(known.0 + 1));
        for at in [known, earlier] {
            let outcome = self.compare_from(reader, at, height == newest)?;
            if outcome.is_err() {
                return Ok(outcome);
            }
        }
        Ok(Ok(()))
    }

    fn compare_from(&mut self, reader: &Reader, at: Height, by_indexes: bool) -> libimmuxdb::Result<Outcome> {
        let snapshot = reader.chain.snapshot_at(at)?;
        for name in GROUPINGS {
            let mut listings = vec![Listing::units()];
            if by_indexes {
                let grouping = self.ledger.model.newest().groupings.get(name);
                let indexes = grouping.into_iter().flat_map(|grouping| grouping.indexes.keys());
                listings.extend(indexes.map(|index| Listing::index(index)));
            }
            for listing in listings {
                let listing = if self.random.chance(50) { listing.backward() } else { listing };
                if let Err(what) = self.compare_scan_of(name, &snapshot, &listing, None, false) {
                    return Ok(Err(what));
                }
            }
        }
        Ok(Ok(()))
    }
}
