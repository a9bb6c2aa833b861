//! Height marks: samples of (height, offset, time), from which any height or time is found in the log by reading on
//! from the mark before it.

use super::file::{get_u64, put_u64};
use crate::types::{Height, Timestamp};

/// Bytes of a stored mark.
pub(super) const MARK: usize = 24;
/// Marks that are nearer to each other in the log are thinned out.
pub(super) const MARK_DISTANCE: u64 = 64 << 10;

/// A sample of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The height of a commit.
    pub height: Height,
    /// Where its frame ends: an offset in bytes.
    pub end_offset: u64,
    /// Its time.
    pub time: Timestamp,
}

pub(super) fn encode(mark: &Mark) -> [u8; MARK] {
    let mut out = [0; MARK];
    put_u64(&mut out, 0, mark.height.0);
    put_u64(&mut out, 8, mark.end_offset);
    put_u64(&mut out, 16, mark.time.0);
    out
}

/// The marks of a run, ascending in height, offset and time.
#[derive(Clone, Copy)]
pub struct Marks<'a>(pub(super) &'a [u8]);

impl Marks<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len() / MARK
    }

    /// Mark `number`, from 0.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn get(&self, number: usize) -> Mark {
        let at = MARK * number;
        Mark {
            height: Height(get_u64(self.0, at)),
            end_offset: get_u64(self.0, at + 8),
            time: Timestamp(get_u64(self.0, at + 16)),
        }
    }

    /// All of them, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = Mark> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// The last mark of which `before` holds; it holds of all marks before that one.
    #[must_use]
    pub fn last(&self, before: impl Fn(&Mark) -> bool) -> Option<Mark> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if before(&self.get(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1).map(|number| self.get(number))
    }
}
