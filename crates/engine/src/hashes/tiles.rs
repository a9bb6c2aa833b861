//! The file of hashes: opening, checking, reading, appending.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use immuxdb_proof::{Frontier, Hash, Tree};

use super::layout::{
    HEADER, LEVELS, PART, TILE_LEAVES, header, part, place_of, roots_in, seal, tile_offset, tiles_in, unseal,
};
use crate::error::{Error, Result};
use crate::log::{LocalLog, LogHeader, LogPoint};
use crate::storage::{File, OpenMode, Storage};

/// The name of the file in the index directory.
const NAME: &str = "hashes";

/// The hashes of a chain's commits, up to a point of its log.
#[derive(Clone)]
pub(crate) struct Tiles {
    path: PathBuf,
    log: LogHeader,
    /// `None` as long as there is none.
    file: Option<Arc<dyn File>>,
    /// Full tiles in the file.
    full: u64,
    /// The leaves after them.
    newest: Vec<Hash>,
    /// Up to where the log is hashed.
    point: LogPoint,
    /// Where the log was when the file last grew.
    saved: u64,
}

impl Tiles {
    /// No hashes yet.
    pub(crate) fn none(directory: &Path, log: &LogHeader) -> Tiles {
        let base = log.base();
        Tiles {
            path: directory.join(NAME),
            log: *log,
            file: None,
            full: 0,
            newest: Vec::new(),
            point: base,
            saved: base.offset,
        }
    }

    /// What is in the file, as far as it is whole and fits the log.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn load(storage: &dyn Storage, directory: &Path, log: &LocalLog, mode: OpenMode) -> Result<Tiles> {
        let mut tiles = Tiles::none(directory, log.header());
        let io = |error| Error::io(tiles.path.as_path(), error);
        let file = match storage.open(&tiles.path, mode) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(tiles),
            Err(error) => return Err(io(error)),
        };
        let len = file.len().map_err(io)?;
        let mut found = [0; HEADER];
        file.read_at(&mut found, 0).map_err(io)?;
        if found != header(log.header()) {
            return Ok(tiles);
        }
        tiles.file = Some(file);
        tiles.take_up(log, len)?;
        tiles.saved = tiles.point.offset;
        Ok(tiles)
    }

    /// Finds the newest tile that is whole and fits.
    fn take_up(&mut self, log: &LocalLog, len: u64) -> Result<()> {
        let in_file = tiles_in(len);
        // What lies before this was synced before anything was written behind it.
        let synced = in_file.saturating_sub(1) / TILE_LEAVES * TILE_LEAVES;
        let mut whole = synced;
        while whole < in_file && self.end_of(whole)?.is_some() {
            whole += 1;
        }
        // Beyond the last tile that fits, none does.
        let (mut fits, mut beyond) = (0, whole + 1);
        let mut asked = whole;
        while fits + 1 < beyond {
            let fit = match self.end_of(asked - 1)? {
                Some(end) => log.fits(&end)?.then_some(end),
                None => None,
            };
            match fit {
                Some(end) => (fits, self.point) = (asked, end),
                None => beyond = asked,
            }
            asked = fits + (beyond - fits) / 2;
        }
        self.full = fits;
        if fits == in_file {
            self.take_up_newest(log, len)?;
        }
        Ok(())
    }

    /// Takes up the last tile if it is not full.
    fn take_up_newest(&mut self, log: &LocalLog, len: u64) -> Result<()> {
        let bytes = len - tile_offset(self.full);
        let Some(leaves) = (bytes / PART as u64).checked_sub(1).filter(|leaves| (1..TILE_LEAVES).contains(leaves))
        else {
            return Ok(());
        };
        let tile = self.read(tile_offset(self.full), (leaves as usize + 1) * PART)?;
        let end = unseal(&tile, &self.log, self.full, leaves);
        if let Some(end) = end.filter(|end| end.offset > self.point.offset)
            && log.fits(&end)?
        {
            self.newest = (0..leaves as usize).filter_map(|number| part(&tile, number)).collect();
            self.point = end;
        }
        Ok(())
    }

    /// The file's path, whether or not there is one.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Up to where the log is hashed.
    pub(crate) fn point(&self) -> LogPoint {
        self.point
    }

    /// Whether the newest leaves fill a tile, which must be saved before another leaf is added.
    pub(crate) fn is_full(&self) -> bool {
        self.newest.len() as u64 == TILE_LEAVES
    }

    /// Log bytes that would have to be hashed again.
    pub(crate) fn unsaved_log_bytes(&self) -> u64 {
        self.point.offset - self.saved
    }

    /// Whether there is a file.
    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Goes on over a frame; `leaf` is that of a commit.
    pub(crate) fn advance(&mut self, leaf: Option<Hash>, end: LogPoint) {
        assert!(leaf.is_none() || !self.is_full(), "a full tile was not saved");
        self.newest.extend(leaf);
        self.point = end;
    }

    /// Writes the newest leaves. The caller has made the directory.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::Io`]. It may be tried again.
    pub(crate) fn save(&mut self, storage: &dyn Storage) -> Result<()> {
        let io = |error| Error::io(self.path.as_path(), error);
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => {
                // One that is there belongs to another log, or its making was interrupted.
                match storage.remove(&self.path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
                    _ => {}
                }
                let file = storage.open(&self.path, OpenMode::CreateNew).map_err(io)?;
                file.write_at(&header(&self.log), 0).map_err(io)?;
                self.file = Some(Arc::clone(&file));
                file
            }
        };
        let offset = tile_offset(self.full);
        let leaves = self.newest.len() as u64;
        let mut tile = Vec::with_capacity((self.newest.len() + 4) * PART);
        self.newest.iter().for_each(|leaf| tile.extend_from_slice(&leaf.0));
        if self.is_full() {
            for root in self.roots_of_newest()? {
                tile.extend_from_slice(&root.0);
            }
        }
        seal(&mut tile, &self.log, self.full, leaves, &self.point);
        let io = |error| Error::io(self.path.as_path(), error);
        file.write_at(&tile, offset).map_err(io)?;
        let end = offset + tile.len() as u64;
        if file.len().map_err(io)? > end {
            file.set_len(end).map_err(io)?;
        }
        if self.is_full() {
            if (self.full + 1).is_multiple_of(TILE_LEAVES) {
                file.sync_data().map_err(io)?;
            }
            self.full += 1;
            self.newest.clear();
        }
        self.saved = self.point.offset;
        Ok(())
    }

    /// The roots that the newest tile completes.
    fn roots_of_newest(&self) -> Result<Vec<Hash>> {
        let mut roots = vec![root_of(&self.newest)];
        for level in 1..roots_in(self.full) {
            // Those of the level below, of which the last one is not in the file yet.
            let last = ((self.full + 1) >> (LEVELS * (level - 1))) - 1;
            let mut reader = TileReader::new(self);
            let before = (last + 1 - TILE_LEAVES..last).map(|index| reader.root(level, index));
            let mut below = before.collect::<Result<Vec<_>>>()?;
            below.extend(roots.last());
            roots.push(root_of(&below));
        }
        Ok(roots)
    }

    /// The end of a full tile; `None` when it is damaged.
    fn end_of(&self, tile: u64) -> Result<Option<LogPoint>> {
        Ok(unseal(&self.read_tile(tile)?, &self.log, tile, TILE_LEAVES))
    }

    fn read_tile(&self, tile: u64) -> Result<Vec<u8>> {
        let offset = tile_offset(tile);
        self.read(offset, (tile_offset(tile + 1) - offset) as usize)
    }

    fn read(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let Some(file) = &self.file else {
            unreachable!("what is not in memory is in a file");
        };
        let mut bytes = vec![0; len];
        let read = file.read_at(&mut bytes, offset).map_err(|error| Error::io(self.path.as_path(), error))?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn damaged(&self, tile: u64) -> Error {
        let what = "the hashes do not fit their checksum".to_owned();
        Error::Damaged { path: self.path.clone(), offset: tile_offset(tile), what }
    }
}

fn root_of(leaves: &[Hash]) -> Hash {
    let mut frontier = Frontier::new(Tree::Commits);
    leaves.iter().for_each(|leaf| frontier.push(*leaf));
    frontier.root()
}

/// Reads hashes, checking each tile.
pub(crate) struct TileReader<'a> {
    tiles: &'a Tiles,
    /// The tile that was read last.
    last: Option<(u64, Vec<u8>)>,
}

impl<'a> TileReader<'a> {
    pub(crate) fn new(tiles: &'a Tiles) -> TileReader<'a> {
        TileReader { tiles, last: None }
    }

    /// Adds to `frontier`, which has the leaves from the start of `range` on, those that are known.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`]: the file cannot be used.
    pub(crate) fn feed(&mut self, frontier: &mut Frontier, range: &Range<u64>) -> Result<()> {
        let in_file = self.tiles.full * TILE_LEAVES;
        loop {
            let at = range.start + frontier.size();
            if at >= range.end.min(in_file) {
                break;
            }
            let fits = |level: &u32| {
                let leaves = 1u64 << (LEVELS * level);
                at.is_multiple_of(leaves) && at + leaves <= range.end.min(in_file)
            };
            let level = (1..u64::BITS / LEVELS).take_while(fits).last().unwrap_or(0);
            let root = self.root(level, at >> (LEVELS * level))?;
            frontier.push_complete(LEVELS * level, root);
        }
        for at in range.start + frontier.size()..range.end {
            let Some(leaf) = self.tiles.newest.get((at - in_file) as usize) else {
                break;
            };
            frontier.push(*leaf);
        }
        Ok(())
    }

    /// The root over the `index`-th 256^`level` leaves; of level 0, a leaf.
    fn root(&mut self, level: u32, index: u64) -> Result<Hash> {
        let (tile, number) = place_of(level, index);
        let known = self.last.take().filter(|(last, _)| *last == tile);
        let (_, bytes) = match known {
            Some(last) => self.last.insert(last),
            None => {
                let bytes = self.tiles.read_tile(tile)?;
                unseal(&bytes, &self.tiles.log, tile, TILE_LEAVES).ok_or_else(|| self.tiles.damaged(tile))?;
                self.last.insert((tile, bytes))
            }
        };
        part(bytes, number).ok_or_else(|| self.tiles.damaged(tile))
    }
}
