//! What the first ImmuxDB published of itself, in milliseconds: by HTTP, one insert a request, on the machine of its authors.

use std::time::Duration;

/// census90: per insert, for each hundred of the first 1,000 rows.
pub const CENSUS90: [f64; 10] = [5.46, 8.96, 15.74, 26.51, 38.47, 57.13, 77.47, 99.98, 126.97, 150.42];

/// census90: per get, the cheapest and the dearest hundred.
pub const CENSUS90_GETS: [f64; 2] = [3.7, 13.3];

/// berka99: per insert, the first and the last of its eight tables.
pub const BERKA99: [f64; 2] = [6.15, 658.63];

/// The curve of census90: items so far, and the time that they took.
#[must_use]
pub fn census90() -> Vec<(usize, Duration)> {
    let mut time = Duration::ZERO;
    CENSUS90
        .iter()
        .zip(1..)
        .map(|(milliseconds, hundred)| {
            time += Duration::from_secs_f64(milliseconds * 100.0 / 1e3);
            (hundred * 100, time)
        })
        .collect()
}
