//! Hashing commits behind the writer's back, and the roots of parts of the tree over them.

use std::ops::Range;

use immuxdb_proof::{Frontier, Hash, Tree};

use super::{Access, Shared};
use crate::error::{Error, Result};
use crate::hashes::{TileReader, Tiles, commit_leaf};
use crate::log::Log;
use crate::options::Hashing;
use crate::storage::OpenMode;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering as Atomic};
use crate::types::Height;

/// Log bytes that are hashed in one go, before others get a turn.
const STEP_BYTES: u64 = 4 << 20;
/// Log bytes after which leaves are saved that do not fill a tile: so much is hashed again after a crash.
const UNSAVED_BYTES: u64 = 16 << 20;

/// How far hashing is.
#[derive(Default)]
pub(crate) struct HashingState {
    /// `None` until they are first asked for.
    tiles: Mutex<Option<Tiles>>,
    /// The height up to which they go.
    height: AtomicU64,
    /// The offset up to which they go.
    offset: AtomicU64,
    /// Whether hashes could not be written, so that they are made on demand until the chain is opened again.
    given_up: AtomicBool,
}

impl Shared {
    /// Whether this process keeps the file of hashes.
    fn keeps_hashes(&self) -> bool {
        self.options.hashing == Hashing::Background
            && matches!(self.access, Access::Write)
            && self.recovery.damage.is_none()
            && !self.hashing.given_up.load(Atomic::Relaxed)
    }

    /// The height up to which commits are hashed.
    pub(crate) fn hashed(&self) -> Height {
        Height(self.hashing.height.load(Atomic::Acquire))
    }

    /// Whether there is something for [`Shared::hash_step`] to do.
    pub(crate) fn has_unhashed_commits(&self) -> bool {
        self.keeps_hashes() && self.hashing.offset.load(Atomic::Acquire) < self.log.written()
    }

    /// Hashes some of the commits that wait for it; `false` when there are none, or there is no space.
    ///
    /// Nothing depends on these hashes but time: what cannot be written is computed when it is asked for.
    pub(crate) fn hash_step(&self) -> bool {
        match self.hash_some() {
            Ok(any) => any,
            Err(Error::NoSpace { .. }) => false,
            Err(_) => {
                self.hashing.given_up.store(true, Atomic::Relaxed);
                false
            }
        }
    }

    fn hash_some(&self) -> Result<bool> {
        let mut tiles = self.hashing.tiles.lock();
        if !self.keeps_hashes() {
            return Ok(false);
        }
        let tiles = match &mut *tiles {
            Some(tiles) => tiles,
            none => {
                none.insert(Tiles::load(&*self.options.storage, &self.index_directory, &self.log, OpenMode::Write)?)
            }
        };
        let begin = tiles.point().offset;
        if begin < self.log.written() {
            self.save_if_due(tiles)?;
            let mut frames = self.log.written_frames(tiles.point());
            while tiles.point().offset - begin < STEP_BYTES
                && let Some(frame) = frames.next()?
            {
                tiles.advance(frame.is_commit().then(|| commit_leaf(&frame)), frame.end());
                self.save_if_due(tiles)?;
            }
        }
        self.hashing.height.store(tiles.point().height.0, Atomic::Release);
        self.hashing.offset.store(tiles.point().offset, Atomic::Release);
        Ok(tiles.point().offset > begin)
    }

    fn save_if_due(&self, tiles: &mut Tiles) -> Result<()> {
        if !tiles.is_full() && tiles.unsaved_log_bytes() < UNSAVED_BYTES {
            return Ok(());
        }
        if !tiles.has_file() {
            self.have_index_directory(&mut self.runs.lock())?;
        }
        tiles.save(&*self.options.storage)
    }

    /// Saves leaves that do not fill a tile, for the next opening. A chain without a file of hashes gets none for them.
    pub(crate) fn save_newest_hashes(&self) {
        if let Some(tiles) = &mut *self.hashing.tiles.lock()
            && tiles.has_file()
            && tiles.unsaved_log_bytes() > 0
            && self.keeps_hashes()
        {
            // Without it they are made again.
            let _ = tiles.save(&*self.options.storage);
        }
    }

    /// The roots over parts of the first `height` commits, given as ranges of `height − 1` that begin and end where the tree
    /// over these commits has parts.
    pub(super) fn roots_of(&self, ranges: &[Range<u64>], height: Height) -> Result<Vec<Hash>> {
        if self.log.header().base_height != Height::ZERO {
            return Err(Error::Invalid("the oldest part of this chain was trimmed: it has no proofs".to_owned()));
        }
        if self.keeps_hashes() && self.hashed() < height {
            self.log.write_buffered()?;
            // What the background has not done yet is done here.
            while self.hashed() < height && self.hash_step() {}
        }
        let tiles = self.known_hashes()?;
        match self.roots_with(&tiles, ranges, height) {
            Err(Error::Damaged { path, .. }) if path == tiles.path() => {
                let none = Tiles::none(&self.index_directory, self.log.header());
                if self.keeps_hashes() {
                    *self.hashing.tiles.lock() = Some(none.clone());
                }
                self.roots_with(&none, ranges, height)
            }
            roots => roots,
        }
    }

    /// The hashes that are there already.
    fn known_hashes(&self) -> Result<Tiles> {
        if let Some(tiles) = &*self.hashing.tiles.lock() {
            return Ok(tiles.clone());
        }
        Tiles::load(&*self.options.storage, &self.index_directory, &self.log, OpenMode::Read)
    }

    fn roots_with(&self, tiles: &Tiles, ranges: &[Range<u64>], height: Height) -> Result<Vec<Hash>> {
        let mut frontiers = vec![Frontier::new(Tree::Commits); ranges.len()];
        let mut reader = TileReader::new(tiles);
        for (frontier, range) in frontiers.iter_mut().zip(ranges) {
            reader.feed(frontier, range)?;
        }
        if tiles.point().height < height {
            let mut frames = self.log.frames(tiles.point())?;
            while let Some(frame) = frames.next()? {
                if !frame.is_commit() {
                    continue;
                }
                let (index, mut leaf) = (frame.height().0 - 1, None);
                for (frontier, range) in frontiers.iter_mut().zip(ranges).filter(|(_, range)| range.contains(&index)) {
                    debug_assert_eq!(range.start + frontier.size(), index, "leaves come in order");
                    frontier.push(*leaf.get_or_insert_with(|| commit_leaf(&frame)));
                }
                if frame.height() == height {
                    break;
                }
            }
        }
        let whole = frontiers.iter().zip(ranges).all(|(frontier, range)| frontier.size() == range.end - range.start);
        if !whole {
            return Err(Error::HeightUnknown { asked: height, newest: self.visible() });
        }
        Ok(frontiers.iter().map(Frontier::root).collect())
    }
}
