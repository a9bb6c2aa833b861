//! One file's two images, and the changes that lie between them.
//!
//! ```text
//!   write_at, set_len ──> live ── sync_data ──> durable
//!                          │                      ▲
//!                          └── unsynced changes ──┘   when the machine stops: some of them, torn, in part
//! ```

use crate::random::Random;

/// The piece that a device writes whole or not at all, mostly.
const SECTOR: usize = 512;

/// A change of the live image that the durable one need not have yet.
#[derive(Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

/// How many of the unsynced changes a power loss leaves; drawn once for each file and power loss.
#[derive(Clone, Copy, Debug)]
enum Survival {
    None,
    All,
    Percent(u64),
}

/// What a power loss did to a file, for the counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    pub kept: u64,
    pub lost: u64,
    pub torn: u64,
    /// Changes that survived while an earlier one did not.
    pub reordered: u64,
    /// Lost writes that left their length behind, filled with zeroes or rubbish.
    pub lengths_only: u64,
}

/// The bytes of a file as processes see them and as power loss would leave them.
#[derive(Debug, Default)]
pub(super) struct Image {
    live: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

impl Image {
    /// A file that is wholly on the device.
    pub fn durable(bytes: Vec<u8>) -> Image {
        Image { live: bytes.clone(), durable: bytes, unsynced: Vec::new() }
    }

    /// What processes see.
    pub fn live(&self) -> &[u8] {
        &self.live
    }

    pub fn write(&mut self, bytes: &[u8], offset: usize) {
        overwrite(&mut self.live, bytes, offset);
        self.unsynced.push(Change::Write { offset, bytes: bytes.to_vec() });
    }

    pub fn set_len(&mut self, len: usize) {
        self.live.resize(len, 0);
        self.unsynced.push(Change::Length(len));
    }

    /// A sync that succeeds. It writes what the cache holds *now*; it knows nothing of writes whose sync failed before.
    pub fn sync(&mut self) {
        self.durable.resize(self.live.len(), 0);
        for change in std::mem::take(&mut self.unsynced) {
            let (from, to) = match change {
                Change::Write { offset, bytes } => (offset, offset + bytes.len()),
                Change::Length(len) => (len, self.live.len()),
            };
            let to = to.min(self.live.len());
            if from < to {
                self.durable[from..to].copy_from_slice(&self.live[from..to]);
            }
        }
    }

    /// A sync that fails, as Linux does it: some pages were written; some were not and are marked clean all the same, so
    /// that no later sync will write them; some stay dirty. Everybody goes on seeing all of them in the cache.
    pub fn fail_sync(&mut self, random: &mut Random) {
        self.sync_some(random, true);
    }

    /// A sync that is not waited for: some pages were written, the others stay dirty.
    pub fn interrupt_sync(&mut self, random: &mut Random) {
        self.sync_some(random, false);
    }

    fn sync_some(&mut self, random: &mut Random, loses: bool) {
        for change in std::mem::take(&mut self.unsynced) {
            match change {
                Change::Write { offset, bytes } => match random.below(3) {
                    0 => overwrite(&mut self.durable, &bytes, offset),
                    1 if loses => {}
                    _ => self.unsynced.push(Change::Write { offset, bytes }),
                },
                Change::Length(_) => self.unsynced.push(change),
            }
        }
    }

    /// The power goes: of the unsynced changes a random part is found afterwards.
    pub fn lose_power(&mut self, random: &mut Random) -> Losses {
        let survival = *random.pick(&[
            Survival::None,
            Survival::All,
            Survival::Percent(10),
            Survival::Percent(50),
            Survival::Percent(90),
        ]);
        let mut losses = Losses::default();
        for change in std::mem::take(&mut self.unsynced) {
            let survives = match survival {
                Survival::None => false,
                Survival::All => true,
                Survival::Percent(percent) => random.chance(percent),
            };
            if survives && losses.lost > 0 {
                losses.reordered += 1;
            }
            match change {
                Change::Write { offset, bytes } if survives => {
                    if bytes.len() > 1 && random.chance(30) {
                        losses.torn += 1;
                        self.tear(&bytes, offset, random);
                    } else {
                        losses.kept += 1;
                        overwrite(&mut self.durable, &bytes, offset);
                    }
                }
                Change::Length(len) if survives => {
                    losses.kept += 1;
                    self.durable.resize(len, 0);
                }
                Change::Write { offset, bytes } => {
                    losses.lost += 1;
                    // File systems may log the new length before the data has reached its place.
                    if offset + bytes.len() > self.durable.len() && random.chance(10) {
                        losses.lengths_only += 1;
                        let old = self.durable.len();
                        self.durable.resize(offset + bytes.len(), 0);
                        // Rubbish, where blocks were allotted before. A file that was never synced has none.
                        if old > 0 && random.chance(50) {
                            random.fill(&mut self.durable[old..]);
                        }
                    }
                }
                Change::Length(_) => losses.lost += 1,
            }
        }
        self.live.clone_from(&self.durable);
        losses
    }

    /// Makes a part of a write durable.
    fn tear(&mut self, bytes: &[u8], offset: usize, random: &mut Random) {
        match random.below(4) {
            0 => {
                let len = random.index(bytes.len());
                overwrite(&mut self.durable, &bytes[..len], offset);
            }
            1 => {
                let from = random.index(bytes.len());
                overwrite(&mut self.durable, &bytes[from..], offset + from);
            }
            2 => {
                let sectors: Vec<_> = sectors(offset, bytes.len()).collect();
                for &(from, to) in &sectors[..random.index(sectors.len())] {
                    overwrite(&mut self.durable, &bytes[from..to], offset + from);
                }
            }
            _ => {
                for (from, to) in sectors(offset, bytes.len()) {
                    if random.chance(50) {
                        overwrite(&mut self.durable, &bytes[from..to], offset + from);
                    }
                }
            }
        }
    }
}

/// Puts `bytes` at `offset`, with zeroes in a gap before them.
fn overwrite(image: &mut Vec<u8>, bytes: &[u8], offset: usize) {
    if bytes.is_empty() {
        return;
    }
    let end = offset + bytes.len();
    if image.len() < end {
        image.resize(end, 0);
    }
    image[offset..end].copy_from_slice(bytes);
}

/// The parts of a write of `len` bytes at `offset` that fall into one sector each, as ranges within the write.
fn sectors(offset: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        if from == len {
            return None;
        }
        let to = (from + SECTOR - (offset + from) % SECTOR).min(len);
        let part = (from, to);
        from = to;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synced_bytes_survive_and_unsynced_ones_need_not() {
        let mut outcomes = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut image = Image::default();
            image.write(b"kept", 0);
            image.sync();
            image.write(b"AA", 4);
            image.write(b"BB", 6);
            image.lose_power(&mut Random::new(seed));
            assert_eq!(&image.live()[..4], b"kept");
            outcomes.insert(image.live()[4..].to_vec());
        }
        assert!(outcomes.contains(b"".as_slice()), "both lost");
        assert!(outcomes.contains(b"AABB".as_slice()), "both kept");
        assert!(outcomes.contains(b"AA".as_slice()), "the later one lost");
        assert!(outcomes.contains(b"\0\0BB".as_slice()), "the earlier one lost");
        assert!(outcomes.contains(b"A".as_slice()), "torn");
    }

    #[test]
    fn an_overwrite_is_old_or_new_in_each_sector() {
        let mut mixed = 0;
        for seed in 0..200 {
            let mut image = Image::durable(vec![1; 4 * SECTOR]);
            image.write(&vec![2; 4 * SECTOR], 0);
            image.lose_power(&mut Random::new(seed));
            assert_eq!(image.live().len(), 4 * SECTOR);
            assert!(image.live().iter().all(|byte| [1, 2].contains(byte)));
            mixed += u32::from(image.live().contains(&1) && image.live().contains(&2));
        }
        assert!(mixed > 5, "{mixed} of 200 were torn");
    }

    #[test]
    fn a_failed_sync_may_lose_bytes_that_a_later_one_does_not_bring_back() {
        let lost = (0..100)
            .filter(|&seed| {
                let mut random = Random::new(seed);
                let mut image = Image::default();
                image.write(b"data", 0);
                image.fail_sync(&mut random);
                assert_eq!(image.live(), b"data", "the cache goes on showing it");
                image.sync();
                image.lose_power(&mut random);
                assert_eq!(image.live().len(), 4);
                image.live() != b"data"
            })
            .count();
        assert!((10..70).contains(&lost), "{lost} of 100");
    }

    #[test]
    fn a_cut_that_is_synced_leaves_no_old_bytes() {
        let mut image = Image::durable(b"old bytes".to_vec());
        image.set_len(2);
        image.set_len(6);
        image.sync();
        image.lose_power(&mut Random::new(7));
        assert_eq!(image.live(), b"ol\0\0\0\0");
    }

    #[test]
    fn sectors_are_counted_from_the_start_of_the_file() {
        let parts: Vec<_> = sectors(500, 1000).collect();
        assert_eq!(parts, [(0, 12), (12, 524), (524, 1000)]);
    }
}
