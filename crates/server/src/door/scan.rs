//! A scan as a user asks for it.

use libimmuxdb::index::IndexDefinition;

use crate::failure::{Failure, Result};
use crate::index_value::{index_key, index_prefix};
use crate::moment::Moment;

/// Which units, and in which order. Bounds are unit keys, or the text of values of the index.
#[derive(Clone, Debug, Default)]
pub struct ScanRequest {
    /// The index, by name, and its definition; `None` for the order of the unit keys.
    pub index: Option<(String, IndexDefinition)>,
    /// Only this value.
    pub value: Option<Vec<u8>>,
    /// From here on.
    pub from: Option<Vec<u8>>,
    /// Up to here, exclusive.
    pub to: Option<Vec<u8>>,
    /// Up to here, inclusive.
    pub through: Option<Vec<u8>>,
    /// Only what begins with this.
    pub prefix: Option<Vec<u8>>,
    /// From the last to the first.
    pub reverse: bool,
    /// At most this many.
    pub limit: Option<u64>,
    /// Now or then.
    pub at: Option<Moment>,
    /// Without contents.
    pub keys_only: bool,
}

impl ScanRequest {
    /// The request as the engine takes it.
    ///
    /// # Errors
    /// A value does not fit the index.
    pub fn for_engine(&self) -> Result<libimmuxdb::Scan> {
        let mut scan = match &self.index {
            None => libimmuxdb::Scan::units(),
            Some((name, _)) => libimmuxdb::Scan::index(name.as_str()),
        };
        if let Some(value) = &self.value {
            scan = scan.prefix(self.bound(value, true)?);
        }
        if let Some(value) = &self.from {
            scan = scan.from(self.bound(value, true)?);
        }
        if let Some(value) = &self.to {
            scan = scan.to(self.bound(value, true)?);
        }
        if let Some(value) = &self.through {
            let key = self.bound(value, true)?;
            scan = match self.index {
                Some(_) => scan.through(key),
                // Other than an index key, a unit key is not complete in itself: the next one after it has a zero byte more.
                None => scan.to([key, vec![0]].concat()),
            };
        }
        if let Some(value) = &self.prefix {
            scan = scan.prefix(self.bound(value, false)?);
        }
        if let Some(limit) = self.limit {
            scan = scan.limit(limit);
        }
        if self.reverse {
            scan = scan.backward();
        }
        if self.keys_only {
            scan = scan.keys_only();
        }
        Ok(scan)
    }

    fn bound(&self, value: &[u8], whole: bool) -> Result<Vec<u8>> {
        let Some((_, definition)) = &self.index else {
            return Ok(value.to_vec());
        };
        let text = std::str::from_utf8(value).map_err(|_| {
            Failure::usage(format!("the value {} is not UTF-8 text", value.escape_ascii()))
                .help("bytes of a raw index are written as '{\"hex\": \"00ff\"}'")
        })?;
        if whole { index_key(definition, text) } else { index_prefix(definition, text) }
    }

    /// The request as the client takes it.
    #[must_use]
    pub fn for_client(&self) -> immuxdb_client::Scan {
        use immuxdb_client::Scan;
        type Add = fn(Scan, Vec<u8>) -> Scan;
        let mut scan = match &self.index {
            None => Scan::units(),
            Some((name, _)) => Scan::index(name.as_str()),
        };
        let bounds: [(&Option<Vec<u8>>, Add); 5] = [
            (&self.value, Scan::value),
            (&self.from, Scan::from),
            (&self.to, Scan::to),
            (&self.through, Scan::through),
            (&self.prefix, Scan::prefix),
        ];
        for (bound, add) in bounds {
            if let Some(bound) = bound {
                scan = add(scan, bound.clone());
            }
        }
        if let Some(limit) = self.limit {
            scan = scan.limit(limit);
        }
        if let Some(at) = self.at {
            scan = scan.at(at.for_client());
        }
        if self.reverse {
            scan = scan.backward();
        }
        if self.keys_only {
            scan = scan.keys_only();
        }
        scan
    }
}
