//! Directories and files by number, as a file system keeps them: a name is an entry in a directory, and durable only
//! after the directory was synced, however often the file itself was.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};

use super::image::{Image, Losses};
use crate::random::Random;

/// The number of a file or directory; never used again.
pub(super) type NodeId = u64;

const ROOT: NodeId = 1;

/// A file: its bytes, who holds a lock on which byte, and how often a sync of it has failed.
#[derive(Debug, Default)]
pub(super) struct FileNode {
    pub image: Image,
    pub locks: BTreeMap<u64, u64>,
    pub failed_syncs: u64,
}

/// A change of a directory that power loss may undo.
#[derive(Debug)]
enum Entry {
    Added(String, NodeId),
    Removed(String),
    Renamed(String, String),
}

/// A directory: its names as processes see them and as power loss would leave them.
#[derive(Debug, Default)]
struct Directory {
    live: BTreeMap<String, NodeId>,
    durable: BTreeMap<String, NodeId>,
    unsynced: Vec<Entry>,
}

impl Directory {
    fn change(&mut self, entry: Entry) {
        apply(&mut self.live, &entry);
        self.unsynced.push(entry);
    }

    /// Makes the first `count` unsynced changes durable: a file system logs them in order.
    fn settle(&mut self, count: usize) {
        for entry in self.unsynced.drain(..count) {
            apply(&mut self.durable, &entry);
        }
    }
}

fn apply(names: &mut BTreeMap<String, NodeId>, entry: &Entry) {
    match entry {
        Entry::Added(name, node) => {
            names.insert(name.clone(), *node);
        }
        Entry::Removed(name) => {
            names.remove(name);
        }
        Entry::Renamed(from, to) => {
            if let Some(node) = names.remove(from) {
                names.insert(to.clone(), node);
            }
        }
    }
}

#[derive(Debug)]
enum Node {
    File(FileNode),
    Directory(Directory),
}

/// A copy of a file or of a directory with all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// A file's bytes.
    File(Vec<u8>),
    /// A directory's entries.
    Directory(BTreeMap<String, Saved>),
}

/// The whole disk.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: BTreeMap<NodeId, Node>,
    next: NodeId,
}

impl Tree {
    pub fn new() -> Tree {
        Tree { nodes: BTreeMap::from([(ROOT, Node::Directory(Directory::default()))]), next: ROOT + 1 }
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = self.next;
        self.next += 1;
        self.nodes.insert(id, node);
        id
    }

    /// The node at a path.
    pub fn find(&self, path: &Path) -> io::Result<NodeId> {
        names(path)?.into_iter().try_fold(ROOT, |at, name| match &self.nodes[&at] {
            Node::Directory(directory) => directory.live.get(name).copied().ok_or_else(missing),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        })
    }

    pub fn find_file(&self, path: &Path) -> io::Result<NodeId> {
        let id = self.find(path)?;
        match self.nodes[&id] {
            Node::File(_) => Ok(id),
            Node::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// A file that some handle or name leads to.
    pub fn file(&mut self, id: NodeId) -> &mut FileNode {
        match self.nodes.get_mut(&id) {
            Some(Node::File(file)) => file,
            other => unreachable!("node {id} is no file but {other:?}"),
        }
    }

    fn directory(&mut self, id: NodeId) -> io::Result<&mut Directory> {
        match self.nodes.get_mut(&id) {
            Some(Node::Directory(directory)) => Ok(directory),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => unreachable!("a name leads to node {id}, which is gone"),
        }
    }

    /// The directory that holds a path's last name, and that name.
    fn parent<'a>(&mut self, path: &'a Path) -> io::Result<(&mut Directory, &'a str)> {
        let Some(name) = names(path)?.pop() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let parent = self.find(path.parent().unwrap_or(Path::new("")))?;
        Ok((self.directory(parent)?, name))
    }

    pub fn create(&mut self, path: &Path) -> io::Result<NodeId> {
        let (directory, name) = self.parent(path)?;
        if directory.live.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let id = self.add(Node::File(FileNode::default()));
        let (directory, name) = self.parent(path)?;
        directory.change(Entry::Added(name.to_owned(), id));
        Ok(id)
    }

    pub fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        let mut at = ROOT;
        for name in names(path)? {
            let directory = self.directory(at)?;
            at = match directory.live.get(name) {
                Some(&child) => child,
                None => {
                    let child = self.add(Node::Directory(Directory::default()));
                    self.directory(at)?.change(Entry::Added(name.to_owned(), child));
                    child
                }
            };
        }
        self.directory(at).map(|_| ())
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if from.parent() != to.parent() {
            // Whether both directories or one must be synced differs between file systems: rather not.
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        let (_, target) = self.parent(to)?;
        let (directory, source) = self.parent(from)?;
        if !directory.live.contains_key(source) {
            return Err(missing());
        }
        directory.change(Entry::Renamed(source.to_owned(), target.to_owned()));
        Ok(())
    }

    pub fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.find_file(path)?;
        let (directory, name) = self.parent(path)?;
        directory.change(Entry::Removed(name.to_owned()));
        Ok(())
    }

    pub fn list(&mut self, path: &Path) -> io::Result<Vec<String>> {
        let id = self.find(path)?;
        Ok(self.directory(id)?.live.keys().cloned().collect())
    }

    pub fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let id = self.find(path)?;
        let directory = self.directory(id)?;
        directory.settle(directory.unsynced.len());
        Ok(())
    }

    /// A sync of a directory that fails, or is cut short, on the way.
    pub fn sync_dir_partly(&mut self, path: &Path, random: &mut Random) -> io::Result<()> {
        let id = self.find(path)?;
        let directory = self.directory(id)?;
        directory.settle(random.index(directory.unsynced.len() + 1));
        Ok(())
    }

    /// Ends all locks: their holders are dead.
    pub fn unlock_all(&mut self) {
        for node in self.nodes.values_mut() {
            if let Node::File(file) = node {
                file.locks.clear();
            }
        }
    }

    /// Leaves what power loss leaves.
    pub fn lose_power(&mut self, random: &mut Random) -> Losses {
        let mut total = Losses::default();
        for node in self.nodes.values_mut() {
            match node {
                Node::File(file) => {
                    let losses = file.image.lose_power(random);
                    total.kept += losses.kept;
                    total.lost += losses.lost;
                    total.torn += losses.torn;
                    total.reordered += losses.reordered;
                    total.lengths_only += losses.lengths_only;
                }
                Node::Directory(directory) => {
                    directory.settle(random.index(directory.unsynced.len() + 1));
                    directory.unsynced.clear();
                    directory.live.clone_from(&directory.durable);
                }
            }
        }
        self.collect(&|_| false);
        total
    }

    /// Forgets the nodes that neither a name nor a handle can reach.
    pub fn collect(&mut self, open: &dyn Fn(NodeId) -> bool) {
        let mut reached = std::collections::BTreeSet::from([ROOT]);
        let mut ahead = vec![ROOT];
        ahead.extend(self.nodes.keys().copied().filter(|&id| open(id)));
        while let Some(id) = ahead.pop() {
            reached.insert(id);
            if let Some(Node::Directory(directory)) = self.nodes.get(&id) {
                ahead.extend(directory.live.values());
                ahead.extend(directory.durable.values());
                ahead.extend(directory.unsynced.iter().filter_map(|entry| match entry {
                    Entry::Added(_, node) => Some(*node),
                    Entry::Removed(_) | Entry::Renamed(..) => None,
                }));
            }
        }
        self.nodes.retain(|id, _| reached.contains(id));
    }

    /// The bytes that all files with a name take.
    pub fn used(&self) -> u64 {
        self.used_below(ROOT)
    }

    fn used_below(&self, id: NodeId) -> u64 {
        match &self.nodes[&id] {
            Node::File(file) => file.image.live().len() as u64,
            Node::Directory(directory) => directory.live.values().map(|&id| self.used_below(id)).sum(),
        }
    }

    /// A copy of what is at a path.
    pub fn save(&self, path: &Path) -> io::Result<Saved> {
        Ok(self.save_node(self.find(path)?))
    }

    fn save_node(&self, id: NodeId) -> Saved {
        match &self.nodes[&id] {
            Node::File(file) => Saved::File(file.image.live().to_vec()),
            Node::Directory(directory) => {
                Saved::Directory(directory.live.iter().map(|(name, &id)| (name.clone(), self.save_node(id))).collect())
            }
        }
    }

    /// Puts a copy (or nothing) at a path, durably, in place of what is there.
    pub fn replace(&mut self, path: &Path, saved: Option<&Saved>) -> io::Result<()> {
        let node = saved.map(|saved| self.add_saved(saved));
        let (directory, name) = self.parent(path)?;
        directory.settle(directory.unsynced.len());
        let entry = match node {
            Some(node) => Entry::Added(name.to_owned(), node),
            None => Entry::Removed(name.to_owned()),
        };
        directory.change(entry);
        directory.settle(1);
        Ok(())
    }

    fn add_saved(&mut self, saved: &Saved) -> NodeId {
        let node = match saved {
            Saved::File(bytes) => Node::File(FileNode { image: Image::durable(bytes.clone()), ..FileNode::default() }),
            Saved::Directory(entries) => {
                let names: BTreeMap<_, _> =
                    entries.iter().map(|(name, saved)| (name.clone(), self.add_saved(saved))).collect();
                Node::Directory(Directory { live: names.clone(), durable: names, unsynced: Vec::new() })
            }
        };
        self.add(node)
    }
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// The names along a path; where it starts from makes no difference here.
fn names(path: &Path) -> io::Result<Vec<&str>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => {
                names.push(name.to_str().ok_or(io::Error::from(io::ErrorKind::InvalidFilename))?)
            }
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
    }
    Ok(names)
}
