//! What a run has come across: a simulation that finds nothing must show that it has looked.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of events, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    counts: BTreeMap<String, u64>,
}

impl Coverage {
    /// Counts an event.
    pub fn count(&mut self, event: impl Into<String>) {
        self.add(event, 1);
    }

    /// Counts an event several times.
    pub fn add(&mut self, event: impl Into<String>, times: u64) {
        if times > 0 {
            *self.counts.entry(event.into()).or_default() += times;
        }
    }

    /// How often an event was counted.
    #[must_use]
    pub fn of(&self, event: &str) -> u64 {
        self.counts.get(event).copied().unwrap_or(0)
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Coverage) {
        for (event, times) in &other.counts {
            self.add(event.clone(), *times);
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (event, times) in &self.counts {
            writeln!(f, "{times:>12}  {event}")?;
        }
        Ok(())
    }
}
