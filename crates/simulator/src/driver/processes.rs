//! Other processes that come to the same store: readers, and writers that are turned away.

use libimmuxdb::{Error, Store};

use super::listing::Listing;
use super::reads::all_groupings;
use super::session::{CHAIN, ROOT};
use super::{Driver, Outcome};

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

    /// A reader in another process sees some height between what is synced and the newest, and all of it.
    pub(super) fn read_elsewhere(&mut self) -> Outcome {
        let process = self.disk.start_process();
        let options = self.options(&process);
        let misfortunes = self.disk.misfortunes();
        let outcome = self.look_from(options);
        let struck = self.disk.misfortunes() > misfortunes || self.disk.stopped();
        self.disk.kill(&process);
        match outcome {
            Ok(result) => result,
            Err(_) if struck => Ok(()),
            Err(error) => Err(format!("a reader in another process fails: {error}")),
        }
    }

    fn look_from(&mut self, options: libimmuxdb::StoreOptions) -> libimmuxdb::Result<Outcome> {
        let store = Store::open_read_only(ROOT, options)?;
        let chain = store.chain(CHAIN)?;
        let snapshot = chain.snapshot()?;
        let height = snapshot.height();
        let (lowest, highest) = (self.ledger.synced_height(), self.ledger.bounds().1);
        if height < lowest || height > highest {
            return Ok(Err(format!("a reader sees height {height}, not one from {lowest} to {highest}")));
        }
        self.coverage.count(if height == highest { "reader sees all" } else { "reader sees less" });
        if height <= self.ledger.model.height() {
            for name in all_groupings() {
                if let Err(what) = self.compare_scan(name, &snapshot, &Listing::units(), None) {
                    return Ok(Err(format!("to a reader in another process: {what}")));
                }
            }
        }
        Ok(Ok(()))
    }
}
