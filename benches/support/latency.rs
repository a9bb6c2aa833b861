//! The times of single operations, and their percentiles.
//!
//! Every time is kept (4 bytes each), so that percentiles are exact; a histogram would be smaller, but a benchmark's million operations fit easily.

use std::time::{Duration, Instant};

use serde::Serialize;

/// The times of operations, in nanoseconds.
#[derive(Default)]
pub struct Latencies(Vec<u32>);

/// Exact percentiles, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half of the operations took at most this.
    pub p50_us: f64,
    /// 9 of 10 took at most this.
    pub p90_us: f64,
    /// 99 of 100 took at most this.
    pub p99_us: f64,
    /// 999 of 1,000 took at most this.
    pub p999_us: f64,
    /// The slowest.
    pub max_us: f64,
}

impl Latencies {
    /// Room for the times of `operations`, taken now, so that it isn't taken in between.
    #[must_use]
    pub fn with_capacity(operations: usize) -> Latencies {
        Latencies(Vec::with_capacity(operations))
    }

    /// Runs an operation and keeps its time. Two readings of the clock (about 25 ns each) are within it.
    pub fn time<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = operation();
        self.push(start.elapsed());
        result
    }

    /// Keeps a time that was taken elsewhere.
    pub fn push(&mut self, took: Duration) {
        self.0.push(u32::try_from(took.as_nanos()).unwrap_or(u32::MAX));
    }

    /// Adds the times of another thread.
    pub fn append(&mut self, mut other: Latencies) {
        self.0.append(&mut other.0);
    }

    /// The percentiles; `None` without operations.
    #[must_use]
    pub fn percentiles(mut self) -> Option<Percentiles> {
        self.0.sort_unstable();
        let last = self.0.len().checked_sub(1)?;
        let at = |part: f64| f64::from(self.0[(last as f64 * part).round() as usize]) / 1e3;
        Some(Percentiles { p50_us: at(0.5), p90_us: at(0.9), p99_us: at(0.99), p999_us: at(0.999), max_us: at(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact() {
        let times = Latencies((0..=1000).rev().map(|n| n * 1000).collect());
        let percentiles = times.percentiles().unwrap();
        assert_eq!(percentiles.p50_us, 500.0);
        assert_eq!(percentiles.p99_us, 990.0);
        assert_eq!(percentiles.max_us, 1000.0);
        assert_eq!(Latencies::default().percentiles(), None);
    }
}
