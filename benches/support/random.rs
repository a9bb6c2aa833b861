//! Seeded numbers.
//!
//! Written out here rather than taken from a crate, so that a stand-in and a load are the same rows in every version of the benchmarks: figures of
//! different years can be compared.

/// A SplitMix64 generator: 64 bits of state, one multiplication chain a number.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that gives the same numbers for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number from 0 to `bound` (exclusive). The bias of the multiplication is below 2^-32 for the bounds used here.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `part` of `whole` cases.
    pub fn chance(&mut self, part: u64, whole: u64) -> bool {
        self.below(whole) < part
    }

    /// One of the values, all equally likely.
    pub fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len() as u64) as usize]
    }

    /// One of the values, each as likely as its weight says.
    pub fn pick_weighted<'v, T>(&mut self, values: &'v [(T, u64)]) -> &'v T {
        let total = values.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(total);
        for (value, weight) in values {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return value,
            }
        }
        unreachable!("a number below the sum of the weights falls on one of them")
    }

    /// Puts the values into a random order.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            values.swap(last, other);
        }
    }
}

/// Spreads the bits of a number: equal numbers stay equal, neighbours come out far apart.
#[must_use]
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut random = Random::new(1);
        assert_eq!(random.number(), 0x910A_2DEC_8902_5CC1);
        assert_eq!(Random::new(1).below(1000), 566);
    }

    #[test]
    fn weights_are_kept() {
        let mut random = Random::new(7);
        let heads = (0..10_000).filter(|_| *random.pick_weighted(&[(true, 3), (false, 1)])).count();
        assert!((7_300..7_700).contains(&heads), "{heads} of 10,000");
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut values: Vec<u64> = (0..100).collect();
        Random::new(3).shuffle(&mut values);
        assert_ne!(values, (0..100).collect::<Vec<_>>());
        values.sort_unstable();
        assert_eq!(values, (0..100).collect::<Vec<_>>());
    }
}
