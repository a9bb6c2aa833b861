//! Which runs to merge next.
//!
//! Few runs make reading fast; few merges make writing fast. In the end all entries are to be one sorted sequence, and
//! sorting has a known price: an entry of a run that is a 1/n part of the whole must be decided upon log2(n) times. A
//! merge of neighbours with sizes b1, b2 … does, for each byte that it writes, so many of these decisions:
//!
//! ```text
//! H = sum of bi/B * log2(B/bi)        B = b1 + b2 + …
//! ```
//!
//! which is the entropy of the sizes: 3 bits a byte for eight equal runs, half a bit for a large run and one an eighth of
//! it. When there are more runs than wanted, the merge with the highest H is taken. So runs of like size are merged, many
//! at a time, and a large run waits until its neighbours are large. A thousand equal flushes are kept at 8 runs by
//! writing each byte 5.8 times, the flush included, and at 4 runs by writing it 10.2 times.
//!
//! Kills come first whatever the count: a queue whose entries die soon would otherwise leave its readers to step over
//! dead entries. Runs are merged as soon as the kills in the newer could end a good part of the entries in the older.

use std::ops::Range;

/// The runs that are left alone when nothing else is to do.
const AT_REST: usize = 4;
/// The runs that are left alone while writes come in.
const UNDER_LOAD: usize = 8;
/// Kills are many when they are this part of the entries in the older runs.
const KILLS_PART: u64 = 4;
/// Fewer kills do no harm.
const KILLS_MIN: u64 = 1024;

/// What the policy knows of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSize {
    /// The file's size.
    pub bytes: u64,
    /// Its kills.
    pub kills: u64,
    /// All of its entries.
    pub entries: u64,
}

/// The runs to merge next, of these neighbours, oldest first; `None` when they are well as they are.
#[must_use]
pub fn choose_merge(sizes: &[RunSize], under_load: bool) -> Option<Range<usize>> {
    choose_for_kills(sizes).or_else(|| {
        let limit = if under_load { UNDER_LOAD } else { AT_REST };
        (sizes.len() > limit).then(|| most_sorting(sizes))
    })
}

/// The newest run whose kills are many against what the run before it holds, with that run.
fn choose_for_kills(sizes: &[RunSize]) -> Option<Range<usize>> {
    (1..sizes.len()).rev().find_map(|newer| {
        let kills = sizes[newer].kills;
        let older = sizes[newer - 1].entries;
        (kills >= KILLS_MIN && kills.saturating_mul(KILLS_PART) >= older).then_some(newer - 1..newer + 1)
    })
}

/// The merge that does the most sorting for each byte that it writes.
fn most_sorting(sizes: &[RunSize]) -> Range<usize> {
    let mut best = 0..sizes.len();
    let mut most = -1.0;
    for start in 0..sizes.len() - 1 {
        let (mut bytes, mut logs) = (0.0, 0.0);
        for (end, run) in sizes.iter().enumerate().skip(start) {
            let size = run.bytes.max(1) as f64;
            bytes += size;
            logs += size * size.log2();
            let sorting = bytes.log2() - logs / bytes;
            if end > start && sorting > most {
                most = sorting;
                best = start..end + 1;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64) -> RunSize {
        RunSize { bytes, kills: 0, entries: bytes }
    }

    /// Flushes `flushes` runs of one unit each, merging after each; gives (most runs, bytes written / bytes flushed).
    fn simulate(flushes: u64, under_load: bool, flush: impl Fn(u64) -> RunSize) -> (usize, f64) {
        let mut runs = Vec::new();
        let (mut written, mut flushed, mut most) = (0, 0, 0);
        for number in 0..flushes {
            let new = flush(number);
            runs.push(new);
            flushed += new.bytes;
            written += new.bytes;
            let mut merges = 0;
            while let Some(range) = choose_merge(&runs, under_load) {
                assert!(range.len() >= 2 && range.end <= runs.len());
                let merged = runs[range.clone()].iter().fold(RunSize::default(), |sum, run| RunSize {
                    bytes: sum.bytes + run.bytes,
                    // Kills have met their births, but for some.
                    kills: (sum.kills + run.kills) / 8,
                    entries: sum.entries + run.entries,
                });
                written += merged.bytes;
                runs.splice(range, [merged]);
                merges += 1;
                assert!(merges < 100, "merging does not end");
            }
            most = most.max(runs.len());
        }
        (most, written as f64 / flushed as f64)
    }

    #[test]
    fn under_load_a_thousand_flushes_stay_few_runs_at_little_cost() {
        let (runs, amplification) = simulate(1000, true, |_| size(1_000_000));
        println!("under load: {runs} runs, write amplification {amplification:.2}");
        assert!(runs <= 8, "{runs}");
        assert!(amplification < 6.5, "{amplification}");
    }

    #[test]
    fn at_rest_four_runs_are_left() {
        let (runs, amplification) = simulate(1000, false, |_| size(1_000_000));
        println!("at rest: {runs} runs, write amplification {amplification:.2}");
        assert!(runs <= 4, "{runs}");
        assert!(amplification < 12.0, "{amplification}");
    }

    #[test]
    fn uneven_flushes_are_no_worse() {
        let (runs, amplification) = simulate(1000, true, |n| size(1000 + n * 7919 % 1_000_000));
        println!("uneven: {runs} runs, write amplification {amplification:.2}");
        assert!(runs <= 8, "{runs}");
        assert!(amplification < 6.5, "{amplification}");
    }

    #[test]
    fn kills_are_merged_first_and_end() {
        let runs = [size(1_000_000), size(10_000), size(10_000)];
        assert_eq!(choose_merge(&runs, true), None);
        let mut killing = runs;
        killing[2].kills = 5_000;
        assert_eq!(choose_merge(&killing, true), Some(1..3));
        let (runs, amplification) =
            simulate(1000, true, |_| RunSize { bytes: 1_000_000, kills: 10_000, entries: 30_000 });
        println!("kills: {runs} runs, write amplification {amplification:.2}");
        assert!(runs <= 8, "{runs}");
        assert!(amplification < 10.0, "{amplification}");
    }

    #[test]
    fn a_few_runs_of_any_size_are_left_alone() {
        assert_eq!(choose_merge(&[], false), None);
        assert_eq!(choose_merge(&[size(5)], false), None);
        assert_eq!(choose_merge(&[size(5), size(0), size(5), size(9)], false), None);
        let five = [size(0), size(0), size(0), size(0), size(0)];
        assert_eq!(choose_merge(&five, false), Some(0..5));
    }
}
