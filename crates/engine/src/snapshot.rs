//! A chain at a height.

use std::sync::Arc;

use crate::chain::Chain;
use crate::error::Result;
use crate::scan::Scan;
use crate::types::{Height, Timestamp};
use crate::unit::Unit;
use crate::units::Units;

/// A chain as it was at one height. It is only a number: it holds no file and no memory, and never ends.
#[derive(Clone)]
pub struct Snapshot {
    chain: Arc<Chain>,
    height: Height,
}

impl Snapshot {
    pub(crate) fn new(chain: &Arc<Chain>, height: Height) -> Snapshot {
        Snapshot { chain: Arc::clone(chain), height }
    }

    /// The height.
    #[must_use]
    pub fn height(&self) -> Height {
        self.height
    }

    /// When the commit at this height happened.
    ///
    /// # Errors
    /// Those of [`Chain::time_of`].
    pub fn time(&self) -> Result<Timestamp> {
        self.chain.time_of(self.height)
    }

    /// A unit as it was.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`], [`crate::Error::Io`].
    pub fn get(&self, grouping: &str, key: &[u8]) -> Result<Option<Unit>> {
        self.chain.shared().get(grouping, key, self.height)
    }

    /// Units in order, as they were. A grouping that did not exist has none.
    ///
    /// # Errors
    /// [`crate::Error::IndexMissing`]; [`crate::Error::Damaged`], [`crate::Error::Io`].
    pub fn scan(&self, grouping: &str, scan: Scan) -> Result<Units> {
        Units::new(&self.chain, grouping, self.height, scan)
    }

    /// The number of units that [`Snapshot::scan`] would give. Contents are not read.
    ///
    /// # Errors
    /// Those of [`Snapshot::scan`].
    pub fn count(&self, grouping: &str, scan: Scan) -> Result<u64> {
        self.scan(grouping, scan.keys_only())?.count_rest()
    }
}
