//! The cost per item at 100, 126, 158 … items: ten points for each tenfold, so that a curve of a million items begins where one of a thousand does.

use std::time::{Duration, Instant};

/// A curve that is being taken.
pub struct Curve {
    started: Instant,
    done: usize,
    next: usize,
    points: Vec<(usize, Duration)>,
}

impl Curve {
    const FIRST: usize = 100;
    const STEP: f64 = 1.258_925_411_794_167_2;

    /// Begins now.
    #[must_use]
    pub fn start() -> Curve {
        Curve { started: Instant::now(), done: 0, next: Self::FIRST, points: Vec::new() }
    }

    /// One more item is done.
    pub fn done(&mut self) {
        self.done += 1;
        if self.done == self.next {
            self.points.push((self.done, self.started.elapsed()));
            self.next = (self.done as f64 * Self::STEP).round() as usize;
        }
    }

    /// Items so far, and the time that they took.
    #[must_use]
    pub fn points(&self) -> &[(usize, Duration)] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_evenly_on_a_logarithmic_axis() {
        let mut curve = Curve::start();
        (0..10_000).for_each(|_| curve.done());
        let items: Vec<usize> = curve.points().iter().map(|point| point.0).collect();
        assert_eq!(items[..4], [100, 126, 159, 200]);
        assert_eq!(items.len(), 20);
    }
}
