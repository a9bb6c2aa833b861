//! The engine's own verification, beside the open store: it must find nothing wrong.
//!
//! It derives from the log what every run should hold, by another way than reading does. So it finds what no answer to a
//! question shows: an entry in a run where none belongs, a hint that is only looked at when it is too late.

use std::path::{Path, PathBuf};

use libimmuxdb::storage::Storage;
use libimmuxdb::verify::{VerifyOptions, verify};

use super::session::{CHAIN, ROOT};
use super::{Driver, Outcome};

/// Where verifying makes its files.
const SCRATCH: &str = "/scratch";

impl Driver {
    /// Verifies all that is on the disk, as another process.
    pub(super) fn verify(&mut self) -> Outcome {
        let process = self.disk.start_process();
        process.create_dir(Path::new(SCRATCH)).map_err(|error| format!("no scratch directory: {error}"))?;
        let options = VerifyOptions {
            storage: process.clone(),
            memory: 1,
            scratch: PathBuf::from(SCRATCH),
            ..VerifyOptions::default()
        };
        let log = Path::new(ROOT).join(CHAIN).join("log");
        let mut faults = Vec::new();
        let verified = verify(&log, &options, &mut |fault| faults.push(fault.to_string()), &mut |_| {});
        self.disk.kill(&process);
        self.coverage.count("verified");
        match verified {
            Err(error) => Err(format!("the store cannot be verified: {error}")),
            Ok(_) if faults.is_empty() => Ok(()),
            Ok(_) => Err(format!("verifying finds faults: {}", faults.join("; "))),
        }
    }
}
